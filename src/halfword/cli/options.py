"""Options of commands: those that dataclasses describe, and those that several commands share."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Optional, get_args, get_origin, get_type_hints

import typer

from halfword.core.fields import Flag, changed, converted, flag_of, names_of
from halfword.core.text import Profile

GIVEN = "given"  # the parameter of a command that gets the options of its dataclasses

ModelFile = Annotated[
    Path, typer.Option("--model", "-m", help="The model file; left out, the one that ships.", show_default=False)
]
NoVerify = Annotated[bool, typer.Option("--no-verify", help="Do not compare the model with its checksums.")]
Data = Annotated[Path, typer.Option("--data", "-d", help="The dataset to measure on.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]


def _show_all(context: typer.Context, wanted: bool) -> None:
    """Print the help with the options that it leaves out otherwise."""
    if wanted:
        for parameter in context.command.params:
            parameter.hidden = False  # type: ignore[attr-defined]
        print(context.get_help())
        raise typer.Exit


HelpAll = Annotated[
    bool, typer.Option("--help-all", callback=_show_all, is_eager=True, help="Show all options, the rare ones too.")
]


@dataclass(frozen=True, slots=True)
class Derived:
    """An option of a command that a field of a dataclass describes."""

    name: str  # of the field
    kind: Any
    default: Any
    flag: Flag

    @property
    def written(self) -> str:
        """How the option is written."""
        return f"--{self.flag.name or self.name.replace('_', '-')}"

    def parameter(self) -> inspect.Parameter:
        """Return the option as a parameter of a function, as Typer reads it; None: it was not given."""
        kind = _typed(self.kind)
        names = [name for name in (self.written, self.flag.short) if name]
        metavar = "NAME,…" if self.flag.commas else None
        made = typer.Option(*names, help=self._help(), hidden=self.flag.rare, show_default=False, metavar=metavar)
        default, annotation = (False, bool) if kind is bool else (None, Optional[kind])  # noqa: UP045
        keyword = inspect.Parameter.KEYWORD_ONLY
        return inspect.Parameter(self.name, keyword, default=default, annotation=Annotated[annotation, made])

    def value(self, given: Any) -> Any:
        """Return what was given as the field holds it."""
        if self.flag.parse is not None:
            return self.flag.parse(given)
        if self.flag.commas:
            given = [part.strip() for text in given for part in text.split(",")]
        return converted(self.written, self.kind, given)

    def _help(self) -> str:
        nothing = self.default is None or self.default is False or self.default in ("", ())
        return self.flag.help if self.flag.preset or nothing else f"{self.flag.help}  [default: {_shown(self.default)}]"


def takes(*kinds: type[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of dataclasses: those that were typed come in as the dictionary `given`."""
    options = {option.name: option for kind in kinds for option in derived(kind)}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        def run(**values: Any) -> None:
            typed = {name: values.pop(name) for name in options}
            was_typed = {name: value for name, value in typed.items() if value is not None and value is not False}
            command(**values, given={name: options[name].value(value) for name, value in was_typed.items()})

        parameters: list[inspect.Parameter] = []
        for each in inspect.signature(command, eval_str=True).parameters.values():
            added = [option.parameter() for option in options.values()] if each.name == GIVEN else [each]
            parameters += [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in added]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        run.__doc__ = command.__doc__
        return run

    return decorate


def divided(given: dict[str, Any], *defaults: Any) -> list[Any]:
    """Return each of the `defaults` with what was `given` of its own options."""
    own = [{name: given[name] for name in names_of(each) if name in given} for each in defaults]
    return [changed(each, mine) for each, mine in zip(defaults, own, strict=True)]


def derived(kind: type[Any]) -> Iterator[Derived]:
    """Yield the options that the fields of a dataclass describe, those of nested dataclasses in their place."""
    hints = get_type_hints(kind)
    for each in fields(kind):
        flag = flag_of(each)
        if flag is not None:
            yield Derived(each.name, hints[each.name], each.default, flag)
        elif is_dataclass(hints[each.name]):
            yield from derived(hints[each.name])


def _typed(kind: Any) -> Any:
    """Return the type that Typer reads from the command line for a field of type `kind`."""
    inner = [each for each in get_args(kind) if each is not NoneType]
    if get_origin(kind) is tuple:
        return list[str] if inner[-1] is ... else kind
    if get_origin(kind) is Mapping:
        return list[str]
    if inner:
        return _typed(inner[0])
    return str if is_dataclass(kind) or issubclass(kind, StrEnum) else kind


def _shown(default: Any) -> str:
    if isinstance(default, tuple):
        return ",".join(default)
    return default.name if isinstance(default, Profile) else str(default)
