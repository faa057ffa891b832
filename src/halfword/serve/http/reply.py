"""Replies: what goes back to a client, and every way in which a request is refused."""

from http import HTTPStatus
from typing import Any, NamedTuple

import orjson

Headers = list[tuple[bytes, bytes]]

JSON = b"application/json"
SUGGESTIONS = b"application/x-suggestions+json"
CLIENT_GONE = 499  # as nginx counts them; it is never sent
SMALLEST_PADDED = 4096  # bytes; ten completions of ordinary length fit


_STATUS_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}
_WITHOUT_BODY = (204, 304)


class Reply(NamedTuple):
    """A status, headers and a body."""

    status: int
    headers: Headers
    body: bytes


class RequestError(Exception):
    """A request that is refused: a status, a code for programs and a sentence for people."""

    def __init__(self, status: int, code: str, message: str, headers: Headers | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.headers = headers or []

    def reply(self) -> Reply:
        """Return the refusal as JSON."""
        body = orjson.dumps({"error": {"code": self.code, "message": str(self)}})
        headers = [(b"content-type", JSON), (b"cache-control", b"no-store"), *self.headers]
        return Reply(self.status, headers, body)


# code: (status, when), as the OpenAPI document lists them
CODES = {
    "bad_http": (400, "the bytes are no HTTP request"),
    "missing_q": (400, "there is no q"),
    "not_utf8": (400, "q or a context is not UTF-8"),
    "prefix_too_long": (400, "a prefix has too many characters"),
    "bad_n": (400, "n is not a number, or out of range"),
    "bad_option": (400, "an option of the search has a value that is not allowed, or that this model cannot keep to"),
    "bad_context": (400, "the context is no list of texts, or has too many or too long ones"),
    "unknown_name": (400, "a parameter or a field of the body does not exist"),
    "unsupported": (400, "a field that Elasticsearch has and Halfword has not"),
    "bad_json": (400, "the body is not JSON"),
    "bad_body": (400, "the body is JSON of another shape"),
    "bad_change": (400, "a live change makes no sense"),
    "unauthorized": (401, "an API key is needed and none, or a wrong one, was sent"),
    "wrong_host": (421, "the request was sent to a host name that is not allowed"),
    "not_found": (404, "there is nothing at this path"),
    "follows_another": (409, "this server follows another one, which takes the changes"),
    "method_not_allowed": (405, "the path is right and the method is wrong"),
    "too_slow": (408, "the body did not arrive in time"),
    "body_too_large": (413, "the body has too many bytes"),
    "headers_too_large": (431, "the address and headers have too many bytes"),
    "rate_limited": (429, "this client asks too often"),
    "internal_error": (500, "a fault of the server; it is in its log"),
    "live_failed": (503, "a live change could not be written; nothing was changed"),
    "overloaded": (503, "too many requests are waiting already"),
}


def refuse(code: str, message: str, headers: Headers | None = None) -> RequestError:
    """Return the error of this code, to be raised."""
    return RequestError(CODES[code][0], code, message, headers)


def retry_after(seconds: float) -> Headers:
    """Return the header that says when to ask again: whole seconds, at least one."""
    return [(b"retry-after", str(max(1, int(seconds + 0.999))).encode())]


def json_reply(content: Any, headers: Headers | None = None, *, pad: bool = False, kind: bytes = JSON) -> Reply:
    """Return `content` as JSON; padded, answers of different prefixes have the same length."""
    body = orjson.dumps(content)
    if pad:
        body = padded(body)
    return Reply(200, [(b"content-type", kind), *(headers or ())], body)


def on_the_wire(reply: Reply, date: bytes, *, close: bool, body: bool = True) -> bytes:
    """Return a reply as bytes; without its `body` if HEAD was asked."""
    status, headers, content = reply
    parts = [_STATUS_LINES[status], b"date: ", date, b"\r\nx-content-type-options: nosniff\r\n"]
    for name, value in headers:
        parts += (name, b": ", value, b"\r\n")
    if close:
        parts.append(b"connection: close\r\n")
    if status not in _WITHOUT_BODY:
        parts.append(b"content-length: %d\r\n\r\n" % len(content))
        parts.append(content if body else b"")
    else:
        parts.append(b"\r\n")
    return b"".join(parts)


def padded(body: bytes) -> bytes:
    """Fill `body` up with spaces, which JSON ignores, to 4096 bytes or the next power of two.

    >>> len(padded(b"{}")), len(padded(b"x" * 4097))
    (4096, 8192)
    """
    size = SMALLEST_PADDED
    while size < len(body):
        size *= 2
    return body.ljust(size)
