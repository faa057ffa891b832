"""Options given by name: nested option types are changed as if they were one, and checked."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from halfword.core.errors import OptionError

Options = TypeVar("Options")

_KINDS = {int: "a whole number", float: "a number", str: "text", bool: "True or False", Path: "a path"}


def changed(options: Options, changes: Mapping[str, Any]) -> Options:
    """Return `options` with some fields changed; fields of nested options are named without their owner."""
    left = dict(changes)
    result = _changed(options, left)
    if left:
        known = ", ".join(dict.fromkeys(names_of(options)))
        raise OptionError(f"unknown option {', '.join(sorted(left))}; the options are: {known}")
    return result


def names_of(options: Any) -> Iterator[str]:
    """Yield the names that `changed` knows."""
    for each in fields(options):
        yield each.name
        value = getattr(options, each.name)
        if is_dataclass(value):
            yield from names_of(value)


def converted(name: str, kind: Any, value: Any) -> Any:
    """Return `value` as a field of type `kind` holds it, or say that `name` must be something else.

    >>> converted("base", Path | None, "my.halfword").name
    'my.halfword'
    """
    if get_origin(kind) in (Union, UnionType):
        return _one_of(name, get_args(kind), value)
    if get_origin(kind) is tuple:
        return _tuple_of(name, get_args(kind), value)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        if value not in list(kind):
            raise OptionError(f"{name} must be one of {', '.join(kind)}, got {value!r}")
        return kind(value)
    if kind is Path and isinstance(value, str):
        return Path(value)
    if kind is float and type(value) is int:
        return float(value)
    if kind in _KINDS and (not isinstance(value, kind) or (kind is not bool and isinstance(value, bool))):
        raise OptionError(f"{name} must be {_KINDS[kind]}, got {value!r}")
    return value


def _changed(options: Options, left: dict[str, Any]) -> Options:
    """Take from `left` what belongs to `options`."""
    taken = {}
    for name, kind in _types_of(options).items():
        value = getattr(options, name)
        if name in left:
            taken[name] = converted(name, kind, left.pop(name))
        elif is_dataclass(value) and not isinstance(value, type):
            taken[name] = _changed(value, left)
        else:
            taken[name] = converted(name, kind, value)
    return replace(options, **taken)  # type: ignore[type-var]


def _types_of(options: Any) -> dict[str, Any]:
    hints = get_type_hints(type(options))
    return {each.name: hints[each.name] for each in fields(options)}


def _one_of(name: str, kinds: tuple[Any, ...], value: Any) -> Any:
    if value is None and NoneType in kinds:
        return None
    (kind, *others) = [each for each in kinds if each is not NoneType]
    return value if others else converted(name, kind, value)


def _tuple_of(name: str, kinds: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    if isinstance(value, str) or not isinstance(value, (list, tuple)):
        raise OptionError(f"{name} must be a list, got {value!r}")
    if kinds[-1] is ...:
        return tuple(converted(name, kinds[0], each) for each in value)
    if len(value) != len(kinds):
        raise OptionError(f"{name} must have {len(kinds)} values, got {len(value)}")
    return tuple(converted(name, kind, each) for kind, each in zip(kinds, value, strict=True))
