"""The filter: which texts are neither learned nor suggested, by the rules that ship and by rules of the user's own."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from halfword.core.automaton import Automaton, Words
from halfword.core.disguise import is_plain, readings
from halfword.core.fields import option
from halfword.core.near_words import NearWords
from halfword.core.rules import (
    GAPS,
    RIGHT,
    Category,
    Kind,
    Phrase,
    Rule,
    Rules,
    category_named,
    parse_rules,
    read_rules,
    words_of,
)
from halfword.core.text import DEFAULT, Profile
from halfword.core.word_sets import WordSets

SHIPPED = Path(__file__).parent.parent / "models" / "harm.txt"
ALL = "all"
SPELLED = 3  # single characters in a row that may be a word, as in `s e x`
_NOTHING = r"(?!)"  # a pattern that is found nowhere


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
    def partly_allowed(self) -> str:
        """The categories that are allowed; empty if that are all, because no rule of a category is left then."""
        return "" if len(self.allow) == len(Category) else ",".join(self.allow)

    @property
    def blocklists(self) -> tuple[Path, ...]:
        """The files whose rules hold."""
        shipped = () if len(self.allow) == len(Category) else (SHIPPED,)
        return shipped if self.blocklist is None else (*shipped, self.blocklist)


class Layer:
    """The rules of one category in one file, with the exceptions that excuse from them."""

    def __init__(self, rules: Sequence[Rule], sets: WordSets, exceptions: Automaton) -> None:
        anywhere = [re.escape(rule.text) for rule in rules if rule.kind is Kind.ANYWHERE]
        exact = [rule for rule in rules if rule.kind is Kind.EXACT]
        self._exact = frozenset(rule.text for rule in exact)
        self._phrases = Automaton([(rule.words, sets) for rule in rules if rule.kind is Kind.WORDS])
        self._exceptions = exceptions
        self.anywhere = "|".join(anywhere)
        self._anywhere = re.compile(self.anywhere or _NOTHING)
        self.triggers = self._phrases.triggers.union(*(sets.rarest(rule.words) for rule in exact))
        self.unfinished = self._phrases.unfinished

    def may_block(self, ways: list[list[str]]) -> bool:
        """Return False only where no reading of a text can be blocked; much faster than a full check."""
        for words in ways:
            if not self.triggers.isdisjoint(words) or (words and words[-1] in self.unfinished):
                return True
            if self.anywhere and self._anywhere.search(" ".join(words)):
                return True
        return False

    def blocks_one(self, ways: list[list[str]], shortest: int = 1) -> bool:
        """Tell whether one of the readings of a text is blocked, by a rule of at least `shortest` words."""
        if any(self.blocks(words, shortest) for words in ways):
            return True
        last = ways[-1][-1] if ways[-1] else ""
        if last not in self.unfinished:
            return False
        return any(self.blocks([*ways[-1][:-1], word], shortest=2) for word in self.unfinished[last])

    def blocks(self, words: Words, shortest: int = 1) -> bool:
        """Tell whether words hold what no exception covers: a rule of at least `shortest` words."""
        if not self._finds(words, shortest):
            return False
        spans = list(self._exceptions.spans(words))
        return not spans or self._finds(_without(words, spans), shortest)

    def refuses(self, words: Words, shortest: int = 1) -> bool:
        """Tell whether words hold what no exception covers, nor could cover with more words behind them."""
        return self.blocks(words, shortest) and not self._exceptions.may_go_on(words)

    def _finds(self, words: Words, shortest: int) -> bool:
        if not self.triggers.isdisjoint(words) and self._phrases.finds(words, shortest):
            return True
        if shortest > 1 or not (self.anywhere or self._exact):
            return False
        text = " ".join(["|" if word is None else word for word in words])
        return text in self._exact or self._anywhere.search(text) is not None


class Blocklist:
    """Tells which texts are blocked; rules are written as in a rules file.

    >>> blocklist = Blocklist(["bad word", "*worse*", "=belt", "sex", "!sex offender"])
    >>> [blocklist.blocks(text) for text in ("a bad-word", "bad words", "essex", "worsening", "belt", "belt buckle")]
    [True, False, False, True, True, False]
    >>> [blocklist.blocks(text) for text in ("sex", "sex offenders", "sex offender", "sex offender sex", "s e x")]
    [True, True, False, True, True]
    >>> Blocklist(["sexe", "!deuxième sexe"]).blocks("le deuxième sexe")
    False
    """

    def __init__(self, lines: Iterable[str], *more: Rules, allow: Iterable[str] = ()) -> None:
        files = [parse_rules(lines), *more]
        self._layers = list(_layers(files, categories_named(allow)))
        self._near = _near_words(files)
        # Most texts hold nothing of all this, and one look is enough to know.
        self._triggers = frozenset().union(*(layer.triggers for layer in self._layers))
        self._unfinished = frozenset().union(*(layer.unfinished for layer in self._layers))
        anywhere = [layer.anywhere for layer in self._layers if layer.anywhere]
        self._anywhere = re.compile("|".join(anywhere) or _NOTHING)

    def blocks(self, text: str) -> bool:
        """Tell whether a normalised `text` is blocked, disguised or not."""
        words = text.split()
        is_clean = self._is_clean(text, words)
        if is_clean and self._near.are_far(words):
            return False
        ways = [words] if is_clean else readings(text)
        if not is_clean and any(layer.blocks_one(ways) for layer in self._layers if layer.may_block(ways)):
            return True
        return any(
            layer.blocks_one([mended], shortest)
            for mended, shortest in self._mended(ways[-1])
            for layer in self._layers
            if layer.may_block([mended])
        )

    @property
    def reads_words_alone(self) -> bool:
        """Tell whether `suspects` says enough of a text: no rule spans two words letter by letter."""
        return " " not in self._anywhere.pattern

    def suspects(self, word: str) -> tuple[bool, int]:
        """Tell whether a text may be blocked for one of its words, and how many single characters that word may be.

        A text that is blocked holds a suspected word, or words of at least `SPELLED` single characters together. So
        most of many texts are known to be harmless from their words.
        """
        if word.isascii() and word.isalpha() and len(word) > 1:
            return any(map(self._is_found, (word, *self._near.meant(word)))), 0
        ways = readings(word)
        parts = {part for way in ways for part in (*way, " ".join(way))}
        meant = {each for part in ways[-1] for each in self._near.meant(part)}
        return any(map(self._is_found, parts | meant)), max(sum(len(part) == 1 for part in way) for way in ways)

    def _is_found(self, word: str) -> bool:
        return word in self._triggers or word in self._unfinished or self._anywhere.search(word) is not None

    def refuses(self, prefix: str) -> bool:
        """Tell whether whatever begins with a normalised `prefix` is blocked.

        The last word counts only if a space follows it, because letters may.
        """
        whole = prefix if prefix.endswith(" ") else prefix.rpartition(" ")[0]
        words = whole.split()
        is_clean = self._is_clean(whole, words)
        if is_clean and self._near.are_far(words):
            return False
        ways = [words] if is_clean else readings(whole)
        meant = [*((way, 1) for way in ways if not is_clean), *self._mended(ways[-1])]
        return any(layer.refuses(way, shortest) for way, shortest in meant for layer in self._layers)

    def _mended(self, words: list[str]) -> Iterator[tuple[list[str], int]]:
        """Yield what words may be meant for, and of how many words a rule must be to count there."""
        meant = {each for word in words for each in self._near.meant(word)}
        if meant and any(map(self._is_found, meant.union(words))):
            if len(words) > 1:
                yield from ((mended, 2) for mended in self._near.phrases(words))
            yield from ((mended, 1) for mended in self._near.long_words(words))

    def allowed(self, shown: list[Shown]) -> list[Shown]:
        """Return what may be shown."""
        return [each for each in shown if not self.blocks(each.text)]

    def _is_clean(self, text: str, words: list[str]) -> bool:
        """Return True only where nothing can be blocked; much faster than a full check."""
        return (
            self._triggers.isdisjoint(words)
            and is_plain(text, words)
            and (not words or words[-1] not in self._unfinished)
            and not self._anywhere.search(text)
        )


def read_blocklist(*paths: Path, profile: Profile = DEFAULT, allow: Iterable[str] = ()) -> Blocklist:
    """Read the rules of all `paths`, normalised as the queries of `profile` are, without categories that are allowed.

    An exception holds for its own category, in its own file and in the files before it; one above the first category
    of its file holds for all. So a user's exception excuses from rules that ship, and an exception that ships does not
    weaken a user's rule.
    """
    return Blocklist([], *(read_rules(path, profile) for path in paths), allow=allow)


def _near_words(files: Sequence[Rules]) -> NearWords:
    """Return what words may be meant for: words of the files that say which other words are right."""
    words = [set(words_of(rules)) for rules in files]
    meant = (own for own, rules in zip(words, files, strict=True) if RIGHT in rules.sets)
    right = {word for rules in files for words in rules.sets.get(RIGHT, ()) for word in words}
    return NearWords(set().union(*meant) - right, right.union(*words))


def _layers(files: Sequence[Rules], allowed: Iterable[Category]) -> Iterator[Layer]:
    """Yield the rules of each category in each file that are not allowed."""
    sets = [WordSets(rules.sets) for rules in files]
    for number, rules in enumerate(files):
        for category in (None, *(each for each in Category if each not in allowed)):
            own = [rule for rule in rules.rules if rule.category is category and rule.kind is not Kind.EXCEPTION]
            if own:
                yield Layer(own, sets[number], _exceptions(files[number:], sets[number:], category))


def _exceptions(files: Sequence[Rules], sets: Sequence[WordSets], category: Category | None) -> Automaton:
    return Automaton(
        (way, words)
        for rules, words in zip(files, sets, strict=True)
        for rule in rules.rules
        if rule.kind is Kind.EXCEPTION and rule.category in (None, category)
        for way in _ways(rule.words)
    )


def _ways(words: Phrase) -> list[Phrase]:
    """Return the words of an exception as each reading of a text has them: `café` excuses `cafe`, too."""
    if any(word in GAPS or word[0] in "@~" for word in words):
        return [words]
    return [tuple(way) for way in readings(" ".join(words))]


def _without(words: Words, spans: list[tuple[int, int]]) -> list[str | None]:
    """Return words without those that exceptions cover."""
    left = list(words)
    for begin, end in spans:
        left[begin:end] = [None] * (end - begin)
    return left
