"""What several commands print: results on stdout, tables for people, JSON for machines."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table

from halfword.core.printable import printable, printable_json

if TYPE_CHECKING:
    from halfword.core.card import Card


class SafeConsole(Console):
    """A console that escapes what is not printable: file names, cards and queries may hold escape sequences."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            safe = "\n".join(map(printable, segment.text.split("\n")))
            yield segment if segment.control else segment._replace(text=safe)


console = SafeConsole(highlight=False, soft_wrap=True, markup=False)


def print_json(content: Mapping[str, Any], indent: int | None = None) -> None:
    """Print one JSON object."""
    print(printable_json(json.dumps(content, ensure_ascii=False, indent=indent)))


def print_fields(*fields: str) -> None:
    """Print one record: its fields with tabs between them."""
    print("\t".join(map(printable, fields)))


def print_learned(output: Path, card: "Card") -> None:
    """Print what a model file holds that was just written."""
    from halfword.training.misspellings import left_out_path  # only training prints this

    if popular := card.parts.popular:
        console.print(f"{output}: {popular.queries:,} queries, typed {popular.rows:,} times")
    if (network := card.parts.network) and (pieces := card.parts.pieces):
        line = f"{output}: {pieces.size:,} {pieces.segmentation} pieces, {network.hidden_size} hidden"
        if best := network.best:
            line += (
                f"; best epoch {best['epoch']}, validation loss {best['valid_loss']:.3f} nats per query, "
                f"perplexity {best['valid_perplexity']:.3f} per character"
            )
        console.print(line)
    if learned := card.learned:
        rows = ", ".join(f"{number:,} {split}" for split, number in (learned.rows or {}).items())
        hint = "" if learned.hold_out else "; to measure a model, train it with --hold-out"
        console.print(f"{output}: learned rows: {rows}{hint}")
    if left_out := (card.data or {}).get("misspellings"):
        listed = left_out_path(output).name
        console.print(f"{output}: likely typing mistakes: {left_out}, see {listed}; --keep-misspellings learns them")
    if hidden := (card.data or {}).get("never_suggested"):
        hint = "docs/guide/not-suggested.md tells how to allow them"
        console.print(f"{output}: queries of this log that are never suggested: {hidden}; {hint}")
    if background := card.background:
        licence = f"licence: {background.licence or 'not named'}"
        console.print(f"{output}: stands on {background.name} ({licence}); --background none stands on nothing")
    elif card.parts.ngram:
        console.print(f"{output}: stands on no background, but on this log alone")


def table(*columns: str, caption: str | None = None) -> Table:
    """Return an empty table: names on the left, numbers on the right."""
    made = Table(caption=caption)
    for column in columns:
        made.add_column(column, justify="right" if column else "left")
    return made


def cells(values: Iterable[float | None]) -> Iterator[str]:
    """Return figures as a table shows them."""
    return ("–" if value is None else f"{value:.4f}" for value in values)
