"""What a request asks for: query strings and JSON bodies, checked against the limits."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

import orjson

from halfword.core.context import LONGEST_QUERY, MOST_QUERIES
from halfword.core.options import Typos
from halfword.core.text import normalise_prefix
from halfword.serve.http.chosen import NAMES, Chosen, chosen_by_body, chosen_by_query
from halfword.serve.http.reply import refuse
from halfword.serve.options import Limits

ELASTICSEARCH_COUNT = 5  # its default `size`
# Of a search and of a completion suggester. Those about hits change nothing, for there are none.
SEARCH_FIELDS = ("suggest", "_source", "from", "size", "track_total_hits")
COMPLETION_FIELDS = ("field", "size", "skip_duplicates", "fuzzy", *NAMES)
# What Elasticsearch has and Halfword has not: why, and what to send instead.
_UNSUPPORTED = {
    "contexts": "completions are not filtered by category; leave it out, or serve one model per category",
    "regex": "a text is completed, not a pattern; send a prefix",
}
_PARAMETERS = ("q", "n", "pad", "context", *NAMES)
_PARAMETERS_AS_SENT = frozenset(name.encode() for name in _PARAMETERS)
_BATCH_FIELDS = ("prefixes", "n", "pad", "context", *NAMES)
MOST_IN_ADDRESS, LONGEST_IN_ADDRESS = 10, 100  # queries of a context and their characters: an address is short
INDEX_NAMES = "[a-z0-9.*][a-z0-9_.,*+-]{0,254}"  # one or several, as Elasticsearch allows


@dataclass(frozen=True, slots=True)
class Asked:
    """A prefix to complete."""

    prefix: str
    count: int | None = None  # as many as the server was started with
    pad: bool = False
    context: tuple[str, ...] = ()  # earlier queries of the session, the oldest first
    chosen: Chosen = ()  # options of the search


@dataclass(frozen=True, slots=True)
class AskedBatch:
    """Several prefixes to complete."""

    prefixes: list[Asked]
    pad: bool = False


def query_fields(query_string: bytes) -> dict[bytes, bytes]:
    """Return the fields of a query string as bytes; of a repeated one the last counts.

    >>> query_fields(b"q=new+yo&n=3")
    {b'q': b'new yo', b'n': b'3'}
    """
    fields = {}
    for field in filter(None, query_string.split(b"&")):
        name, _, value = field.partition(b"=")
        value = value.replace(b"+", b" ")
        fields[name] = unquote_to_bytes(value) if b"%" in value else value
    return fields


def asked_by_query(query_string: bytes, limits: Limits) -> Asked:
    """Read `?q=…&n=…&pad=…&context=…`, and the options of a search."""
    fields = query_fields(query_string)
    if not fields.keys() <= _PARAMETERS_AS_SENT:
        _check_known([name.decode("utf-8", "replace") for name in fields], _PARAMETERS)
    raw = fields.get(b"q")
    if raw is None:
        raise refuse("missing_q", "q is missing; ask like ?q=new+yo (an empty q gives the most popular)")
    try:
        prefix = raw.decode()
    except UnicodeDecodeError:
        raise refuse("not_utf8", "q is not UTF-8; encode the prefix as UTF-8, then percent-encode it") from None
    number = fields.get(b"n")
    count = None if number is None else _count_of(number.decode("utf-8", "replace"), limits)
    context = _context_of_query(query_string) if b"context" in fields else ()
    return Asked(_checked_prefix(prefix, limits), count, b"pad" in fields, context, chosen_by_query(fields))


def _context_of_query(query_string: bytes) -> tuple[str, ...]:
    """Read `context=…`, which may be repeated: the oldest query first."""
    given = [each for each in query_string.split(b"&") if each.partition(b"=")[0] == b"context"]
    try:
        context = [query_fields(each)[b"context"].decode() for each in given]
        return _checked_context(context, MOST_IN_ADDRESS, LONGEST_IN_ADDRESS)
    except UnicodeDecodeError:
        raise refuse("not_utf8", "a context is not UTF-8; encode it as UTF-8, then percent-encode it") from None


def _checked_context(given: Any, most: int = MOST_QUERIES, longest: int = LONGEST_QUERY) -> tuple[str, ...]:
    """Return the earlier queries of a session, or say what they must be."""
    is_list = isinstance(given, list) and len(given) <= most
    if is_list and all(isinstance(query, str) and len(query) <= longest for query in given):
        return tuple(given)
    raise refuse("bad_context", f"a context is a list of at most {most} texts of at most {longest} characters here")


def check_no_parameters(query_string: bytes) -> None:
    """Refuse a query string where everything is said in the body."""
    _check_known([name.decode("utf-8", "replace") for name in query_fields(query_string)], ())


def _check_known(given: Iterable[str], known: Sequence[str], where: str = "") -> None:
    """Refuse names that nobody would look at."""
    unknown = ", ".join(sorted(set(given) - set(known)))
    if unknown:
        may_be = f"known are: {', '.join(known)}" if known else "the body says everything"
        raise refuse("unknown_name", f"{unknown[:200]} is not known{where}; {may_be}")


def asked_by_batch(body: bytes, limits: Limits) -> AskedBatch:
    """Read `{"prefixes": […], "n": …, "pad": …, "context": […]}`; all prefixes share the context and the options."""
    match _parsed(body):
        case {"prefixes": list(prefixes), **rest} if 1 <= len(prefixes) <= limits.most_prefixes:
            _check_known(map(str, rest), _BATCH_FIELDS)
            count = _count_of(rest["n"], limits) if "n" in rest else None
            context, chosen = _checked_context(rest.get("context", [])), chosen_by_body(rest)
            asked = [
                Asked(_checked_prefix(prefix, limits), count, context=context, chosen=chosen) for prefix in prefixes
            ]
            return AskedBatch(asked, _flag(rest, "pad"))
    shape = '{"prefixes": ["new yo", "wea"], "n": 10}'
    raise refuse("bad_body", f"the body must be like {shape}, with 1 to {limits.most_prefixes} prefixes")


def asked_by_suggesters(body: bytes, limits: Limits) -> dict[str, Asked]:
    """Read the body of an Elasticsearch search with completion suggesters; what is not completion is refused."""
    content = _parsed(body)
    suggesters = content.get("suggest") if isinstance(content, dict) else None
    if not isinstance(suggesters, dict):
        raise _no_suggester("the body has no suggest object")
    _check_known(content, SEARCH_FIELDS)
    if not 1 <= len(suggesters) <= limits.most_prefixes:
        raise _no_suggester(f"suggest must hold 1 to {limits.most_prefixes} suggesters")
    return {name: _asked_by_suggester(name, entry, limits) for name, entry in suggesters.items()}


def _asked_by_suggester(name: str, entry: Any, limits: Limits) -> Asked:
    if not isinstance(entry, dict) or not isinstance(entry.get("completion"), dict):
        raise _no_suggester(f"the suggester {name!r} is no completion suggester")
    _check_supported(name, [*entry, *entry["completion"]])
    _check_known(entry, ("prefix", "text", "completion", "context"), f" in the suggester {name!r}")
    _check_known(entry["completion"], COMPLETION_FIELDS, f" in the completion of the suggester {name!r}")
    prefixes = [_checked_prefix(entry[key], limits) for key in ("prefix", "text") if key in entry]
    if not prefixes:
        raise _no_suggester(f"the suggester {name!r} has no prefix")
    if not isinstance(entry["completion"].get("field", ""), str):  # it is not used, but a wrong one is a mistake
        raise _no_suggester(f"the field of the suggester {name!r} is no text")
    size = entry["completion"].get("size", ELASTICSEARCH_COUNT)
    context = _checked_context(entry.get("context", []))
    chosen = chosen_by_body(_with_fuzzy(name, entry["completion"]))
    return Asked(prefixes[0], _count_of(size, limits, "size"), context=context, chosen=chosen)


def _with_fuzzy(suggester: str, completion: dict[str, Any]) -> dict[str, Any]:
    """Read `fuzzy` as Elasticsearch has it: true or an object corrects typing mistakes; how, the model knows."""
    if "fuzzy" not in completion:
        return completion
    fuzzy = completion["fuzzy"]
    if not isinstance(fuzzy, bool | dict):
        raise _no_suggester(f"the fuzzy of the suggester {suggester!r} is neither an object nor true or false")
    return {"typos": Typos.OFF if fuzzy is False else Typos.AUTO} | completion


def _check_supported(suggester: str, given: Iterable[str]) -> None:
    """Refuse what would change the answer in Elasticsearch and cannot change it here."""
    unsupported = [f"{name} is not supported: {_UNSUPPORTED[name]}" for name in given if name in _UNSUPPORTED]
    if unsupported:
        raise refuse("unsupported", f"in the suggester {suggester!r}, {'; '.join(unsupported)}")


def _no_suggester(reason: str) -> Exception:
    shape = '{"suggest": {"any": {"prefix": "new yo", "completion": {"field": "query"}}}}'
    return refuse("bad_body", f"{reason}; it must be like {shape}")


def _parsed(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise refuse("bad_json", f"the body is not JSON ({error})") from None


def _checked_prefix(prefix: Any, limits: Limits) -> str:
    if not isinstance(prefix, str):
        raise refuse("bad_body", "a prefix must be a text")
    length = len(prefix)
    if length <= limits.longest_prefix and not prefix.isascii():
        length = len(normalise_prefix(prefix))  # one character can become 18
    if length > limits.longest_prefix:
        raise refuse("prefix_too_long", f"a prefix has at most {limits.longest_prefix} characters, got {length}")
    return prefix


def _count_of(given: Any, limits: Limits, name: str = "n") -> int:
    if isinstance(given, str) and given.isascii() and given.isdigit() and len(given) < 10:
        given = int(given)
    if isinstance(given, float) and given.is_integer():  # to JSON, 10.0 is a whole number
        given = int(given)
    if isinstance(given, int) and not isinstance(given, bool) and 1 <= given <= limits.most_completions:
        return given
    raise refuse("bad_n", f"{name} must be a whole number between 1 and {limits.most_completions}")


def _flag(fields: Mapping[Any, Any], name: str) -> bool:
    value = fields.get(name, False)
    if not isinstance(value, bool):
        raise refuse("bad_body", f"{name} must be true or false")
    return value
