"""From a dataset to a report, step by step; finished results are stored and not made again."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from halfword.core.errors import MissingExtraError, OptionError, OutputError, require
from halfword.core.files import check_output_folder
from halfword.core.progress import Event, Progress, named, quiet
from halfword.data.dataset import Dataset
from halfword.data.sessions import CONTEXT
from halfword.evaluation.reproduce import contexts, examples
from halfword.evaluation.reproduce.contexts import SessionQuestion, SessionRows, kept_context, measure_context
from halfword.evaluation.reproduce.machine import has_gpu, machine, one_thread, versions
from halfword.evaluation.reproduce.models import Models
from halfword.evaluation.reproduce.options import ReproduceOptions
from halfword.evaluation.reproduce.quality import Quality, Question, kept_quality, measure_quality
from halfword.evaluation.reproduce.records import FORMAT, fingerprint, read_json, write_json
from halfword.evaluation.reproduce.report import write_report
from halfword.evaluation.reproduce.results import Found, results
from halfword.evaluation.reproduce.sample import Sample, draw_sample
from halfword.evaluation.reproduce.small import SmallDataset
from halfword.evaluation.reproduce.speed import kept_speed, made_from, measure_speed
from halfword.evaluation.reproduce.statistics import Bootstrap

MARKER = "reproduce.json"
_QUICK_ROWS, _QUICK_WALK = 500, 300
_TIMED, _QUICK_TIMED = 1000, 200


def reproduce(data: Dataset, folder: Path, options: ReproduceOptions, progress: Progress = quiet) -> dict[str, Any]:
    """Train, measure and write a report; return its results (without the step `report`, what was left out)."""
    if "report" in options.steps:
        require("matplotlib", "reproduce")
    device = _device(options.device)
    progress(Event("reading the dataset"))
    data = SmallDataset.of(data) if options.quick else data
    mark = fingerprint(data)
    _claim(folder, mark, options)
    work = _Work(data, folder, options, device, mark, progress)
    with one_thread() if options.quick else nullcontext():
        return work.run()


def _device(name: str) -> str:
    if name == "cuda" and not has_gpu():
        raise OptionError("no CUDA device is available; leave out --device or use --device cpu")
    return "cuda" if name != "cpu" and has_gpu() else "cpu"


def _claim(folder: Path, mark: str, options: ReproduceOptions) -> None:
    """Refuse a folder that holds other files, or a report of other data or of another size."""
    claim = {"format": FORMAT, "data": mark, "quick": options.quick}
    found = read_json(folder / MARKER)
    check_output_folder(folder, lambda _: bool(found), "report")
    if found and found != claim:
        raise OutputError(f"{folder} holds a report {_difference(found, claim)}; name a new folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written ({error.strerror})") from error
    write_json(folder / MARKER, claim)


def _difference(found: Mapping[str, Any], claim: Mapping[str, Any]) -> str:
    if found.get("format") != claim["format"]:
        return "of another version of halfword"
    if found.get("data") != claim["data"]:
        return "of other data"
    return "made without --quick" if claim["quick"] else "made with --quick"


def _systems(path: Path | None) -> dict[str, tuple[float, float]]:
    """Read the latency and the MRR of other systems."""
    if path is None:
        return {}
    try:
        return {name: (float(place[0]), float(place[1])) for name, place in read_json(path).items()}
    except (TypeError, ValueError, IndexError, KeyError):
        raise OptionError(f'{path} must be JSON like {{"a system": [milliseconds, MRR]}}') from None


class _Work:
    """One run over the chosen rows."""

    def __init__(
        self, data: Dataset, folder: Path, options: ReproduceOptions, device: str, mark: str, progress: Progress
    ) -> None:
        self._data, self._folder, self._options = data, folder, options
        self._device, self._mark, self._progress = device, mark, progress
        self._kept = folder / "rows"
        self._models = Models(folder / "models", data, mark, device, self._tell)
        self._sample: Sample = draw_sample(
            data,
            options.sample or (_QUICK_ROWS if options.quick else None),
            _QUICK_WALK if options.quick else None,
            options.seed,
        )
        self._found = [Found(row) for row in options.chosen()]
        asks = any(each.row.name in contexts.ROWS for each in self._found)
        self._sessions = SessionRows.draw(data, self._sample, options.seed) if asks else None
        self._stage = ""

    def run(self) -> dict[str, Any]:
        """Do the requested steps, each for all rows."""
        self._check_packages()
        for step, work in (("train", self._train), ("quality", self._measure), ("speed", self._time)):
            for number, found in enumerate(self._found, 1):
                self._stage = f"{step} {number}/{len(self._found)}"
                self._try(found, work, step in self._options.steps)
        return self._report()

    def _check_packages(self) -> None:
        """Refuse to begin if packages for training are missing; otherwise every row would be left out."""
        models = {each.row.model.name: each.row.model for each in self._found}.values()
        untrained = [model for model in models if self._models.record(model) is None]
        if "train" in self._options.steps and any(model.learns_network for model in untrained):
            for module in ("torch", "sentencepiece", "safetensors"):
                require(module, "train")

    def _tell(self, event: Event) -> None:
        self._progress(replace(event, stage=f"{self._stage} · {event.stage}"))

    def _try(self, found: Found, work: Callable[[Found, bool], None], wanted: bool) -> None:
        """Do one step of a row; if this machine cannot, say why and continue with the other rows."""
        if found.left_out:
            return
        try:
            work(found, wanted)
        except (OptionError, MissingExtraError) as error:
            found.left_out = str(error)
            self._tell(Event(f"{found.row.name} is left out: {error}"))

    def _train(self, found: Found, wanted: bool) -> None:
        if wanted and self._models.record(found.row.model) is None:
            self._models.ready(found.row.model)
        found.model = self._models.record(found.row.model)
        if found.model is None:
            found.left_out = "its model is not trained"

    def _measure(self, found: Found, wanted: bool) -> None:
        """Measure a row, and once more at one prefix with the mistake of the paper's code."""
        paper = self._options.paper
        found.model = self._models.record(found.row.model)  # it may have been trained again for another row
        found.quality = self._quality(found, paper, self._sample.walk, wanted)
        if paper:
            found.paper = found.quality
        elif found.row.published:
            found.paper = self._quality(found, True, 0, wanted)
        if self._sessions is not None and found.row.name in contexts.ROWS:
            found.context = self._context(found, self._sessions, wanted)

    def _quality(self, found: Found, paper: bool, walk: int, wanted: bool) -> Quality | None:
        question = self._question(found, paper, walk)
        kept = kept_quality(self._kept, question)
        if kept is not None or not wanted:
            return kept
        model = self._models.ready(found.row.model)
        found.model = self._models.record(found.row.model)
        question = self._question(found, paper, walk)
        return measure_quality(self._kept, question, model, self._device, named(found.row.name, self._tell))

    def _context(self, found: Found, sessions: SessionRows, wanted: bool) -> dict[str, Any] | None:
        """Measure a row with and without context, if the file of its model is here."""
        assert found.model is not None
        model = self._models.path(found.row.model)
        question = SessionQuestion(found.row, found.model["model"], sessions, self._options.paper)
        kept = kept_context(self._kept, question)
        if kept is not None or not (wanted and model.exists()):
            return kept
        tell = named(f"{found.row.name} with context", self._tell)
        return measure_context(self._kept, question, model, self._sample, tell)

    def _question(self, found: Found, paper: bool, walk: int) -> Question:
        assert found.model is not None
        sample, seed = self._sample, self._options.seed
        return Question(found.row, found.model["model"], self._mark, sample, seed, paper, walk)

    def _time(self, found: Found, wanted: bool) -> None:
        """Time a row and make its examples, if the file of its model is here."""
        assert found.model is not None
        row, digest, model = found.row, found.model["model"], self._models.path(found.row.model)
        rows = min(_QUICK_TIMED if self._options.quick else _TIMED, len(self._sample.rows))
        facts = made_from(row, digest, self._mark, rows)
        found.speed = kept_speed(self._kept, facts, row)
        if found.speed is None and wanted and model.exists():
            found.speed = measure_speed(self._kept, facts, row, model, self._data, named(row.name, self._tell))
        if row.name in examples.ROWS:
            found.examples = examples.kept_examples(self._kept, row, digest)
            if found.examples is None and wanted and model.exists():
                found.examples = examples.make_examples(self._kept, row, digest, model, self._tell)

    def _report(self) -> dict[str, Any]:
        self._stage = "report"
        left_out = {each.row.name: each.left_out for each in self._found if each.left_out}
        context = self._about_context()
        if context and context["left_out"]:
            left_out["the table of contexts"] = context["left_out"]
        if "report" not in self._options.steps:
            return {"left_out": left_out}
        self._tell(Event("computing the bootstrap intervals"))
        beside = _systems(self._options.beside)
        bootstrap = Bootstrap(seed=self._options.seed)
        content = {
            "format": FORMAT,
            "made": {"versions": versions(), "machine": machine(), "bootstrap": bootstrap.draws},
            "data": {"name": self._data.path.name, "fingerprint": self._mark, **self._sample.describe()},
            "options": {name: getattr(self._options, name) for name in ("rows", "paper", "quick", "sample", "seed")},
            "models": self._models.records(each.row.model for each in self._found),
            "context": context,
            **results(self._found, self._sample, bootstrap),
        }
        self._tell(Event("writing"))
        write_report(self._folder, content, beside)
        return content | {"left_out": left_out}

    def _about_context(self) -> dict[str, Any] | None:
        """Return how contexts were asked, or why not; None if no row that knows sessions is chosen."""
        if not any(each.row.name in contexts.ROWS for each in self._found):
            return None
        sessions = self._sessions
        left_out = contexts.NO_SESSIONS if sessions is None else None
        return {"queries": CONTEXT, "rows": len(sessions.rows) if sessions else 0, "left_out": left_out}
