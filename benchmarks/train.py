"""Trains networks and prints one JSON line for each: options, losses, queries per second, the machine.

    python benchmarks/train.py data/ --trial kind=bpe,size=256,batch=4096,learning_rate=6e-3 --trial kind=char

runs from a source checkout with PYTHONPATH=src. `--generated N` trains on N generated queries instead of a dataset.
`--check` first compares the fused step of the GPU with the plain one. `--compare FILE` adds the validation loss of a
model file, such as one that `halfword import-subword-qac` wrote.
"""

import argparse
import itertools
import json
import platform
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from safetensors.numpy import load_file

from halfword.core.fields import changed
from halfword.core.text import DEFAULT
from halfword.data.dataset import Dataset, Split, open_dataset
from halfword.training.network.batches import best_tokens, make_chunk, read_queries
from halfword.training.network.checkpoint import State
from halfword.training.network.distributed import World, choose_device
from halfword.training.network.learn_network import LearnOptions, learn_network
from halfword.training.network.network import Network
from halfword.training.network.options import NetworkOptions, NetworkTraining, preset_named
from halfword.training.network.sample import sampled_tokens
from halfword.training.network.step import Stepper, seeded
from halfword.training.network.train_network import RunOptions, Training
from halfword.training.segment import Kind, Segmenter, train_segmenter


