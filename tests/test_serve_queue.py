"""The queue before the completer: who waits, who is refused, and who is not computed at all."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from halfword.core.options import DEFAULTS, SearchOptions
from halfword.search.model import Answer, Completion
from halfword.serve.http import finder, gate, request
from halfword.serve.http.cache import Cache, Found, Key
from halfword.serve.http.gate import Batches
from halfword.serve.http.reply import RequestError
from halfword.serve.http.request import ClientGone
from tests.conftest import COUNTS, MakeModel
from tests.serving import Answer as Reply
from tests.serving import client_for


@dataclass(slots=True)
class Slow:
    """A completer that takes its time and remembers what it was asked."""

    seconds: float = 0.01
    asked: list[str] = field(default_factory=list)
    deadlines: list[float] = field(default_factory=list)

    def complete(self, prefix: str, options: SearchOptions = DEFAULTS, *, context: Sequence[str] = ()) -> Answer:
        self.asked.append(prefix)
        assert options.deadline_ms is not None
        self.deadlines.append(options.deadline_ms)
        time.sleep(self.seconds)
        return Answer([Completion(f"{prefix}!", -1.0, "model")], timed_out=self.seconds * 1000 > options.deadline_ms)


@pytest.fixture
def model(make_model: MakeModel) -> Path:
    return make_model(COUNTS)


def test_above_the_queue_requests_are_refused_at_once(model: Path) -> None:
    slow = Slow()
    client = client_for(model, slow, queue=3)

    async def crowd() -> list[Reply]:
        return await asyncio.gather(*(client.asked(f"GET /complete?q={number}") for number in range(20)))

    answers = asyncio.run(crowd())
    refused = [answer for answer in answers if answer.status == 503]
    assert len(refused) == 16  # one ran, three waited
    assert all(answer.code == "overloaded" and answer.headers["retry-after"] == "1" for answer in refused)
    assert [answer.texts for answer in answers if answer.status == 200] == [["0!"], ["1!"], ["2!"], ["3!"]]
    assert len(slow.asked) == 4
    assert client.ask("GET /complete?q=after").status == 200


def test_what_is_cached_is_answered_even_when_the_queue_is_full(model: Path) -> None:
    client = client_for(model, Slow(), queue=0)
    client.ask("GET /complete?q=kept")

    async def crowd() -> list[Reply]:
        return await asyncio.gather(*(client.asked(f"GET /complete?q={prefix}") for prefix in ("a", "b", "kept")))

    assert [answer.status for answer in asyncio.run(crowd())] == [200, 503, 200]


def test_a_request_whose_client_has_gone_is_not_computed(model: Path) -> None:
    slow = Slow()
    client = client_for(model, slow)

    async def crowd() -> None:
        leaves = asyncio.Event()
        first = [asyncio.create_task(client.asked(f"GET /complete?q={number}")) for number in range(3)]
        gone = asyncio.create_task(client.asked("GET /complete?q=gone", leaves=leaves))
        await asyncio.sleep(0)
        leaves.set()
        await asyncio.gather(*first, gone)

    asyncio.run(crowd())
    assert sorted(slow.asked) == ["0", "1", "2"]
    assert b"halfword_abandoned_total 1" in client.ask("GET /metrics").body


def test_the_time_in_the_queue_counts_towards_the_deadline(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow(seconds=0)
    for module in (finder, gate, request):  # time goes on while something is completed, and only then
        monkeypatch.setattr(module, "perf_counter", lambda: 0.02 * len(slow.asked))
    client = client_for(model, slow, deadline_ms=64)

    async def crowd() -> None:
        await asyncio.gather(*(client.asked(f"GET /complete?q={number}") for number in range(5)))

    asyncio.run(crowd())
    assert slow.deadlines[0] == 64
    assert slow.deadlines == sorted(slow.deadlines, reverse=True)
    assert slow.deadlines[-1] <= 16


def test_an_answer_that_the_deadline_cut_is_not_kept(model: Path) -> None:
    slow = Slow(seconds=0.005)
    client = client_for(model, slow, deadline_ms=1)
    answers = [client.ask("GET /complete?q=x") for _ in range(2)]
    assert slow.asked == ["x", "x"]
    assert all(answer.status == 200 and answer.headers["cache-control"] == "no-store" for answer in answers)
    assert all(answer.json["timed_out"] for answer in answers)


def test_every_shape_of_answer_says_whether_the_deadline_cut_it(model: Path) -> None:
    suggest = b'{"suggest": {"a": {"prefix": "x", "completion": {}}, "b": {"prefix": "y", "completion": {}}}}'
    for seconds, cut in ((0.005, True), (0.0, False)):
        client = client_for(model, Slow(seconds), deadline_ms=2)
        assert client.ask("GET /complete?q=one").json["timed_out"] is cut
        assert client.ask("POST /_search", body=suggest).json["timed_out"] is cut
        batch = client.ask("POST /complete", body=b'{"prefixes": ["u", "v"]}').json["results"]
        assert [result["timed_out"] for result in batch] == [cut, cut]
        assert b"halfword_deadlines_total %d" % (5 * cut) in client.ask("GET /metrics").body


def test_each_prefix_of_a_batch_has_its_own_deadline(model: Path) -> None:
    slow = Slow(seconds=0.02)
    body = b'{"prefixes": ["b0", "b1", "b2", "b3", "b4", "b5"]}'
    client_for(model, slow, deadline_ms=64).ask("POST /complete", body=body)
    assert set(slow.deadlines) <= {64, 32}


def test_a_batch_lets_others_pass(model: Path) -> None:
    slow = Slow(seconds=0.002)
    client = client_for(model, slow, queue=2)
    body = b'{"prefixes": ["b0", "b1", "b2", "b3", "b4", "b5"]}'

    async def crowd() -> tuple[Reply, Reply]:
        return await asyncio.gather(client.asked("POST /complete", body=body), client.asked("GET /complete?q=one"))

    batch, one = asyncio.run(crowd())
    assert (batch.status, one.status) == (200, 200)
    assert slow.asked.index("one") < slow.asked.index("b5")


BATCH = b'{"prefixes": ["b0", "b1"]}'


def test_a_batch_whose_client_has_gone_leaves_the_queue_at_once() -> None:
    async def crowd() -> None:
        batches, until, leaves = Batches(places=1), time.perf_counter() + 1000, asyncio.Event()
        async with AsyncExitStack() as running:
            for _ in range(4):
                await running.enter_async_context(batches.place(bool, until))
            waits = asyncio.create_task(batches.place(leaves.is_set, until).__aenter__())
            await asyncio.sleep(0)
            with pytest.raises(RequestError, match="too many requests are waiting"):
                await batches.place(bool, until).__aenter__()
            leaves.set()
            with pytest.raises(ClientGone):
                await waits
            next_one = asyncio.create_task(batches.place(bool, until).__aenter__())  # the place in the queue is free
            await asyncio.sleep(0)
            assert not next_one.done()
        await next_one

    asyncio.run(crowd())


def test_a_batch_that_waits_too_long_is_refused(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finder, "LONGEST_BATCH", 0.0)
    slow = Slow(seconds=0.001)
    client = client_for(model, slow)

    async def crowd() -> list[Reply]:
        return await asyncio.gather(*(client.asked("POST /complete", body=BATCH) for _ in range(6)))

    assert sorted(answer.status for answer in asyncio.run(crowd())) == [200, 200, 200, 200, 503, 503]
    assert client.ask("POST /complete", body=BATCH).status == 200


def test_a_batch_that_takes_long_is_hurried(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finder, "LONGEST_BATCH", 0.05)
    slow = Slow(seconds=0.03)
    prefixes = b", ".join(b'"b%d"' % number for number in range(8))
    client_for(model, slow, deadline_ms=64).ask("POST /complete", body=b'{"prefixes": [%s]}' % prefixes)
    assert (slow.deadlines[0], slow.deadlines[-1]) == (64, 1)


def test_the_longest_unused_answer_leaves_the_cache(model: Path) -> None:
    slow = Slow(seconds=0)
    client = client_for(model, slow, cache=2)
    for prefix in ("a", "b", "a", "c", "a", "b"):
        client.ask(f"GET /complete?q={prefix}")
    assert slow.asked == ["a", "b", "c", "b"]


def test_the_cache_is_bounded_in_bytes() -> None:
    cache = Cache(most=1000, most_bytes=100_000)
    for number in range(100):
        text = f"{number}" + "é" * 2000
        cache.put(
            Key(str(number), 10),
            Found(str(number), [Completion(text, -1.0, "model"), Completion(text + "!", -2.0, "model")]),
        )
    assert cache.size <= 100_000
    assert cache.get(Key("0", 10)) is None
    assert cache.get(Key("99", 10)) is not None
    before = cache.size
    cache.put(
        Key("large", 10), Found("large", [Completion("é" * 20_000, -1.0, "model")])
    )  # which would push out all others
    assert cache.get(Key("large", 10)) is None
    cache.put(Key("99", 10), Found("99", []))
    assert cache.size < before
