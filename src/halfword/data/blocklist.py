"""Phrases that no query of a dataset may hold."""

from pathlib import Path
from typing import Any

import ibis  # type: ignore[import-untyped]
import pyarrow as pa

from halfword.core.errors import OptionError
from halfword.core.text import Profile, normalise_query


def read_phrases(path: Path, profile: Profile) -> list[str]:
    """Read a phrase a line, normalised as queries are."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"{path}: the blocklist cannot be read ({error})") from error
    phrases = {phrase for line in lines if (phrase := normalise_query(line, profile))}
    if not phrases:
        raise OptionError(f"{path}: the blocklist is empty; write a phrase a line")
    return sorted(phrases)


def queries_with(counted: Any, phrases: list[str]) -> Any:
    """Return the queries that hold a phrase: found by its first word, then compared whole."""
    table = pa.table({"phrase": phrases, "word": [phrase.partition(" ")[0] for phrase in phrases]})
    words = counted.select("query", word=counted.query.split(" ").unnest())
    pairs = words.join(ibis.memtable(table), "word")
    return pairs.filter((" " + pairs.query + " ").contains(" " + pairs.phrase + " ")).select("query").distinct()
