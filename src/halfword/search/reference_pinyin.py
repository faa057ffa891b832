"""Known queries in Chinese characters by how they are typed, in plain Python: what the engine must equal.

What is typed, but for spaces and apostrophes, must be how a query begins that is typed in one of these ways: all of it
in pinyin, the first letter of every character alone, or the first characters as they are and the others in pinyin. It
must end with a letter.
"""

from collections.abc import Iterator, Mapping, Sequence

from halfword.core.policy import Policy
from halfword.core.words import is_han

_MOST_WRITTEN = 3


class PlainPinyin:
    """Queries, and what is typed for every character of each."""

    def __init__(self, counts: Mapping[str, int], spelled: Mapping[str, Sequence[str]], policy: Policy) -> None:
        self._counts, self._policy = counts, policy
        self._ways = [(query, way) for query, each in spelled.items() for way in _ways(query, list(each))]

    def find(self, prefix: str) -> dict[str, int]:
        """Return queries that are typed so, and how many characters of each stand for what was typed."""
        typed = prefix.replace(" ", "").replace("'", "")
        ends_with_letter = "a" <= typed[-1:] <= "z" or not typed[-1:].isascii()
        if len(typed) < self._policy.pinyin_fewest_characters or not ends_with_letter:
            return {}
        fitting = [(query, way) for query, way in self._ways if "".join(way).startswith(typed)]
        fitting.sort(key=lambda each: (-self._counts[each[0]], _key(each[1]), each[0]))
        found: dict[str, int] = {}
        for query, way in fitting[: int(self._policy.pinyin_count)]:
            if not query.startswith(prefix):
                found.setdefault(query, _matched(way, typed))
        return found


def _ways(query: str, spelled: list[str]) -> Iterator[list[str]]:
    """Yield the different ways to type a query, character by character."""
    spelled = [each.replace(" ", "") for each in spelled]
    ways = [spelled, [each[:1] if is_han(letter) else each for letter, each in zip(query, spelled, strict=True)]]
    for written in range(1, min(_MOST_WRITTEN + 1, len(query))):
        if is_han(query[written - 1]):
            ways.append([letter.replace(" ", "") for letter in query[:written]] + spelled[written:])
    for number, way in enumerate(ways):
        if way not in ways[:number]:
            yield way


def _key(way: list[str]) -> bytes:
    """Return by what ways are put in order whose queries were typed as often."""
    return "".join(way).encode() + b"\0" + bytes(ord("`") + len(each.encode()) for each in way)


def _matched(way: list[str], typed: str) -> int:
    """Return for how many characters something was typed."""
    read = characters = 0
    while read < len(typed.encode()) and characters < len(way):
        read += len(way[characters].encode())
        characters += 1
    return characters
