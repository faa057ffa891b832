"""One request, and the reader that cuts what a client sends into requests."""

from collections.abc import Callable
from time import perf_counter
from urllib.parse import unquote

import httptools

from halfword.serve.http.reply import RequestError, refuse

LARGEST_HEAD = 16_384  # bytes of request line and headers
# Other headers are thrown away at once: thousands of small ones would take fifty times their size in memory.
KEPT_HEADERS = frozenset(
    {
        b"authorization",
        b"content-length",
        b"expect",
        b"host",
        b"if-none-match",
        b"origin",
        b"x-api-key",
        b"x-forwarded-for",
    }
)
_END_OF_HEAD = b"\r\n\r\n"


class ClientGone(Exception):
    """The client has closed the connection; there is nobody to answer."""


class Request:
    """Everything that an answer depends on, and when the request was whole."""

    __slots__ = ("began", "body", "gone", "headers", "method", "path", "peer", "query_string")

    def __init__(
        self,
        method: str,
        target: bytes,
        headers: dict[bytes, bytes],
        body: bytes = b"",
        peer: str = "",  # the address at the other end of the connection
        gone: Callable[[], bool] = bool,  # tells whether the client has left
    ) -> None:
        self.began = perf_counter()
        self.method = method
        self.path, self.query_string = _split(target)
        self.headers = headers
        self.body = body
        self.peer = peer
        self.gone = gone

    def header(self, name: bytes) -> bytes | None:
        """Return a header of `KEPT_HEADERS`; if it was sent several times, all of its values joined by commas."""
        return self.headers.get(name)


