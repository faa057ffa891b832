"""Phrases that are neither completed nor offered."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from halfword.errors import OptionError
from halfword.text import Profile, normalise_query


class Blocklist:
    """Phrases found in a text as whole words; written `*phrase*`, anywhere in it.

    >>> blocklist = Blocklist(["bad word", "*worse*"])
    >>> [blocklist.blocks(text) for text in ("a bad word", "bad words", "bad", "worsening")]
    [True, False, False, True]
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        self._anywhere: list[str] = []
        self._by_first_word: dict[str, list[str]] = {}
        for phrase in phrases:
            if phrase.startswith("*"):
                self._anywhere.append(phrase.strip("*"))
            else:
                self._by_first_word.setdefault(phrase.partition(" ")[0], []).append(f" {phrase} ")

    def blocks(self, text: str) -> bool:
        """Tell whether a normalised `text` holds a phrase."""
        if any(part in text for part in self._anywhere):
            return True
        words = text.split()
        found = [phrase for word in words for phrase in self._by_first_word.get(word, ())]
        if not found:
            return False
        spaced = f" {' '.join(words)} "
        return any(phrase in spaced for phrase in found)


def read_blocklist(path: Path, profile: Profile) -> Blocklist:
    """Read a phrase a line, normalised as queries are; lines that begin with # are remarks."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"{path}: the blocklist cannot be read ({error})") from error
    phrases = _normalised((line for line in lines if not line.startswith("#")), profile)
    if not phrases:
        raise OptionError(f"{path}: the blocklist is empty; write a phrase a line")
    return Blocklist(phrases)


def _normalised(lines: Iterable[str], profile: Profile) -> Sequence[str]:
    phrases = []
    for line in lines:
        phrase = normalise_query(line.strip().strip("*"), profile)
        if phrase:
            anywhere = line.strip().startswith("*") and line.strip().endswith("*")
            phrases.append(f"*{phrase}*" if anywhere else phrase)
    return phrases
