"""The command line as a user meets it: results on stdout, one line for a mistake, nothing half-written."""

import inspect
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from halfword import __version__
from halfword.cli.options import derived
from halfword.core.model_file import read_header
from halfword.core.options import SearchOptions
from halfword.core.policy import DEFAULT_POLICY
from halfword.data.options import PrepareOptions
from halfword.evaluation.bench import BenchOptions
from halfword.evaluation.evaluate import EvaluateOptions
from halfword.evaluation.reproduce.options import ReproduceOptions
from halfword.serve.options import ServeOptions
from halfword.training.options import TrainOptions
from tests.conftest import COUNTS, OLD, MakeModel, damage


def halfword(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "halfword", *map(str, arguments)]
    result = subprocess.run(command, input=stdin, capture_output=True)
    return subprocess.CompletedProcess(command, result.returncode, result.stdout.decode(), result.stderr.decode())


def assert_refused(result: subprocess.CompletedProcess[str], line: str, status: int = 1) -> None:
    assert result.returncode == status
    assert result.stdout == ""
    *progress, mistake = result.stderr.splitlines()
    assert line in mistake
    assert mistake.startswith("halfword: ")
    assert "Traceback" not in progress


def test_train_then_complete_then_evaluate(text_folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "popular.halfword"
    trained = halfword("train", text_folder, "--parts", "popular", "--hold-out", "-o", model)
    assert trained.returncode == 0
    assert "7 queries, typed 25 times" in trained.stdout
    assert read_header(model).card.parts.to_json() == {"popular": {"queries": 7, "rows": 25}}
    completed = halfword("complete", "--model", model, "new yo")
    assert (completed.stdout, completed.stderr) == ("new york times\nnew york\n", "")
    evaluated = halfword("evaluate", "--model", model, "--data", text_folder, "--json")
    assert json.loads(evaluated.stdout)["metrics"]["mrr"]["all"] == 0.75
    assert evaluated.stderr == ""
    assert "0.7500" in halfword("evaluate", "--model", model, "--data", text_folder).stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["popular.halfword", "queries"]


def test_a_model_that_has_learned_all_rows_says_so_and_is_not_evaluated_on_them(
    text_folder: Path, tmp_path: Path
) -> None:
    model = tmp_path / "popular.halfword"
    trained = halfword("train", text_folder, "--parts", "popular", "-o", model)
    assert "learned rows: 25 train, 2 valid, 4 test; to measure a model, train it with --hold-out" in trained.stdout
    evaluated = halfword("evaluate", "--model", model, "--data", text_folder)
    assert evaluated.returncode == 1
    assert "has learned the test rows" in evaluated.stderr
    assert "halfword train --hold-out" in evaluated.stderr
    assert halfword("complete", "--model", model, "new j").stdout == "new jersey\n"


def test_several_prefixes_are_told_apart(make_model: MakeModel) -> None:
    model = make_model(COUNTS)
    assert halfword("complete", "-m", model, "-n", "1", "we", "ne").stdout == "we\tweather\nne\tnew york times\n"


def test_prefixes_come_from_stdin(make_model: MakeModel) -> None:
    result = halfword("complete", "-m", make_model(COUNTS), "-n", "1", "--json", stdin="we\nzé\n".encode())
    first, second = map(json.loads, result.stdout.splitlines())
    assert first["prefix"] == "we"
    assert first["completions"][0]["text"] == "weather"
    assert second == {"prefix": "zé", "completions": []}


def test_a_prefix_without_completions_is_said(make_model: MakeModel) -> None:
    result = halfword("complete", "-m", make_model(COUNTS), "z\x1b[1m")
    assert (result.returncode, result.stdout) == (0, "")
    assert result.stderr.startswith("no completion of ")
    assert "\x1b" not in result.stderr


def test_scores_and_sources_are_columns(make_model: MakeModel) -> None:
    result = halfword("complete", "-m", make_model({"web": 1, "weather": 3}), "we", "--scores")
    assert result.stdout == "weather\t-0.2877\tpopular\nweb\t-1.3863\tpopular\n"


def test_scores_tell_what_is_corrected() -> None:
    for prefix, corrected in {"britny sp": True, "britney sp": False}.items():
        first = halfword("complete", prefix, "--scores").stdout.split("\n")[0].split("\t")
        assert (first[0], first[3:]) == ("britney spears", ["corrected"] if corrected else [])


def test_a_reader_that_leaves_early_is_no_mistake(make_model: MakeModel) -> None:
    command = f"{sys.executable} -m halfword complete -m {make_model(COUNTS)} '' | head -1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("new york times\n", "")


def test_a_full_disk_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "halfword", "complete", "new"], stdout=full, stderr=-1, text=True
        )
    assert (result.returncode, result.stderr) == (
        1, "halfword: the output cannot be written (no space is left on the device)\n"
    )  # fmt: skip