class RequestReader:
    """Cuts a stream of bytes into requests, one at a time.

    What follows a request stays as bytes until the next one is asked for. So a client that sends requests without
    waiting for answers costs no more memory than the bytes that were read.
    """

    def __init__(self, largest_body: int) -> None:
        self._largest_body = largest_body
        self._parser = httptools.HttpRequestParser(self)
        self._unread = b""  # received and not yet parsed
        self._searched = 0  # how much of it is known not to hold the end of a head
        self._method = ""
        self._is_1_1 = True
        self._url = b""
        self._headers: dict[bytes, bytes] = {}
        self._body = bytearray()
        self._head_is_whole = False
        self._is_whole = False
        self._again = False  # another request began in the bytes that were parsed as a body
        self.keep_alive = True  # whether the client wants to go on after this request
        self.expects_continue = False  # whether the client waits for permission to send its body

    @property
    def held(self) -> int:
        """Bytes in memory that belong to no finished request."""
        return len(self._unread) + len(self._body)

    @property
    def in_body(self) -> bool:
        """Whether a head has come whose body is not whole."""
        return self._head_is_whole

    def feed(self, data: bytes) -> None:
        """Take what was received."""
        self._unread = self._unread + data if self._unread else data

    def next(self, peer: str = "", gone: Callable[[], bool] = bool) -> Request | None:
        """Return the next request once it is whole; raises RequestError if what was received is none."""
        try:
            if not self._head_is_whole:
                self._read_head()
            if self._head_is_whole and not self._is_whole:
                self._read_body()
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):  # it may want to switch to another protocol
            self.keep_alive = False
            if not self._is_whole:
                raise _bad_http() from None
        return self._finished(peer, gone) if self._is_whole else None

    def check_rest(self) -> None:
        """Raise RequestError if the client has ended in the middle of something that is no HTTP."""
        try:
            self._parser.feed_data(self._unread)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            raise _bad_http() from None

    def clear(self) -> None:
        """Forget what has been received."""
        self._unread, self._body = b"", bytearray()

    def close(self) -> None:
        """Free all memory at once: parser and reader refer to each other, so only the garbage collector would."""
        self.clear()
        del self._parser

    def _read_head(self) -> None:
        """Parse one head and nothing behind it."""
        while not self._head_is_whole:
            end = self._unread.find(_END_OF_HEAD, self._searched) + len(_END_OF_HEAD)
            if end < len(_END_OF_HEAD):
                if len(self._unread) > LARGEST_HEAD:
                    raise _head_too_large()
                self._searched = max(0, len(self._unread) - len(_END_OF_HEAD) + 1)
                return
            if end > LARGEST_HEAD:
                raise _head_too_large()
            head, self._unread, self._searched = self._unread[:end], self._unread[end:], 0
            self._parser.feed_data(head)  # empty lines before a request are allowed, so this may have been none
        if not self._is_whole:
            self._begin_body()

    def _begin_body(self) -> None:
        if int(self._headers.get(b"content-length", b"0")) > self._largest_body:
            raise self._body_too_large()
        self.expects_continue = self._headers.get(b"expect", b"").lower() == b"100-continue"

    def _read_body(self) -> None:
        length = self._headers.get(b"content-length")
        # A body of known length is parsed to its end; in a chunked one only the parser finds the end.
        end = len(self._unread) if length is None else int(length) - len(self._body)
        data, self._unread = self._unread[:end], self._unread[end:]
        self._parser.feed_data(data)
        if len(self._body) > self._largest_body:
            raise self._body_too_large()

    def _finished(self, peer: str, gone: Callable[[], bool]) -> Request:
        if self._again:
            self.keep_alive = False  # what was parsed of the next request is lost, so the client has to ask again
        if self._is_1_1 and b"," in self._headers.get(b"host", b","):
            raise refuse("bad_http", "HTTP/1.1 needs a header Host, and no more than one")
        request = Request(self._method, self._url, self._headers, bytes(self._body), peer, gone)
        self._url, self._headers, self._body = b"", {}, bytearray()
        self._head_is_whole = self._is_whole = self.expects_continue = False
        return request

    def _body_too_large(self) -> RequestError:
        return refuse("body_too_large", f"the body may have {self._largest_body} bytes at the most")

    # What the parser calls.

    def on_message_begin(self) -> None:
        """Note a request that begins where a body was expected."""
        self._again = self._is_whole

    def on_url(self, url: bytes) -> None:
        """Take the address."""
        if not self._again:
            self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep the headers that are looked at."""
        name = name.lower()
        if name in KEPT_HEADERS and not self._again:
            earlier = self._headers.get(name)
            self._headers[name] = value if earlier is None else earlier + b", " + value

    def on_headers_complete(self) -> None:
        """Note that the head is whole; once the request is, the parser no longer knows what the head said."""
        self._head_is_whole = True
        if not self._again:
            self._method = self._parser.get_method().decode("ascii")
            self._is_1_1 = self._parser.get_http_version() == "1.1"
            self.keep_alive = self._is_1_1 and self._parser.should_keep_alive()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        if not self._again and len(self._body) <= self._largest_body:
            self._body += body

    def on_message_complete(self) -> None:
        """Note that the request is whole."""
        self._is_whole = True


def _split(target: bytes) -> tuple[str, bytes]:
    """Return path and query string of a request's target.

    >>> _split(b"/complete?q=new+yo"), _split(b"http://box.test/%63omplete")
    (('/complete', b'q=new+yo'), ('/complete', b''))
    """
    if not target.startswith(b"/"):  # proxies send the whole address
        try:
            parsed = httptools.parse_url(target)
        except httptools.HttpParserError:
            raise _bad_http() from None
        target = (parsed.path or b"/") + b"?" + (parsed.query or b"")
    path, _, query = target.partition(b"#")[0].partition(b"?")
    decoded = path.decode("ascii", "replace")
    return unquote(decoded) if "%" in decoded else decoded, query


def _bad_http() -> RequestError:
    return refuse("bad_http", "this is no HTTP request that can be understood")


def _head_too_large() -> RequestError:
    return refuse("headers_too_large", f"address and headers may have {LARGEST_HEAD} bytes together")
