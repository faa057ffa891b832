"""How often each query was typed in each split; what repeats itself, is blocked or is rare does not count."""

from dataclasses import dataclass
from typing import Any, Protocol

import ibis  # type: ignore[import-untyped]

from halfword.data.dataset import LEARN, Split
from halfword.data.log_format import LogFile
from halfword.data.options import PrepareOptions, SplitBy
from halfword.data.row_files import are_weighted, in_files, rounded, weighted
from halfword.data.splits import SMALL_LOG, split_counts

_LEARNED = (Split.TRAIN, Split.VALID)
_NEEDED = ("row", "user", "query", "time", "count", "display", *Split)  # of a row once it has its split


@dataclass(frozen=True, slots=True)
class Counted:
    """A table of each query with its counts, and what is known of the whole log."""

    table: Any  # query, train, valid, test, kept; perhaps users, all_users, listed and the weighted counts
    rows: Any  # every row that counts, with its split
    typed: int  # queries that the rows stand for
    by: SplitBy


def count_queries(connection: Any, log: Any, files: list[LogFile], options: PrepareOptions) -> Counted:
    """Return how often each query was typed in each split."""
    rows = log.filter(log.problem.isnull())
    typed = number_of(rows["count"].sum())
    if options.keep_repeats:
        rows, by = split_counts(rows, options.split, files)
    elif typed < SMALL_LOG:
        rows, by = split_counts(without_repeats(rows, files), options.split, files)
    else:
        rows, by = split_counts(rows, options.split, files)
        if any(_tells_repeats(file) for file in files):  # a large log would be sorted again for each look at it
            rows = connection.create_table("typed", without_repeats(rows.select(*_NEEDED), files))
    counting = rows
    rows = rows.mutate(kept=rows["count"], **_more(rows, files))
    sums = [*Split, "kept", *_more(rows, files)]
    people = {}
    if options.min_users > 1:  # one row per query and user, because both engines are slow at counting distinct values
        rows = rows.group_by("query", "user").agg(**{name: rows[name].sum() for name in sums})
        learned, known = rows.train + rows.valid, rows.user.notnull()
        people = {
            "users": ((learned > 0) & known).cast("int64").sum(),
            "all_users": ((learned + rows.test > 0) & known).cast("int64").sum(),
        }
    counted = rows.group_by("query").agg(**people, **{name: rows[name].sum() for name in sums})
    return Counted(connection.create_table("counted", counted), counting, typed, by)


def _more(rows: Any, files: list[LogFile]) -> dict[str, Any]:
    """Return further columns to be summed: weighted counts, and how often a query stands in a list."""
    more: dict[str, Any] = {}
    if are_weighted(files):
        more |= {_weighted(split): weighted(rows, files, rows[split]) for split in Split}
    if any(file.is_list for file in files):
        more["listed"] = in_files(rows, files, lambda file: file.is_list).ifelse(rows["count"], 0)
    return more


def _weighted(split: Split) -> str:
    return f"weighted_{split}"


def without_repeats(rows: Any, files: list[LogFile]) -> Any:
    """Leave out a row whose user typed the same query just before; rows without a user, or with a count, all stay."""
    if not any(_tells_repeats(file) for file in files):
        return rows
    # All rows without a user would be one group, which the engine sorts as a whole.
    told = in_files(rows, files, _tells_repeats) & rows.user.notnull()
    ordered = rows.filter(told)
    before = ordered.query.lag().over(ibis.window(group_by=ordered.user, order_by=[ordered.time, ordered.row]))
    marked = ordered.mutate(before=before)
    changes = marked.filter(marked.before.isnull() | (marked.before != marked.query)).drop("before")
    return changes.union(rows.filter(~told))


def _tells_repeats(file: LogFile) -> bool:
    return file.holds("user") and not file.holds("count")


class Blocks(Protocol):
    """What tells which queries are left out."""

    def blocks(self, text: str) -> bool: ...


def leave_out(
    connection: Any, counted: Any, blocklist: Blocks | None, options: PrepareOptions
) -> tuple[Any, dict[str, Any]]:
    """Return the counts without blocked and rare queries, and how many were left out for each reason."""
    allowed, blocked = counted, 0
    if blocklist:
        judged = connection.create_table("judged", counted.mutate(blocked=_blocks(counted.query, blocklist)))
        blocked = number_of(judged.filter(judged.blocked).kept.sum())
        allowed = judged.filter(~judged.blocked)
    common, common_in_all = _common(allowed, options)
    values, whole = _values(allowed)
    # What is common enough only together with its test rows may be learned with them, and never without.
    late = common.ifelse(values[Split.TEST], common_in_all.ifelse(whole, 0))
    learned = {split: common.ifelse(values[split], 0) for split in _LEARNED}
    more = {LEARN: late} if options.leaves_out_rare else {}
    kept = allowed.select("query", test=values[Split.TEST], **learned, **more)
    inside, before = allowed.train + allowed.valid + allowed.test, allowed.train + allowed.valid
    sums = allowed.aggregate(outside=(allowed.kept - inside).sum(), rare=common.ifelse(0, before).sum())
    return kept, {"blocked": blocked, **record_of(sums)}


def _common(counted: Any, options: PrepareOptions) -> tuple[Any, Any]:
    """Return which queries are common enough to be learned: by train and valid alone, and by all rows."""
    learned = counted.train + counted.valid
    common, in_all = learned >= options.min_count, learned + counted.test >= options.min_count
    if options.min_users > 1:
        common, in_all = (
            common & (counted.users >= options.min_users),
            in_all & (counted.all_users >= options.min_users),
        )
    if "listed" in counted.columns:
        common, in_all = common | (counted.listed > 0), in_all | (counted.listed > 0)
    return common, in_all


def _values(counted: Any) -> tuple[dict[Split, Any], Any]:
    """Return what each query counts in each split, and in all together."""
    if _weighted(Split.TRAIN) not in counted.columns:
        return {split: counted[split] for split in Split}, counted.train + counted.valid + counted.test
    weights = {split: counted[_weighted(split)] for split in Split}
    return {split: rounded(total) for split, total in weights.items()}, rounded(sum(weights.values()))


def _blocks(queries: Any, blocklist: Blocks) -> Any:
    """Return a column that tells which queries are blocked; both engines call the same function as `serve`."""

    @ibis.udf.scalar.python  # type: ignore[untyped-decorator]
    def blocks(query: str) -> bool:
        return blocklist.blocks(query)

    return blocks(queries)


def number_of(expression: Any) -> int:
    """Return the value of an expression of one number; the sum of no rows is 0."""
    return record_of(expression.name("number").as_table())["number"]


def record_of(table: Any) -> dict[str, int]:
    """Return the only row of a table; the sum of no rows is 0."""
    return {name: int(value or 0) for name, value in table.to_pyarrow().to_pylist()[0].items()}
