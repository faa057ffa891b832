"""Logs in other shapes and encodings are read, and it is said how."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ibis", reason="needs the prepare extra")

import pyarrow as pa
import pyarrow.parquet as parquet

import halfword
from halfword.core.errors import LogError, OptionError
from halfword.core.text import DEFAULT
from halfword.data.describe import described
from halfword.data.find_files import find_files
from halfword.data.options import ColumnNames, PrepareOptions
from halfword.data.read_log import read_batches
from halfword.data.times import microseconds

EVENTS = [
    {"id": 1, "event": {"search": {"terms": "Café crème", "page": 2}, "who": "anna"}, "at": "2024-01-01"},
    {"id": 2, "event": {"search": {"terms": "news"}, "who": "ben"}, "at": "2024-01-02"},
]
NESTED: dict[str, Any] = {"query": "event.search.terms", "user": "event.who"}


def queries_in(path: Path, options: PrepareOptions | None = None, **names: str) -> list[tuple[Any, Any]]:
    (file,) = find_files([path], options or PrepareOptions(columns=ColumnNames(**names)))
    rows = [row for batch in read_batches(file, DEFAULT, 100) for row in batch.to_pylist()]
    return [(row["query"], row["user"]) for row in sorted(rows, key=lambda row: int(row["row"]))]


@pytest.mark.parametrize("broken", ["", '{"event": 7}\n', "no json\n"])
def test_values_inside_json_objects_are_read(tmp_path: Path, broken: str) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(event) + "\n" for event in EVENTS) + broken)
    found = queries_in(log, **NESTED)
    assert found[:2] == [("café crème", "anna"), ("news", "ben")]
    assert len(found) == 2 + bool(broken)


def test_values_inside_parquet_structs_are_read(tmp_path: Path) -> None:
    parquet.write_table(pa.Table.from_pylist([*EVENTS, {"id": 3, "event": None}]), tmp_path / "log.parquet")
    found = queries_in(tmp_path / "log.parquet", **NESTED)
    assert found[:2] == [("café crème", "anna"), ("news", "ben")]
    assert found[2][0] is None


def test_values_inside_the_columns_of_a_table_are_read() -> None:
    data = halfword.prepare(pa.Table.from_pylist(EVENTS), **NESTED, valid_share=0, test_share=0)
    assert data.all_counts() == {"café crème": 1, "news": 1}


def test_a_column_inside_another_is_recognised_by_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"event": {"query": "news"}}\n')
    assert queries_in(tmp_path / "log.jsonl") == [("news", None)]
    (tmp_path / "flat.jsonl").write_text('{"event.query": "news", "other": {"query": "no"}}\n')
    assert queries_in(tmp_path / "flat.jsonl") == [("news", None)]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
@pytest.mark.parametrize("name", ["log.txt", "log.csv", "log.txt.gz"])
def test_a_byte_order_mark_tells_the_encoding(tmp_path: Path, encoding: str, name: str) -> None:
    raw = "query\ncafé crème\nnews\n".encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    assert queries_in(tmp_path / name) == [("café crème", None), ("news", None)]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["log.tsv", "log.csv", "log.jsonl"])
def test_an_encoding_can_be_named(tmp_path: Path, encoding: str, name: str) -> None:
    rows = {
        "log.tsv": "query\tuser\ncafé crème\tanna\n",
        "log.csv": "query,user\ncafé crème,anna\n",
        "log.jsonl": '{"query": "café crème", "user": "anna"}\n',
    }
    (tmp_path / name).write_bytes(rows[name].encode(encoding))
    assert queries_in(tmp_path / name, PrepareOptions(encoding=encoding)) == [("café crème", "anna")]


def test_other_encodings_are_named_in_the_errors(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_bytes("news\nweather\n".encode("utf-16-le"))
    with pytest.raises(LogError, match=r"looks like UTF-16 without a byte order mark; .* --encoding utf-16-le"):
        queries_in(log)
    log.write_bytes("café\n".encode("latin-1") * 20)
    with pytest.raises(LogError, match=r"expected UTF-8 text \(for another encoding .* --encoding latin-1\)"):
        halfword.prepare(log)
    with pytest.raises(LogError, match="is not euc_kr text"):
        queries_in(log, PrepareOptions(encoding="euc-kr"))
    with pytest.raises(OptionError, match="encoding 'runes' is unknown"):
        PrepareOptions(encoding="runes")


def test_it_is_said_which_columns_were_taken_and_why(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("at,search_term,uid,price\n2024-01-01,news,7,9\n")
    (tmp_path / "b.tsv").write_text("news\t12\n")
    (tmp_path / "c.txt").write_bytes("news\n".encode("utf-16"))
    for number in range(8):
        (tmp_path / f"d{number}.jsonl").write_text('{"q": "news"}\n')
    columns = ColumnNames(time="at")
    options = PrepareOptions(columns=columns, weights={"b.tsv": 0.5}, lists=("c.txt",))
    assert described(find_files([tmp_path], options)) == [
        "a.csv: CSV; queries from search_term (by its name); users from uid (by its name); times from at (as named); "
        "not used: price",
        "b.tsv: tabs without a header; queries from column 1 (by its contents); counts from column 2 "
        "(by its contents); each row counts 0.5",
        "c.txt: one query per line; queries from column 1 (the only one); read as UTF-16; a list: all of it is learned",
        "d0.jsonl, d1.jsonl, d2.jsonl, d3.jsonl, d4.jsonl and 3 others: JSON lines; queries from q (by its name)",
    ]


@pytest.mark.parametrize(
    ("dates", "format", "first"),
    [
        (("05-09-2024 09:06", "17-09-2024 10:30"), "%d-%m-%Y %H:%M", "2024-09-05T09:06"),
        (("9/5/2024 09:06:00", "9/17/2024 10:30:01"), "%m/%d/%Y %H:%M:%S", "2024-09-05T09:06"),
        (("5/9/2024", "17/9/2024"), "%d/%m/%Y", "2024-09-05"),
    ],
)
def test_whether_the_day_or_the_month_comes_first_is_told_by_other_dates(
    tmp_path: Path, dates: Sequence[str], format: str, first: str
) -> None:
    log = tmp_path / "log.csv"
    log.write_text("zoekterm;tijdstip;bezoeker\n" + "".join(f"news;{date};anna\n" for date in dates))
    (file,) = find_files([log], PrepareOptions())
    assert described([file]) == [
        "log.csv: CSV; queries from zoekterm (by its name); users from bezoeker (by its name); "
        f"times from tijdstip (by its name, written {format})"
    ]
    assert microseconds(dates[0], file.time_format) == microseconds(first)


def test_dates_that_no_other_date_explains_are_refused_with_what_to_do(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("query;time\n" + "news;05-09-2024\nnews;06-09-2024\n" * 60)
    with pytest.raises(LogError, match="--time-format '%d/%m/%Y %H:%M'"):
        halfword.prepare(log)


def test_columns_that_are_left_over_may_be_named(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("query,when,who\nnews,x,y\n")
    assert described(find_files([log], PrepareOptions())) == [
        "log.csv: CSV; queries from query (by its name); not used: when, who; "
        "if one of these holds users or times, name it: --user-column, --time-column"
    ]


@pytest.mark.parametrize(
    ("header", "date"),
    [
        ("termo_de_busca,data_hora,cliente", "17/09/2024 15:05"),
        ("search phrase,searched_on,visitor", "9/17/2024 15:05"),
    ],
)
def test_a_header_is_known_by_the_words_of_its_names_and_by_the_dates_below(
    tmp_path: Path, header: str, date: str
) -> None:
    log = tmp_path / "log.csv"
    log.write_text(f"{header}\nnews,{date},anna\n")
    (file,) = find_files([log], PrepareOptions())
    assert (file.header, sorted(file.columns)) == (True, ["query", "time", "user"])
