"""A model file is read back as it was written, or refused with its reason."""

import json
import random
import struct
from pathlib import Path

import pytest
from safetensors import safe_open

from halfword import load
from halfword.core.card import Card
from halfword.core.errors import ModelFileError, OutputError
from halfword.core.model_file import Array, read_header, write_model
from halfword.core.policy import DEFAULT_POLICY
from tests.conftest import COUNTS, MakeModel

pytestmark = pytest.mark.engine


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "a.halfword"
    arrays = {"popular.text": Array("U8", b"abc"), "popular.sum": Array("U64", struct.pack("<2Q", 1, 2))}
    write_model(path, arrays, Card(profile="default", note="한국어"))
    header = read_header(path)
    assert header.card == Card(profile="default", note="한국어")
    content = path.read_bytes()
    for name, array in arrays.items():
        place = header.places[name]
        assert content[place.begin : place.end] == array.data
        assert place.begin % 8 == 0
    assert header.holds("popular")
    assert not header.holds("network")


def test_the_safetensors_library_opens_it(make_model: MakeModel) -> None:
    with safe_open(make_model(COUNTS), framework="numpy") as file:
        assert file.metadata()["halfword"] == "3"
        assert sorted(file.get_tensor("popular.count")) == sorted(COUNTS.values())


def header_of(metadata: object, **entries: object) -> bytes:
    encoded = json.dumps({"__metadata__": metadata, **entries}).encode()
    return struct.pack("<Q", len(encoded)) + encoded


POLICY = json.dumps(DEFAULT_POLICY.to_json())
CARD = {"halfword": "3", "card": '{"profile": "default"}', "policy": POLICY}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is not a model file: it is empty"),
        (b"abc", "is not a model file: it does not begin like one"),
        (b"\x50\x4b\x03\x04" + bytes(100), "is not a model file: it does not begin like one"),
        (header_of({"format": "pt"}), "a safetensors file of another program"),
        (header_of({"halfword": "99", "card": "{}"}), "format 99, this build reads 3; make it anew with"),
        (header_of({**CARD, "card": "{"}), "is damaged: its card is not JSON"),
        (header_of({**CARD, "card": "[]"}), "is damaged: its card is not a JSON object"),
        (header_of({**CARD, "card": 7}), "is damaged: its metadata are not texts"),
        (header_of({**CARD, "policy": '{"odd": 1}'}), "the policy's numbers do not fit this version"),
        (header_of({**CARD, "policy": POLICY.replace("10.0", "-1", 1)}), "the policy's many_queries must lie between"),
        (struct.pack("<Q", 8) + b"{nothing", "is damaged: its header is not JSON"),
        (struct.pack("<Q", 500) + b"{}", "is damaged: its header of 500 bytes is cut off"),
        (header_of(CARD, a={"dtype": "U8", "shape": [9], "data_offsets": [0, 9]}), "the array a is cut off"),
        (header_of(CARD, a={"dtype": "U8", "shape": [2], "data_offsets": [0, 9]}), "the array a makes no sense"),
        (header_of(CARD, a={"dtype": "F13", "shape": [2], "data_offsets": [0, 2]}), "the array a makes no sense"),
        (header_of(CARD, a=[]), "the array a makes no sense"),
        (header_of(CARD, a={"dtype": "U8", "shape": [10**4000], "data_offsets": [0, 1]}), "the array a makes no sense"),
        (header_of(CARD, a={"dtype": "U8", "shape": [1] * 99, "data_offsets": [0, 1]}), "the array a makes no sense"),
        (struct.pack("<Q", 96_000_000) + b"{" + bytes(100), "is not a model file: it does not begin like one"),
    ],
)
def test_a_foreign_or_damaged_file_is_refused_with_its_reason(content: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.halfword"
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        load(path)
    assert reason in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize("number", [1, 2])
def test_a_file_of_an_older_format_is_refused_with_the_command_that_makes_a_new_one(number: int) -> None:
    with pytest.raises(ModelFileError, match=f"format {number}, this build reads 3; make it anew with: halfword"):
        load(DATA / f"format-{number}.halfword")


def test_the_first_file_of_this_format_is_still_read() -> None:
    model = load(DATA / "format-3.halfword")
    assert model.parts == ("popular", "ngram")
    assert model.complete("new", count=3).texts == ["news", "new york", "new york times"]


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"nowhere\.halfword does not exist; make a model with"):
        load(tmp_path / "nowhere.halfword")
    with pytest.raises(ModelFileError, match="is a folder"):
        load(tmp_path)


def test_a_file_cut_anywhere_is_refused(make_model: MakeModel, tmp_path: Path) -> None:
    whole = make_model(COUNTS).read_bytes()
    path = tmp_path / "cut.halfword"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError):
            load(path)


def test_a_damaged_file_gives_an_error_or_an_answer_but_never_a_crash(make_model: MakeModel, tmp_path: Path) -> None:
    counts = {f"query {number:03} {'long ' * (number % 40)}end": number + 1 for number in range(200)}
    whole = make_model(counts).read_bytes()
    first = min(place.begin for place in read_header(make_model(counts)).places.values())
    path = tmp_path / "bent.halfword"
    chance = random.Random(0)
    answers = 0
    for _ in range(1500):
        bent = bytearray(whole)
        for _ in range(chance.randint(1, 20)):
            bent[chance.randrange(first, len(bent))] = chance.randrange(256)
        path.write_bytes(bent)
        try:
            model = load(path, verify=False)
        except ModelFileError:
            continue
        for prefix in ("", "q", "query 1", "query 150 long", "\U0010ffff"):
            assert len(model.complete(prefix)) <= 10
        answers += 1
    assert answers > 100  # the search meets damage that loading does not


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="does not exist; create it first"):
        write_model(tmp_path / "nowhere" / "a.halfword", {}, Card())
    with pytest.raises(OutputError, match="is a folder; name a file"):
        write_model(tmp_path, {}, Card())
    assert list(tmp_path.iterdir()) == []


def test_an_old_file_stays_when_writing_a_new_one_fails(make_model: MakeModel, tmp_path: Path) -> None:
    path = make_model(COUNTS)
    before = path.read_bytes()
    with pytest.raises(TypeError):
        write_model(path, {"popular.text": Array("U8", "not bytes")}, Card())  # type: ignore[arg-type]
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
