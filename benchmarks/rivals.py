"""Ask other completers that forgive typing mistakes, and a model, at the same prefixes; prints JSON.

python benchmarks/rivals.py MODEL DATA --mistyped pairs.tsv changed.tsv --lucene lucene.jar

Everyone knows the queries of the train split and how often each was typed. A file of mistyped prefixes has
`prefix<TAB>wanted` per line. Two more sets are made of test rows, with random edits as in the benchmarks of completr:
letters are replaced, left out, added or swapped, never the first of a word, in words of five letters and more; in one
word of the query or in each. Every query is cut at random behind its first edit. A last set are test rows as they were
typed, cut at random: what forgiving costs there. `first_other` is how often the first answer does not go on from the
prefix.

The rivals, each left out with a line on stderr where it is not installed; none is a dependency of Halfword:

- completr (`pip install completr`), with its own typo tolerance;
- tantivy (`pip install tantivy`), which has no completion of its own: known queries with the words of the prefix, the
  last one by its beginning, most typed first; then within one edit of words of five letters and two of nine;
- the same with the whole query as one term: no edit, then one, then two;
- Lucene's FuzzySuggester with one edit (its default) and two: needs `java` and a jar that holds lucene-core,
  lucene-analyzers-common and lucene-suggest (8 or later).

Every prefix is asked alone, one at a time, and the time is that of the call; Lucene's is taken inside the warm virtual
machine. A model is asked without its cache of answers.
"""

import argparse
import importlib
import json
import math
import random
import re
import shutil
import string
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from halfword import load
from halfword.core.metrics import rank, reciprocal
from halfword.core.options import Invent, SearchOptions, Typos
from halfword.data.dataset import Dataset, Split, open_dataset
from typos import Pair, cut, lines

ANSWERS = 10
WARM_UP = 200  # prefixes
FEWEST_LETTERS = 5  # of a word that is edited
JAVA = Path(__file__).with_name("LuceneFuzzy.java")
Ask = Callable[[str], tuple[list[str], float]]  # a prefix → texts, and milliseconds


def edited(word: str, chance: random.Random) -> str:
    """Change one letter of a word, but not the first."""
    place = chance.randrange(1, len(word))
    letter = chance.choice(string.ascii_lowercase)
    match chance.choice(("replace", "drop", "add", "swap")):
        case "replace":
            return word[:place] + letter + word[place + 1 :]
        case "drop":
            return word[:place] + word[place + 1 :]
        case "add":
            return word[:place] + letter + word[place:]
    place = min(place, len(word) - 2)
    return word[:place] + word[place + 1] + word[place] + word[place + 2 :]


def random_edits(rows: Sequence[str], size: int, every_word: bool, seed: int = 7) -> list[Pair]:
    """Return prefixes with random edits, and the queries that are wanted."""
    chance, pairs = random.Random(seed), list[Pair]()
    for row in chance.sample(rows, len(rows)):
        words = row.split(" ")
        places = [place for place, word in enumerate(words) if len(word) >= FEWEST_LETTERS and word.isalpha()]
        if not places:
            continue
        for place in places if every_word else [chance.choice(places)]:
            words[place] = edited(words[place], chance)
        typed = " ".join(words)
        first = next((place for place, (a, b) in enumerate(zip(typed, row, strict=False)) if a != b), len(row))
        if first + 1 < len(typed):
            pairs.append((typed[: chance.randint(first + 1, len(typed))], row))
        if len(pairs) == size:
            break
    return pairs


def halfword_asks(path: Path, typos: Typos) -> Ask:
    """Return how a model is asked."""
    model = load(path, cache=False)
    options = SearchOptions(typos=typos, min_probability=0.0, invent=Invent.FREELY)
    return timed(lambda prefix: model.complete(prefix, options).texts)


def timed(complete: Callable[[str], list[str]]) -> Ask:
    """Return a function that tells its time too."""

    def ask(prefix: str) -> tuple[list[str], float]:
        begin = time.perf_counter()
        texts = complete(prefix)
        return texts, 1e3 * (time.perf_counter() - begin)

    return ask


def completr_asks(completr: Any, counts: Mapping[str, int]) -> Ask:
    """Return how completr is asked; popularity is scaled as in its own benchmarks."""
    most = math.log1p(max(counts.values()))
    documents = [
        {"id": place, "text": query, "popularity": math.log1p(count) / most}
        for place, (query, count) in enumerate(counts.items())
    ]
    index = completr.Index.from_documents(documents)
    return timed(lambda prefix: [each.text for each in index.complete(prefix, ANSWERS)])


class Tantivy:
    """An index of tantivy, by words and as a whole."""

    def __init__(self, tantivy: Any, counts: Mapping[str, int]) -> None:
        self._tantivy = tantivy
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("words", stored=True)
        builder.add_text_field("whole", tokenizer_name="raw")
        builder.add_integer_field("count", fast=True)
        self._schema = builder.build()
        index = tantivy.Index(self._schema)
        writer = index.writer(heap_size=256_000_000, num_threads=1)
        for query, count in counts.items():
            writer.add_document(tantivy.Document(words=query, whole=query, count=count))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        self._searcher = index.searcher()

    def by_words(self, prefix: str) -> list[str]:
        """Complete by words."""
        return self._staged([self._words(prefix, fuzzy) for fuzzy in (False, True)])

    def as_a_whole(self, prefix: str) -> list[str]:
        """Complete as one term."""
        return self._staged([self._near("whole", prefix, edits, is_last=True) for edits in (0, 1, 2)])

    def _words(self, prefix: str, fuzzy: bool) -> Any:
        words = re.findall(r"[^\W_]+", prefix.lower())
        complete = not prefix[-1:].isalnum()
        queries = [
            self._near("words", word, _edits(word) if fuzzy else 0, is_last=place == len(words) - 1 and not complete)
            for place, word in enumerate(words)
        ]
        return self._tantivy.Query.boolean_query([(self._tantivy.Occur.Must, query) for query in queries])

    def _near(self, field: str, text: str, edits: int, is_last: bool) -> Any:
        return self._tantivy.Query.fuzzy_term_query(self._schema, field, text, distance=edits, prefix=is_last)

    def _staged(self, queries: Sequence[Any]) -> list[str]:
        found: dict[str, None] = {}
        for query in queries:
            hits = self._searcher.search(query, ANSWERS, count=False, order_by_field="count").hits
            found |= dict.fromkeys(self._searcher.doc(address)["words"][0] for _, address in hits)
            if len(found) >= ANSWERS:
                break
        return list(found)[:ANSWERS]


