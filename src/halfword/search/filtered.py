"""Phrases that are never suggested, and the completer that leaves them out."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Protocol, Unpack

from halfword.core.errors import OptionError
from halfword.core.text import DEFAULT, Profile, normalise_query
from halfword.search.model import DEFAULTS, MOST_COMPLETIONS, Completion, SearchFields, SearchOptions
from halfword.search.model import _with_fields as with_fields

SHIPPED = Path(__file__).parent.parent / "models" / "blocklist.txt"
SHORTEST_DEADLINE_MS = 0.1  # with less time left than this, a further search finds nothing
_PUNCTUATION = re.compile(r"[^\w\s]|_")


class Blocklist:
    """Phrases found in a text as whole words; written `*phrase*`, anywhere in it; `!phrase` is an exception.

    >>> blocklist = Blocklist(["bad word", "*worse*", "sex", "!sex offender"])
    >>> [blocklist.blocks(text) for text in ("a bad-word", "bad words", "essex", "worsening")]
    [True, False, False, True]
    >>> [blocklist.blocks(text) for text in ("sex", "sex offenders", "sex offender", "sex offender sex")]
    [True, True, False, True]
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        self._anywhere: list[str] = []
        self._exceptions: list[str] = []
        self._by_first_word: dict[str, list[str]] = {}
        for phrase in phrases:
            if phrase.startswith("!"):
                self._exceptions.append(f" {phrase[1:]} ")
            elif phrase.startswith("*"):
                self._anywhere.append(phrase.strip("*"))
            else:
                self._by_first_word.setdefault(phrase.partition(" ")[0], []).append(f" {phrase} ")
        self._first_words = frozenset(self._by_first_word)
        self._exceptions.sort(key=len, reverse=True)  # the longest explains the most

    def blocks(self, text: str) -> bool:
        """Tell whether a normalised `text` holds a phrase, also between punctuation."""
        if not self._may_block(text):
            return False
        if any(part in text for part in self._anywhere):
            return True
        return self._holds(text.split()) or self._holds(_PUNCTUATION.sub(" ", text).split())

    def allowed(self, completions: list[Completion]) -> list[Completion]:
        """Return those that may be shown; mostly all may, and one look at all of them tells."""
        if not self._may_block(" ".join([completion.text for completion in completions])):
            return completions
        return [completion for completion in completions if not self.blocks(completion.text)]

    def _may_block(self, text: str) -> bool:
        if not self._first_words.isdisjoint(text.split()):
            return True
        if _PUNCTUATION.search(text) and not self._first_words.isdisjoint(_PUNCTUATION.sub(" ", text).split()):
            return True
        return any(part in text for part in self._anywhere)

    def _holds(self, words: list[str]) -> bool:
        spaced = f" {' '.join(words)} "
        if not self._found(words, spaced):
            return False
        for exception in self._exceptions:
            spaced = spaced.replace(exception, " | ")
        return self._found(spaced.split(), spaced)

    def _found(self, words: list[str], spaced: str) -> bool:
        return any(phrase in spaced for word in words for phrase in self._by_first_word.get(word, ()))


class BatchCompleter(Protocol):
    """What can be filtered: the completers that `load` returns."""

    def complete(self, prefix: str, options: SearchOptions = DEFAULTS) -> list[Completion]:
        """Return the likeliest completions of `prefix`, best first."""
        ...

    def complete_batch(self, prefixes: Sequence[str], options: SearchOptions = DEFAULTS) -> list[list[Completion]]:
        """Complete many prefixes."""
        ...


class Filtered:
    """A completer that leaves out what a blocklist holds, and asks for more until the gaps are filled."""

    def __init__(self, completer: BatchCompleter, blocklist: Blocklist) -> None:
        self._completer = completer
        self._blocklist = blocklist

    def complete(
        self, prefix: str, options: SearchOptions = DEFAULTS, **fields: Unpack[SearchFields]
    ) -> list[Completion]:
        """Return the likeliest completions of `prefix` that may be shown, best first."""
        options = with_fields(options, fields) if fields else options
        began = perf_counter()
        return self._filled(prefix, self._completer.complete(prefix, options), options, began)

    def complete_batch(
        self, prefixes: Sequence[str], options: SearchOptions = DEFAULTS, **fields: Unpack[SearchFields]
    ) -> list[list[Completion]]:
        """Complete many prefixes on all cores; those that lose a completion are asked again one by one."""
        options = with_fields(options, fields) if fields else options
        answers = self._completer.complete_batch(prefixes, options)
        return [
            self._filled(prefix, found, options, perf_counter())
            for prefix, found in zip(prefixes, answers, strict=True)
        ]

    def _filled(self, prefix: str, found: list[Completion], options: SearchOptions, began: float) -> list[Completion]:
        """Return what of `found` may be shown; if some may not, search for twice as many until there are enough.

        A search for more can find other scores. So completions of the first search stay as they are, and those of
        later searches only fill the gaps.
        """
        allowed = self._blocklist.allowed(found)
        asked = options.count
        while len(allowed) < options.count and len(found) == asked < MOST_COMPLETIONS:
            asked = min(2 * asked, MOST_COMPLETIONS)
            more = _more(options, asked, began)
            if more is None:
                break
            found = self._completer.complete(prefix, more)
            known = {completion.text for completion in allowed}
            new = [each for each in self._blocklist.allowed(found) if each.text not in known]
            filled = [*allowed, *new[: options.count - len(allowed)]]
            allowed = sorted(filled, key=lambda completion: -completion.score)  # stable: equal scores keep their order
        return allowed


def _more(options: SearchOptions, count: int, began: float) -> SearchOptions | None:
    """Return `options` for `count` completions in what is left of the deadline; None if nothing is left."""
    if options.deadline_ms is None:
        return replace(options, count=count)
    left = options.deadline_ms - (perf_counter() - began) * 1000
    return replace(options, count=count, deadline_ms=left) if left >= SHORTEST_DEADLINE_MS else None


def filtered(completer: BatchCompleter) -> Filtered:
    """Return `completer` without what the shipped blocklist holds."""
    return Filtered(completer, read_blocklist(SHIPPED))


def read_blocklist(*paths: Path, profile: Profile = DEFAULT) -> Blocklist:
    """Read a phrase a line, normalised as queries are; lines that begin with # are remarks."""
    return Blocklist(phrase for path in paths for phrase in read_phrases(path, profile))


def read_phrases(path: Path, profile: Profile) -> list[str]:
    """Return the phrases of a file in the order of their names, with their stars and exclamation marks."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"{path}: the blocklist cannot be read ({error})") from error
    phrases = {phrase for line in lines if not line.startswith("#") and (phrase := _normalised(line, profile))}
    if not phrases:
        raise OptionError(f"{path}: the blocklist is empty; write a phrase a line")
    return sorted(phrases)


def _normalised(line: str, profile: Profile) -> str:
    line = line.strip()
    mark = "!" if line.startswith("!") else "*" if line.startswith("*") and line.endswith("*") else ""
    phrase = normalise_query(line.strip(mark) if mark else line, profile)
    return f"{mark}{phrase}{mark.strip('!')}" if phrase else ""
