"""Options are changed by name, however deep they lie, and checked on the way."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import pytest

from halfword.core.errors import OptionError
from halfword.core.fields import changed, flag_of, option


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    size: int = option(1, "How large.", "width", rare=True)
    share: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    inner: Inner = field(default_factory=Inner)
    path: Path | None = None
    colour: Colour = Colour.RED
    names: tuple[str, ...] = ()
    dates: tuple[str, str] | None = None
    loud: bool = False


def test_fields_of_nested_options_are_named_without_their_owner() -> None:
    assert changed(Outer(), {"size": 3, "path": "log.txt"}) == Outer(inner=Inner(size=3), path=Path("log.txt"))
    assert changed(Outer(), {"inner": Inner(size=4)}).inner.size == 4


def test_values_take_the_type_of_their_field() -> None:
    made = changed(Outer(), {"share": 1, "colour": "red", "names": ["a"], "dates": ["x", "y"]})
    assert (made.inner.share, made.colour, made.names, made.dates) == (1.0, Colour.RED, ("a",), ("x", "y"))
    assert type(made.inner.share) is float
    assert changed(Outer(path="given/as/text"), {}).path == Path("given/as/text")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("size", "5", "size must be a whole number, got '5'"),
        ("size", True, "size must be a whole number, got True"),
        ("share", None, "share must be a number, got None"),
        ("colour", "blue", "colour must be one of red, got 'blue'"),
        ("names", "abc", "names must be a list, got 'abc'"),
        ("names", [1], "names must be text, got 1"),
        ("dates", ["x"], "dates must have 2 values, got 1"),
        ("loud", 1, "loud must be True or False, got 1"),
        ("path", 5, "path must be a path, got 5"),
        ("sice", 5, "unknown option sice; the options are: inner, size, share, path, colour, names, dates, loud"),
    ],
)
def test_a_wrong_value_is_one_line(name: str, value: object, line: str) -> None:
    with pytest.raises(OptionError) as caught:
        changed(Outer(), {name: value})
    assert str(caught.value) == line


def test_a_field_says_how_the_command_line_offers_it() -> None:
    flags = [flag_of(each) for each in Inner.__dataclass_fields__.values()]
    assert flags[0] is not None
    assert (flags[0].help, flags[0].name, flags[0].rare) == ("How large.", "width", True)
    assert flags[1] is None
