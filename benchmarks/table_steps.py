"""Measure each step that learns from the table of a prepared log, one after the other; prints JSON.

python benchmarks/table_steps.py /tmp/scale/data
"""

import argparse
import json
import resource
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from halfword.core.filters import SHIPPED, read_blocklist
from halfword.core.model_file import Array
from halfword.data.dataset import Split, open_dataset
from halfword.training.channel import mine_log
from halfword.training.companions import read_companions
from halfword.training.from_table import (
    WordColumns,
    companions_of,
    spellings_of,
    word_forms_of,
    word_list_of,
    word_tree_of,
)
from halfword.training.options import TrainOptions
from halfword.training.popular import popular_of
from halfword.training.ranker import ASKED, sample_rows

Made = TypeVar("Made")


class Steps:
    """What each step took, and the bytes that it made per distinct query."""

    def __init__(self) -> None:
        self.taken: dict[str, dict[str, float]] = {}

    def run(self, name: str, work: Callable[[], Made]) -> Made:
        """Do a step and return what it makes; its memory is the most that the process had until its end."""
        begin, busy = time.perf_counter(), time.process_time()
        made = work()
        self.taken[name] = {
            "seconds": round(time.perf_counter() - begin, 1),
            "processor_seconds": round(time.process_time() - busy, 1),
            "peak_megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6),
        }
        return made

    def learn(self, name: str, queries: int, work: Callable[[], Mapping[str, Array]]) -> None:
        """Do a step that makes arrays."""
        size = sum(len(array.data) for array in self.run(name, work).values())
        self.taken[name]["bytes_per_query"] = round(size / queries, 2)


def measure(folder: Path) -> dict[str, Any]:
    """Return what each step takes."""
    steps, data = Steps(), open_dataset(folder)
    table = steps.run("read the train split", lambda: data.table(Split.TRAIN))
    size, room = len(table), TrainOptions().companion_room(len(table))
    steps.run("sort it by bytes", lambda: table.order)
    steps.learn("popularity index, queries by key", size, lambda: popular_of(table))
    words = steps.run("count its words", lambda: WordColumns.of(table))
    steps.learn("order by letters", size, lambda: spellings_of(table, words, read_blocklist(SHIPPED)))
    steps.learn("list of words", size, lambda: word_list_of(words, (), 1))
    steps.learn("forms of words", size, lambda: word_forms_of(words))
    steps.learn("tree of words", size, lambda: word_tree_of(words, (), 1, TrainOptions().tree_room(size)))
    steps.learn("words that co-occur", size, lambda: companions_of(table, words, room, read_companions({}), 1))
    steps.run("corrections in sessions", lambda: list(mine_log(data)))
    rows = steps.run("validation rows", lambda: data.typed_rows(Split.VALID))
    steps.run("draw some of them", lambda: sample_rows(rows, ASKED))
    steps.run("add up all splits", data.all_table)
    return {"distinct_queries": size, "words": len(words.words), "steps": steps.taken}


def main() -> None:
    """Measure with the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    print(json.dumps(measure(parser.parse_args().data), indent=2))


if __name__ == "__main__":
    main()
