"""Queries in Chinese characters by how they are typed in Latin letters (`engine/sources/pinyin.h`).

How a character is pronounced depends on the words around it; pypinyin knows. It is needed for training only, and only
where a log has Chinese characters: the extra `pinyin` installs it. Without it nothing is learned here.

A query has these keys: all of it as pinyin (`shouji`), the first letters alone (`sj`), and its first one to three
characters as they are with the rest as pinyin (`手ji`). Only the most typed queries have keys.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from heapq import nsmallest
from typing import Any, cast

import numpy as np

from halfword.core.model_file import Array
from halfword.core.words import is_han
from halfword.data.query_table import QueryTable
from halfword.search.model import import_engine

_MOST = 100_000  # queries that have keys, the most typed ones
_MOST_CHARACTERS = 20  # of a query that has keys
_MOST_WRITTEN = 3  # characters that may be written already

Syllables = list[str]  # what is typed for every character of a query


def learn_pinyin(counts: Mapping[str, int]) -> dict[str, Array]:
    """Return the index of queries by their pinyin, as arrays for a model file."""
    try:
        from pypinyin import lazy_pinyin
    except ImportError:
        return {}
    chinese = ((-count, query) for query, count in counts.items() if is_han(query) and len(query) <= _MOST_CHARACTERS)
    spelled = {
        query: [each.lower() for each in lazy_pinyin(query, errors=cast(Any, list))]  # others one by one
        for _, query in nsmallest(_MOST, chinese)
    }
    heard = {letter: lazy_pinyin(letter)[0] for letter in _common_characters()} if spelled else {}
    return pinyin_arrays(counts, spelled, heard)


def _common_characters() -> str:
    """Return the 3,755 commonest characters: the first level of GB 2312."""
    codes = (bytes([row, column]) for row in range(0xB0, 0xD8) for column in range(0xA1, 0xFF))
    return b"".join(codes).decode("gb2312", errors="ignore")


def pinyin_arrays(
    counts: Mapping[str, int], spelled: Mapping[str, Syllables], others: Mapping[str, str] | None = None
) -> dict[str, Array]:
    """Return the index of queries of which it is known how they are typed, and how their characters and others are."""
    by_key: dict[str, list[str]] = defaultdict(list)
    for query, syllables in spelled.items():
        if len(syllables) == len(query):
            for key in dict.fromkeys(keys_of(query, syllables)):
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
        **_character_arrays({**(others or {}), **_heard(counts, spelled)}),
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
    typed = [syllable.replace(" ", "") for syllable in syllables]
    yield _key(typed)
    yield _key([each[:1] if is_han(letter) else each for letter, each in zip(query, typed, strict=True)])
    for written in range(1, min(_MOST_WRITTEN + 1, len(query))):
        if is_han(query[written - 1]):
            yield _key([letter.replace(" ", "") for letter in query[:written]] + typed[written:])


def _key(typed: Syllables) -> str:
    return "".join(typed) + "\0" + "".join(chr(ord("`") + len(each.encode())) for each in typed)
