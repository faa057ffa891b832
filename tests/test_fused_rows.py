"""The steps of a batched search in Triton equal those in PyTorch."""

from pathlib import Path

import pytest
import torch

from halfword import SearchOptions, load
from halfword.batched import BatchedNeural
from halfword.row_steps import Grammar, Norm, RowSteps, steps_on
from tests.toy import Toy, write_toy

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
    torch.testing.assert_close(found, expected, atol=2e-3, rtol=2e-3)


@pytest.mark.parametrize(("width", "group"), [(24, 4), (256, 16), (1024, 32)])
def test_scores(width: int, group: int) -> None:
    grammar = Grammar(end=width - 2, spelled=width - 5, words=(3, 9), group=group)
    logits = torch.randn(50, width, device=DEVICE) * 5
    bases = torch.randn(50, device=DEVICE)
    after_space = torch.rand(50, device=DEVICE) > 0.5
    found, expected = logits.clone(), logits.clone()
    found_rest = steps_on(DEVICE).score(found, bases, after_space, grammar)
    expected_rest = RowSteps().score(expected, bases, after_space, grammar)
    torch.testing.assert_close((found, *found_rest), (expected, *expected_rest), atol=1e-4, rtol=1e-4)


def test_best_texts() -> None:
    scores = torch.randn(200, 40, device=DEVICE)
    hashes = torch.randint(-8, 8, (200, 40), device=DEVICE)
    torch.testing.assert_close(
        steps_on(DEVICE).best_texts(scores, hashes, 7), RowSteps().best_texts(scores, hashes, 7), atol=0, rtol=0
    )


def test_the_search_is_close_to_the_engine_s(tmp_path: Path) -> None:
    path = write_toy(tmp_path / "toy.halfword", Toy(hidden=64, embedding=16, layers=2, spread=0.5))
    options = SearchOptions(count=5)
    prefixes = ["", "a", "ab ", "ca", "한"]
    answers = BatchedNeural(path, DEVICE).complete_batch(prefixes, options)
    for found, expected in zip(answers, load(path, precision="fp32").complete_batch(prefixes, options), strict=True):
        scores = {completion.text: completion.score for completion in expected}
        shared = [completion for completion in found if completion.text in scores]
        assert len(shared) >= 4
        assert all(completion.score == pytest.approx(scores[completion.text], abs=0.05) for completion in shared)