def test_a_terminal_that_knows_ascii_only_is_no_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    result = halfword("doctor")
    assert (result.returncode, result.stderr) == (0, "")
    assert "\\u2713 halfword" in result.stdout


@pytest.mark.parametrize("prefix", ["", "  ", "😀", "NEW YO", "서울", "مرحبا", "a" * 5000, "ab\x01c", "-- -x"])
def test_odd_prefixes_are_completed_or_not_but_never_a_mistake(prefix: str) -> None:
    result = halfword("complete", "--json", "--", prefix)
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout)["prefix"] == prefix


def test_no_prefix_at_all_is_no_mistake() -> None:
    assert halfword("complete", stdin=b"").returncode == 0


def test_what_is_no_model_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("new york\n")
    (tmp_path / "empty").write_text("")
    assert_refused(halfword("complete", "-m", tmp_path, "x"), "is a folder, a model is a file")
    assert_refused(halfword("complete", "-m", tmp_path / "log.txt", "x"), "is not a model file")
    assert_refused(halfword("info", tmp_path / "empty"), "is not a model file: it is empty")


def test_info_prints_the_card_and_the_sizes(make_model: MakeModel) -> None:
    model = make_model(COUNTS)
    assert json.loads(halfword("info", model, "--json").stdout)["card"]["profile"] == "default"
    assert f"popular.count\t{len(COUNTS)} bytes" in halfword("info", model, "--all").stdout


def test_info_is_short_unless_all_is_wanted(make_model: MakeModel) -> None:
    said = dict(line.split("\t") for line in halfword("info", make_model(COUNTS)).stdout.splitlines())
    assert said["popularity"] == f"{len(COUNTS)} queries, typed {sum(COUNTS.values())} times"
    assert said["bytes"].startswith("popular ")
    ships = halfword("info").stdout
    assert "licence\tCC BY-SA 4.0\n" in ships
    assert len(ships.splitlines()) < 20


def test_info_without_a_model_is_about_the_one_that_ships() -> None:
    assert json.loads(halfword("info", "--json").stdout)["card"]["licence"] == "CC BY-SA 4.0"


def test_info_prints_no_padding(make_model: MakeModel) -> None:
    model = make_model(COUNTS)
    assert "padding.1" in read_header(model).places
    for options in ([], ["--all"], ["--json"], ["--verify"], ["--verify", "--json"]):
        assert "padding.1" not in halfword("info", model, *options).stdout


def test_a_missing_model_is_one_line(tmp_path: Path) -> None:
    assert_refused(halfword("complete", "-m", tmp_path / "no.halfword", "x"), "does not exist; make a model with")


def test_a_damaged_model_is_one_line(make_model: MakeModel) -> None:
    model = make_model(COUNTS)
    model.write_bytes(model.read_bytes()[:-9])
    assert_refused(halfword("complete", "-m", model, "x"), "is damaged")


def test_info_verifies_every_array(make_model: MakeModel) -> None:
    model = make_model(COUNTS)
    digest = read_header(model).digest
    well = halfword("info", model, "--verify")
    assert well.returncode == 0
    assert f"digest\t{digest}\n" in well.stdout
    assert f"popular.count\t{len(COUNTS)} bytes\tok\n" in well.stdout
    damage(model, "padding")
    result = halfword("info", model, "--verify")
    assert result.returncode == 1
    assert "padding.1\t4 bytes\tdamaged\n" in result.stdout
    assert result.stderr == f"halfword: {model} is damaged: padding.1; copy or train it again\n"
    verified = json.loads(halfword("info", model, "--verify", "--json").stdout)["verified"]
    assert verified["padding.1"] == "damaged"
    assert verified["popular.count"] == "ok"


def test_info_says_that_an_old_file_has_no_checksums() -> None:
    assert "digest\tno checksums\n" in halfword("info", OLD).stdout
    result = halfword("info", OLD, "--verify")
    assert result.returncode == 1
    assert "popular.count\t" in result.stdout
    assert "\tno checksum\n" in result.stdout
    assert "has no checksums, so damage cannot be found" in result.stderr


def test_a_damaged_model_is_used_only_without_verification(make_model: MakeModel) -> None:
    model = make_model(COUNTS)
    damage(model, "padding")
    assert_refused(halfword("complete", "-m", model, "wea"), "the array padding.1 does not match its checksum")
    assert halfword("complete", "-m", model, "wea", "--no-verify").stdout.startswith("weather\n")


@pytest.mark.parametrize("command", ["complete", "evaluate", "bench", "try", "serve"])
def test_whatever_loads_a_model_can_leave_out_verification(command: str) -> None:
    assert "--no-verify" in halfword(command, "--help").stdout


