"""The options of a search that a request may choose: those of `SearchOptions` that the command line offers too."""

from collections.abc import Mapping
from dataclasses import fields
from enum import StrEnum
from types import NoneType
from typing import Any, get_args, get_type_hints

from halfword.core.errors import OptionError
from halfword.core.fields import flag_of
from halfword.core.options import DEFAULTS, SearchOptions, limits_of, with_fields
from halfword.serve.http.reply import refuse

Chosen = tuple[tuple[str, Any], ...]  # name and value, in the order of `NAMES`

_HINTS = get_type_hints(SearchOptions)
_BOOLEANS = {"true": True, "false": False}
# `count` has a name of its own in every shape of request, and the server's limit.
NAMES = tuple(each.name for each in fields(SearchOptions) if flag_of(each) is not None and each.name != "count")


def chosen_by_query(given: Mapping[bytes, bytes]) -> Chosen:
    """Read what a query string chooses."""
    texts = {name: given[name.encode()].decode("utf-8", "replace") for name in NAMES if name.encode() in given}
    return _checked(tuple((name, _value_of(name, text)) for name, text in texts.items())) if texts else ()


def chosen_by_body(given: Mapping[Any, Any]) -> Chosen:
    """Read what a JSON object chooses; null leaves the choice to the model where the option allows it."""
    chosen = tuple((name, given[name]) for name in NAMES if name in given)
    for name, value in chosen:
        if isinstance(value, (list, dict)):
            raise refuse("bad_option", f"{name} must be a single value")
    return _checked(chosen) if chosen else ()


def _checked(chosen: Chosen) -> Chosen:
    try:
        with_fields(DEFAULTS, dict(chosen))
    except OptionError as error:
        raise refuse("bad_option", str(error)) from None
    return chosen


def _value_of(name: str, text: str) -> Any:
    """Return a text as the option's type has it; what is none is left to the check, which knows what is allowed."""
    kind = _kind_of(name)
    if kind is bool:
        return _BOOLEANS.get(text, text)
    if kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            return text
    return text


def schema_of(name: str, *, body: bool) -> dict[str, Any]:
    """Describe an option as OpenAPI does; null is for bodies only."""
    kind = _kind_of(name)
    if issubclass(kind, StrEnum):
        return {"type": "string", "enum": list(map(str, kind))}
    if kind is bool:
        return {"type": "boolean"}
    lowest, highest = limits_of(name)
    number = "integer" if kind is int else "number"
    nullable = body and _kind_of(name) is not _HINTS[name]
    return {"type": [number, "null"] if nullable else number, "minimum": lowest, "maximum": highest}


def help_of(name: str) -> str:
    """Return the sentence that the command line has for an option."""
    (flag,) = [flag_of(each) for each in fields(SearchOptions) if each.name == name]
    return flag.help if flag else ""


def _kind_of(name: str) -> Any:
    hint = _HINTS[name]
    return next((each for each in get_args(hint) if each is not NoneType), hint)
