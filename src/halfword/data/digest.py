"""What tells the rows of one split from others, wherever the dataset lies."""

import hashlib
from collections.abc import Mapping
from itertools import islice

from halfword.data.query_table import QueryTable

_AT_ONCE = 10_000  # queries


def split_digest(counts: Mapping[str, int]) -> str:
    """Return a digest of queries and their counts, whatever their order.

    >>> split_digest({"new york": 2, "news": 1}) == split_digest({"news": 1, "new york": 2})
    True
    """
    digest = hashlib.blake2b(digest_size=16)
    pairs = QueryTable.of(counts).sorted()
    while some := b"".join(b"%b\t%d\n" % pair for pair in islice(pairs, _AT_ONCE)):
        digest.update(some)
    return digest.hexdigest()
