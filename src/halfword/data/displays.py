"""How most people write a query: with which capitals.

Many telephones begin every text with a capital, and some people shout. So a form of a query must be typed more often
than lower case, the more so the more of the log is in lower case: a list of suggestions with some capitals here and
there looks careless.
"""

from typing import Any

import ibis  # type: ignore[import-untyped]

# Where all write in lower case, a form must be typed
_TIMES = 2  # times as often as lower case
_MORE = 6  # and so many times more; where half have capitals, only more often
DISPLAY = "display"  # the column of it, in a dataset whose log has capitals


def with_displays(kept: Any, rows: Any) -> Any:
    """Add the form of each query that was typed most often, null where that is the query itself; nothing if all are.

    Of forms that were typed as often, the one with the fewest capitals at its beginning is taken.
    """
    written = rows.filter(rows.display.notnull())
    if not written.count().to_pyarrow().as_py():
        return kept
    forms = written.group_by("query", DISPLAY).agg(typed=written["count"].sum())
    first = ibis.row_number().over(
        ibis.window(group_by=forms.query, order_by=[ibis.desc(forms.typed), ibis.desc(forms.display)])
    )
    ranked = forms.mutate(place=first)
    plain = rows.filter(rows.display.isnull())
    plain = plain.group_by("query").agg(plain=plain["count"].sum())
    best = ranked.filter(ranked.place == 0).select("query", DISPLAY, "typed").left_join(plain, "query")
    habit = _lower_case(rows)
    needed = (1 + (_TIMES - 1) * habit) * best.plain.fill_null(0) + _MORE * habit
    best = best.filter(best.typed > needed).select("query", DISPLAY)
    return kept.left_join(best, "query").select(*kept.columns, DISPLAY)


def _lower_case(rows: Any) -> float:
    """Return how common lower case is: 1 where all rows are in it, 0 where half of them have capitals, or more."""
    capitals = rows.display.notnull().cast("int64") * rows["count"]
    share = float(rows.agg(share=capitals.sum() / rows["count"].sum()).to_pyarrow()["share"][0].as_py())
    return max(1 - 2 * share, 0.0)
