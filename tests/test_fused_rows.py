"""The steps of a batched search in Triton equal those in PyTorch."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch.nn import functional
from torch.testing import assert_close

from halfword import SearchOptions, load
from halfword.search.gpu.batched import BatchedNeural
from halfword.search.gpu.columns import make_columns
from halfword.search.gpu.row_steps import RowSteps, steps_on
from halfword.search.gpu.rows import Best, Grammar, Norm, Rows
from tests.toy import Toy, piece_arrays, write_toy

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
DEVICE = torch.device("cuda")


@pytest.mark.parametrize("with_table", [True, False])
def test_cells(with_table: bool) -> None:
    rows, before, size, pieces = 70, 30, 33, 21
    gates = torch.randn(rows, 3 * size, device=DEVICE).half()
    table = torch.randn(pieces, 3 * size, device=DEVICE).half() if with_table else None
    columns = torch.randint(pieces, (rows,), device=DEVICE)
    parents = torch.randint(before, (rows,), device=DEVICE)
    cells = torch.randn(before, size, device=DEVICE)
    norm = Norm(torch.randn(3, size, device=DEVICE), torch.randn(3, size, device=DEVICE))
    found = steps_on(DEVICE).step_cells(gates, table, columns, cells, parents, norm)
    expected = RowSteps().step_cells(gates, table, columns, cells, parents, norm)
    assert_close(found, expected, atol=2e-3, rtol=2e-3)


def toy_pieces(size: int) -> dict[str, NDArray[Any]]:
    """A vocabulary of so many numbers, and the specials."""
    kinds = {"U8": "<u1", "U32": "<u4", "F32": "<f4"}
    arrays = piece_arrays(Toy(pieces=tuple(map(str, range(size)))), np.random.default_rng(0))
    return {name: np.frombuffer(array.data, kinds[array.dtype]) for name, array in arrays.items()}


def make_rows() -> Rows:
    """Rows of 40 prefixes: none to five each."""
    counts = torch.arange(40, device=DEVICE) % 6
    begins = functional.pad(counts.cumsum(0), (1, 0))
    size = int(begins[-1])
    return Rows(
        width=5,
        begins=begins,
        prefixes=torch.repeat_interleave(torch.arange(40, device=DEVICE), counts),
        scores=torch.randn(size, device=DEVICE),
        hashes=torch.randint(-4, 4, (size,), device=DEVICE),
        links=torch.arange(size, device=DEVICE),
        after_space=torch.rand(size, device=DEVICE) > 0.5,
        wholeness=None,
    )


@pytest.mark.parametrize(("width", "group"), [(24, 4), (256, 16), (1024, 32)])
@pytest.mark.parametrize("beam", [1, 10, 30, 200])
def test_steps(width: int, group: int, beam: int) -> None:
    fused, plain, rows = steps_on(DEVICE), RowSteps(), make_rows()
    grammar = Grammar(end=width - 2, spelled=width - 5, words=(3, 9), group=group)
    logits = torch.randn(len(rows.scores), width, device=DEVICE) * 5
    scored = plain.score(logits.clone(), rows.scores, rows.after_space, grammar)
    also = fused.score(logits.clone(), rows.scores, rows.after_space, grammar)
    assert_close((also.scores, also.peaks, also.ends), (scored.scores, scored.peaks, scored.ends))
    best = Best(torch.full((40, 3), -math.inf, device=DEVICE), torch.zeros(40, 3, dtype=torch.int64, device=DEVICE))
    noted, also_noted = plain.note_ends(best, rows, scored.ends), fused.note_ends(best, rows, scored.ends)
    assert_close(also_noted.scores, noted.scores)
    children = plain.choose(rows, scored, noted.scores[:, -1], beam)
    also_children = fused.choose(rows, scored, noted.scores[:, -1].contiguous(), beam)
    assert_close(also_children.counts, children.counts)
    columns = make_columns(toy_pieces(width), DEVICE)
    adopted, parents, pieces = plain.adopt(rows, children, columns)
    also_adopted, also_parents, also_pieces = fused.adopt(rows, also_children, columns)
    assert_close((also_parents, also_pieces), (parents, pieces))
    for field in ("begins", "prefixes", "scores", "hashes", "links", "after_space"):
        assert_close(getattr(also_adopted, field), getattr(adopted, field))


@pytest.mark.parametrize("contexts", [[], [["abcd cab", "d"], ["ab"] * 20, [], ["bcd"], ["abcd cab", "d"]]])
def test_the_search_is_close_to_the_engine_s(contexts: list[list[str]], tmp_path: Path) -> None:
    path = write_toy(tmp_path / "toy.halfword", Toy(hidden=64, embedding=16, layers=2, spread=0.5, pointer=6))
    options = SearchOptions(count=5)
    prefixes = ["", "a", "ab ", "ca", "한"]
    answers = BatchedNeural(path, DEVICE).complete_batch(prefixes, options, contexts=contexts)
    engine = load(path, precision="fp32")
    for found, expected in zip(answers, engine.complete_batch(prefixes, options, contexts=contexts), strict=True):
        scores = {completion.text: completion.score for completion in expected}
        shared = [completion for completion in found if completion.text in scores]
        assert len(shared) >= 4
        assert all(completion.score == pytest.approx(scores[completion.text], abs=0.05) for completion in shared)
