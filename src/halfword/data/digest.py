"""What tells the rows of one split from others, wherever the dataset lies."""

import hashlib
from collections.abc import Mapping


def split_digest(counts: Mapping[str, int]) -> str:
    """Return a digest of queries and their counts, whatever their order.

    >>> split_digest({"new york": 2, "news": 1}) == split_digest({"news": 1, "new york": 2})
    True
    """
    digest = hashlib.blake2b(digest_size=16)
    for query in sorted(counts):
        digest.update(f"{query}\t{counts[query]}\n".encode())
    return digest.hexdigest()
