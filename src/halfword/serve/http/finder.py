"""From a prefix to its completions: cache, queue and deadline."""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from time import perf_counter
from typing import Any

import orjson

from halfword.core.errors import OptionError
from halfword.core.options import SearchOptions, with_fields
from halfword.core.text import normalise_prefix
from halfword.serve.http.asked import Asked
from halfword.serve.http.cache import Found, Key
from halfword.serve.http.chosen import Chosen
from halfword.serve.http.gate import Batches, Gate
from halfword.serve.http.metrics import Metrics
from halfword.serve.http.reply import refuse
from halfword.serve.http.request import ClientGone, Request
from halfword.serve.models import Served
from halfword.serve.options import ServeOptions

LONGEST_BATCH = 10.0  # seconds; a batch that still waits then is refused, and one that runs is hurried
_LONG_AGO = float("-inf")
_SHORTEST_SHARE = 1 / 64  # of the deadline, left to a request that has waited for all of it


class Finder:
    """Finds completions for requests."""

    def __init__(self, options: ServeOptions, metrics: Metrics) -> None:
        self._gate = Gate(options.queue)
        self._batches = Batches(options.queue)
        self._deadline_ms = options.deadline_ms
        self._count = options.search.count
        self._metrics = metrics
        self._options = lru_cache(maxsize=4096)(partial(_options, options.search, options.deadline_ms))

    async def find(self, served: Served, asked: Asked, request: Request) -> Found:
        """Return the completions of a prefix; raises when the queue is full or the client has gone."""
        return await self._find(served, asked, request, request.began)

    async def _find(
        self, served: Served, asked: Asked, request: Request, began: float, *, admitted: bool = False
    ) -> Found:
        found = await self._known_or_searched(served, asked, request, began, admitted=admitted)
        if not found.completions and not found.timed_out:
            self._metrics.add("empty_answers_total")
        return found

    async def _known_or_searched(
        self, served: Served, asked: Asked, request: Request, began: float, *, admitted: bool = False
    ) -> Found:
        typed = normalise_prefix(asked.prefix, served.profile)
        key = Key(typed, asked.count or self._count, asked.chosen)
        version = 0 if served.live is None else served.live.version
        served.cache.renew(version)
        # An answer to a session is no answer to anybody else, and what was searched in it is kept nowhere.
        known = None if asked.context else served.cache.get(key)
        if known is not None:
            self._metrics.add("cache_hits_total")
            return known
        work = partial(self._search, served, asked, key, began)
        found = self._gate.run_now(work) if self._gate.free() else await self._wait(work, request, admitted)
        self._metrics.add("cache_misses_total")
        if found.timed_out:
            self._metrics.add("deadlines_total")
        elif not asked.context and (served.live is None or served.live.version == version):
            served.cache.put(key, found)
        return found

    async def find_all(
        self, served: Served, asked: Sequence[Asked], request: Request, shape: Callable[[Asked, Found], Any]
    ) -> tuple[list[orjson.Fragment], bool]:
        """Find the completions of several prefixes; also tell whether the deadline ended a search.

        The prefixes take their turns with those of other requests, so a batch does not hold up people who type, and
        each has a deadline of its own, a short one if the batch has taken long. Each is shaped and turned into JSON at
        once, which takes less memory.
        """
        if len(asked) == 1:
            found = await self.find(served, asked[0], request)
            return [_fragment(shape(asked[0], found))], found.timed_out
        parts, timed_out = [], False
        until = request.began + LONGEST_BATCH
        async with self._batches.place(request.gone, until):
            for number, one in enumerate(asked):
                if request.gone():
                    raise ClientGone
                now = perf_counter()
                began = now if now < until else _LONG_AGO
                found = await self._find(served, one, request, began, admitted=number > 0)
                parts.append(_fragment(shape(one, found)))
                timed_out |= found.timed_out
        return parts, timed_out

    async def _wait(self, work: Callable[[], Found], request: Request, admitted: bool) -> Found:
        answer = self._gate.enter(work, request.gone, admitted=admitted)
        self._metrics.set("queue_length", len(self._gate))
        try:
            return await answer
        except ClientGone:
            self._metrics.add("abandoned_total")
            raise
        finally:
            self._metrics.set("queue_length", len(self._gate))

    def _search(self, served: Served, asked: Asked, key: Key, began: float) -> Found:
        options = self._options(key.wanted, key.chosen, _share(perf_counter() - began, self._deadline_ms))
        given: dict[str, Any] = {"context": asked.context} if asked.context else {}
        try:
            answer = served.completer.complete(key.typed, options, **given)
        except OptionError as error:  # what this model cannot keep to
            raise refuse("bad_option", str(error)) from None
        return Found(key.typed, answer, answer.timed_out)


def _fragment(content: Any) -> orjson.Fragment:
    return orjson.Fragment(orjson.dumps(content))


def _options(search: SearchOptions, deadline_ms: float, count: int, chosen: Chosen, share: float) -> SearchOptions:
    return with_fields(search, {"count": count, **dict(chosen), "deadline_ms": deadline_ms * share})


def _share(waited: float, deadline_ms: float) -> float:
    """Return how much of the deadline is left, rounded down to a half, a quarter and so on.

    The engine keeps the options it has seen, so there must be few of them.

    >>> _share(0.0, 50), _share(0.020, 50), _share(0.9, 50)
    (1.0, 0.5, 0.015625)
    """
    left = 1.0 - waited * 1000 / deadline_ms
    share = 1.0
    # What passed on the way here in an idle server is not waiting.
    while share > left + 0.05 and share > _SHORTEST_SHARE:
        share /= 2
    return share
