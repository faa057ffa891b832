"""The first completions of a few prefixes, side by side for a few rows."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from halfword.core.progress import Event, Progress
from halfword.evaluation.reproduce.quality import completer_of
from halfword.evaluation.reproduce.records import FORMAT, read_json, write_json
from halfword.evaluation.reproduce.rows import Row

PREFIXES = ("re", "nat", "how to", "new yo", "weather in")
ROWS = ("mpc", "char", "bpe-256-r", "sr-256-r-m", "best")
_COUNT = 5


def kept_examples(folder: Path, row: Row, model: str) -> dict[str, list[str]] | None:
    """Return the stored completions, or None."""
    found = read_json(_path(folder, row))
    return found.get("completions") if found.get("made_from") == _made_from(row, model) else None


def make_examples(folder: Path, row: Row, digest: str, model: Path, progress: Progress) -> dict[str, list[str]]:
    """Compute the completions of each prefix for a row, and store them."""
    progress(Event(f"{row.name}: examples"))
    completer, _ = completer_of(row, model, "cpu")
    options = replace(row.search, count=_COUNT)
    found = {prefix: [each.text for each in completer.complete(prefix, options)] for prefix in PREFIXES}
    folder.mkdir(parents=True, exist_ok=True)
    write_json(_path(folder, row), {"format": FORMAT, "made_from": _made_from(row, digest), "completions": found})
    return found


def _made_from(row: Row, model: str) -> dict[str, Any]:
    return {"model": model, "prefixes": list(PREFIXES), "count": _COUNT}


def _path(folder: Path, row: Row) -> Path:
    return folder / f"{row.name}.examples.json"
