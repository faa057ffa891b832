"""The same query in another spelling: with or without `www.`, spaces, signs, a doubled letter, `.com` at its end.

Somebody types `www.homede`, which nobody typed before; but `home depot` was typed. But for a domain these spellings
have the same letters: what is left of a text without `http://` and `www.` at its beginning, letters and digits alone
(all that is not ASCII among them), each repeated one of ASCII once. As arrays of a model file:

- `popular.by_letters` U32: where queries lie in the popularity index, sorted by their letters. Phrases that are never
  suggested are found as words, so queries that hold one are left out: joined, it would be found no more;
- `popular.domain` U8: the ending like `.com` that most queries have; empty if fewer than one in a hundred has it.

How likely a query is by other spellings alone: let q be the queries whose letters begin with those of the prefix (two
bytes of letters at least, and fifty queries at most). What q has beyond them is its rest: without as many repeats of
the last letter as the prefix has, and without signs at its beginning if the prefix ends with one. The rest may follow
the prefix as it stands, or without q's domain; and if there is no space in the prefix, also without its spaces, and
so with q's domain or, if it has none, the commonest. How often q was typed, as a share of how often all of them were,
is divided evenly among those of these ways that differ. (What leads to q itself or to the prefix is not offered.) A
domain that the prefix has begun already is part of the rest, and none is added to a text that ends with one or with a
sign, but for a dot.
"""

import struct
from collections import Counter
from collections.abc import Callable, Sequence

from halfword.core.letters import cut_domain, letters
from halfword.core.model_file import Array

_SHARE_OF_A_DOMAIN = 0.01


def learn_spellings(queries: Sequence[str], is_left_out: Callable[[str], bool]) -> dict[str, Array]:
    """Return different queries by their letters, and how an address mostly ends, as arrays."""
    places = [place for place in enumerate(sorted(queries, key=str.encode)) if not is_left_out(place[1])]
    order = [place for _, place in sorted((letters(query), place) for place, query in places)]
    domains = Counter(domain for query in queries if (domain := cut_domain(query)[1])).most_common(1)
    common = next((name for name, count in domains if count >= _SHARE_OF_A_DOMAIN * len(queries)), "")
    return {
        "popular.by_letters": Array("U32", struct.pack(f"<{len(order)}I", *order)),
        "popular.domain": Array("U8", common.encode()),
    }
