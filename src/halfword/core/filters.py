"""The filter: which texts are neither learned nor suggested, by the rules that ship and by rules of the user's own."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from halfword.core.automaton import Automaton, Words
from halfword.core.disguise import readings
from halfword.core.fields import option
from halfword.core.rules import Category, Kind, Phrase, Rules, category_named, parse_rules, read_rules
from halfword.core.text import DEFAULT, Profile

SHIPPED = Path(__file__).parent.parent / "models" / "harm.txt"
ALL = "all"


class HasText(Protocol):
    """Anything that shows a text to the user, such as a completion."""

    @property
    def text(self) -> str: ...


Shown = TypeVar("Shown", bound=HasText)


def categories_named(names: Iterable[str]) -> tuple[Category, ...]:
    """Return the categories called so; `all` means all of them.

    >>> categories_named(["sexual"])
    (<Category.SEXUAL: 'sexual'>,)
    """
    return tuple(
        dict.fromkeys(each for name in names for each in (Category if name == ALL else [category_named(name)]))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterOptions:
    """What is not suggested."""

    blocklist: Path | None = option(None, "Rules of your own: what is not offered.")
    allow: tuple[str, ...] = option((), "Offer this kind of harm, such as slurs.", commas=True)
    unfiltered: bool = option(False, "Offer all kinds of harm.")

    def __post_init__(self) -> None:
        object.__setattr__(self, "allow", categories_named([ALL] if self.unfiltered else self.allow))

    @property
    def blocklists(self) -> tuple[Path, ...]:
        """The files whose rules hold."""
        shipped = () if len(self.allow) == len(Category) else (SHIPPED,)
        return shipped if self.blocklist is None else (*shipped, self.blocklist)


class Layer:
    """The rules of the first of some files, with the exceptions of all of them."""

    def __init__(self, files: Sequence[Rules], allow: Iterable[Category]) -> None:
        rules = files[0]
        self._exceptions = _exceptions(files)
        exact = rules.of(Kind.EXACT, allow)
        self._exact = frozenset(rule.text for rule in exact)
        anywhere = [re.escape(rule.text) for rule in rules.of(Kind.ANYWHERE, allow)]
        self._anywhere = re.compile("|".join(anywhere)) if anywhere else None
        self._phrases = Automaton([rule.words for rule in rules.of(Kind.WORDS, allow)], rules.sets)
        self._unfinished = self._phrases.unfinished
        self._triggers = self._phrases.triggers.union(*(self._phrases.rarest(rule.words) for rule in exact))

    def may_block(self, ways: list[list[str]]) -> bool:
        """Return False only where no reading of a text can be blocked; much faster than a full check."""
        for words in ways:
            if not self._triggers.isdisjoint(words) or (words and words[-1] in self._unfinished):
                return True
            if self._anywhere is not None and self._anywhere.search(" ".join(words)):
                return True
        return False

    def blocks_one(self, ways: list[list[str]]) -> bool:
        """Tell whether one of the readings of a text is blocked."""
        if any(map(self.blocks, ways)):
            return True
        words = ways[-1]
        finished = [[*words[:-1], last] for last in self._unfinished.get(words[-1] if words else "", ())]
        return any(self.blocks(each, shortest=2) for each in finished)

    def blocks(self, words: Words, shortest: int = 1) -> bool:
        """Tell whether words hold what no exception covers: a rule of at least `shortest` words."""
        if not self._finds(words, shortest):
            return False
        spans = list(self._exceptions.spans(words))
        return not spans or self._finds(_without(words, spans), shortest)

    def refuses(self, words: Words) -> bool:
        """Tell whether words hold what no exception covers, nor could cover with more words behind them."""
        return self.blocks(words) and not self._exceptions.may_go_on(words)

    def _finds(self, words: Words, shortest: int) -> bool:
        if self._phrases.finds(words, shortest):
            return True
        text = " ".join(["|" if word is None else word for word in words])
        return shortest == 1 and (text in self._exact or bool(self._anywhere and self._anywhere.search(text)))


class Blocklist:
    """Tells which texts are blocked; rules are written as in a rules file.

    >>> blocklist = Blocklist(["bad word", "*worse*", "=belt", "sex", "!sex offender"])
    >>> [blocklist.blocks(text) for text in ("a bad-word", "bad words", "essex", "worsening", "belt", "belt buckle")]
    [True, False, False, True, True, False]
    >>> [blocklist.blocks(text) for text in ("sex", "sex offenders", "sex offender", "sex offender sex", "s e x")]
    [True, True, False, True, True]
    """

    def __init__(self, lines: Iterable[str], *more: Rules, allow: Iterable[str] = ()) -> None:
        allowed = categories_named(allow)
        files = [parse_rules(lines), *more]
        self._layers = [Layer(files[number:], allowed) for number, rules in enumerate(files) if rules.rules]

    def blocks(self, text: str) -> bool:
        """Tell whether a normalised `text` is blocked, disguised or not."""
        ways = readings(text)
        return any(layer.blocks_one(ways) for layer in self._layers if layer.may_block(ways))

    def refuses(self, prefix: str) -> bool:
        """Tell whether whatever begins with a normalised `prefix` is blocked.

        The last word counts only if a space follows it, because letters may.
        """
        whole = prefix if prefix.endswith(" ") else prefix.rpartition(" ")[0]
        ways = readings(whole)
        return any(layer.may_block(ways) and any(map(layer.refuses, ways)) for layer in self._layers)

    def allowed(self, shown: list[Shown]) -> list[Shown]:
        """Return what may be shown."""
        return [each for each in shown if not self.blocks(each.text)]


def read_blocklist(*paths: Path, profile: Profile = DEFAULT, allow: Iterable[str] = ()) -> Blocklist:
    """Read the rules of all `paths`, normalised as the queries of `profile` are, without categories that are allowed.

    An exception holds for the rules of its own file and of the files before it. So a user's exception excuses from
    rules that ship, and an exception that ships does not weaken a user's rule.
    """
    return Blocklist([], *(read_rules(path, profile) for path in paths), allow=allow)


def _exceptions(files: Sequence[Rules]) -> Automaton:
    sets: dict[str, set[Phrase]] = {}
    phrases: list[Phrase] = []
    for number, rules in enumerate(files):  # two files may define different sets of the same name
        sets |= {f"{number} {name}": members for name, members in rules.sets.items()}
        phrases += [tuple(_named(word, number) for word in rule.words) for rule in rules.of(Kind.EXCEPTION)]
    return Automaton(phrases, sets)


def _named(word: str, number: int) -> str:
    return f"{word[0]}{number} {word[1:]}" if word[0] in "@~" and len(word) > 1 else word


def _without(words: Words, spans: list[tuple[int, int]]) -> list[str | None]:
    """Return words without those that exceptions cover."""
    left = list(words)
    for begin, end in spans:
        left[begin:end] = [None] * (end - begin)
    return left
