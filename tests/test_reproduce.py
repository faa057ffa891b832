"""`halfword reproduce`: models are trained once, finished rows are kept, and the report says what was measured."""

import json
import random
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("torch")
pytest.importorskip("sentencepiece")

from halfword import load
from halfword.core.card import Card
from halfword.core.errors import OptionError, OutputError
from halfword.core.options import Invent
from halfword.data.dataset import Dataset, open_dataset
from halfword.evaluation.evaluate import EvaluateOptions, evaluate
from halfword.evaluation.reproduce import options as reproduce_options
from halfword.evaluation.reproduce import workflow
from halfword.evaluation.reproduce.contexts import SessionQuestion, SessionRows, kept_context
from halfword.evaluation.reproduce.models import Models
from halfword.evaluation.reproduce.options import ReproduceOptions
from halfword.evaluation.reproduce.quality import Quality, Question, completer_of, measure_quality
from halfword.evaluation.reproduce.recipes import Recipe, paper_network
from halfword.evaluation.reproduce.rows import ROWS, chosen_rows
from halfword.evaluation.reproduce.sample import draw_sample
from halfword.evaluation.reproduce.workflow import reproduce
from halfword.training.options import TrainOptions

pytestmark = pytest.mark.engine
SOME = ("mpc", "bpe-256", "bpe-256-r", "sr-256-r-m", "fast", "bpe-4096-r")


def make_log(folder: Path) -> Path:
    """Write queries of made-up words, few of them frequent, so that there is something to learn."""
    chance = random.Random(0)
    syllables = [first + second for first in "bcdfghklmnprst" for second in "aeiou"]
    words = ["".join(chance.choices(syllables, k=chance.randint(1, 4))) for _ in range(900)]
    ranks = [min(int(chance.paretovariate(0.35)) - 1, len(words) - 1) for _ in range(12_000)]
    rows = [" ".join(words[rank] for rank in ranks[start : start + chance.randint(1, 3)]) for start in range(3000)]
    rows = [row for row in rows if len(row) > 2]
    folder.mkdir()
    for split, part in (("train", rows[:2000]), ("valid", rows[2000:2400]), ("test", rows[2400:2650])):
        (folder / f"{split}.query.txt").write_text("\n".join(part))
    return folder


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_log(tmp_path_factory.mktemp("reproduce") / "made-up")


@pytest.fixture(scope="module")
def report(log: Path) -> Path:
    folder = log.parent / "report"
    reproduce(open_dataset(log), folder, ReproduceOptions(rows=SOME, quick=True, device="cpu"))
    return folder


