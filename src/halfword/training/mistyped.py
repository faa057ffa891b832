"""Natural and mistyped prefixes, and what was meant: the rows from which belief in corrections is learned.

Mistakes of the validation split's own sessions are the best: a query and, right after it, what was meant. What was
meant is a query of the log; or it is new, but its words are far more frequent than those mistyped. These rows count as
natural ones, too: many people leave a mistake as it is.

There are few of them, and what was meant by most is known. So mistakes are made in other validation queries: those of
the train split's sessions again, in queries with the same words, since people misspell the same words in the same way
(`enviromental`); and letter by letter as the channel makes them, which is all that a log without sessions has.

In a small log it may be that people typed every validation row before. Taken at its word, everything unknown would be a
mistake. So each log is also asked for a few queries of the background, as if a stranger had typed them. A small site is
also asked for its own queries, with models that do not know them: these are strangers who speak its own language. And
people look for a known query by a word inside it, with which none begins: that is no mistake, either.
"""

import random
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path
from typing import NamedTuple

from halfword.core.folding import SIGNS
from halfword.core.metrics import SHORTEST_PREFIX
from halfword.core.model_file import Array
from halfword.core.text import SHORTEST_QUERY, common_beginning
from halfword.data.dataset import Dataset, Split
from halfword.data.query_table import QueryTable
from halfword.data.sessions import TypedRow
from halfword.search.model import Model, load
from halfword.training.channel import Channel, Pair, are_alike, mine, mistype
from halfword.training.correcting import NATURAL, PARTS, BeliefWeights, ReadRows, fit_belief, read_rows
from halfword.training.from_table import WordColumns
from halfword.training.offers import Asked, at_hashed_prefix
from halfword.training.word_tree import count_words, may_be_mistyped

MOST = 6_000  # mistyped prefixes,
_AGAIN = 2_400  # of which so many have mistakes of the train split's sessions
_SHORTEST = 5  # characters of a query in which a mistake is made
_TIMES = 2  # prefixes of each pair
_OFTEN = 5  # what was meant is new, but each of its other words was typed so often,
_FACTOR = 20  # and so many times as often as the words mistyped,
_TRAIN_FACTOR = 5  # or so many times in the train split, where the mistake itself was counted
_COUNTED = 3.8  # times that mistyped prefixes count for each row that the next one corrects: what natural rows may
# lose by corrections is a choice (docs/research/typos.md)
_LEAST_SHARE = 0.06  # what they count at least for each natural prefix, since few logs tell what people correct
_STRANGERS = 500  # queries of the background that are asked
_INSIDE = 500  # known queries that are asked from a later word on
_FEWEST_LETTERS = 3  # that are typed of such a word
_PARTS_KEPT_BACK = 4  # of the queries of a small site, each asked with a model that knows the other parts
_BEFORE_WORD = re.compile("[ _" + "".join(map(re.escape, sorted(SIGNS))) + "]")
_MOST_STEPS = 200_000  # from query to query in the train split's sessions that are looked at
_MOST_WORDS = 3  # that a mistake may befall: two mistakes are in two spaces at most


def learn_belief(
    path: Path, data: Dataset, channel: Channel, background: Sequence[str], kept_back: Sequence[ReadRows]
) -> dict[str, Array]:
    """Return how far corrections are believed, fitted to what a model file makes of validation rows.

    `background` has queries of other people, `kept_back` what models made of right queries that they do not know.
    """
    read = read_rows(load(path, cache=False), *belief_rows(data, channel, background))
    rows = ReadRows.joined([read, *(replace(each, worth=each.worth / len(kept_back)) for each in kept_back)])
    fitted = {part: fit_belief(BeliefWeights.read(part), rows, glance=part == "glance") for part in PARTS}
    return {name: array for part, weights in fitted.items() for name, array in weights.arrays(part).items()}


class BeliefRows(NamedTuple):
    """Prefixes of the validation split, each with the query that was meant."""

    natural: list[Asked]
    mistyped: list[Asked]
    share: float  # what the mistyped ones count for each natural one
    right: list[list[Asked]]  # groups of prefixes that are right as typed, each for a few natural ones


