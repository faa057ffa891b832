"""How most people write a query: with which capitals."""

from typing import Any

import ibis  # type: ignore[import-untyped]

DISPLAY = "display"  # the column of it, in a dataset whose log has capitals


def with_displays(kept: Any, rows: Any) -> Any:
    """Add the form of each query that was typed most often, null where that is the query itself; nothing if all are."""
    written = rows.filter(rows.display.notnull())
    if not written.count().to_pyarrow().as_py():
        return kept
    forms = written.group_by("query", DISPLAY).agg(typed=written["count"].sum())
    first = ibis.row_number().over(ibis.window(group_by=forms.query, order_by=[ibis.desc(forms.typed), forms.display]))
    ranked = forms.mutate(place=first)
    plain = rows.filter(rows.display.isnull())
    plain = plain.group_by("query").agg(plain=plain["count"].sum())
    best = ranked.filter(ranked.place == 0).select("query", DISPLAY, "typed").left_join(plain, "query")
    best = best.filter(best.typed > best.plain.fill_null(0)).select("query", DISPLAY)
    return kept.left_join(best, "query").select(*kept.columns, DISPLAY)