def test_bad_bytes_on_stdin_are_one_line(make_model: MakeModel) -> None:
    result = halfword("complete", "-m", make_model(COUNTS), stdin=b"\xff\n")
    assert_refused(result, "stdin, line 1: not UTF-8")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--parts", "magic"], "parts must be some of"),
        (["--parts", ""], "parts must be some of popular"),
    ],
)
def test_a_wrong_option_is_one_line_and_status_two(arguments: list[str], line: str, text_folder: Path) -> None:
    result = halfword("train", text_folder, "-o", text_folder.parent / "m.halfword", *arguments)
    assert_refused(result, line, status=2)


def test_an_output_that_cannot_be_written_is_found_before_the_work(text_folder: Path, tmp_path: Path) -> None:
    assert_refused(halfword("train", text_folder, "-o", tmp_path / "no" / "m.halfword"), "create it first")


@pytest.mark.parametrize(
    ("content", "line"),
    [(b"good\nbad \xff\n", "line 2: not UTF-8"), (b"\n\n", "holds no query"), (b"", "holds no query")],
)
def test_bad_query_files_are_one_line(content: bytes, line: str, text_folder: Path, tmp_path: Path) -> None:
    (text_folder / "train.query.txt").write_bytes(content)
    assert_refused(halfword("train", text_folder, "-o", tmp_path / "m.halfword"), line)


def test_a_folder_that_is_no_dataset_is_one_line(tmp_path: Path) -> None:
    output = tmp_path / "m.halfword"
    assert_refused(halfword("train", tmp_path, "-o", output), "holds neither dataset.json nor train.query.txt")
    assert_refused(halfword("train", tmp_path / "no", "-o", output), "does not exist; make it with: halfword prepare")
    (tmp_path / "log.txt").write_text("news\n")
    assert_refused(halfword("train", tmp_path / "log.txt", "-o", output), "is a file, a dataset is a folder")


COMMANDS = [
    "complete",
    "prepare",
    "count",
    "train",
    "shrink",
    "import-subword-qac",
    "evaluate",
    "bench",
    "reproduce",
    "info",
    "serve",
    "try",
    "doctor",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_on_one_screen_with_an_example(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = halfword(command, "--help")
    lines = result.stdout.splitlines()
    assert result.returncode == 0
    assert f"Example: halfword {command}" in result.stdout
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80


def test_the_list_of_commands_fits_on_one_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = halfword("--help")
    assert len(result.stdout.splitlines()) <= 24
    listed = [command for command in COMMANDS if command not in ("count", "import-subword-qac")]  # for few
    assert all(f"\n  {command} " in result.stdout for command in listed)


@pytest.mark.parametrize(
    ("command", "rare"),
    [
        ("prepare", "--keep-personal"),
        ("train", "--learning-rate"),
        ("serve", "--pad"),
        ("complete", "--min-probability"),
        ("evaluate", "--typos"),
    ],
)
def test_rare_options_are_shown_on_demand(command: str, rare: str) -> None:
    assert rare not in halfword(command, "--help").stdout
    everything = halfword(command, "--help-all").stdout
    assert rare in everything
    assert len(everything.splitlines()) <= 57


def test_the_version_is_printed() -> None:
    assert halfword("--version").stdout == f"halfword {__version__}\n"


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("prepare", PrepareOptions),
        ("train", TrainOptions),
        ("evaluate", EvaluateOptions),
        ("bench", BenchOptions),
        ("reproduce", ReproduceOptions),
        ("serve", ServeOptions),
        ("complete", SearchOptions),
    ],
)
def test_what_was_not_typed_keeps_the_default_of_its_dataclass(command: str, kind: type[object]) -> None:
    function = getattr(import_module(f"halfword.cli.{command}"), command)
    options = {option.name: option for option in derived(kind)}
    defaults = {name: inspect.signature(function).parameters[name].default for name in options}
    assert set(defaults.values()) <= {None, False}
    assert options


def test_a_wrong_choice_is_named_as_it_was_typed(text_folder: Path) -> None:
    result = halfword("train", text_folder, "-o", text_folder.parent / "m.halfword", "--segmentation", "word")
    assert_refused(result, "--segmentation must be one of char, bpe, unigram, got 'word'", status=2)


def test_several_values_come_with_commas_or_one_by_one() -> None:
    parts = next(option for option in derived(TrainOptions) if option.name == "parts")
    assert parts.value(["popular, ngram"]) == parts.value(["popular", "ngram"]) == ("popular", "ngram")


def test_info_prints_the_policy(make_model: MakeModel) -> None:
    model = make_model(COUNTS)
    assert json.loads(halfword("info", model, "--json").stdout)["policy"] == DEFAULT_POLICY.to_json()
    assert f"policy.page\t{DEFAULT_POLICY.page:g}\n" in halfword("info", model, "--all").stdout