def _edits(word: str) -> int:
    return 2 if len(word) >= 9 else 1 if len(word) >= 5 else 0


@contextmanager
def lucene_asks(jar: Path, counts: Mapping[str, int], edits: int) -> Iterator[Ask]:
    """Start a virtual machine and yield how it is asked."""
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "queries.tsv"
        listed.write_text("".join(f"{query}\t{count}\n" for query, count in counts.items()), encoding="utf-8")
        command = ["java", "-Xmx3g", "-cp", str(jar), str(JAVA), str(listed), folder, str(edits)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as java:
            assert java.stdin is not None
            assert java.stdout is not None
            given, told = java.stdin, java.stdout

            def ask(prefix: str) -> tuple[list[str], float]:
                given.write(prefix + "\n")
                given.flush()
                nanoseconds, *texts = told.readline().rstrip("\n").split("\t")
                return texts, int(nanoseconds) / 1e6

            yield ask
            given.close()


def measured(ask: Ask, pairs: Sequence[Pair], known: Mapping[str, int]) -> dict[str, Any]:
    """Return how well and how fast the wanted queries are found."""
    for typed, _ in pairs[:WARM_UP]:
        ask(typed)
    answers = [ask(typed) for typed, _ in pairs]
    ranks = [reciprocal(rank(wanted, texts)) for (_, wanted), (texts, _) in zip(pairs, answers, strict=True)]
    of_known = [each for each, (_, wanted) in zip(ranks, pairs, strict=True) if wanted in known]
    times = sorted(milliseconds for _, milliseconds in answers)
    return {
        "mrr": round(sum(ranks) / len(pairs), 4),
        "mrr_known": round(sum(of_known) / max(len(of_known), 1), 4),
        "success": round(sum(map(bool, ranks)) / len(pairs), 4),
        "first_other": round(sum(map(_goes_elsewhere, pairs, answers)) / len(pairs), 4),
        "p50_ms": round(times[len(times) // 2], 4),
        "p99_ms": round(times[len(times) * 99 // 100], 4),
    }


def _goes_elsewhere(pair: Pair, answer: tuple[list[str], float]) -> bool:
    return bool(answer[0]) and not answer[0][0].startswith(pair[0])


def rival(module: str) -> Any:
    """Return a module, or None and a line on stderr."""
    try:
        return importlib.import_module(module)
    except ImportError:
        print(f"{module} is left out: pip install {module}", file=sys.stderr)
        return None


def reports(given: argparse.Namespace, counts: Mapping[str, int], ask_all: Callable[[Ask], Any]) -> Iterator[Any]:
    """Yield the name of each system and its figures."""
    for typos in Typos:
        yield f"halfword, typos {typos}", ask_all(halfword_asks(given.model, typos))
    if completr := rival("completr"):
        yield f"completr {completr.__version__}", ask_all(completr_asks(completr, counts))
    if tantivy := rival("tantivy"):
        print(tantivy.__version__, file=sys.stderr)
        index = Tantivy(tantivy, counts)
        yield "tantivy, fuzzy words", ask_all(timed(index.by_words))
        yield "tantivy, fuzzy prefix of the whole", ask_all(timed(index.as_a_whole))
    if given.lucene is None or shutil.which("java") is None:
        print("Lucene is left out: it needs java and --lucene JAR", file=sys.stderr)
        return
    for edits in (1, 2):
        with lucene_asks(given.lucene, counts, edits) as ask:
            yield f"Lucene FuzzySuggester, edits {edits}", ask_all(ask)


def sets_of(given: argparse.Namespace, data: Dataset) -> dict[str, list[Pair]]:
    """Return the prefixes by the name of their set."""
    sets = {path.name: [(line[0], line[1]) for line in lines(path)] for path in given.mistyped}
    rows = data.rows(Split.TEST)
    for name, every_word in (("random edit in one word", False), ("random edit in each word", True)):
        sets[name] = random_edits(rows, given.sample, every_word)
    sets["as typed"] = cut(rows, given.sample, seed=7)
    return sets


def main() -> None:
    """Ask everyone, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--mistyped", type=Path, nargs="*", default=[])
    parser.add_argument("--sample", type=int, default=2000, help="test rows with random edits")
    parser.add_argument("--lucene", type=Path, help="a jar with Lucene's suggesters")
    given = parser.parse_args()
    data = open_dataset(given.data)
    counts, sets = data.counts(Split.TRAIN), sets_of(given, data)

    def ask_all(ask: Ask) -> dict[str, Any]:
        return {name: measured(ask, pairs, counts) for name, pairs in sets.items()}

    known = {name: sum(wanted in counts for _, wanted in pairs) for name, pairs in sets.items()}
    print(json.dumps({"prefixes": {name: len(pairs) for name, pairs in sets.items()}, "known": known}))
    for name, report in reports(given, counts, ask_all):
        print(json.dumps({"system": name, **report}))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
