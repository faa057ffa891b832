"""Text that a terminal may show: what is not printable (escape sequences, bidirectional controls) is escaped."""

import re

_NOT_IN_JSON = re.compile(r"[^\x20-\x7e\n]")


def printable(text: str) -> str:
    r"""Return `text` with what is not printable escaped as Python does.

    >>> print(printable("caf\u00e9 \x1b[31m"))
    café \x1b[31m
    """
    return text if text.isprintable() else "".join(map(_escaped, text))


def printable_json(text: str) -> str:
    r"""Return JSON with what is not printable escaped as JSON does: it means the same as before.

    >>> print(printable_json('["\x9b", "caf\u00e9"]'))
    ["\u009b", "café"]
    """
    return text if text.isprintable() else _NOT_IN_JSON.sub(lambda found: _escaped_in_json(found[0]), text)


def _escaped(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode()


def _escaped_in_json(character: str) -> str:
    if character.isprintable():
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place : place + 2].hex()}" for place in range(0, len(units), 2))
