"""A table of queries is a mapping in columns, and what the engine learns from it is what plain Python learns."""

import random
from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfword.core.filters import SHIPPED, Blocklist, read_blocklist
from halfword.data.digest import split_digest
from halfword.data.query_table import QueryTable
from halfword.search.model import import_engine
from halfword.training.channel import are_alike
from halfword.training.companions import learn_companions, read_companions
from halfword.training.folding import learn_forms
from halfword.training.from_table import (
    WordColumns,
    companions_of,
    spellings_of,
    word_counts_of,
    word_forms_of,
    word_list_of,
    word_tree_of,
)
from halfword.training.known_words import shared_words, word_arrays
from halfword.training.popular import popular_of
from halfword.training.segment import Kind, SegmentOptions, train_segmenter
from halfword.training.spellings import learn_spellings
from halfword.training.train import popular_arrays
from halfword.training.word_tree import word_tree

LETTERS = ["a", "b", "é", "-", "'", ".", "手", "기", "s", "e", "x", "1"]
WORDS = ["www.rome.com", "t-shirt", "tshirt", "crème", "creme", "porn", "p0rn", "a" * 300, "手机壳", "boot", "boots"]


def some_counts(seed: int, size: int = 200) -> dict[str, int]:
    """Return queries of a few words, many of them odd, with their counts."""
    chance = random.Random(seed)
    words = [*WORDS, *("".join(chance.choices(LETTERS, k=chance.randint(1, 4))) for _ in range(40))]
    queries = (" ".join(chance.choices(words, k=chance.randint(1, 14))) for _ in range(size))
    return {query: chance.choice([1, 1, 2, 9, 70_000]) for query in queries}


def test_a_table_is_the_mapping_that_it_is_made_of() -> None:
    counts = some_counts(0)
    table = QueryTable.of(counts)
    assert dict(table) == dict(table.items()) == counts
    assert list(table) == list(counts)
    assert table.get("nobody typed this") is None
    assert (table.total, len(table)) == (sum(counts.values()), len(counts))
    assert [pair for texts, numbers in table.batches(7) for pair in zip(texts, numbers, strict=True)] == [
        *counts.items()
    ]
    assert dict(table.at_least(2)) == {query: count for query, count in counts.items() if count >= 2}


def test_tables_are_summed_with_the_most_typed_query_first() -> None:
    tables = [QueryTable.of(counts) for counts in ({"b": 1, "a": 2}, {}, {"c": 2, "a": 1, "é": 1})]
    assert list(QueryTable.sum_of(tables).items()) == [("a", 3), ("c", 2), ("b", 1), ("é", 1)]
    twice = QueryTable.of([("a", 1), ("b", 1), ("a", 2)])
    assert list(QueryTable.sum_of([twice]).items()) == [("a", 3), ("b", 1)]


@given(st.dictionaries(st.text(min_size=1), st.integers(0, 5)))
def test_rows_and_queries_equal_lists_of_them(counts: dict[str, int]) -> None:
    table = QueryTable.of(counts)
    rows = [query for query, count in counts.items() for _ in range(count)]
    for stored, listed in ((table.rows, rows), (table.queries, [*counts])):
        assert stored == listed
        assert [stored[place] for place in range(-len(listed), len(listed))] == listed * 2
        assert stored[1:-1] == listed[1:-1]
        assert list(reversed(stored)) == listed[::-1]
        assert stored != [*listed, "more"]
        with pytest.raises(IndexError):
            stored[len(listed)]


@given(st.dictionaries(st.text(min_size=1), st.integers(0, 5)))
def test_a_digest_does_not_tell_in_which_order_queries_lie(counts: dict[str, int]) -> None:
    plain = blake2b("".join(f"{query}\t{counts[query]}\n" for query in sorted(counts)).encode(), digest_size=16)
    assert split_digest(counts) == split_digest(QueryTable.of(counts)) == plain.hexdigest()


def test_words_that_few_typed_teach_no_pieces() -> None:
    counts = {"red shoe": 2, "red hat": 1, "shoe": 1, "ü": 1}
    assert shared_words(counts, 1) is counts
    assert shared_words(counts, 3) == {"red": 1, "red shoe": 2, "shoe": 1} | dict.fromkeys("redshoatü", 1)


@pytest.mark.parametrize("seed", range(5))
def test_the_engine_indexes_a_table_as_python_does(seed: int) -> None:
    counts = some_counts(seed)
    assert popular_of(QueryTable.of(counts)) == popular_arrays(counts)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rules", [None, ["=boot", "*oo*", "a b"], ["*t b*"]])
