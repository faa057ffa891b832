"""Spark gives the answers of DuckDB."""

import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from halfword.core.errors import LogError
from halfword.data.options import Engine, PrepareOptions, SplitOptions
from halfword.data.pipeline import prepare

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]


def write_log(folder: Path) -> None:
    """Write two files with repeats, broken and short rows, Unicode, private things and equal times."""
    folder.mkdir()
    words = ["New York", "weather", "뉴스 서울", "bad thing", "ab", "call 555-123-4567 now", "news  today", "café"]
    for number in range(2):
        rows = [
            f"{line % 9}\t{words[line * line % 8]} {line % 5 if line % 3 else ''}\t2006-03-{1 + line % 28:02}"
            for line in range(400)
        ]
        rows[17:19] = ["7\tnew york", "7\tnew york\tsometime"]
        (folder / f"{number}.tsv").write_text("user\tquery\ttime\n" + "\n".join(rows), encoding="utf-8")


def test_both_engines_make_the_same_dataset(tmp_path: Path) -> None:
    write_log(tmp_path / "log")
    (tmp_path / "block.txt").write_text("bad thing\n*eathe*\ncafé\n!café 2\n")
    split = SplitOptions(valid_share=0.1, test_share=0.2)
    options = PrepareOptions(min_users=2, min_count=3, blocklist=tmp_path / "block.txt", split=split)
    funnels = {
        engine: prepare([tmp_path / "log"], tmp_path / engine, replace(options, engine=engine)) for engine in Engine
    }
    assert funnels[Engine.SPARK] == funnels[Engine.DUCKDB]
    assert funnels[Engine.DUCKDB].blocked > 0
    assert min(size.rows for size in funnels[Engine.DUCKDB].splits.values()) > 0
    assert funnels[Engine.DUCKDB].broken == {"bad date": 2, "wrong column count": 2}
    for name in ("queries.parquet", "sessions.parquet"):
        tables = [parquet.read_table(tmp_path / engine / name) for engine in Engine]
        assert tables[0].equals(tables[1])
        assert len(tables[0])


def test_both_engines_divide_counts_alike(tmp_path: Path) -> None:
    lines = [f"query {number}\t{1 + number * number % 50}" for number in range(1000)]
    (tmp_path / "log.tsv").write_text("\n".join(lines))
    for engine in Engine:
        prepare([tmp_path / "log.tsv"], tmp_path / engine, PrepareOptions(engine=engine))
    tables = [parquet.read_table(tmp_path / engine / "queries.parquet") for engine in Engine]
    assert tables[0].equals(tables[1])


def test_an_error_on_a_worker_is_one_line_here(tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_text("time\tquery\n" + "2006-03-01\tnew york\n" + "gestern\tnew york\n" * 250_000)
    with pytest.raises(LogError, match=r"log.tsv, line 3: expected a time such as .* found 'gestern'") as caught:
        prepare([tmp_path / "log.tsv"], tmp_path / "data", PrepareOptions(engine=Engine.SPARK))
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["log.tsv"]
