"""The endpoints that complete: what each shape of request is answered with."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

from halfword.core.folding import matched
from halfword.search.model import Completion
from halfword.serve.http.asked import (
    Asked,
    asked_by_batch,
    asked_by_query,
    asked_by_suggesters,
    check_no_parameters,
)
from halfword.serve.http.cache import Found
from halfword.serve.http.finder import Finder
from halfword.serve.http.reply import SUGGESTIONS, Headers, Reply, json_reply
from halfword.serve.http.request import Request
from halfword.serve.models import Models, Served
from halfword.serve.options import ServeOptions

_NO_STORE = [(b"cache-control", b"no-store")]
# Elasticsearch's own clients refuse to talk to a server that does not say this.
_ELASTIC = [*_NO_STORE, (b"x-elastic-product", b"Elasticsearch")]


class Answers:
    """Answers requests with the model in service."""

    def __init__(self, options: ServeOptions, models: Models, finder: Finder) -> None:
        self._limits = options.limits
        self._pad = options.pad
        self._models = models
        self._finder = finder
        scope = "public" if options.api_key_file is None else "private"
        self._cache_control = f"{scope}, max-age={options.max_age}, no-transform".encode()

    async def complete(self, request: Request) -> Reply:
        """`GET /complete`."""
        return await self._answer_query(request, _complete_content)

    async def suggest(self, request: Request) -> Reply:
        """`GET /suggest`, as OpenSearch Suggestions 1.1 has it."""
        return await self._answer_query(request, _suggest_content, SUGGESTIONS)

    async def _answer_query(
        self, request: Request, content: Callable[..., Any], kind: bytes = b"application/json"
    ) -> Reply:
        asked = asked_by_query(request.query_string, self._limits)
        served = self._models.current
        known = request.header(b"if-none-match") if not asked.context else None
        if known is not None and served.tag[2:] in known:  # some proxies take the W/ away
            return Reply(304, self._caching(served), b"")
        found = await self._finder.find(served, asked, request)
        # An answer to one person's session is kept by nobody.
        headers = _NO_STORE if found.timed_out or asked.context else self._caching(served)
        return json_reply(content(asked.prefix, found, served, request), headers, pad=asked.pad or self._pad, kind=kind)

    async def batch(self, request: Request) -> Reply:
        """`POST /complete`."""
        check_no_parameters(request.query_string)
        asked = asked_by_batch(request.body, self._limits)
        served = self._models.current
        results, _ = await self._finder.find_all(served, asked.prefixes, request, _batch_row)
        content = {"results": results, "took_ms": _took(request), "model": served.version}
        return json_reply(content, _NO_STORE, pad=asked.pad or self._pad)

    async def search(self, request: Request) -> Reply:
        """`POST /_search`, as Elasticsearch answers a completion suggester."""
        check_no_parameters(request.query_string)
        asked = asked_by_suggesters(request.body, self._limits)
        served = self._models.current
        entries, timed_out = await self._finder.find_all(served, list(asked.values()), request, _elastic_entry)
        content = {
            "took": int(_took(request)),
            "timed_out": timed_out,
            "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
            "hits": {"total": {"value": 0, "relation": "eq"}, "max_score": None, "hits": []},
            "suggest": {name: [entry] for name, entry in zip(asked, entries, strict=True)},
        }
        return json_reply(content, _ELASTIC, pad=self._pad)

    def _caching(self, served: Served) -> Headers:
        return [(b"etag", served.tag), (b"cache-control", self._cache_control)]


def _complete_content(prefix: str, found: Found, served: Served, request: Request) -> dict[str, Any]:
    return {
        "prefix": prefix,
        "completions": _rows(found),
        "timed_out": found.timed_out,
        "took_ms": _took(request),
        "model": served.version,
    }


def _suggest_content(prefix: str, found: Found, served: Served, request: Request) -> list[Any]:
    return [prefix, [completion.display for completion in found.completions]]


def _rows(found: Found) -> list[dict[str, Any]]:
    rows = []
    for text, score, source, display, corrected, standing in found.completions:
        begin = standing if corrected else matched(text, found.typed)
        highlight = {"typed": display[:begin], "added": display[begin:]}
        row = {"text": text, "score": score, "source": source, "display": display, "corrected": corrected}
        rows.append(row | {"highlight": highlight})
    return rows


def _batch_row(asked: Asked, found: Found) -> dict[str, Any]:
    return {"prefix": asked.prefix, "completions": _rows(found), "timed_out": found.timed_out}


def _elastic_entry(asked: Asked, found: Found) -> dict[str, Any]:
    options = [_elastic_option(completion) for completion in found.completions]
    return {"text": asked.prefix, "offset": 0, "length": len(asked.prefix), "options": options}


def _elastic_option(completion: Completion) -> dict[str, Any]:
    """Elasticsearch scores are positive, so this one is the probability itself."""
    text = completion.text
    return {"text": text, "_index": "halfword", "_id": text, "_score": completion.probability, "_source": {}}


def _took(request: Request) -> float:
    return round((perf_counter() - request.began) * 1000, 3)
