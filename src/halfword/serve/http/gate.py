"""The bounded queue before the completer."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Any, TypeVar

from halfword.serve.http.reply import RequestError, refuse, retry_after
from halfword.serve.http.request import ClientGone

Answer = TypeVar("Answer")
_BATCHES_AT_ONCE = 4
_LOOK_SECONDS = 0.25  # between two looks whether the client of a batch that waits has gone
_LONGEST_TURN = 0.05  # seconds without a look at the sockets
_LOOKS = 8  # at the sockets, in which nobody had to be refused; from a new connection to its request it takes four


class Gate:
    """Lets completions run one after the other in the event loop, and as many wait as there are places.

    A completion is so short that handing it to a thread costs more than it gains. But the loop must read its sockets
    between two completions, or the queue would stand unseen in the kernel, where nobody can be refused.
    """

    def __init__(self, places: int) -> None:
        self._places = places
        self._waiting: deque[tuple[Callable[[], Any], Callable[[], bool], asyncio.Future[Any]]] = deque()
        self._rests = False  # whether something has run since the sockets were last read
        self._last_end = 0.0
        self._looks = 0  # at the sockets since the last turn or refusal

    def __len__(self) -> int:
        return len(self._waiting)

    def free(self) -> bool:
        """Tell whether `run_now` may be called: nobody waits, and the sockets have been read."""
        return not self._rests

    def run_now(self, work: Callable[[], Answer]) -> Answer:
        """Run `work` on the spot; whoever comes next waits until the sockets have been read."""
        self._rest()
        try:
            return work()
        finally:
            self._last_end = perf_counter()

    def enter(
        self, work: Callable[[], Answer], gone: Callable[[], bool], *, admitted: bool = False
    ) -> "asyncio.Future[Answer]":
        """Queue `work` and return what will hold its answer; if its client is `gone` by then, it does not run.

        Raises when all places are taken, unless the request was `admitted` before.
        """
        if len(self._waiting) >= self._places and not admitted:
            self._looks = 0
            raise _overloaded()
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((work, gone, future))
        if not self._rests:
            self._rest()
        return future

    def _rest(self) -> None:
        self._rests = True
        asyncio.get_running_loop().call_soon(self._next_turn)

    def _next_turn(self) -> None:
        """Run those who wait, for as long as the loop has just spent on sockets and refusals, and at least one.

        So half of the time is left for answers, however many are refused. A look at the sockets accepts but a few
        connections, so a crowd that fills the queue gets several looks, or it would wait in the kernel for its refusal.
        """
        self._rests = False
        if not self._waiting:
            return
        self._rest()
        begin = perf_counter()
        spent = min(begin - self._last_end, _LONGEST_TURN)
        self._looks += 1
        if 2 * len(self._waiting) >= self._places and self._looks < _LOOKS and spent < _LONGEST_TURN:
            return
        self._looks = 0
        end = begin + spent
        while self._waiting:
            if _answer(*self._waiting.popleft()):
                self._last_end = perf_counter()
                if self._last_end >= end:
                    break


class Batches:
    """Lets a few batches run at a time: each holds a large answer in memory until its last prefix is completed."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._running = 0

    @asynccontextmanager
    async def place(self, gone: Callable[[], bool], until: float) -> AsyncIterator[None]:
        """Wait for a turn; raises when too many wait, when the time is over, or when the client is `gone`."""
        await self._turn(gone, until)
        try:
            yield
        finally:
            self._pass_on()

    async def _turn(self, gone: Callable[[], bool], until: float) -> None:
        if self._running < _BATCHES_AT_ONCE:
            self._running += 1
            return
        if len(self._waiting) >= self._places:
            raise _overloaded()
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            while not turn.done():
                if gone():
                    raise ClientGone
                if perf_counter() >= until:
                    raise _overloaded()
                await asyncio.wait([turn], timeout=_LOOK_SECONDS)
        except BaseException:
            if turn.done():
                self._pass_on()
            else:
                self._waiting.remove(turn)
            raise

    def _pass_on(self) -> None:
        if self._waiting:
            self._waiting.popleft().set_result(None)
        else:
            self._running -= 1


def _overloaded() -> RequestError:
    return refuse("overloaded", "too many requests are waiting; ask again in a second", retry_after(1))


def _answer(work: Callable[[], Any], gone: Callable[[], bool], future: "asyncio.Future[Any]") -> bool:
    """Put the answer into its future; tell whether there was still somebody to compute it for."""
    if future.done():
        return False  # the server is stopping
    if gone():
        future.set_exception(ClientGone())
        return False
    try:
        future.set_result(work())
    except Exception as error:
        future.set_exception(error)
    return True
