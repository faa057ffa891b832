"""Choose the size of the model for the web on validation rows, and measure the chosen one on test rows.

python benchmarks/web_size.py default-data/ held-out.halfword

The model must have been trained with --hold-out. The size is the smallest of those tried whose MRR on a sample of the
validation rows is at least 96 % of the whole model's: 95 % are promised, and one part in a hundred is left to chance.
"""

import argparse
import random
import tempfile
from pathlib import Path

from halfword import Dataset, SearchOptions
from halfword.core.progress import quiet
from halfword.core.text import SHORTEST_QUERY
from halfword.data.dataset import Split
from halfword.evaluation.evaluate import Asker, check_unlearned, measure
from halfword.search.model import load
from halfword.training.shrink import shrink

SIZES = (4.5, 4.0, 3.5, 3.25, 3.0, 2.75, 2.5, 2.25)  # megabytes
KEPT = 0.96


def mrr(model: Path, rows: list[str], known: set[str]) -> float:
    """Return the mean reciprocal rank of some rows, each asked once at its hashed prefix."""
    measured = measure(Asker(load(model), SearchOptions(), quiet), rows, known, walk=0)
    return sum(measured[row].value("mrr") for row in rows) / len(rows)


def sample(data: Dataset, split: Split, size: int) -> list[str]:
    """Draw rows of a split."""
    rows = [row for row in data.rows(split) if len(row) >= SHORTEST_QUERY]
    return random.Random(0).sample(rows, min(size, len(rows)))


def main() -> None:
    """Print the MRR of each size on validation rows, then that of the chosen one on test rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--rows", type=int, default=5000)
    given = parser.parse_args()
    data = Dataset.open(given.data)
    check_unlearned(load(given.model), data)
    known = set(data.counts(Split.TRAIN))
    rows = sample(data, Split.VALID, given.rows)
    whole = mrr(given.model, rows, known)
    chosen = given.model
    print(f"validation rows\n{given.model.stat().st_size / 1e6:.2f} MB (whole)  {whole:.4f}")
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            path = Path(folder) / f"{size}.halfword"
            shrink(given.model, path, size)
            found = mrr(path, rows, known)
            print(f"{size:.2f} MB  {found:.4f}  {found / whole:.1%}", flush=True)
            if found / whole < KEPT:
                break
            chosen = path
        rows = sample(data, Split.TEST, given.rows)
        found, whole = mrr(chosen, rows, known), mrr(given.model, rows, known)
        print(f"test rows, {chosen.stat().st_size / 1e6:.2f} MB  {found:.4f} of {whole:.4f}  {found / whole:.1%}")


if __name__ == "__main__":
    main()
