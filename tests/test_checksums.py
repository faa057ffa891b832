"""Damage to a model file is found, named and refused."""

import os
import struct
import threading
from pathlib import Path

import pytest

from halfword import load
from halfword.core.card import Card
from halfword.core.checksums import Span, checksum, checksums_of
from halfword.core.errors import ModelFileError
from halfword.core.model_file import Array, Header, read_header, write_model
from halfword.core.verify import content_digest, damaged_arrays
from halfword.search.model import DEFAULT_MODEL
from tests.conftest import COUNTS, OLD, MakeModel, damage

PAGE = 4096


def first_array(header: Header) -> int:
    return min(place.begin for place in header.places.values())


def refusal_of(path: Path) -> str:
    with pytest.raises(ModelFileError) as caught:
        load(path)
    line = str(caught.value)
    assert str(path) in line
    assert "\n" not in line
    return line


def test_a_zeroed_page_is_refused_wherever_it_is(make_model: MakeModel) -> None:
    path = make_model({f"query {number} {'word ' * (number % 9)}": number + 1 for number in range(3000)})
    whole = path.read_bytes()
    assert len(whole) > 20 * PAGE
    for begin in range(0, len(whole), PAGE):
        page = whole[begin : begin + PAGE]
        if any(page):
            path.write_bytes(whole[:begin] + bytes(len(page)) + whole[begin + PAGE :])
            refusal_of(path)


def test_any_changed_byte_is_refused(make_model: MakeModel) -> None:
    path = make_model(COUNTS)
    whole, length = path.read_bytes(), first_array(read_header(path))
    for place, old in enumerate(whole):
        values = {0, old ^ 1, ord('"'), ord("\\"), ord(" ")} if place < length else {old ^ 1}
        for new in values - {old}:
            path.write_bytes(whole[:place] + bytes([new]) + whole[place + 1 :])
            with pytest.raises(ModelFileError):
                load(path)


def test_the_refusal_names_the_file_the_array_and_what_to_do(make_model: MakeModel) -> None:
    path = make_model(COUNTS)
    damage(path, "padding")
    line = f"{path} is damaged: the array padding.1 does not match its checksum; copy or train it again"
    assert refusal_of(path) == line
    damage(path, "popular")
    assert "does not match its checksum, nor do 1 more; copy" in refusal_of(path)


def test_bytes_behind_the_last_array_are_refused(make_model: MakeModel) -> None:
    path = make_model(COUNTS)
    path.write_bytes(path.read_bytes() + b"\n")
    assert "there are bytes behind its last array" in refusal_of(path)


def test_a_damaged_header_is_refused_even_if_nothing_is_verified(make_model: MakeModel) -> None:
    path = make_model(COUNTS)
    path.write_bytes(path.read_bytes().replace(b'\\"default\\"', b'\\"newyork\\"', 1))
    with pytest.raises(ModelFileError, match="its header does not match its digest; copy or train it again"):
        load(path, verify=False)


def test_without_verification_the_arrays_are_not_compared(make_model: MakeModel) -> None:
    path = make_model(COUNTS)
    damage(path, "padding")
    assert "the array padding" in refusal_of(path)
    assert load(path, verify=False).complete("wea", count=1).texts == ["weather"]


def test_parts_that_are_left_out_are_not_verified(tmp_path: Path) -> None:
    path, header, content = tmp_path / "a.halfword", read_header(OLD), OLD.read_bytes()
    arrays = {name: Array(each.dtype, content[each.begin : each.end]) for name, each in header.places.items()}
    write_model(path, arrays, header.card, policy=header.policy, features=header.features)
    damage(path, "ngram")
    assert load(path, parts=("popular",)).complete("new", count=1).texts == ["new york times"]
    assert "the array ngram." in refusal_of(path)


def test_a_file_without_checksums_is_still_read() -> None:
    header = read_header(OLD)
    assert not header.has_checksums
    assert damaged_arrays(OLD, header.places) == []
    assert load(OLD).complete("new", count=1).texts == ["news"]


def test_the_model_that_ships_has_checksums() -> None:
    assert read_header(DEFAULT_MODEL).has_checksums


def test_the_digest_changes_with_every_array_and_not_with_the_path(tmp_path: Path) -> None:
    digests = set()
    for count in range(3):
        arrays = {"popular.text": Array("U8", b"abc"), "popular.sum": Array("U64", struct.pack("<Q", count))}
        for name in ("a", "b"):
            path = tmp_path / name
            write_model(path, arrays, Card())
            digests.add(content_digest(path, read_header(path)))
    assert len(digests) == 3


def test_the_digest_of_a_file_without_checksums_covers_every_byte(tmp_path: Path) -> None:
    path, content = tmp_path / "old.halfword", bytearray(OLD.read_bytes())
    digests = set()
    for place in (None, first_array(read_header(OLD)), len(content) - 1):
        if place is not None:
            content[place] ^= 1
        path.write_bytes(content)
        digests.add(content_digest(path, read_header(path)))
    assert len(digests) == 3


def test_many_threads_find_what_one_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("halfword.core.checksums._THREAD_BYTES", 1)
    monkeypatch.setattr("halfword.core.checksums._BLOCK", 1000)
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    content = bytes(range(256)) * 1000
    (tmp_path / "file").write_bytes(content)
    spans = {str(begin): Span(begin, begin + 7 * begin % 9000) for begin in range(0, 200_000, 1111)}
    spans["beyond"] = Span(len(content) - 5, len(content) + 5)
    before = threading.active_count()
    with (tmp_path / "file").open("rb") as stream:
        found = checksums_of(stream.fileno(), spans)
    assert found.pop("beyond") == ""
    assert found == {name: checksum(content[span.begin : span.end]) for name, span in spans.items() if name in found}
    assert len(found) == len(spans) - 1
    assert threading.active_count() <= before  # threads of other tests may have ended meanwhile


def test_a_file_that_gets_shorter_while_it_is_verified_is_refused(make_model: MakeModel) -> None:
    path = make_model(COUNTS)
    header = read_header(path)
    os.truncate(path, first_array(header) + 10)
    assert damaged_arrays(path, header.places)
