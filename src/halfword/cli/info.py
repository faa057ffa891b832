"""`halfword info`."""

from pathlib import Path
from typing import Annotated

import typer

from halfword.cli.options import AsJson
from halfword.cli.output import print_json
from halfword.core.model_file import read_header


def info(
    model: Annotated[Path, typer.Argument(help="The model file.")],
    as_json: AsJson = False,
) -> None:
    """Print the card, the policy and the sizes of a model.

    Example: halfword info popular.halfword
    """
    header = read_header(model)
    card, policy = header.card.to_json(), header.policy.to_json()
    sizes = {name: place.end - place.begin for name, place in header.places.items()}
    if as_json:
        print_json({"card": card, "policy": policy, "features": header.features, "bytes": sizes})
        return
    print_json(card, indent=2)
    for name, number in policy.items():
        print(f"policy.{name}\t{number:g}")
    for name, size in sorted(sizes.items()):
        print(f"{name}\t{size:,} bytes")
