"""Rules files: plain text that says what is neither learned nor suggested.

One rule per line:

- `belt` blocks every text that holds it as whole words (`leather belt`, `belt buckle`, but not `seatbelts`);
- `=belt` blocks this text only, and no longer one;
- `*belt*` blocks every text that holds these letters, also inside a word;
- `!belt buckle` is an exception: a text is not blocked for words that are part of it;
- a line that begins with `#` is a comment.

Rules of words and exceptions may also hold:

- `@drug`, one of the words or phrases of a set, which `@drug = meth, crack cocaine` defines; more such lines add to it,
  and a set may name sets that are defined above it;
- `~ordinary`, any one word that is not in the set `@ordinary`;
- `..`, at most one word, and `...`, at most three words, whatever they are.

A file that defines the set `@right` is also read with typing mistakes: a word that is neither in that set nor elsewhere
in the files stands for a word of the rules that differs from it by one letter.

`[violence]` puts the rules below it into that category. Rules above the first such line belong to no category. An
exception excuses from the rules of its own category; one without a category excuses from all.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from halfword.core.errors import OptionError
from halfword.core.files import open_regular
from halfword.core.text import DEFAULT, Profile, normalise_query

ORDINARY = "ordinary"  # the set of words too frequent to look for
RIGHT = "right"  # the set of words that are no mistyped words of the rules
GAPS = {"..": 1, "...": 3}
Phrase = tuple[str, ...]


class Category(StrEnum):
    """A kind of harm that can be switched off."""

    SEXUAL = "sexual"
    SLURS = "slurs"
    SELF_HARM = "self-harm"
    VIOLENCE = "violence"
    CRIMES = "crimes"
    PEOPLE = "people"


class Kind(StrEnum):
    """What a rule does, by the sign in front of it."""

    WORDS = ""
    EXACT = "="
    ANYWHERE = "*"
    EXCEPTION = "!"


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a rules file, normalised."""

    kind: Kind
    words: Phrase
    category: Category | None = None

    @property
    def text(self) -> str:
        """The words of the rule in one text."""
        return " ".join(self.words)


@dataclass(slots=True)
class Rules:
    """The rules of one file, and the sets that they name."""

    rules: list[Rule] = field(default_factory=list)
    sets: dict[str, set[Phrase]] = field(default_factory=dict)


def read_rules(path: Path, profile: Profile = DEFAULT) -> Rules:
    """Read a rules file, normalised as the queries of `profile` are; a file without rules is allowed."""
    try:
        with open_regular(path) as stream:
            lines = stream.read().decode("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"{path}: the blocklist cannot be read ({error})") from error
    try:
        return parse_rules(lines, profile)
    except OptionError as error:
        raise OptionError(f"{path}, {error}") from None


def parse_rules(lines: Iterable[str], profile: Profile = DEFAULT) -> Rules:
    """Return the rules that lines hold.

    >>> [rule.kind.name for rule in parse_rules(["=belt", "belt", "*belt*", "!belt buckle"]).rules]
    ['EXACT', 'WORDS', 'ANYWHERE', 'EXCEPTION']
    """
    found, category = Rules(), None
    for number, line in enumerate(lines, 1):
        line = line.strip()
        try:
            if line.startswith("[") and line.endswith("]"):
                category = category_named(line[1:-1].strip())
            elif line.startswith("@") and "=" in line:
                _define(found.sets, line, profile)
            elif line and not line.startswith("#"):
                _add(found, line, category, profile)
        except OptionError as error:
            raise OptionError(f"line {number}: {error}") from None
    return found


def category_named(name: str) -> Category:
    """Return the category called `name`."""
    if name not in list(Category):
        raise OptionError(f"category {name!r} is unknown; choose among: {', '.join(Category)}")
    return Category(name)


def words_of(rules: Rules) -> Iterator[str]:
    """Yield every word that stands in rules and their sets."""
    for rule in rules.rules:
        yield from (word for word in rule.words if word not in GAPS and word[0] not in "@~")
    for phrases in rules.sets.values():
        for phrase in phrases:
            yield from phrase


def _define(sets: dict[str, set[Phrase]], line: str, profile: Profile) -> None:
    name, _, members = normalise_query(line, profile).removeprefix("@").partition("=")
    chosen = sets.setdefault(name.strip(), set())
    for member in members.split(","):
        words = tuple(member.split())
        if len(words) == 1 and words[0].startswith("@"):
            chosen |= _known(sets, words[0][1:])
        elif words:
            chosen.add(words)


def _add(found: Rules, line: str, category: Category | None, profile: Profile) -> None:
    kind = Kind.ANYWHERE if len(line) > 1 and line[0] == line[-1] == "*" else Kind.WORDS
    kind = Kind(line[0]) if line[0] in "=!" else kind
    words = tuple(
        normalise_query(line.strip("*") if kind is Kind.ANYWHERE else line.removeprefix(kind), profile).split()
    )
    if not words:
        return
    if kind in (Kind.WORDS, Kind.EXCEPTION):
        for word in words:
            if word[0] in "@~" and len(word) > 1:
                _known(found.sets, word[1:])
        if words[0] in GAPS or words[0][0] == "~" or words[-1] in GAPS:
            raise OptionError(f"{line!r} must begin and end with a word or a set, because .. and ~ stand for any words")
    found.rules.append(Rule(kind, words, category))


def _known(sets: dict[str, set[Phrase]], name: str) -> set[Phrase]:
    if name not in sets:
        raise OptionError(f"no set is called {name!r}; define it above, like: @{name} = first, second")
    return sets[name]
