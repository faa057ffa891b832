"""From a query log to a dataset: repeats, blocked and rare queries are left out, the rest is split and counted."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import ibis  # type: ignore[import-untyped]
import pyarrow as pa

from halfword.core.errors import LogError, OptionError
from halfword.core.filters import Blocklist, FilterOptions, read_blocklist
from halfword.core.live_state import Removed, read_removed
from halfword.core.progress import Event, Progress, quiet
from halfword.core.rules import Category
from halfword.core.scratch import room_checked, scratch_folder
from halfword.core.version import __version__
from halfword.data.backends import LOG, duckdb_log, sorted_batches, spark_log
from halfword.data.counting import Blocks, count_queries, leave_out, number_of, record_of
from halfword.data.dataset import LEARN, Split
from halfword.data.describe import described
from halfword.data.displays import DISPLAY, with_displays
from halfword.data.find_files import find_files
from halfword.data.funnel import Funnel, SplitSize
from halfword.data.log_format import LogFile
from halfword.data.options import Engine, PrepareOptions, SplitBy
from halfword.data.read_log import MOST_BROKEN, file_and_line, read_batches, too_broken
from halfword.data.rows import NOT_BROKEN, Broken, Problem
from halfword.data.session_rows import session_batches, session_files
from halfword.data.write_dataset import check_dataset_output, write_dataset


def prepare(
    logs: Sequence[str | Path],
    output: Path,
    options: PrepareOptions | None = None,
    progress: Progress = quiet,
) -> Funnel:
    """Read `logs` (files, folders, globs) and write the dataset folder `output`, whole or not at all."""
    options = options or PrepareOptions()
    check_dataset_output(output)
    blocklist = _left_out(options)
    files = find_files(logs, options)
    _check_answerable(files, options)
    with (
        room_checked(output),
        scratch_folder(output) as folder,
        _engine(files, options, folder, progress) as connection,
    ):
        log = connection.table(LOG)
        rows = _check_broken(log, files)
        progress(Event("counting", 0, 2))
        counted = count_queries(connection, log, files, options)
        progress(Event("counting", 1, 2))
        kept, left = leave_out(connection, counted.table, blocklist, options)
        kept = connection.create_table("kept", with_displays(kept, counted.rows))
        repeats = counted.typed - number_of(counted.table.kept.sum())
        funnel = Funnel(**rows, typed=counted.typed, repeats=repeats, **left, **_sizes(kept), files=described(files))
        _check_left(log, funnel, options)
        progress(Event("writing", 0, len(Split)))
        sessions = None
        if session_files(files, options):
            sessions = session_batches(counted.rows, kept, folder, files, options)
        numbers = ("count", LEARN) if options.leaves_out_rare else ("count",)
        about = _about(files, options, funnel, counted.by)
        texts = (DISPLAY,) if DISPLAY in kept.columns else ()
        write_dataset(output, _batches(kept, folder, progress), about, numbers, sessions, texts)
    return funnel


@dataclass(frozen=True, slots=True)
class _LeftOut:
    """What a blocklist blocks, and what is removed."""

    blocklist: Blocklist | None
    removed: Removed

    def blocks(self, text: str) -> bool:
        return self.removed.removes(text) or (self.blocklist is not None and self.blocklist.blocks(text))


def _left_out(options: PrepareOptions) -> Blocks | None:
    """Return what is left out; None if nothing is."""
    blocklist = _blocklist_of(options)
    return blocklist if options.removed is None else _LeftOut(blocklist, read_removed(options.removed))


def _blocklist_of(options: PrepareOptions) -> Blocklist | None:
    """Return the rules for what is left out; None if there are none."""
    allowed = tuple(each for each in Category if each not in options.block)
    files = FilterOptions(blocklist=options.blocklist, allow=allowed).blocklists
    return read_blocklist(*files, profile=options.profile, allow=allowed) if files else None


def _sizes(kept: Any) -> dict[str, Any]:
    sums = {f"{split}_rows": kept[split].sum() for split in Split}
    distinct = {f"{split}_distinct": (kept[split] > 0).cast("int64").sum() for split in Split}
    found = record_of(kept.aggregate(**sums, **distinct, seen=(kept.train > 0).ifelse(kept.test, 0).sum()))
    splits = {split: SplitSize(rows=found[f"{split}_rows"], distinct=found[f"{split}_distinct"]) for split in Split}
    test = splits[Split.TEST].rows
    return {"splits": splits, "seen": found["seen"] / test if test else None}


def _batches(kept: Any, folder: Path, progress: Progress) -> Iterator[pa.RecordBatch]:
    for number, split in enumerate(Split):
        numbers = {"count": kept[split]}
        if LEARN in kept.columns:
            numbers[LEARN] = kept[LEARN] if split is Split.TEST else kept[split]
        if DISPLAY in kept.columns:
            numbers[DISPLAY] = kept[DISPLAY]
        part = kept.filter(kept[split] > 0).select("query", **numbers)
        for batch in sorted_batches(part, [ibis.desc("count"), "query"], folder / f"{split}.parquet"):
            name = pa.repeat(pa.scalar(str(split)), batch.num_rows)
            yield pa.record_batch([name, *batch.columns], names=["split", *batch.schema.names])
        progress(Event("writing", number + 1, len(Split)))


def _check_broken(log: Any, files: list[LogFile]) -> dict[str, Any]:
    """Return how many rows were read and how many cannot be used for which reason; an error if too many are broken."""
    rows = log.problem.isnull().ifelse(1, log["count"])  # a row with a problem stands for several
    groups = log.group_by("problem").agg(rows=rows.sum(), first=log.row.min()).to_pyarrow().to_pylist()
    read = sum(group["rows"] for group in groups)
    broken = [group for group in groups if group["problem"] not in (None, *NOT_BROKEN)]
    share = sum(group["rows"] for group in broken) / max(read, 1)
    if share > MOST_BROKEN:
        worst = max(broken, key=lambda group: int(group["rows"]))
        found = log.filter(log.row == worst["first"]).select("found").to_pyarrow()["found"][0].as_py()
        index, line = file_and_line(worst["first"])
        raise too_broken(files[index], Broken(line, Problem(worst["problem"]), found), share)
    number = {group["problem"]: group["rows"] for group in groups}
    return {
        "read": read,
        "broken": {problem: number[problem] for problem in sorted(group["problem"] for group in broken)},
        "too_short": number.get(Problem.SHORT, 0),
        "personal": number.get(Problem.PERSONAL, 0),
        "too_long": number.get(Problem.LONG, 0),
    }


def _check_left(log: Any, funnel: Funnel, options: PrepareOptions) -> None:
    if funnel.splits[Split.TRAIN].rows:
        return
    if funnel.outside == funnel.typed - funnel.repeats - funnel.blocked > 0:
        times = record_of(log.aggregate(first=log.time.min(), last=log.time.max()))
        dates = [(_EPOCH + timedelta(microseconds=times[name])).date() for name in ("first", "last")]
        raise LogError(f"no row lies within the dates; the log runs from {dates[0]} to {dates[1]}, see --dates")
    reasons = ", ".join(f"{number} {reason}" for reason, number in funnel.dropped().items() if number)
    found = f"{funnel.read} rows ({reasons or 'too few rows'})"
    raise LogError(f"nothing is left for train of {found}; give more rows or loosen the options")


def _check_answerable(files: list[LogFile], options: PrepareOptions) -> None:
    nameless = next((file for file in files if not file.holds("user") and not file.is_list), None)
    if options.min_users > 1 and nameless is not None:
        name = nameless.path.name
        other = f", or say that it is no log: --list {name}" if len(files) > 1 else ""
        raise OptionError(f"--min-users needs users and {name} has none; name them with --user-column{other}")
    options.split.chosen(files)


def _engine(
    files: list[LogFile], options: PrepareOptions, folder: Path, progress: Progress
) -> AbstractContextManager[Any]:
    read = partial(read_batches, profile=options.profile, max_length=options.max_length, min_length=options.min_length)
    if options.engine is Engine.SPARK:
        return spark_log(files, read, folder, progress, options.spark_master)
    return duckdb_log(files, read, folder, progress)


def _about(files: list[LogFile], options: PrepareOptions, funnel: Funnel, by: SplitBy) -> dict[str, Any]:
    split = options.split
    return {
        "profile": options.profile.name,
        "source": [file.path.name for file in files],
        "options": {
            "columns": options.columns.asked(),
            "split": by,
            "dates": split.dates,
            "until": split.until,
            "valid_share": split.valid_share,
            "test_share": split.test_share,
            "weights": {file.path.name: file.weight for file in files if file.weight != 1},
            "lists": [file.path.name for file in files if file.is_list],
            "encoding": options.encoding,
            "time_format": options.time_format,
            "min_users": options.min_users,
            "min_count": options.min_count,
            "min_length": options.min_length,
            "max_length": options.max_length,
            "keep_repeats": options.keep_repeats,
            "session_gap": options.session_gap if session_files(files, options) else None,
            "blocklist": options.blocklist and options.blocklist.name,
            "block": list(options.block),
            "engine": options.engine,
        },
        "rows": funnel.as_dict(),
        "halfword": __version__,
    }


_EPOCH = datetime(1970, 1, 1)
