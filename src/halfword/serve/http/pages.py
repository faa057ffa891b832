"""The page, the widget and the documents: files of this package, and nothing outside of them."""

import hashlib
import re
from collections.abc import Awaitable, Callable
from importlib.resources import files
from xml.sax.saxutils import escape

from halfword.serve.http.openapi import document
from halfword.serve.http.reply import Reply, json_reply
from halfword.serve.http.request import Request
from halfword.serve.options import ServeOptions

Handler = Callable[[Request], Awaitable[Reply]]

_FILES = {  # path: the file, and what it is
    "/": ("index.html", b"text/html; charset=utf-8"),
    "/docs": ("docs.html", b"text/html; charset=utf-8"),
    "/example": ("example.html", b"text/html; charset=utf-8"),
    "/halfword.js": ("halfword.js", b"text/javascript; charset=utf-8"),
    "/combobox.js": ("combobox.js", b"text/javascript; charset=utf-8"),
    "/server.js": ("server.js", b"text/javascript; charset=utf-8"),
    "/page.js": ("page.js", b"text/javascript; charset=utf-8"),
    "/docs.js": ("docs.js", b"text/javascript; charset=utf-8"),
    "/page.css": ("page.css", b"text/css; charset=utf-8"),
    "/favicon.svg": ("favicon.svg", b"image/svg+xml"),
}
_POLICY = [
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        b"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
_HOST = re.compile(rb"(?:[A-Za-z0-9.\-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?")


class Pages:
    """Everything that is read from files, once."""

    def __init__(self, options: ServeOptions) -> None:
        self._options = options

    def handlers(self) -> dict[str, Handler]:
        """Return who answers which path."""
        static = {path: _file_handler(self._content(name), kind) for path, (name, kind) in _FILES.items()}
        return static | {"/openapi.json": self._openapi, "/opensearch.xml": self._opensearch}

    def _content(self, name: str) -> bytes:
        content = files("halfword.serve").joinpath("page", name).read_bytes()
        if name == "index.html" and self._options.live_accepted:
            return content.replace(b"<halfword-search", b'<halfword-search data-accepted="on"')
        return content

    async def _openapi(self, request: Request) -> Reply:
        described = document(self._options.limits, self._options.search, live=self._options.live is not None)
        return json_reply(described, [(b"cache-control", b"no-cache")])

    async def _opensearch(self, request: Request) -> Reply:
        """Describe this server as a search engine that a browser can add."""
        base = escape(self._options.public_url or _base_of(request)).rstrip("/")
        text = f"""<?xml version="1.0" encoding="UTF-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
  <ShortName>Halfword</ShortName>
  <Description>Completions as you type</Description>
  <InputEncoding>UTF-8</InputEncoding>
  <Image type="image/svg+xml">{base}/favicon.svg</Image>
  <Url type="text/html" template="{base}/?q={{searchTerms}}"/>
  <Url type="application/x-suggestions+json" rel="suggestions" template="{base}/suggest?q={{searchTerms}}"/>
</OpenSearchDescription>
"""
        headers = [(b"content-type", b"application/opensearchdescription+xml"), (b"cache-control", b"no-store")]
        return Reply(200, headers, text.encode())


def _base_of(request: Request) -> str:
    """Return how the client called this server; a host that is none is not repeated."""
    host = request.header(b"host") or b""
    return f"http://{host.decode()}" if _HOST.fullmatch(host) else "http://127.0.0.1"


def _file_handler(body: bytes, kind: bytes) -> Handler:
    etag = f'"{hashlib.blake2b(body, digest_size=8).hexdigest()}"'.encode()
    headers = [(b"content-type", kind), (b"etag", etag), (b"cache-control", b"no-cache"), *_POLICY]

    async def handle(request: Request) -> Reply:
        known = request.header(b"if-none-match")
        if known is not None and etag in known:
            return Reply(304, headers[1:], b"")
        return Reply(200, headers, body)

    return handle
