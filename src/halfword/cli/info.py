"""`halfword info`."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from halfword.cli.options import AsJson
from halfword.cli.output import print_fields, print_json
from halfword.core.errors import ModelFileError
from halfword.core.model_file import PADDING, Header, read_header
from halfword.core.verify import damaged_arrays
from halfword.search.model import DEFAULT_MODEL


def info(
    model: Annotated[
        Path, typer.Argument(help="The model file; left out, the one that ships.", show_default=False)
    ] = DEFAULT_MODEL,
    everything: Annotated[bool, typer.Option("--all", help="Print the card, the policy and all arrays.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Compare every array with its checksum.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say what a model was learned from, and what it holds.

    Example: halfword info my.halfword
    """
    header = read_header(model)
    states = _states(model, header) if verify else {}
    content = {
        "card": header.card.to_json(),
        "policy": header.policy.to_json(),
        "features": header.features,
        "digest": header.digest if header.has_checksums else None,
        "bytes": {name: place.end - place.begin for name, place in header.places.items() if _is_shown(name, states)},
        **({"verified": states} if verify else {}),
    }
    if as_json:
        print_json(content)
    elif everything or verify:
        _print_lines(content, states)
    else:
        for name, found in _summary(model, header):
            print_fields(name, found)
    if verify:
        _check(model, states)


def _summary(model: Path, header: Header) -> Iterator[tuple[str, str]]:
    """Yield what most want to know; what is not known is left out."""
    card, parts = header.card, header.card.parts
    yield "file", str(model)
    yield "size", f"{model.stat().st_size / 1e6:,.2f} MB"
    yield "digest", header.digest if header.has_checksums else "no checksums"
    if card.date:
        yield "made", f"{card.date}, halfword {card.halfword}"
    if sources := (card.data or {}).get("source"):
        yield "learned from", ", ".join(map(str, sources)) if isinstance(sources, list) else str(sources)
    if card.learned:
        rows = ", ".join(f"{number:,} {split}" for split, number in (card.learned.rows or {}).items())
        yield "learned rows", f"{rows}; all others are held out" if card.learned.hold_out else rows
    if (popular := parts.popular) and popular.queries is not None:
        yield "popularity", f"{popular.queries:,} queries, typed {popular.rows or 0:,} times"
    if (pieces := parts.pieces) and pieces.size is not None:
        yield "pieces", f"{pieces.size:,} {pieces.segmentation}"
    if (network := parts.network) and network.hidden_size is not None:
        yield "network", f"{network.hidden_size} hidden"
    if card.background:
        yield "stands on", " of ".join(filter(None, (card.background.name, card.background.date)))
    elif parts.ngram:
        yield "stands on", "no background"
    for name, said in (("misspellings", "likely typing mistakes"), ("never_suggested", "never suggested")):
        if found := (card.data or {}).get(name):
            yield said, str(found)
    if card.note:
        yield "note", card.note
    if card.licence:
        yield "licence", card.licence
    sizes: Counter[str] = Counter()
    for name, place in header.places.items():
        if not name.startswith(PADDING):
            sizes[name.partition(".")[0]] += place.end - place.begin
    yield "bytes", ", ".join(f"{name} {size:,}" for name, size in sizes.most_common())
    yield "more", "with --all"


def _states(model: Path, header: Header) -> dict[str, str]:
    """Return for each array whether it is as it was written; padding only if it is not."""
    damaged = set(damaged_arrays(model, header.places))
    return {
        name: "damaged" if name in damaged else "ok" if place.checksum else "no checksum"
        for name, place in header.places.items()
        if name in damaged or not name.startswith(PADDING)
    }


def _is_shown(name: str, states: dict[str, str]) -> bool:
    """Padding says nothing about a model, unless it is damaged."""
    return name in states or not name.startswith(PADDING)


def _print_lines(content: dict[str, Any], states: dict[str, str]) -> None:
    print_json(content["card"], indent=2)
    for name, number in content["policy"].items():
        print_fields(f"policy.{name}", f"{number:g}")
    print_fields("digest", content["digest"] or "no checksums")
    for name, size in sorted(content["bytes"].items()):
        print_fields(name, f"{size:,} bytes", *([states[name]] if states else []))


def _check(model: Path, states: dict[str, str]) -> None:
    """Refuse a file that is damaged, or of which nobody can know."""
    damaged = [name for name, state in states.items() if state == "damaged"]
    if damaged:
        raise ModelFileError(f"{model} is damaged: {', '.join(damaged)}; copy or train it again")
    if "no checksum" in states.values():
        raise ModelFileError(f"{model} has no checksums, so damage cannot be found; train it again to get them")
