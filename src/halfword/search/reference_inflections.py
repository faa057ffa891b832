"""Words in another number or without their ending, in plain Python: `engine/text/inflections.h` must equal it."""

from collections.abc import Callable, Sequence
from itertools import takewhile
from string import digits

from halfword.core.text import width_of

_SHORTEST_PLURAL = 4  # bytes; `gas` and `bus` are no plurals
_SHORTEST_STEM = 3  # letters before an ending
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


def without_endings(text: str, fewest: float, most: int) -> list[str]:
    """Return a text without the last letter, the last two, and so on up to `most`, of its last word.

    Of this so many letters must be left. Digits are no ending.

    >>> without_endings("alle schulen", 4, 2), without_endings("boote", 4, 2), without_endings("inc-44", 4, 2)
    (['alle schule', 'alle schul'], ['boot'], [])
    """
    word = text.split(" ")[-1]
    removed = takewhile(lambda letter: letter not in digits, reversed(word))
    return [text[:-cut] for cut, _ in enumerate(removed, 1) if cut <= most and width_of(word[:-cut]) >= fewest]


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


def changed(word: str, affix: str, other: str) -> str | None:
    """Return the other form of a word, if two affixes take turns; those with a hyphen after them begin a word.

    >>> changed("medico", "o", "i"), changed("zio", "o", "i"), changed("المياه", "ال-", "-")
    ('medici', None, 'مياه')
    """
    if _begins(affix, other):
        affix, other = affix[:-1], other[:-1]
        stem = word.removeprefix(affix)
        fits, form = word.startswith(affix), other + stem
    else:
        stem = word.removesuffix(affix)
        fits, form = word.endswith(affix), stem + other
    return form if fits and width_of(stem) >= _SHORTEST_STEM else None


def other_forms(
    text: str, endings: Sequence[tuple[str, str]], is_word: Callable[[str], bool]
) -> tuple[list[str], list[str]]:
    """Return the texts with one word in another form, or all words that may have it in the same one.

    The first ones are those whose last word may go on: it stays, or begins otherwise. Words before the last must be
    known as words.

    >>> other_forms("bando conc", [("o", "i"), ("c", "")], {"bandi"}.__contains__)
    (['bandi conc'], ['bando con'])
    >>> other_forms("scarpe nere", [("e", "a")], set().__contains__)
    ([], ['scarpe nera', 'scarpa nera'])
    >>> other_forms("فاتورة كهر", [("-", "ال-")], set().__contains__)
    (['فاتورة الكهر', 'الفاتورة الكهر'], [])
    """
    words, begun, whole = text.split(" "), list[str](), list[str]()
    for pair in endings:
        of_last = begun if _begins(*pair) else whole
        forms = [changed(word, *pair) for word in words]
        for place, form in enumerate(forms):
            last = place == len(words) - 1
            if form is not None and (last or is_word(form)):
                (of_last if last else begun).append(" ".join([*words[:place], form, *words[place + 1 :]]))
        if sum(form is not None for form in forms) > 1:
            of_last.append(" ".join(word if form is None else form for word, form in zip(words, forms, strict=True)))
    return begun, whole


def _begins(affix: str, other: str) -> bool:
    return affix.endswith("-") and other.endswith("-")


def _is_long(word: str) -> bool:
    return len(word.encode()) >= _SHORTEST_PLURAL
