"""The OpenAPI document, with the limits that this server was started with."""

from typing import Any

from halfword.core.context import LONGEST_QUERY, MOST_QUERIES
from halfword.core.options import DEFAULTS, SearchOptions
from halfword.serve.http.asked import (
    ELASTICSEARCH_COUNT,
    INDEX_NAMES,
    LONGEST_IN_ADDRESS,
    MOST_IN_ADDRESS,
    SEARCH_FIELDS,
)
from halfword.serve.http.chosen import NAMES, help_of, schema_of
from halfword.serve.http.reply import CODES, SMALLEST_PADDED
from halfword.serve.live.openapi import live_paths
from halfword.serve.options import Limits

Json = dict[str, Any]


def document(limits: Limits, search: SearchOptions = DEFAULTS, *, live: bool = False) -> Json:
    """Return the description of every endpoint."""
    from halfword.core.version import __version__

    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Halfword",
            "version": __version__,
            "description": "Finishes half-typed search queries.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "paths": _paths(limits, search) | (live_paths() if live else {}),
        "components": {"schemas": _schemas(limits, search), "responses": _refusals(), "securitySchemes": _SECURITY},
        "security": [{}, {"bearer": []}, {"key": []}],
    }


def _paths(limits: Limits, search: SearchOptions) -> Json:
    suggester_search = _operation(
        "search",
        "Complete, in the shape of an Elasticsearch completion suggester",
        "What is not a completion suggester is refused. `_score` is the probability of the completion.",
        _json("ElasticAnswer"),
        body="ElasticSearch",
    )
    index = {
        "name": "index",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "pattern": f"^{INDEX_NAMES}$"},
    }
    return {
        "/complete": {
            "get": _operation(
                "complete",
                "Complete a prefix",
                "The prefix is echoed, so that a page can drop an answer to what is no longer in the box.",
                _json("Answer"),
                parameters=_query(limits, search),
            ),
            "post": _operation("completeBatch", "Complete several prefixes", "", _json("BatchAnswer"), body="Batch"),
        },
        "/suggest": {
            "get": _operation(
                "suggest",
                "Complete a prefix, as OpenSearch Suggestions 1.1 has it",
                "What browsers ask when this server is one of their search engines.",
                _json("Suggestions", "application/x-suggestions+json"),
                parameters=_query(limits, search),
            )
        },
        "/_search": {"post": suggester_search},
        "/{index}/_search": {"post": suggester_search | {"operationId": "searchIndex"}, "parameters": [index]},
        "/healthz": {"get": _plain("healthz", "Tell whether the process runs", _json("Health"))},
        "/readyz": {"get": _plain("readyz", "Tell which model is in service", _json("Ready"))},
        "/metrics": {"get": _plain("metrics", "Counters for Prometheus", _text("text/plain"))},
        "/opensearch.xml": {
            "get": _plain(
                "opensearch", "Describe this server to browsers", _text("application/opensearchdescription+xml")
            )
        },
        "/openapi.json": {"get": _plain("openapi", "This document", _inline({"type": "object"}))},
    }


def _query(limits: Limits, search: SearchOptions) -> list[Json]:
    prefix = {"type": "string", "maxLength": limits.longest_prefix}
    count = {"type": "integer", "minimum": 1, "maximum": limits.most_completions, "default": search.count}
    padding = (
        f"If present, whatever its value, the answer is filled up with spaces to {SMALLEST_PADDED} bytes or the next "
        "power of two. A client can put filler here, so that the length of its request tells nothing either."
    )
    return [
        {"name": "q", "in": "query", "required": True, "schema": prefix, "description": "What was typed so far."},
        {"name": "n", "in": "query", "schema": count, "description": "Completions wanted."},
        {
            "name": "context",
            "in": "query",
            "schema": _context(MOST_IN_ADDRESS, LONGEST_IN_ADDRESS),
            "style": "form",
            "explode": True,
            "description": "Earlier queries of the session, the oldest first. They are neither kept nor logged here, "
            "but an address is logged in many places on its way: prefer the body of POST /complete.",
        },
        {"name": "pad", "in": "query", "schema": {"type": "string"}, "description": padding},
        *[{"name": name, "in": "query", "schema": _option(name, search, body=False)} for name in NAMES],
    ]


def _operation(name: str, summary: str, description: str, answer: Json, **request: Any) -> Json:
    operation: Json = {"operationId": name, "summary": summary}
    if description:
        operation["description"] = description
    if "parameters" in request:
        operation["parameters"] = request["parameters"]
    refused = [400, 401, 404, 405, 421, 429, 500, 503]
    if "body" in request:
        content = {"application/json": {"schema": _ref(request["body"])}}
        operation["requestBody"] = {"required": True, "content": content}
        refused += [408, 413]
    else:
        operation["responses"] = {"304": {"description": "What the client has is still right."}}
    refusals = {str(status): {"$ref": f"#/components/responses/{status}"} for status in sorted(refused)}
    return operation | {"responses": {"200": answer, **operation.get("responses", {}), **refusals}}


