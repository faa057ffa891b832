"""Blocklists: files of phrases that are neither learned nor suggested.

A blocklist file holds one phrase per line:

- `phrase` blocks every text that holds it as whole words;
- `*phrase*` blocks every text that holds it anywhere, also inside a word;
- `!phrase` is an exception: a text is not blocked for words that are part of it;
- a line that begins with `#` is a comment.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, TypeVar

from halfword.core.errors import OptionError
from halfword.core.files import open_regular
from halfword.core.text import DEFAULT, Profile, normalise_query

SHIPPED = Path(__file__).parent.parent / "models" / "blocklist.txt"
_PUNCTUATION = re.compile(r"[^\w\s]|_")


class HasText(Protocol):
    """Anything that shows a text to the user, such as a completion."""

    @property
    def text(self) -> str: ...


Shown = TypeVar("Shown", bound=HasText)


class Blocklist:
    """Tells which texts hold a blocked phrase; the phrases are written as in a blocklist file.

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
        self._exceptions.sort(key=len, reverse=True)  # where two exceptions overlap, the longer one counts

    def blocks(self, text: str) -> bool:
        """Tell whether a normalised `text` holds a blocked phrase; punctuation may stand between its words."""
        if not self._may_block(text):
            return False
        if any(part in text for part in self._anywhere):
            return True
        return self._holds(text.split()) or self._holds(_PUNCTUATION.sub(" ", text).split())

    def allowed(self, shown: list[Shown]) -> list[Shown]:
        """Return what may be shown."""
        # Most answers hold nothing blocked, and one look at all texts together is enough to know.
        if not self._may_block(" ".join([each.text for each in shown])):
            return shown
        return [each for each in shown if not self.blocks(each.text)]

    def _may_block(self, text: str) -> bool:
        """Return False only where nothing in `text` can be blocked; much faster than a full check."""
        words = text.split()
        if not self._first_words.isdisjoint(words) or any(part in text for part in self._anywhere):
            return True
        if "".join(words).isalnum():  # without punctuation, the words are all there is
            return False
        return not self._first_words.isdisjoint(_PUNCTUATION.sub(" ", text).split())

    def _holds(self, words: list[str]) -> bool:
        spaced = f" {' '.join(words)} "
        if not self._found(words, spaced):
            return False
        for exception in self._exceptions:
            spaced = spaced.replace(exception, " | ")  # no phrase matches across a bar
        return self._found(spaced.split(), spaced)

    def _found(self, words: list[str], spaced: str) -> bool:
        return any(phrase in spaced for word in words for phrase in self._by_first_word.get(word, ()))


def read_blocklist(*paths: Path, profile: Profile = DEFAULT) -> Blocklist:
    """Read the phrases of all `paths`, normalised as the queries of `profile` are."""
    return Blocklist(phrase for path in paths for phrase in read_phrases(path, profile))


def read_phrases(path: Path, profile: Profile = DEFAULT) -> list[str]:
    """Return the phrases of a blocklist file, sorted, with their `*` and `!`."""
    try:
        with open_regular(path) as stream:
            lines = stream.read().decode("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"{path}: the blocklist cannot be read ({error})") from error
    phrases = {phrase for line in lines if not line.startswith("#") and (phrase := _normalised(line, profile))}
    if not phrases:
        raise OptionError(f"{path}: the blocklist is empty; write one phrase per line")
    return sorted(phrases)


def _normalised(line: str, profile: Profile) -> str:
    line = line.strip()
    mark = "!" if line.startswith("!") else "*" if line.startswith("*") and line.endswith("*") else ""
    phrase = normalise_query(line.strip(mark) if mark else line, profile)
    return f"{mark}{phrase}{mark.strip('!')}" if phrase else ""