def belief_rows(data: Dataset, channel: Channel, background: Sequence[str]) -> BeliefRows:
    """Return natural and mistyped prefixes, some of strangers, and some from inside known queries.

    The more rows are corrected by the next one, the more mistakes count.
    """
    chance, counts = random.Random(4), data.table(Split.TRAIN)
    often = word_counts(counts)
    pairs = list(corrections(data.sessions(Split.VALID), counts, often))
    rows = data.rows(Split.VALID)
    enough = array("Q", (place for place, row in enumerate(rows) if len(row) >= SHORTEST_QUERY))
    natural = at_hashed_prefix(TypedRow(rows[place]) for place in chance.sample(enough, min(NATURAL, len(enough))))
    mistakes = list(train_mistakes(islice(steps_of(data, counts), _MOST_STEPS), counts, often))
    share = max(_LEAST_SHARE, _COUNTED * len(pairs) / max(len(enough), 1))
    right = [strangers(background, counts), from_inside(counts)]
    valid = QueryTable.of(pair for pair in data.table(Split.VALID).items() if len(pair[0]) >= _SHORTEST)
    return BeliefRows(natural, _mistyped(pairs, mistakes, valid.queries, channel, chance), share, right)


def strangers(background: Sequence[str], counts: Mapping[str, int]) -> list[Asked]:
    """Return prefixes of some queries of the background that the log does not know."""
    new = [query for query in background if len(query) >= SHORTEST_QUERY and query not in counts]
    some = random.Random(5).sample(new, min(_STRANGERS, len(new)))
    return at_hashed_prefix(TypedRow(query) for query in some)


def keep_back(counts: Mapping[str, int]) -> Iterator[tuple[dict[str, int], list[Asked]]]:
    """Yield a log without some of its queries, and prefixes of these, until each was left out once.

    >>> [(sorted(rest), {asked.query for asked in left}) for rest, left in keep_back({"wifi": 3, "hours": 1})]
    [(['wifi'], {'hours'}), (['hours'], {'wifi'})]
    """
    queries = sorted(counts)
    random.Random(7).shuffle(queries)
    for part in range(min(_PARTS_KEPT_BACK, len(queries))):
        left = queries[part::_PARTS_KEPT_BACK]
        asked = at_hashed_prefix(TypedRow(query) for query in left if len(query) >= SHORTEST_QUERY)
        yield {query: count for query, count in counts.items() if query not in set(left)}, asked


def read_right(model: Model, asked: Sequence[Asked]) -> ReadRows:
    """Ask a model for the readings of prefixes that are right as typed."""
    return read_rows(model, [], [], 0.0, [asked])


def from_inside(counts: Mapping[str, int]) -> list[Asked]:
    """Return texts with which known queries go on from a later word, where none begins so.

    >>> {asked.query for asked in from_inside({"soupe à l'oignon": 9, "gratin": 4})}
    {"soupe à l'oignon"}
    """
    chance, found = random.Random(6), list[Asked]()
    queries = QueryTable.of(counts).queries
    for query in chance.sample(queries, min(_INSIDE, len(queries))):
        inside = [query[sign.end() :] for sign in _BEFORE_WORD.finditer(query)]
        inside = [text for text in inside if len(text.split(" ")[0]) >= _FEWEST_LETTERS]
        if inside:
            text = chance.choice(inside)
            typed = chance.randint(_FEWEST_LETTERS, len(text))
            found.append(Asked(query, typed, mistyped=text[:typed]))
    return found


def corrections(
    sessions: Sequence[Sequence[str]], counts: Mapping[str, int], often: Callable[[str], int]
) -> Iterator[Pair]:
    """Yield the queries that were corrected by the next one, be it a query of the log or one of its words."""
    yield from mine(sessions, counts)
    for session in sessions:
        for typed, meant in pairwise(session):
            new = are_alike(typed, meant) and not counts.get(typed) and not counts.get(meant)
            if new and _is_of_better_words(typed, meant, often, _FACTOR):
                yield Pair(typed, meant)


def train_mistakes(steps: Iterable[Pair], counts: Mapping[str, int], often: Callable[[str], int]) -> Iterator[Pair]:
    """Yield the steps of the train split's sessions in which a query was corrected, by its count or by its words."""
    for typed, meant in steps:
        if are_alike(typed, meant):
            commoner = counts.get(meant, 0) > counts.get(typed, 0)
            if commoner or _is_of_better_words(typed, meant, often, _TRAIN_FACTOR):
                yield Pair(typed, meant)