def results(report: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((report / "results.json").read_text())
    return content


def row_named(report: Path, name: str) -> dict[str, Any]:
    return next(row for row in results(report)["rows"] if row["name"] == name)


def test_the_figures_are_those_of_evaluate(report: Path, log: Path) -> None:
    expected = evaluate(load(report / "models" / "popular.halfword"), open_dataset(log))
    row = row_named(report, "mpc")
    assert results(report)["data"]["rows"] == expected.rows
    for metric, means in expected.metrics.items():
        found = {group: estimate["value"] for group, estimate in row["metrics"][metric].items()}
        assert found == pytest.approx(means), metric
    assert row["mrr_at"] == pytest.approx(expected.mrr_at)
    assert row["success_at"] == pytest.approx(expected.success_at)
    for length, means in expected.by_query_length.items():
        assert row["by_query_length"][str(length)]["mrr"] == pytest.approx(means["mrr"])


def test_every_mean_lies_in_its_interval(report: Path) -> None:
    for row in results(report)["rows"]:
        for groups in row.get("metrics", {}).values():
            for estimate in groups.values():
                assert estimate["low"] <= estimate["value"] <= estimate["high"]


def test_contexts_bring_what_evaluate_says(report: Path, log: Path) -> None:
    everything = EvaluateOptions(walk=0, context=10, min_probability=0.0, invent=Invent.FREELY)
    expected = evaluate(load(report / "models" / "fast.halfword"), open_dataset(log), everything).context
    found = row_named(report, "fast")["context"]
    assert expected is not None
    assert list(found) == list(expected)
    for kind, gains in expected.items():
        assert found[kind]["rows"] == gains["rows"]
        for metric in ("mrr", "success"):
            gain = found[kind][metric]
            assert gain["low"] <= gain["with_context"] - gain["without"] <= gain["high"]
            for name in ("without", "with_context"):
                assert gain[name] == pytest.approx(gains[metric][name])
    assert found["shares a word"]["mrr"]["without"] != found["shares a word"]["mrr"]["with_context"]
    assert row_named(report, "mpc")["context"] is None


def test_contexts_have_a_table(report: Path) -> None:
    rows = row_named(report, "fast")["context"]["all"]["rows"]
    line = f"| all parts, fast: all | {rows} | ."
    assert line in (report / "results.md").read_text()
    assert "all parts, fast: share a word with it" in (report / "report.html").read_text()


def test_other_rows_before_a_query_are_asked_anew(report: Path, log: Path, tmp_path: Path) -> None:
    """The queries are the same, but not their order, which the fingerprint of the data need not tell."""
    sample = draw_sample(open_dataset(log), None, 0, 0)
    sessions = SessionRows.draw(open_dataset(log), sample, 0)
    assert sessions is not None
    (row,) = chosen_rows(("fast",))
    model = json.loads((report / "models" / "fast.json").read_text())["model"]
    assert kept_context(report / "rows", SessionQuestion(row, model, sessions, paper=False)) is not None
    other = replace(sessions, rows=[row._replace(context=row.context[1:]) for row in sessions.rows])
    assert kept_context(report / "rows", SessionQuestion(row, model, other, paper=False)) is None


def test_without_sessions_there_is_no_table_of_contexts(log: Path, tmp_path: Path) -> None:
    (tmp_path / "sorted").mkdir()
    for path in log.glob("*.txt"):
        (tmp_path / "sorted" / path.name).write_text("\n".join(sorted(path.read_text().split("\n"))))
    options = ReproduceOptions(rows=("default",), quick=True, device="cpu", steps=("report",))
    found = reproduce(open_dataset(tmp_path / "sorted"), tmp_path / "report", options)
    assert found["left_out"]["the table of contexts"] == "the dataset holds no sessions"
    for name in ("report.html", "results.md"):
        assert "Left out: the dataset holds no sessions." in (tmp_path / "report" / name).read_text()


def copy_of(report: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(report, tmp_path / "elsewhere"))


def test_a_finished_report_is_not_computed_again(
    report: Path, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*arguments: object, **options: object) -> None:
        raise AssertionError("computed again")

    moved = copy_of(report, tmp_path)
    monkeypatch.setattr("halfword.evaluation.reproduce.workflow.measure_quality", never)
    monkeypatch.setattr("halfword.evaluation.reproduce.workflow.measure_context", never)
    monkeypatch.setattr("halfword.evaluation.reproduce.workflow.measure_speed", never)
    monkeypatch.setattr("halfword.evaluation.reproduce.models.Models._train", never)
    rows = tuple(name for name in SOME if name != "bpe-4096-r")  # which cannot be trained, and is tried again
    reproduce(open_dataset(log), moved, ReproduceOptions(rows=rows, quick=True, device="cpu"))
    assert results(moved)["rows"] == [row for row in results(report)["rows"] if row["name"] in rows]


def test_a_report_may_be_moved_and_go_on_without_its_models(report: Path, log: Path, tmp_path: Path) -> None:
    moved = copy_of(report, tmp_path)
    for model in (moved / "models").glob("*.halfword"):
        model.unlink()
    reproduce(open_dataset(log), moved, ReproduceOptions(rows=("mpc", "fast"), quick=True, device="cpu"))
    assert row_named(moved, "fast")["metrics"] == row_named(report, "fast")["metrics"]
    assert not list((moved / "models").glob("*.halfword"))


def test_a_changed_recipe_or_search_makes_a_row_anew(
    report: Path, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = copy_of(report, tmp_path)
    asked: list[str] = []

    def noted(folder: Path, question: Question, *rest: Any) -> Quality:
        asked.append(question.row.name)
        return measure_quality(folder, question, *rest)

    monkeypatch.setattr(workflow, "measure_quality", noted)

    def changed(names: tuple[str, ...]) -> list[Any]:
        rows = {row.name: row for row in chosen_rows(names)}
        rows["bpe-256"] = replace(rows["bpe-256"], search=replace(rows["bpe-256"].search, beam=10))
        rows["sr-256-r-m"] = replace(rows["sr-256-r-m"], model=paper_network("unigram", seed=1))
        return list(rows.values())

    monkeypatch.setattr(reproduce_options, "chosen_rows", changed)
    rows = ("mpc", "bpe-256", "bpe-256-r", "sr-256-r-m")
    steps = ("train", "quality")
    reproduce(open_dataset(log), moved, ReproduceOptions(rows=rows, quick=True, device="cpu", steps=steps))
    assert asked == ["bpe-256", "bpe-256", "sr-256-r-m", "sr-256-r-m"]  # each also with the mistake of the paper's code


def test_what_the_data_does_not_allow_is_left_out_and_told(report: Path) -> None:
    row = row_named(report, "bpe-4096-r")
    assert "4096 pieces is larger than the data allows" in row["left_out"]
    assert "metrics" not in row
    assert "4096 pieces is larger than the data allows" in (report / "report.html").read_text()


def test_the_paper_mode_lifts_the_partial_matches(report: Path, log: Path, tmp_path: Path) -> None:
    row = row_named(report, "bpe-256-r")
    assert row["paper_mode"]["pmrr"]["all"] > row["metrics"]["pmrr"]["all"]["value"]
    options = ReproduceOptions(
        rows=("mpc",), quick=True, paper=True, device="cpu", steps=("train", "quality", "report")
    )
    reproduce(open_dataset(log), tmp_path / "paper", options)
    expected = evaluate(
        load(tmp_path / "paper" / "models" / "popular.halfword"), open_dataset(log), EvaluateOptions(walk=0, paper=True)
    )
    found = row_named(tmp_path / "paper", "mpc")["metrics"]["pmrr"]["all"]["value"]
    assert found == pytest.approx(expected.metrics["pmrr"]["all"])


class Links(HTMLParser):
    """Collects what a page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "link", "img", "iframe"):
            self.fetched.append(tag)
        self.fetched += [value for name, value in attrs if name in ("src", "href", "xlink:href") and value]


def test_the_page_holds_all_rows_and_fetches_nothing(report: Path) -> None:
    html = (report / "report.html").read_text()
    links = Links()
    links.feed(html)
    assert [link for link in links.fetched if not link.startswith("#")] == []
    assert not re.search(r"url\((?!#)|@import", html)
    for row in chosen_rows(SOME):
        assert row.label in html
    assert html.count("<svg") == 2
    assert results(report)["data"]["fingerprint"] in html


def test_tables_and_pictures_lie_beside_the_page(report: Path) -> None:
    tables = (report / "results.md").read_text()
    assert "| BPE + R∞ |" in tables
    assert all(line.count("|") == tables.splitlines()[4].count("|") for line in tables.splitlines()[4:8])
    for name in ("lengths", "frontier"):
        assert (report / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (report / f"{name}.svg").read_text()


def test_nothing_that_is_kept_holds_a_test_query(report: Path, log: Path) -> None:
    """A report may be published: what is measured is kept without the queries."""
    queries = [line for line in (log / "test.query.txt").read_text().splitlines() if line.count(" ") == 2]
    for path in [*(report / "rows").glob("*.npz"), report / "rows" / "fast.context.json", report / "results.md"]:
        content = path.read_bytes()
        assert not any(query.encode() in content for query in queries)


def test_a_network_alone_is_asked_on_the_gpu_and_the_rest_on_the_engine(
    report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("halfword.search.gpu.batched.BatchedNeural", lambda path, device: f"{path.stem} on {device}")
    models = report / "models"
    network, int8, blend = (row for row in chosen_rows(("bpe-256-r", "bpe-256-r-m-10-int8", "fast")))
    assert [str(each) for each in completer_of(network, models / "bpe-256.halfword", "cuda")] == [
        "bpe-256 on cuda",
        "cuda",
    ]
    assert completer_of(network, models / "bpe-256.halfword", "cpu")[1] == "cpu"
    assert completer_of(int8, models / "bpe-256.halfword", "cuda")[1] == "cpu"
    assert completer_of(blend, models / "fast.halfword", "cuda")[1] == "cpu"


def test_teachers_are_trained_before_their_student(
    text_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: list[tuple[str, tuple[str, ...]]] = []

    def pretend(data: Dataset, output: Path, options: TrainOptions, progress: Any) -> Card:
        trained.append((output.stem, options.network.teachers))
        output.write_text(output.stem)
        return Card()

    monkeypatch.setattr("halfword.evaluation.reproduce.models.train", pretend)
    teacher = paper_network("bpe", name="wide", hidden_size=1200)
    student = replace(paper_network("bpe", name="student"), teachers=(teacher,))
    models = Models(tmp_path, open_dataset(text_folder), "data", "cpu", lambda stage: None)
    models.ready(student)
    models.ready(student)
    assert trained == [("wide", ()), ("student", (str(tmp_path / "wide.halfword"),))]
    models.path(teacher).write_text("another")
    (tmp_path / "wide.json").unlink()
    assert models.record(student) is None


def test_rows_are_chosen_by_name_and_by_group() -> None:
    assert [row.name for row in chosen_rows(("best", "mpc"))] == ["mpc", "best"]
    assert {row.group for row in chosen_rows(("vocabulary",))} == {"vocabulary"}
    assert chosen_rows(()) == list(ROWS)
    with pytest.raises(OptionError, match="no row is called bert; the groups and rows are: paper, vocabulary"):
        chosen_rows(("bert",))


def test_the_names_of_rows_and_models_are_told_apart() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)
    recipes: dict[str, Recipe] = {}
    for row in ROWS:
        for recipe in (row.model, *row.model.needed()):
            assert recipes.setdefault(recipe.name, recipe) == recipe


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"rows": ("bert",)}, "no row is called bert"),
        ({"steps": ("dance",)}, "steps must be some of train, quality, speed, report; got dance"),
        ({"device": "tpu"}, "device must be one of auto, cpu, cuda"),
        ({"sample": 0}, "sample must be 1 or more"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], line: str) -> None:
    with pytest.raises(OptionError, match=line):
        ReproduceOptions(**options)


def test_a_folder_of_other_things_or_other_data_is_refused(report: Path, text_folder: Path, tmp_path: Path) -> None:
    data = open_dataset(text_folder)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("…")
    with pytest.raises(OutputError, match="holds other files than a report"):
        reproduce(data, tmp_path / "mine", ReproduceOptions(rows=("mpc",)))
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "reproduce.json").write_text('{"format": 1}')
    with pytest.raises(OutputError, match="holds a report of another version of halfword; name a new folder"):
        reproduce(data, tmp_path / "old", ReproduceOptions(rows=("mpc",)))
    with pytest.raises(OutputError, match="holds a report of other data"):
        reproduce(data, report, ReproduceOptions(rows=("mpc",), quick=True))


def test_the_command_prints_the_table_and_where_the_report_is(text_folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "halfword", "reproduce", text_folder, "-o", tmp_path / "report", "--rows", "mpc"]
    command += ["--device", "cpu"]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "MPC" in done.stdout
    assert done.stdout.splitlines()[-1] == str(tmp_path / "report" / "report.html")
    wrong = subprocess.run([*map(str, command), "--rows", "bert"], capture_output=True, text=True)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("halfword: no row is called bert")


def test_help_has_an_example() -> None:
    done = subprocess.run([sys.executable, "-m", "halfword", "reproduce", "--help"], capture_output=True, text=True)
    assert "Example: halfword reproduce data/ -o report/ --quick" in done.stdout
    assert len(done.stdout.splitlines()) <= 50  # one screen