def _plain(name: str, summary: str, answer: Json) -> Json:
    refusals = {str(status): {"$ref": f"#/components/responses/{status}"} for status in (400, 401, 405, 421, 429)}
    return {"operationId": name, "summary": summary, "responses": {"200": answer, **refusals}}


def _refusals() -> Json:
    responses = {}
    for status in sorted({status for status, _ in CODES.values()}):
        meanings = [f"`{code}`: {when}" for code, (its, when) in CODES.items() if its == status]
        content = {"application/json": {"schema": _ref("Error")}}
        responses[str(status)] = {"description": "; ".join(meanings), "content": content}
    return responses


def _schemas(limits: Limits, search: SearchOptions) -> Json:
    text = {"type": "string"}
    prefix = {"type": "string", "maxLength": limits.longest_prefix}
    count = {"type": "integer", "minimum": 1, "maximum": limits.most_completions}
    took = {"type": "number", "minimum": 0, "description": "Milliseconds from the request's headers to the answer."}
    model = {"type": "string", "description": "The model that answered, by name and content."}
    completions = {"type": "array", "items": _ref("Completion")}
    cut = {"type": "boolean", "description": "Whether the deadline ended the search before it had found the best."}
    result = _object(prefix=prefix, completions=completions, timed_out=cut)
    suggester = {
        "type": "object",
        "properties": {
            "prefix": prefix,
            "text": prefix,
            "context": _context(),
            "completion": {
                "type": "object",
                "properties": {
                    "field": text,
                    "size": count | {"default": ELASTICSEARCH_COUNT},
                    "fuzzy": {"type": ["object", "boolean"], "description": "Correct typing mistakes."},
                    "skip_duplicates": {"description": "Completions are all different anyway."},
                    **{name: _option(name, search, body=True) for name in NAMES},
                },
                "additionalProperties": False,
            },
        },
        "additionalProperties": False,
        "required": ["completion"],
        "anyOf": [{"required": ["prefix"]}, {"required": ["text"]}],
    }
    error = _object(code={"type": "string", "enum": list(CODES)}, message=text)
    return {
        "Completion": _object(
            text=text,
            score={"type": ["number", "null"], "description": "log p(text | prefix), the natural logarithm"},
            source={"type": "string", "enum": ["popular", "model", "both", "session"]},
            display=text | {"description": "The text as most people write it, with their capitals."},
            corrected={"type": "boolean", "description": "The prefix was mistyped if this is what was meant."},
            highlight=_object(typed=text, added=text) | {"description": "The display in two parts."},
        ),
        "Answer": _object(prefix=prefix, completions=completions, timed_out=cut, took_ms=took, model=model),
        "Batch": {
            "type": "object",
            "properties": {
                "prefixes": {"type": "array", "items": prefix, "minItems": 1, "maxItems": limits.most_prefixes},
                "n": count | {"default": search.count},
                "pad": {"type": "boolean", "default": False},
                "context": _context() | {"description": "Earlier queries of the session, the oldest first."},
                **{name: _option(name, search, body=True) for name in NAMES},
            },
            "additionalProperties": False,
            "required": ["prefixes"],
        },
        "BatchAnswer": _object(results={"type": "array", "items": result}, took_ms=took, model=model),
        "Suggestions": {  # no prefixItems: Schemathesis 4 takes them for an error
            "type": "array",
            "description": "The prefix, and an array of completions.",
            "minItems": 2,
            "maxItems": 2,
        },
        "ElasticSearch": {
            "type": "object",
            "properties": {
                "suggest": {
                    "type": "object",
                    "additionalProperties": suggester,
                    "minProperties": 1,
                    "maxProperties": limits.most_prefixes,
                },
                **{name: {"description": "There are no hits, so this changes nothing."} for name in SEARCH_FIELDS[1:]},
            },
            "additionalProperties": False,
            "required": ["suggest"],
        },
        "ElasticAnswer": _object(took={"type": "integer"}, timed_out=cut, suggest={"type": "object"}),
        "Health": _object(status={"const": "alive"}),
        "Ready": _object(status={"const": "ready"}, model=model),
        "Error": _object(error=error),
    }


def _option(name: str, search: SearchOptions, *, body: bool) -> Json:
    """Describe an option of a search; without a default where the model has its own."""
    default = getattr(search, name)
    schema = schema_of(name, body=body) | {"description": help_of(name)}
    return schema if default is None else schema | {"default": default}


def _context(most: int = MOST_QUERIES, longest: int = LONGEST_QUERY) -> Json:
    return {"type": "array", "items": {"type": "string", "maxLength": longest}, "maxItems": most}


_SECURITY = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}


def _object(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _json(schema: str, kind: str = "application/json") -> Json:
    return {"description": "The answer.", "content": {kind: {"schema": _ref(schema)}}}


def _inline(schema: Json) -> Json:
    return {"description": "The answer.", "content": {"application/json": {"schema": schema}}}


def _text(kind: str) -> Json:
    return {"description": "The answer.", "content": {kind: {"schema": {"type": "string"}}}}
