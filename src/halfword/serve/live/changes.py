"""The endpoints that change what is suggested; they exist with `--live` only, behind a key of their own."""

import asyncio
from typing import Any

import orjson

from halfword.core.errors import LiveError
from halfword.core.live import LONGEST_TEXT, Change, Kind, change
from halfword.core.scrub import scrub
from halfword.core.text import normalise_query
from halfword.search.live import Live
from halfword.serve.http.asked import query_fields
from halfword.serve.http.metrics import Metrics
from halfword.serve.http.reply import Reply, json_reply, refuse
from halfword.serve.http.request import Request
from halfword.serve.live.threshold import Threshold
from halfword.serve.models import Models, Served
from halfword.serve.options import ServeOptions

PATH = "/queries/"
MOST_TYPED = 100  # queries of one request
LONGEST_CLIENT = 200  # characters
MOST_LISTED = 1000
_NO_STORE = [(b"cache-control", b"no-store")]


class Changes:
    """Answers requests that change, or list changes."""

    def __init__(self, options: ServeOptions, models: Models, metrics: Metrics) -> None:
        self._models = models
        self._metrics = metrics
        self._follows = options.follow is not None
        self._threshold = Threshold(options.live_clients)

    async def put(self, request: Request) -> Reply:
        """`PUT /queries/{text}`: count, weight, boost, pin or allow a query."""
        live, text = self._changeable(), _text_of(request)
        _check_fields(query_fields(request.query_string), ())
        changes = _changes_of(text, _object_of(request.body), live)
        return await self._apply(live, text, changes)

    async def delete(self, request: Request) -> Reply:
        """`DELETE /queries/{text}`: never suggest it again; with `?beginning=true` nor anything that begins so."""
        live, text = self._changeable(), _text_of(request)
        fields = query_fields(request.query_string)
        _check_fields(fields, (b"beginning",))
        given = fields.get(b"beginning", b"false")
        if given not in (b"true", b"false"):
            raise refuse("bad_change", "beginning must be true or false")
        kind = Kind.REMOVED_BEGINNING if given == b"true" else Kind.REMOVED
        return await self._apply(live, text, [_change(live, kind, text)])

    async def typed(self, request: Request) -> Reply:
        """`POST /typed`: what people searched; it is learned once enough different clients have typed it."""
        live, served = self._changeable(), self._models.current
        _check_fields(query_fields(request.query_string), ())
        rows = _typed_of(request.body)
        counted: dict[str, int] = {}
        for text, client in rows:
            query = normalise_query(text, served.profile)
            number = self._counts_now(served, live, query, client)
            if number:
                counted[query] = counted.get(query, 0) + number
        if counted:
            await _write(live, [Change(Kind.TYPED, query, number) for query, number in counted.items()])
        return json_reply({"taken": len(rows), "counted": sum(counted.values()), "number": live.number}, _NO_STORE)

    async def accepted(self, request: Request) -> Reply:
        """`POST /accepted`: a suggestion was chosen; it is counted if the query is known, never with its client."""
        live = self._live()
        _check_fields(query_fields(request.query_string), ())
        match _object_of(request.body):
            case {"text": str(text), **rest} if not rest and 0 < len(text) <= LONGEST_TEXT:
                query = normalise_query(text, self._models.current.profile)
            case _:
                raise refuse("bad_change", 'the body must be like {"text": "new york"}')
        known = 0 < len(query) <= LONGEST_TEXT and live.count(query) > 0
        if known:
            self._metrics.add("accepted_total")
        if known and not self._follows:
            await _write(live, [Change(Kind.ACCEPTED, query, 1)])
        return json_reply({"counted": int(known)}, _NO_STORE)

    async def listed(self, request: Request) -> Reply:
        """`GET /live`: the changed queries in order, a page at a time."""
        live = self._live()
        fields = query_fields(request.query_string)
        _check_fields(fields, (b"after", b"n"))
        given = fields.get(b"n", b"100").decode("latin-1")
        if not (given.isascii() and given.isdecimal() and 1 <= int(given[:9]) <= MOST_LISTED):
            raise refuse("bad_n", f"n must be a number between 1 and {MOST_LISTED}")
        try:
            after = fields.get(b"after", b"").decode()
        except UnicodeDecodeError:
            raise refuse("not_utf8", "after is not UTF-8") from None
        rows = []
        for query in live.queries(after):
            rows.append(
                {
                    "text": query.text,
                    "typed": query.typed,
                    "weight": query.weight,
                    "boost": query.boost,
                    "logged": query.logged,
                    "count": query.count,
                }
            )
            if len(rows) == int(given):
                break
        return json_reply({"number": live.number, "changed": len(live), "queries": rows}, _NO_STORE)

    def _live(self) -> Live:
        live = self._models.current.live
        assert live is not None  # the routes exist with a journal only
        return live

    def _changeable(self) -> Live:
        if self._follows:
            raise refuse("follows_another", "this server follows another one; send changes there")
        return self._live()

    def _counts_now(self, served: Served, live: Live, query: str, client: str) -> int:
        """Return how often a query is to be counted: known ones always, new ones once enough clients typed them."""
        if not query or len(query) > LONGEST_TEXT or scrub(query) != query or live.removes(query):
            return 0
        if served.rules is not None and served.rules.blocks(query):
            return 0
        return 1 if live.count(query) > 0 else self._threshold.typed(query, client)

    async def _apply(self, live: Live, text: str, changes: list[Change]) -> Reply:
        await _write(live, changes)
        content = {"text": text, "count": live.count(text), "removed": live.removes(text), "number": live.number}
        return json_reply(content, _NO_STORE)


