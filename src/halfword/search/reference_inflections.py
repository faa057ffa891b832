"""Words in another number or without their ending, in plain Python: `engine/text/inflections.h` must equal it."""

from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from string import digits

_SHORTEST_PLURAL = 4  # bytes; `gas` and `bus` are no plurals
_SHORTEST_STEM = 3  # bytes before an ending
_WITH_E = ("che", "she", "xe", "sse", "zze")  # watches, boxes


def make_singular(word: str) -> str:
    """Return a word without the ending of a plural.

    Words in -ie and -che, which only look like a plural, lose it too: so they and their plurals stay the same.

    >>> [make_singular(word) for word in ("jackets", "batteries", "watches", "brownie", "bus", "glass")]
    ['jacket', 'battery', 'watch', 'browny', 'bus', 'glass']
    """
    if _is_long(word) and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if _is_long(word) and word.endswith("ie"):
        return word[:-2] + "y"
    return word[:-1] if _is_long(word) and word.endswith(_WITH_E) else word


def singular_forms(text: str) -> list[str]:
    """Return a text whose last word has lost the ending of a plural, in the ways in which it may.

    >>> singular_forms("rain jackets"), singular_forms("night buses"), singular_forms("boots "), singular_forms("bus")
    (['rain jacket'], ['night buse', 'night bus'], [], [])
    """
    *before, word = text.split(" ")
    forms = [make_singular(word), *([word[:-2]] if _is_long(word[:-1]) and word.endswith("es") else [])]
    return [" ".join([*before, form]) for form in forms if form != word]


def changed_plural(text: str) -> str | None:
    """Return a text with its last word in the plural, where that is written otherwise than with one letter more.

    >>> changed_plural("pampers nappy"), changed_plural("display"), changed_plural("fly")
    ('pampers nappies', None, None)
    """
    word = text.split(" ")[-1]
    return f"{text[:-1]}ies" if _is_long(word) and word.endswith("y") and word[-2] not in "aeiou" else None


def without_endings(text: str, fewest: float) -> list[str]:
    """Return a text without the last letter, and the last two letters, of its last word, of which so many must be left.

    Digits are no ending.

    >>> without_endings("alle schulen", 4), without_endings("boote", 4), without_endings("inc-44", 4)
    (['alle schule', 'alle schul'], ['boot'], [])
    """
    word = text.split(" ")[-1]
    removed = takewhile(lambda letter: letter not in digits, reversed(word[-2:]))
    return [text[:-cut] for cut, _ in enumerate(removed, 1) if len(word[:-cut].encode()) >= fewest]


def in_other_number(text: str) -> list[str]:
    """Return the texts with one of the words before the last in the other number.

    >>> in_other_number("course psychology"), in_other_number("gowns red "), in_other_number("news")
    (['courses psychology'], ['gown red ', 'gowns reds '], [])
    """
    *words, _ = text.split(" ")
    others = [singular if (singular := make_singular(word)) != word else f"{word}s" for word in words]
    return [" ".join([*words[:place], other, *text.split(" ")[place + 1 :]]) for place, other in enumerate(others)]


def singular_before(text: str) -> str:
    """Return a text with all words before the last in the singular.

    >>> singular_before("vestidos negros"), singular_before("news")
    ('vestido negros', 'news')
    """
    *before, last = text.split(" ")
    return " ".join([*map(make_singular, before), last])


def forms_of(word: str, endings: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield the other forms that a word may have, if endings take turns.

    >>> list(forms_of("medico", [("o", "i"), ("o", "a"), ("i", "o")])), list(forms_of("zio", [("o", "i")]))
    (['medici', 'medica'], [])
    """
    for ending, other in endings:
        if _may_end(word, ending):
            yield word.removesuffix(ending) + other


def other_forms(
    text: str, endings: Sequence[tuple[str, str]], is_word: Callable[[str], bool]
) -> tuple[list[str], list[str]]:
    """Return the texts with one word in another form: those before the last, which must be words, and the last.

    With the latter are those with all words that may have it in the same form.

    >>> other_forms("bando conc", [("o", "i"), ("c", "")], {"bandi"}.__contains__)
    (['bandi conc'], ['bando con'])
    >>> other_forms("scarpe nere", [("e", "a")], set().__contains__)
    ([], ['scarpe nera', 'scarpa nera'])
    """
    *before, last = words = text.split(" ")
    inner = [
        " ".join([*words[:place], form, *words[place + 1 :]])
        for place, word in enumerate(before)
        for form in forms_of(word, endings)
        if is_word(form)
    ]
    together = []
    for ending, other in endings:
        changed = [word.removesuffix(ending) + other if _may_end(word, ending) else word for word in words]
        if sum(_may_end(word, ending) for word in words) > 1:
            together.append(" ".join(changed))
    return inner, [*(" ".join([*before, form]) for form in forms_of(last, endings)), *together]


def _may_end(word: str, ending: str) -> bool:
    return word.endswith(ending) and len(word.removesuffix(ending).encode()) >= _SHORTEST_STEM


def _is_long(word: str) -> bool:
    return len(word.encode()) >= _SHORTEST_PLURAL
