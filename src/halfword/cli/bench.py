"""`halfword bench`."""

from inspect import signature
from typing import Annotated, Any

import typer

from halfword.cli.options import Data, ModelFile, NoVerify, takes
from halfword.cli.output import print_json
from halfword.cli.progress import progress
from halfword.core.fields import changed
from halfword.data.dataset import open_dataset
from halfword.evaluation.bench import BenchOptions
from halfword.evaluation.bench import bench as run
from halfword.search.model import DEFAULT_MODEL, load

_LOAD = signature(load).parameters


@takes(BenchOptions)
def bench(
    data: Data,
    model: ModelFile = DEFAULT_MODEL,
    *,
    given: dict[str, Any],
    precision: Annotated[str, typer.Option(help="int8 or fp32.")] = _LOAD["precision"].default,
    kernels: Annotated[str, typer.Option(help="An instruction set; the fastest unless named.")] = _LOAD[
        "kernels"
    ].default,
    cache: Annotated[bool, typer.Option("--cache/--no-cache", help="Remember between searches.")] = False,
    no_verify: NoVerify = False,
) -> None:
    """Time a model: latency and throughput, as JSON.

    Example: halfword bench --model my.halfword --data data/
    """
    options = changed(BenchOptions(), given)
    loaded = load(model, precision=precision, kernels=kernels, cache=cache, verify=not no_verify)
    with progress() as tell:
        result = run(loaded, open_dataset(data), options, tell)
    print_json(result, indent=2)