def main() -> None:
    """Run all trials that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path)
    parser.add_argument("--preset", default="default")
    parser.add_argument("--trial", action="append", default=[], help="field=value,field=value")
    parser.add_argument("--generated", type=int, metavar="N")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--compare", action="append", nargs=2, default=[], type=Path, metavar=("FILE", "SPM"))
    parser.add_argument("--device")
    parser.add_argument("--epochs-printed", action="store_true")
    arguments = parser.parse_args()
    data = Generated(arguments.generated) if arguments.generated else open_dataset(arguments.data)
    if arguments.check:
        print(json.dumps(check(choose_device(arguments.device))), flush=True)
    for model, spm in arguments.compare:
        print(json.dumps(compare(model, spm, data, choose_device(arguments.device))), flush=True)
    for text in arguments.trial:
        options = changed(preset_named(arguments.preset), parse(text))
        print(json.dumps(trial(text, data, options, arguments)), flush=True)


def parse(text: str) -> dict[str, Any]:
    """Read `field=value,field=value`.

    >>> parse("kind=bpe,batch=64,clip=0.5")
    {'kind': 'bpe', 'batch': 64, 'clip': 0.5}
    """
    fields = dict(field.split("=", 1) for field in text.split(",") if field)
    return {name: _value(value) for name, value in fields.items()}


def _value(text: str) -> str | int | float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def trial(name: str, data: Dataset, options: NetworkTraining, arguments: argparse.Namespace) -> dict[str, Any]:
    """Train one network and return its figures."""
    started = time.monotonic()
    epochs: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "trial.halfword"
        learned = learn_network(
            data, output, LearnOptions(network=options), RunOptions(device=arguments.device), lambda stage: None
        )
        log = Path(f"{output}.log.jsonl").read_text().splitlines()
        epochs = [json.loads(line) for line in log]
    speeds = [epoch["queries_per_second"] for epoch in epochs]
    result = {
        "trial": name,
        "best": learned.parts.network and learned.parts.network.best,
        "last": epochs[-1]["valid_loss"],
        "queries_per_second": {"median": round(statistics.median(speeds)), "first": round(speeds[0])},
        "epoch_seconds": round(statistics.median(epoch["seconds"] for epoch in epochs), 3),
        "all_seconds": round(time.monotonic() - started, 1),
        "machine": machine(),
    }
    if arguments.epochs_printed:
        result["valid_losses"] = [round(epoch["valid_loss"], 3) for epoch in epochs]
    return result


def machine() -> str:
    """Return the name of the processor or GPU."""
    return (
        torch.cuda.get_device_name()
        if torch.cuda.is_available()
        else f"{platform.machine()}, {torch.get_num_threads()} threads"
    )


class Generated(Dataset):
    """Generated queries about as long as AOL's: words of random syllables; words and repeats follow Zipf's law."""

    def __init__(self, rows: int) -> None:
        super().__init__(Path(f"generated-{rows}"), DEFAULT)

    def counts(self, split: Split) -> dict[str, int]:
        size = int(self.path.name.partition("-")[2]) if split is Split.TRAIN else 20_000
        dice = random.Random(str(split))
        syllables = [a + b for a in "bcdfghklmnprstvw" for b in ("a", "e", "i", "o", "u", "er", "in", "on")]
        words = ["".join(random.Random(number).choices(syllables, k=2 + number % 3)) for number in range(50_000)]
        weights = list(itertools.accumulate(1 / (10 + number) for number in range(len(words))))
        counts: dict[str, int] = {}
        left = size
        while left > 0:
            query = " ".join(dice.choices(words, cum_weights=weights, k=dice.randint(1, 4)))
            typed = min(left, int(dice.paretovariate(1.2)))
            counts[query] = counts.get(query, 0) + typed
            left -= typed
        return counts

    def rows(self, split: Split) -> list[str]:
        return [query for query, count in self.counts(split).items() for _ in range(count)]

    def about(self) -> dict[str, Any]:
        return {"source": "generated"}


def check(device: torch.device) -> dict[str, Any]:
    """Compare loss and gradients of the fused step with those of the plain one in fp64, dropout off."""
    from halfword.training.network.graph_step import GraphStepper

    counts = Generated(20_000).counts(Split.TRAIN)
    options = changed(preset_named("paper"), {"recurrent_dropout": 0.0, "batch": 2048})
    segmenter = train_segmenter(counts, options.segment)
    table = best_tokens(list(counts), segmenter, options.most_tokens, device).table[: options.batch]
    chunk = make_chunk(table, options.batch)
    networks = [Network(segmenter.size, options.network, seeded(torch.device("cpu"), 1)).to(device) for _ in range(2)]
    plain = Stepper(networks[0].double(), options, segmenter.begin, World())
    fused = GraphStepper(networks[1], options, segmenter.begin, World())
    (batch,) = chunk.batches(segmenter.begin)
    loss = plain.network(batch, seeded(device, 1)).sum()
    (loss / options.batch).backward()
    fused.load(chunk)
    found = fused._gradients()
    errors = {}
    for (name, one), other in zip(networks[0].named_parameters(), networks[1].parameters(), strict=True):
        assert one.grad is not None
        assert other.grad is not None
        errors[name] = float((one.grad - other.grad).norm() / one.grad.norm())
    return {"loss": [float(loss.detach()), float(found)], "relative_gradient_errors": errors}


def compare(model: Path, spm: Path, data: Dataset, device: torch.device) -> dict[str, Any]:
    """Measure the validation loss of a model file, the way training does."""
    segmenter = Segmenter(spm.read_bytes())
    arrays = {name.removeprefix("network."): array for name, array in load_file(model).items()}
    width, hidden = arrays["projection"].shape
    network = Network(
        segmenter.size, NetworkOptions(embedding_size=width, hidden_size=hidden), seeded(torch.device("cpu"))
    )
    network.load_weights({name: arrays[name] for name in network.weights()})
    options = preset_named("paper")
    make = sampled_tokens if segmenter.kind is Kind.UNIGRAM else None
    counts = data.counts(Split.VALID)
    source = (
        make(list(counts), segmenter, options.most_tokens, options.alpha, device)
        if make
        else best_tokens(list(counts), segmenter, options.most_tokens, device)
    )
    valid = read_queries(counts, source, segmenter.begin, device)
    stepper = Stepper(network.to(device), options, segmenter.begin, World())
    training = Training(stepper, valid, valid, State({}, {}), Path("unused"), b"-", RunOptions())
    return {"model": model.name, "valid_loss": training.validate()}


if __name__ == "__main__":
    main()
