"""Other spellings of a query: with or without `www.`, spaces, punctuation, a doubled letter, `.com` at its end.

Nobody typed `www.homede` before, but `home depot` was typed. Except for a domain, these spellings have the same
*letters*. The letters of a text are what is left without a leading `http://` and `www.`, without everything in ASCII
that is neither letter nor digit, and with repeated ASCII characters only once. The arrays of the model file:

- `popular.by_letters` U8: the positions of queries in the popularity index, sorted by their letters, as base-128
  integers (`coded_numbers.py`). 32 of them are a block: the first of it is the position itself, each further one is
  twice the difference to the one before, or twice the difference the other way less 1 where it is below 0. Queries that
  hold a phrase of the blocklist are left out, because the filter looks for whole words and would not find joined ones;
  `popular.by_letters_begin` U32: where each block begins, and where the last one ends;
- `popular.domain` U8: the domain (such as `.com`) that most queries end with; empty if fewer than one in a hundred
  does.

The probability of a query by other spellings:

1. Let q be each query whose letters begin with those of the prefix (at least two bytes of letters, at most 50 queries).
2. The rest of q is what it has beyond the letters of the prefix. If the prefix repeats its last letter, as many repeats
   are skipped. If the prefix ends with punctuation, punctuation at the beginning of the rest is skipped.
3. The rest is appended to the prefix in up to four ways: as it is; without the domain of q; and, if the prefix has no
   space, without spaces: alone, and with the domain of q or, if it has none, with the most frequent domain.
4. The count of q, divided by the sum of the counts of all q, is shared equally by those of these texts that differ. A
   text that equals q or the prefix is not offered.

A domain that the prefix has already begun is part of the rest. No domain is added to a text that ends with one, or with
punctuation other than a dot, nor to one with a character of a script that is written without spaces.
"""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from halfword.core.letters import cut_domain, letters
from halfword.core.model_file import Array
from halfword.training.coded_numbers import code_numbers, number_sizes
from halfword.training.kneser_ney import Numbers

SHARE_OF_A_DOMAIN = 0.01
_BLOCK = 32  # positions that are coded together


def learn_spellings(queries: Sequence[str], is_left_out: Callable[[str], bool]) -> dict[str, Array]:
    """Return distinct queries sorted by their letters, and the most frequent domain, as arrays."""
    places = [place for place in enumerate(sorted(queries, key=str.encode)) if not is_left_out(place[1])]
    order = [place for _, place in sorted((letters(query), place) for place, query in places)]
    domains = Counter(domain for query in queries if (domain := cut_domain(query)[1]))
    common = min(domains, key=lambda name: (-domains[name], name), default="")
    if domains[common] < SHARE_OF_A_DOMAIN * len(queries):
        common = ""
    return letter_arrays(np.array(order, np.int64), common.encode())


def letter_arrays(order: Numbers, domain: bytes) -> dict[str, Array]:
    """Return positions in the order of their letters, and the most frequent domain, as arrays."""
    steps = np.diff(order, prepend=0)
    values = np.where(steps < 0, -2 * steps - 1, 2 * steps)
    values[::_BLOCK] = order[::_BLOCK]
    begins = np.cumsum(number_sizes(values)) - number_sizes(values)
    coded = code_numbers(values)
    return {
        "popular.by_letters": Array("U8", coded.tobytes()),
        "popular.by_letters_begin": Array("U32", np.append(begins[::_BLOCK], len(coded)).astype("<u4").tobytes()),
        "popular.domain": Array("U8", domain),
    }
