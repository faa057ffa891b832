"""Known queries with the typed letters inside a word, in plain Python: what the engine must equal.

Some languages write compounds as one word: `ausweis` is meant to find `personalausweis`. Enough letters must be typed,
fewer if the word ends with them (`pass` finds `reisepass`), and enough letters of the same word must be before them, or
`range` would find `orange`.
"""

from collections.abc import Mapping

from halfword.core.folding import fold
from halfword.core.policy import Policy
from halfword.core.text import width_of


def find_inside(
    counts: Mapping[str, int], typed: str, policy: Policy, *, folds: bool = True, ending: bool = False
) -> dict[str, int]:
    """Return the most typed queries with the typed letters inside a word, and where that word ends in each.

    With `ending` only words that end with the letters count.

    >>> counts = {"personalausweis verloren": 3, "ausweis": 2, "orange": 9, "erdgas": 1}
    >>> policy = Policy(inside_most_queries=10.0)
    >>> find_inside(counts, "ausweis", policy), find_inside(counts, "range", policy)
    ({'personalausweis verloren': 15}, {})
    >>> find_inside({"reisepass": 3, "kompasse": 1}, "pass", policy)
    {'reisepass': 9}
    """
    spelled = fold if folds else str
    wanted = spelled(typed)
    letters, before = width_of(wanted), int(policy.inside_fewest_before)
    if len(counts) > policy.inside_most_queries or letters < policy.inside_fewest_ending or " " in wanted:
        return {}
    ending = ending or letters < policy.inside_fewest_typed
    found = {query: _matched(query, spelled(query), wanted, before, ending) for query in counts}
    return {query: matched for query, matched in found.items() if matched and not query.startswith(typed)}


def _matched(query: str, key: str, wanted: str, before: int, ending: bool) -> int:
    """Return where the first word ends that has what is wanted inside, or at its end; 0 if there is none."""
    end = 0
    for word, folded in zip(query.split(" "), key.split(" "), strict=True):
        end += len(word) + 1
        letters = folded.encode()[before:]
        if letters.endswith(wanted.encode()) if ending else wanted.encode() in letters:
            return end - 1
    return 0
