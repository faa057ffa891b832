"""Queries by what else is typed for them (`engine/sources/pinyin.h`): Chinese by its pinyin.

For logs in other scripts the index has the keys of `latin_keys.py` instead.

How a character is pronounced depends on the words around it; pypinyin knows. It is needed for training only, and only
where a log has Chinese characters: the extra `pinyin` installs it. Without it nothing is learned here.

A query has these keys: all of it as pinyin (`shouji`), the first letters alone (`sj`), and its first one to three
characters as they are with the rest as pinyin (`手ji`). Only the most typed queries have keys.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from heapq import nsmallest
from typing import Any, cast

import numpy as np

from halfword.core.model_file import Array
from halfword.core.words import is_han
from halfword.data.query_table import QueryTable
from halfword.search.model import import_engine
from halfword.training.latin_keys import has_kana, in_hiragana, in_romaji, on_latin_keys, usual_keyboard

_MOST = 100_000  # queries that have keys, the most typed ones;
_MOST_KANA = 10_000  # in a log with kana, whose queries have many keys each
_MOST_CHARACTERS = 20  # of a query that has keys
_MOST_WRITTEN = 3  # characters that may be written already,
_MOST_KANA_WRITTEN = 8  # and of kana, which are written one by one
_TIMES_KANA = 4  # that Chinese characters must be as frequent as kana in a Chinese log

Syllables = list[str]  # what is typed for every character of a query


def learn_pinyin(counts: Mapping[str, int]) -> dict[str, Array]:
    """Return the index of queries by what is typed for them in Latin letters, as arrays for a model file."""
    if QueryTable.of(counts).is_ascii:
        return {}
    if not is_chinese(counts):
        keyboard = usual_keyboard(counts)
        most = _MOST_KANA if any(map(has_kana, counts)) else _MOST
        queries = _most_typed(counts, bool if keyboard else is_not_ascii, most)
        return index_of_keys(counts, {query: list(latin_keys(query, keyboard)) for query in queries})
    try:
        from pypinyin import lazy_pinyin
    except ImportError:
        return {}
    spelled = {
        query: [each.lower() for each in lazy_pinyin(query, errors=cast(Any, list))]  # others one by one
        for query in _most_typed(counts, is_han)
    }
    heard = {letter: lazy_pinyin(letter)[0] for letter in _common_characters()} if spelled else {}
    return pinyin_arrays(counts, spelled, heard)


def is_chinese(counts: Mapping[str, int]) -> bool:
    """Tell whether most queries with Chinese characters have no kana: those of a Japanese log are not read as pinyin.

    >>> is_chinese({"手机": 3, "usb": 1}), is_chinese({"手紙": 3, "手紙の書き方": 4}), is_chinese({"usb": 1})
    (True, False, False)
    """
    han = kana = 0
    for query, count in counts.items():
        if has_kana(query):
            kana += count
        elif is_han(query):
            han += count
    return han > _TIMES_KANA * kana


def is_not_ascii(query: str) -> bool:
    """Tell whether a query has a letter beyond ASCII."""
    return not query.isascii()


def _most_typed(counts: Mapping[str, int], holds: Callable[[str], bool], most: int = _MOST) -> list[str]:
    """Return the most typed of the queries that something holds for."""
    found = ((-count, query) for query, count in counts.items() if holds(query) and len(query) <= _MOST_CHARACTERS)
    return [query for _, query in nsmallest(most, found)]


def latin_keys(query: str, keyboard: Mapping[str, str]) -> Iterator[str]:
    """Yield the keys of a query: as romaji, in part already kana, or on the wrong keyboard.

    >>> [key.split(chr(0))[0] for key in latin_keys("たまご", {})], [key for key in latin_keys("café", {})]
    (['tamago', 'たmago', 'たまgo'], [])
    """
    if query.isascii() and any(letter in keyboard for letter in query):
        yield _key(_without_spaces([keyboard.get(letter, letter) for letter in query]))
    if has_kana(query):
        for typed in in_romaji(query):
            for written in range(min(_MOST_KANA_WRITTEN + 1, len(query))):
                for begun in dict.fromkeys((query[:written], in_hiragana(query[:written]))):
                    yield _key(_without_spaces([*begun, *typed[written:]]))
    elif typed_keys := on_latin_keys(query):
        yield _key(_without_spaces(typed_keys))


def _common_characters() -> str:
    """Return the 3,755 commonest characters: the first level of GB 2312."""
    codes = (bytes([row, column]) for row in range(0xB0, 0xD8) for column in range(0xA1, 0xFF))
    return b"".join(codes).decode("gb2312", errors="ignore")


def pinyin_arrays(
    counts: Mapping[str, int], spelled: Mapping[str, Syllables], others: Mapping[str, str] | None = None
) -> dict[str, Array]:
    """Return the index of queries of which it is known how they are typed, and how their characters and others are."""
    keys = {
        query: list(keys_of(query, syllables)) for query, syllables in spelled.items() if len(syllables) == len(query)
    }
    arrays = index_of_keys(counts, keys)
    return arrays | _character_arrays({**(others or {}), **_heard(counts, spelled)}) if arrays else {}


def index_of_keys(counts: Mapping[str, int], keys: Mapping[str, list[str]]) -> dict[str, Array]:
    """Return the index of queries by their keys."""
    by_key: dict[str, list[str]] = defaultdict(list)
    for query, found in keys.items():
        for key in dict.fromkeys(found):
            by_key[key].append(query)
    if not by_key:
        return {}
    table = QueryTable.of(counts)
    rank = np.argsort(np.frombuffer(table.order, "<u4"))  # of every query in the popularity index
    entries: dict[str, str] = {}
    for key, queries in by_key.items():
        for number, query in enumerate(sorted(queries, key=lambda query: (-counts[query], query))):
            entries[key + "\0" * number] = query
    order = rank[table.places(entries[key] for key in sorted(entries, key=str.encode))]
    index = import_engine().popular_arrays([(key, counts[query]) for key, query in entries.items()])
    return {
        **{name.replace("popular", "pinyin"): Array(dtype, data) for name, (dtype, data) in index.items()},
        "pinyin.position": Array("U32", order.astype("<u4").tobytes()),
    }


def _heard(counts: Mapping[str, int], spelled: Mapping[str, Syllables]) -> dict[str, str]:
    """Return what is typed most for every Chinese character of some queries."""
    often: Counter[tuple[str, str]] = Counter()
    for query, syllables in spelled.items():
        if len(syllables) == len(query):
            for letter, syllable in zip(query, syllables, strict=True):
                if is_han(letter):
                    often[letter, syllable] += counts[query]
    return {letter: syllable for (letter, syllable), _ in sorted(often.items(), key=lambda each: (each[1], each[0]))}


def _character_arrays(heard: Mapping[str, str]) -> dict[str, Array]:
    letters = sorted(heard)
    syllables = [heard[letter].encode() for letter in letters]
    begin = np.cumsum([0, *map(len, syllables)])
    return {
        "pinyin.letter": Array("U32", np.array([ord(letter) for letter in letters], "<u4").tobytes()),
        "pinyin.syllable": Array("U8", b"".join(syllables)),
        "pinyin.syllable_begin": Array("U32", begin.astype("<u4").tobytes()),
    }


def keys_of(query: str, syllables: Syllables) -> Iterator[str]:
    """Yield the keys of a query, each with how many bytes are typed for every character.

    >>> [key.replace("\\0", " ") for key in keys_of("手机", ["shou", "ji"])]
    ['shouji db', 'sj aa', '手ji cb']
    """
    typed = _without_spaces(syllables)
    yield _key(typed)
    yield _key([each[:1] if is_han(letter) else each for letter, each in zip(query, typed, strict=True)])
    for written in range(1, min(_MOST_WRITTEN + 1, len(query))):
        if is_han(query[written - 1]):
            yield _key([letter.replace(" ", "") for letter in query[:written]] + typed[written:])


def _without_spaces(typed: Syllables) -> Syllables:
    """Return what is typed for each character; spaces and apostrophes are no part of a key."""
    return [each.replace(" ", "").replace("'", "") for each in typed]


def _key(typed: Syllables) -> str:
    return "".join(typed) + "\0" + "".join(chr(ord("`") + len(each.encode())) for each in typed)
