"""An epoch reads each query as often as it was typed, packed without padding."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from halfword.training.network.batches import best_tokens, epoch_rows, make_chunk
from halfword.training.network.distributed import World
from halfword.training.segment import Kind, SegmentOptions, train_segmenter

CPU = torch.device("cpu")
ROWS = st.lists(st.lists(st.integers(0, 50), min_size=1, max_size=7), min_size=1, max_size=20)


def table(rows: list[list[int]]) -> torch.Tensor:
    return torch.tensor([row + [-1] * (7 - len(row)) for row in rows])


def test_each_row_occurs_as_often_as_it_was_typed() -> None:
    rows = epoch_rows(torch.tensor([3, 0, 1, 2]), torch.Generator().manual_seed(0))
    assert sorted(rows.tolist()) == [0, 0, 0, 2, 3, 3]


def test_the_order_depends_on_the_generator_alone() -> None:
    counts = torch.full((50,), 2)
    first, again, other = (epoch_rows(counts, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@given(rows=ROWS, batch=st.integers(1, 6))
def test_packing_keeps_every_token_after_what_came_before_it(rows: list[list[int]], batch: int) -> None:
    pairs = []
    for packed in make_chunk(table(rows), batch).batches(begin=99):
        assert list(packed.active) == sorted(packed.active, reverse=True)
        wanted = packed.targets >= 0
        pairs += list(zip(packed.inputs[wanted].tolist(), packed.targets[wanted].tolist(), strict=True))
    expected = [pair for row in rows for pair in zip([99, *row], row, strict=False)]
    assert sorted(pairs) == sorted(expected)


@given(rows=ROWS)
def test_processes_share_a_batch_without_loss_or_repeat(rows: list[list[int]]) -> None:
    shares = [make_chunk(table(rows), 6, World(rank, 3)) for rank in range(3)]
    found = torch.cat([share.targets.flatten(0, 1) for share in shares])
    kept = sorted(row for row in found.tolist() if row[0] >= 0)
    assert kept == sorted(table(rows).tolist())


def test_a_query_is_cut_at_the_most_tokens() -> None:
    segmenter = train_segmenter({"abcdefgh": 5, "ab": 3}, SegmentOptions(kind=Kind.CHAR, size=20))
    tokens = best_tokens(["abcdefgh", "ab"], segmenter, 5, CPU).table
    assert (tokens[0] >= 0).all()
    assert tokens[1].tolist()[3:] == [segmenter.end, -1]