def steps_of(data: Dataset, table: QueryTable) -> Iterator[Pair]:
    """Yield each query of the train split's sessions with the next one."""
    numbered = data.numbered_sessions(Split.TRAIN)
    if numbered is None:
        yield from (Pair(*step) for session in data.sessions(Split.TRAIN) for step in pairwise(session))
        return
    for starts, numbers in numbered:
        begins, places = memoryview(starts), memoryview(numbers).cast("I")
        for row in range(1, len(places)):
            if not begins[row]:
                yield Pair(table.at(places[row - 1]), table.at(places[row]))


def word_counts(counts: Mapping[str, int]) -> Callable[[str], int]:
    """Return what tells how often a word was typed."""
    if not isinstance(counts, QueryTable):
        words = count_words(counts)
        return lambda word: words[word]
    table = WordColumns.of(counts).words
    return lambda word: table.get(word, 0) if may_be_mistyped(word) else 0


def _is_of_better_words(typed: str, meant: str, often: Callable[[str], int], factor: int) -> bool:
    wrong, right = Counter(typed.split()) - Counter(meant.split()), Counter(meant.split()) - Counter(typed.split())
    if not wrong or not right:
        return False
    least = min(map(often, right))
    return least >= _OFTEN and least >= factor * min(map(often, wrong))


def _mistyped(
    pairs: Sequence[Pair], mistakes: Sequence[Pair], queries: Sequence[str], channel: Channel, chance: random.Random
) -> list[Asked]:
    found = [_cut(pair, chance) for pair in pairs for _ in range(_TIMES)]
    again = [_cut(pair, chance) for pair in made_again(mistakes, queries, _AGAIN, chance)]
    room = max(0, MOST - len(found) - len(again))
    made = _made(chance.sample(queries, min(room, len(queries))), channel, chance)
    return chance.sample(found, min(MOST, len(found))) + again + made


def made_again(mistakes: Sequence[Pair], rows: Sequence[str], most: int, chance: random.Random) -> Iterator[Pair]:
    """Make mistakes of other queries again, in rows with the same words.

    >>> list(made_again([Pair("hte red car", "the red car")], ["the blue bus"], 1, random.Random(1)))
    [Pair(typed='hte blue bus', meant='the blue bus')]
    """
    parts = [part for mistake in mistakes if all(part := _mistyped_words(mistake))]
    wanted, rows_with = {part.meant for part in parts}, defaultdict[str, "array[int]"](lambda: array("Q"))
    for place, row in enumerate(rows):
        for words in _parts(row.split()) & wanted:
            rows_with[words].append(place)
    known = [part for part in parts if part.meant in rows_with]
    for part in chance.sample(known, min(most, len(known))):
        row = rows[chance.choice(rows_with[part.meant])]
        typed = f" {row} ".replace(f" {part.meant} ", f" {part.typed} ", 1)[1:-1]
        if not is_beginning(typed, row):
            yield Pair(typed, row)


def _mistyped_words(mistake: Pair) -> Pair:
    """Return the words of a pair without those that both begin or end with."""
    typed, meant = mistake.typed.split(), mistake.meant.split()
    while typed and meant and typed[0] == meant[0]:
        typed, meant = typed[1:], meant[1:]
    while typed and meant and typed[-1] == meant[-1]:
        typed, meant = typed[:-1], meant[:-1]
    return Pair(" ".join(typed), " ".join(meant))


def _parts(words: Sequence[str]) -> set[str]:
    """Return the neighbouring words of a query that one mistake may befall, each number of them as one text."""
    return {
        " ".join(words[begin : begin + length])
        for length in range(1, _MOST_WORDS + 1)
        for begin in range(len(words) - length + 1)
    }


def _made(queries: Sequence[str], channel: Channel, chance: random.Random) -> list[Asked]:
    """Make a mistake in each query."""
    pairs = (Pair(mistype(query, channel, chance), query) for query in queries)
    return [_cut(pair, chance) for pair in pairs if not is_beginning(*pair)]


def is_beginning(one: str, other: str) -> bool:
    """Tell whether one of two texts begins with the other."""
    return one.startswith(other) or other.startswith(one)


def _cut(pair: Pair, chance: random.Random) -> Asked:
    """Return a beginning of what was mistyped that holds the mistake."""
    first = common_beginning(pair.typed, pair.meant)
    typed = chance.randint(min(max(SHORTEST_PREFIX, first + 1), len(pair.typed)), len(pair.typed))
    return Asked(pair.meant, typed, mistyped=pair.typed[:typed])
