"""The part of the OpenAPI document that describes live changes."""

from typing import Any

from halfword.core.live import LARGEST_NUMBER, LONGEST_TEXT, MOST_POSITIONS
from halfword.serve.live.changes import LONGEST_CLIENT, MOST_LISTED, MOST_TYPED

Json = dict[str, Any]
_TEXT = {"type": "string", "minLength": 1, "maxLength": LONGEST_TEXT}
_NUMBER = {"type": "number", "minimum": 0, "maximum": LARGEST_NUMBER}
_REFUSED = (400, 401, 404, 405, 408, 409, 413, 421, 429, 431, 500, 503)


def live_paths() -> Json:
    """Return the endpoints that exist with `--live`."""
    text = {"name": "text", "in": "path", "required": True, "schema": _TEXT, "description": "A query."}
    beginning = {
        "name": "beginning",
        "in": "query",
        "schema": {"type": "string", "enum": ["true", "false"]},
        "description": "Remove everything that begins so.",
    }
    listing = [
        {
            "name": "after",
            "in": "query",
            "schema": {"type": "string"},
            "description": "The last text of the page before.",
        },
        {"name": "n", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": MOST_LISTED}},
    ]
    change = {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": False,
        "properties": {
            "typed": _NUMBER | {"description": "It was typed so many times more."},
            "weight": {"anyOf": [_NUMBER, {"type": "null"}], "description": "Stands for its count in the log."},
            "boost": {"type": "number", "minimum": 0, "maximum": 1e6, "description": "Multiplies what it counts."},
            "allowed": {"const": True, "description": "Undoes its removal."},
            "pin": {
                "type": "object",
                "properties": {
                    "prefix": {"type": "string", "maxLength": LONGEST_TEXT},
                    "position": {"type": "integer", "minimum": 1, "maximum": MOST_POSITIONS},
                },
                "required": ["prefix", "position"],
                "additionalProperties": False,
            },
            "unpin": {"type": "string", "maxLength": LONGEST_TEXT, "description": "The prefix for which it is pinned."},
        },
    }
    query = {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "client": {"type": "string", "minLength": 1, "maxLength": LONGEST_CLIENT},
        },
        "required": ["text", "client"],
        "additionalProperties": False,
    }
    typed = {
        "type": "object",
        "properties": {"queries": {"type": "array", "items": query, "minItems": 1, "maxItems": MOST_TYPED}},
        "required": ["queries"],
        "additionalProperties": False,
    }
    accepted = {"type": "object", "properties": {"text": _TEXT}, "required": ["text"], "additionalProperties": False}
    return {
        "/queries/{text}": {
            "parameters": [text],
            "put": _operation("putQuery", "Count, weigh, boost, pin or allow a query", body=change),
            "delete": _operation("deleteQuery", "Never suggest a query again", parameters=[beginning]),
        },
        "/typed": {"post": _operation("typed", "Learn what people searched, once enough of them did", body=typed)},
        "/accepted": {"post": _operation("accepted", "Count a suggestion that was chosen", body=accepted)},
        "/live": {"get": _operation("live", "List changed queries", parameters=listing)},
        "/live/journal": {"get": _journal()},
    }


def _journal() -> Json:
    """Return the operation that other servers call."""
    copied = [
        ("file", {"type": "string"}, "The file of which there is a copy."),
        ("from", {"type": "integer", "minimum": 0, "maximum": 10**18 - 1}, "Bytes of frames that the copy has."),
        ("last", {"type": "string"}, "The head of the last frame, in hexadecimal."),
    ]
    parameters = [
        {"name": name, "in": "query", "schema": schema, "description": meaning} for name, schema, meaning in copied
    ]
    operation = _operation("journal", "Follow the live changes of this server", parameters=parameters)
    content = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    frames = {"description": "The first frame of the journal, and frames that follow on the copy.", "content": content}
    answers = {"200": frames, "204": {"description": "There is nothing new."}}
    return operation | {"responses": operation["responses"] | answers}


def _operation(name: str, summary: str, body: Json | None = None, parameters: list[Json] | None = None) -> Json:
    operation: Json = {"operationId": name, "summary": summary, "security": [{"bearer": []}, {"key": []}]}
    if parameters:
        operation["parameters"] = parameters
    if body is not None:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    answer = {"description": "The answer.", "content": {"application/json": {"schema": {"type": "object"}}}}
    refusals = {str(status): {"$ref": f"#/components/responses/{status}"} for status in _REFUSED}
    return operation | {"responses": {"200": answer, **refusals}}
