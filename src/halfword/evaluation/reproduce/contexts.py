"""What the session's earlier queries bring to a row, by kind of test row; stored without the queries."""

import hashlib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from halfword.core.options import UNFILTERED, SearchOptions
from halfword.core.progress import Progress
from halfword.data.dataset import Dataset, Split
from halfword.data.sessions import CONTEXT, TypedRow
from halfword.evaluation.context import by_kind
from halfword.evaluation.evaluate import Asker, EvaluateOptions, measure, measure_rows, sample_typed_rows
from halfword.evaluation.reproduce.machine import machine
from halfword.evaluation.reproduce.quality import completer_of
from halfword.evaluation.reproduce.records import FORMAT, as_read, read_json, write_json
from halfword.evaluation.reproduce.rows import Row
from halfword.evaluation.reproduce.sample import Sample

ROWS = ("popularity-memory", "fast", "default")  # blends, whose rankers know sessions
NO_SESSIONS = "the dataset holds no sessions"


@dataclass(frozen=True, slots=True)
class SessionRows:
    """Test rows with the queries before them."""

    rows: list[TypedRow]

    @classmethod
    def draw(cls, data: Dataset, sample: Sample, seed: int) -> "SessionRows | None":
        """Draw as many rows as `sample` has, as `evaluate` does; None if no row has a context."""
        if not any(len(session) > 1 for session in data.sessions(Split.TEST)):
            return None
        return cls(sample_typed_rows(data, EvaluateOptions(context=CONTEXT, sample=len(sample.rows), seed=seed)))

    def digest(self) -> str:
        """Return a digest of the rows and their contexts, which the fingerprint of the data does not tell."""
        found = hashlib.sha256()
        for row in self.rows:
            found.update(("\t".join((row.query, *row.context)) + "\n").encode())
        return found.hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class SessionQuestion:
    """A row, and the test rows that it is asked with and without their contexts."""

    row: Row
    model: str  # the digest of its file
    sample: SessionRows
    paper: bool

    @property
    def search(self) -> SearchOptions:
        """Return the search options: everything that was found is shown."""
        shown = {name: getattr(UNFILTERED, name) for name in ("min_probability", "invent")}
        return replace(self.row.search, echo=self.paper, **shown)

    def path(self, folder: Path) -> Path:
        """Return the path of the stored figures."""
        return folder / (f"{self.row.name}.paper.context.json" if self.paper else f"{self.row.name}.context.json")

    def made_from(self) -> dict[str, Any]:
        """Return what the figures depend on."""
        about = {
            "model": self.model,
            "parts": self.row.parts,
            "precision": self.row.precision,
            "search": asdict(self.search),
            "queries": CONTEXT,
            "rows": self.sample.digest(),
        }
        return as_read(about)


def kept_context(folder: Path, question: SessionQuestion) -> dict[str, Any] | None:
    """Return the stored figures, or None."""
    found = read_json(question.path(folder))
    return found if found.get("made_from") == question.made_from() else None


def measure_context(
    folder: Path, question: SessionQuestion, model: Path, sample: Sample, progress: Progress
) -> dict[str, Any]:
    """Ask every test row without and with its context at one prefix, and store the figures by kind of row."""
    completer, _ = completer_of(question.row, model, "cpu")
    asker = Asker(completer, question.search, progress)
    rows = question.sample.rows
    alone = measure(asker, [row.query for row in rows], sample.known, walk=0)
    found = measure_rows(asker, rows, sample.known, walk=0)
    about = {
        "format": FORMAT,
        "made_from": question.made_from(),
        "machine": machine(),
        "kinds": by_kind(rows, [alone[row.query] for row in rows], [found[row] for row in rows]),
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_json(question.path(folder), about)
    return about
