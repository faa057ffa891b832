"""The same answer by different frameworks and JSON libraries, for serve_stacks.py to compare."""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_to_bytes

from halfword.serve.http.connections import Connections
from halfword.serve.http.reply import Reply, RequestError, json_reply
from halfword.serve.http.request import Request

ENDINGS = [f" times {number}" for number in range(10)]
Encode = Callable[[Any], bytes]


def answer(prefix: str) -> dict[str, Any]:
    """Return what `/complete` answers, with completions that cost nothing to find."""
    rows = [
        {"text": prefix + end, "score": -1.2345678, "source": "both", "highlight": {"typed": prefix, "added": end}}
        for end in ENDINGS
    ]
    return {"prefix": prefix, "completions": rows, "took_ms": 0.123, "model": "some@0123456789ab"}


def encoder(name: str) -> Encode:
    """Return the function of a JSON library that makes bytes."""
    if name == "orjson":
        import orjson

        return orjson.dumps
    if name == "msgspec":
        import msgspec  # type: ignore[import-not-found, unused-ignore]

        fast: Encode = msgspec.json.Encoder().encode
        return fast
    return lambda content: json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


class Own:
    """The same on the connections of `halfword serve`."""

    async def __call__(self, request: Request) -> Reply:
        """Answer a request."""
        fields = dict(field.partition(b"=")[::2] for field in request.query_string.split(b"&"))
        return json_reply(answer(unquote_to_bytes(fields[b"q"].replace(b"+", b" ")).decode()))

    def refused(self, error: RequestError) -> Reply:
        """Answer what is no request."""
        return error.reply()


async def serve_own(port: int) -> None:
    """Serve `Own`."""
    connections = Connections(Own(), most=2048, largest_body=65_536)
    server = await connections.loop.create_server(connections.new, "127.0.0.1", port)
    await server.serve_forever()


def bare() -> Any:
    """An ASGI app without a framework; HALFWORD_MODEL and HALFWORD_THREAD make it ask a model, on the spot or there."""
    encode = encoder(os.environ.get("HALFWORD_JSON", "orjson"))
    completer = None
    if "HALFWORD_MODEL" in os.environ:
        from halfword import load

        completer = load(os.environ["HALFWORD_MODEL"])
    threaded = "HALFWORD_THREAD" in os.environ

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            while (kind := (await receive())["type"]) != "lifespan.shutdown":
                await send({"type": f"{kind}.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        fields = dict(field.partition(b"=")[::2] for field in scope["query_string"].split(b"&"))
        prefix = unquote_to_bytes(fields[b"q"].replace(b"+", b" ")).decode()
        if completer is not None:
            await asyncio.to_thread(completer.complete, prefix) if threaded else completer.complete(prefix)
        body = encode(answer(prefix))
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return app


def starlette() -> Any:
    """Starlette with orjson."""
    from starlette.applications import Starlette  # type: ignore[import-not-found, unused-ignore]
    from starlette.responses import Response  # type: ignore[import-not-found, unused-ignore]
    from starlette.routing import Route  # type: ignore[import-not-found, unused-ignore]

    encode = encoder("orjson")

    async def complete(request: Any) -> Any:
        return Response(encode(answer(request.query_params["q"])), media_type="application/json")

    return Starlette(routes=[Route("/complete", complete)])


def fastapi() -> Any:
    """FastAPI as its tutorial has it, with models of the answer."""
    from fastapi import FastAPI, Query  # type: ignore[import-not-found, unused-ignore]
    from pydantic import create_model

    highlight = create_model("Highlight", typed=(str, ...), added=(str, ...))
    row = create_model("Row", text=(str, ...), score=(float, ...), source=(str, ...), highlight=(highlight, ...))
    whole = create_model("Answer", prefix=(str, ...), completions=(list[row], ...), took_ms=(float, ...))  # type: ignore[valid-type]
    app = FastAPI()

    @app.get("/complete", response_model=whole)  # type: ignore[untyped-decorator, unused-ignore]
    async def complete(q: str = Query(max_length=200), n: int = Query(10, ge=1, le=100)) -> Any:
        return answer(q)

    return app


def litestar() -> Any:
    """Litestar, which brings msgspec."""
    from litestar import Litestar, get  # type: ignore[import-not-found, unused-ignore]

    @get("/complete")  # type: ignore[untyped-decorator, unused-ignore]
    async def complete(q: str, n: int = 10) -> dict[str, Any]:
        return answer(q)

    return Litestar([complete])


if __name__ == "__main__":
    asyncio.run(serve_own(int(sys.argv[1])))