def test_the_engine_sorts_by_letters_as_python_does(seed: int, rules: list[str] | None) -> None:
    counts = some_counts(seed)
    blocklist = read_blocklist(SHIPPED) if rules is None else Blocklist(rules)
    table = QueryTable.of(counts)
    found = spellings_of(table, WordColumns.of(table), blocklist)
    assert found == learn_spellings(list(counts), blocklist.blocks)


def test_a_blocked_text_holds_a_suspected_word_or_spells_one() -> None:
    blocklist, chance = read_blocklist(SHIPPED), random.Random(1)
    parts = [
        "porn",
        "p0rn",
        "s",
        "e",
        "x",
        "s.e",
        "s.e.x",
        "how",
        "to",
        "kill",
        "your",
        "wife",
        "sex",
        "suicid",
        "pørn",
        "kil",
        "wfie",
        "suicde",
    ]
    texts = {" ".join(chance.choices(parts, k=chance.randint(1, 5))) for _ in range(3000)}
    blocked = [text for text in texts if blocklist.blocks(text)]
    for text in blocked:
        suspected, singles = zip(*map(blocklist.suspects, text.split()), strict=True)
        assert any(suspected) or sum(singles) >= 3, text
    assert len(blocked) > 100
    assert len(blocked) < len(texts)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("least", [1, 3])
def test_the_engine_knows_the_words_that_python_knows(seed: int, least: int) -> None:
    counts = some_counts(seed)
    words = WordColumns.of(QueryTable.of(counts))
    background = {"boot", "unheard", "手机", "b" * 50}
    assert word_list_of(words, background, least) == word_arrays(shared_words(counts, least), background)
    assert word_list_of(words, (), least) == word_arrays(shared_words(counts, least), ())
    assert word_tree_of(words, background, least) == word_tree(counts, background, least)
    assert word_forms_of(words) == learn_forms(counts)


def test_of_many_words_the_most_frequent_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = {f"word{number}": 1 + number % 4 for number in range(400)}
    words = WordColumns.of(QueryTable.of(counts))
    monkeypatch.setattr("halfword.training.from_table._MOST_COUNTED", 250)
    assert word_counts_of(words, 1) == word_counts_of(words, 3) != word_counts_of(words, 4)
    assert len(word_counts_of(words, 1)["words.counts"].data) == 4 * (200 + 50 + 1)


def test_a_tree_that_is_too_large_is_made_of_words_that_were_typed_more_often() -> None:
    counts = {f"word{number}": 1 + number % 4 for number in range(400)}
    words = WordColumns.of(QueryTable.of(counts))
    assert word_tree_of(words, (), 1, 1.0) == word_tree(counts)
    for least in (2, 3):
        smaller = word_tree(counts, (), least)
        megabytes = sum(len(array.data) for array in smaller.values()) / 1e6
        assert word_tree_of(words, (), 1, megabytes) == smaller


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("least", [1, 3])
@pytest.mark.parametrize("megabytes", [None, 0.002])
def test_the_engine_counts_companions_as_python_does(seed: int, least: int, megabytes: float | None) -> None:
    counts = some_counts(seed)
    table = QueryTable.of(counts)
    background = read_companions(learn_companions(["boot shop", "boot unheard", "unheard shop"]))
    for known in (background, read_companions({})):
        found = companions_of(table, WordColumns.of(table), megabytes, known, least)
        assert found == learn_companions(counts, megabytes, known, least)


@pytest.mark.parametrize("kind", [Kind.BPE, Kind.CHAR])
def test_pieces_are_the_same_from_words_and_from_queries(kind: Kind) -> None:
    counts = {query: count for seed in range(3) for query, count in some_counts(seed).items()}
    options = SegmentOptions(kind=kind, size=60)
    assert train_segmenter(QueryTable.of(counts), options).model == train_segmenter(counts, options).model


def test_the_engine_finds_the_same_queries_alike() -> None:
    chance = random.Random(3)
    texts = ["".join(chance.choices("abé ", k=chance.randint(3, 8))) for _ in range(120)]
    alike = import_engine().are_alike
    pairs = [(one, other) for one in texts for other in texts]
    assert [alike(*pair, 5, 2) for pair in pairs] == [are_alike(*pair) for pair in pairs]
    assert any(are_alike(*pair) for pair in pairs)
