"""Fields of option types: what the command line says of them, and how they are changed by name and checked."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from halfword.core.errors import OptionError

Options = TypeVar("Options")
Value = TypeVar("Value")

_FLAG = "flag"
_KINDS = {int: "a whole number", float: "a number", str: "text", bool: "True or False", Path: "a path"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """What the command line says of a field."""

    help: str
    name: str = ""  # left out: the field's
    short: str = ""
    rare: bool = False  # shown by --help-all only
    preset: bool = False  # the default depends on a preset, so it is not shown
    commas: bool = False  # several values in one text, separated by commas
    parse: Callable[[str], Any] | None = None  # from text, where the field's type is no simple one


def option(
    default: Value,
    help: str,
    name: str = "",
    *,
    short: str = "",
    rare: bool = False,
    preset: bool = False,
    commas: bool = False,
    parse: Callable[[str], Value] | None = None,
) -> Value:
    """Return a field of an option type that the command line offers too; `Flag` explains the arguments."""
    flag = Flag(help=help, name=name, short=short, rare=rare, preset=preset, commas=commas, parse=parse)
    made: Any = field(default=default, metadata={_FLAG: flag})
    return made  # type: ignore[no-any-return]


def flag_of(each: Field[Any]) -> Flag | None:
    """Return what the command line says of a field, or None if it does not offer it."""
    found: Flag | None = each.metadata.get(_FLAG)
    return found


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
    hints = get_type_hints(type(options))
    for each in fields(options):  # type: ignore[arg-type]
        value = getattr(options, each.name)
        if each.name in left:
            taken[each.name] = _parsed(each, hints[each.name], left.pop(each.name))
        elif is_dataclass(value) and not isinstance(value, type):
            taken[each.name] = _changed(value, left)
        else:
            taken[each.name] = converted(each.name, hints[each.name], value)
    return replace(options, **taken)  # type: ignore[type-var]


def _parsed(each: Field[Any], kind: Any, value: Any) -> Any:
    flag = flag_of(each)
    if flag and flag.parse and isinstance(value, str):
        return flag.parse(value)
    return converted(each.name, kind, value)


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