async def _write(live: Live, changes: list[Change]) -> None:
    try:
        await asyncio.to_thread(live.apply, changes)
    except LiveError as error:
        raise refuse("live_failed", str(error).rpartition("/")[2]) from error


def _text_of(request: Request) -> str:
    text = request.path.removeprefix(PATH)
    if "\ufffd" in text:
        raise refuse("not_utf8", "the query in the path is not UTF-8; encode it as UTF-8, then percent-encode it")
    if not text.strip():
        raise refuse("bad_change", "name a query in the path, like /queries/new%20york")
    return text


def _check_fields(given: dict[bytes, bytes], known: tuple[bytes, ...]) -> None:
    unknown = [name.decode("utf-8", "replace")[:100] for name in given if name not in known]
    if unknown:
        may_be = ", ".join(name.decode() for name in known) or "none"
        raise refuse("unknown_name", f"{unknown[0]} is not known; the parameters are: {may_be}")


def _object_of(body: bytes) -> dict[str, Any]:
    try:
        content = orjson.loads(body)
    except ValueError:
        raise refuse("bad_json", "the body is not JSON") from None
    if not isinstance(content, dict):
        raise refuse("bad_body", "the body must be a JSON object")
    return content


def _change(live: Live, kind: Kind, text: str, number: float = 0.0, prefix: str = "") -> Change:
    try:
        return change(kind, text, number, prefix, live.model.profile)
    except LiveError as error:
        raise refuse("bad_change", str(error)) from None


def _changes_of(text: str, fields: dict[str, Any], live: Live) -> list[Change]:
    changes = []
    for name, value in fields.items():
        match name, value:
            case ("typed" | "weight" | "boost", int() | float()) if not isinstance(value, bool):
                if value < 0:
                    raise refuse("bad_change", f"{name} must not be below 0")
                changes.append(_change(live, Kind(name), text, float(value)))
            case ("weight", None):
                changes.append(_change(live, Kind.WEIGHT, text, -1.0))
            case ("allowed", True):
                changes.append(_change(live, Kind.ALLOWED, text))
            case ("pin", {"prefix": str(prefix), "position": position, **rest}) if not rest and _is_whole(position):
                changes.append(_change(live, Kind.PIN, text, float(position), prefix))
            case ("pin", _):
                raise refuse("bad_change", 'pin must be like {"prefix": "new y", "position": 1}')
            case ("unpin", str(prefix)):
                changes.append(_change(live, Kind.UNPIN, text, prefix=prefix))
            case ("typed" | "weight" | "boost" | "allowed" | "unpin", _):
                raise refuse("bad_change", f"{name} has a value that makes no sense; /docs shows what may be sent")
            case _:
                raise refuse(
                    "unknown_name", f"{name[:100]} is not known; known are: typed, weight, boost, pin, unpin, allowed"
                )
    if not changes:
        raise refuse("bad_change", 'say what changes, like {"typed": 3}')
    return changes


def _is_whole(number: object) -> bool:
    """Tell whether a value is a whole number as JSON Schema has it: 1 and 1.0, but not true."""
    return isinstance(number, (int, float)) and not isinstance(number, bool) and number == number // 1


def _typed_of(body: bytes) -> list[tuple[str, str]]:
    rows = []
    match _object_of(body):
        case {"queries": list(queries), **rest} if not rest and 1 <= len(queries) <= MOST_TYPED:
            for query in queries:
                match query:
                    case {"text": str(text), "client": str(client), **others} if not others:
                        if len(text) <= 10 * LONGEST_TEXT and 0 < len(client) <= LONGEST_CLIENT:
                            rows.append((text, client))
                            continue
                raise refuse("bad_change", 'a query must be like {"text": "new york", "client": "any id"}')
            return rows
    shape = '{"queries": [{"text": "new york", "client": "any id"}]}'
    raise refuse("bad_body", f"the body must be like {shape}, with 1 to {MOST_TYPED} queries")
