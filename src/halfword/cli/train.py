"""`halfword train`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from halfword.cli.options import AsJson, HelpAll, takes
from halfword.cli.output import print_json, print_learned
from halfword.cli.progress import is_helper, progress
from halfword.core.errors import OptionError
from halfword.core.fields import changed
from halfword.data.dataset import open_dataset
from halfword.training.network.options import PRESETS
from halfword.training.options import BEST, TrainOptions, with_preset

_FAST = "fast"


@takes(TrainOptions)
def train(
    data: Annotated[Path, typer.Argument(help="A dataset folder, or plain query files.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write.", show_default=False)],
    fast: Annotated[bool, typer.Option("--fast", help="A smaller network, for less time per keystroke.")] = False,
    best: Annotated[bool, typer.Option("--best", help="A larger one, taught by five others.")] = False,
    preset: Annotated[str | None, typer.Option(help=f"{', '.join(PRESETS)}.", hidden=True)] = None,
    *,
    given: dict[str, Any],
    as_json: AsJson = False,
    help_all: HelpAll = False,
) -> None:
    """Learn a model file from a dataset.

    Example: halfword train data/ --time-limit 20 -o my.halfword
    """
    from halfword.training.train import train as run

    chosen = _preset_of(preset, fast, best)
    options = changed(with_preset(TrainOptions(), chosen) if chosen else TrainOptions(), given)
    with progress(lines=True) as tell:
        card = run(open_dataset(data), output, options, tell)
    if is_helper():
        return
    if as_json:
        print_json(card.to_json())
    else:
        print_learned(output, card)


def _preset_of(preset: str | None, fast: bool, best: bool) -> str | None:
    """Return which preset was asked for, by its name or by --fast or --best."""
    named = [name for name in (preset, _FAST if fast else None, BEST if best else None) if name]
    if len(named) > 1:
        raise OptionError("choose one of --fast, --best and --preset")
    return named[0] if named else None
