"""Logs of every format become the same rows; what is broken is counted, named and skipped."""

import gzip
import json
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfword import prepare
from halfword.core.errors import LogError, OptionError
from halfword.core.scrub import query_of
from halfword.core.text import DEFAULT, PAPER, Profile
from halfword.data import log_json, read_log
from halfword.data.find_files import find_files
from halfword.data.guess_columns import named_columns
from halfword.data.log_columns import counts_of, queries_of, times_of, whole_number
from halfword.data.log_format import LogFile, inspect
from halfword.data.log_rows import rows_of as portions_of
from halfword.data.options import ColumnNames, PrepareOptions
from halfword.data.read_log import read_batches
from halfword.data.times import microseconds

LONGEST = 50
AOL = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
ROWS = [("7", "New  York", "2006-03-01 07:17:12"), ("8", "weather", "2006-03-02 00:00:00")]
EXPECTED = [("7", "new york", 1141197432000000), ("8", "weather", 1141257600000000)]


def rows_of(path: Path | str, profile: Profile = DEFAULT, **names: str) -> list[dict[str, Any]]:
    files = find_files([path], ColumnNames(**names))
    found = [row for file in files for batch in read_batches(file, profile, LONGEST) for row in batch.to_pylist()]
    return sorted(found, key=lambda row: int(row["row"]))


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def users_queries_times(rows: list[dict[str, Any]]) -> list[tuple[str, str, int]]:
    return [(row["user"], row["query"], row["time"]) for row in rows]


def problems(rows: list[dict[str, Any]]) -> list[tuple[int, str | None, int]]:
    """Return the first line of each row, its problem, and how many rows have the same one."""
    return [(row["row"] & 0xFFFFFFFF, row["problem"], row["count"]) for row in rows]


def test_an_aol_file_is_read(tmp_path: Path) -> None:
    log = write(tmp_path / "log.txt", AOL + "".join("\t".join([*row, "", ""]) + "\n" for row in ROWS))
    assert users_queries_times(rows_of(log)) == EXPECTED


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_csv_is_read_with_either_line_ending_and_quotes(tmp_path: Path, ending: str) -> None:
    log = write(tmp_path / "log.csv", ending.join(["user_id,query,time", *(f'{u},"{q}",{t}' for u, q, t in ROWS)]))
    assert users_queries_times(rows_of(log)) == EXPECTED


def test_csv_with_semicolons_and_a_quoted_comma_is_read(tmp_path: Path) -> None:
    log = write(tmp_path / "log.csv", 'query;user\n"rome, italy";7\n')
    assert [(row["query"], row["user"]) for row in rows_of(log)] == [("rome, italy", "7")]


def test_json_lines_are_read(tmp_path: Path) -> None:
    lines = [json.dumps({"user": int(u), "q": q, "timestamp": t}) for u, q, t in ROWS]
    assert users_queries_times(rows_of(write(tmp_path / "log.jsonl", "\n".join(lines)))) == EXPECTED


KINDS = [
    pa.string(),
    *(pa.timestamp(unit, zone) for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC", "Asia/Seoul")),
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_parquet_is_read_whatever_its_times_are_stored_as(tmp_path: Path, kind: pa.DataType) -> None:
    users, queries, times = (pa.array(column) for column in zip(*ROWS, strict=True))
    stored = times if kind == pa.string() else times.cast(pa.timestamp("s")).cast(kind)
    table = pa.table({"user": pa.array([7, 8]), "query": queries, "time": stored, "noise": users})
    parquet.write_table(table, tmp_path / "log.parquet")
    assert users_queries_times(rows_of(tmp_path / "log.parquet")) == EXPECTED


def test_what_nanoseconds_add_to_a_microsecond_is_cut_off(tmp_path: Path) -> None:
    times = pa.array([1532908838123456789], pa.timestamp("ns", "UTC"))
    parquet.write_table(pa.table({"query": ["high arch"], "time": times}), tmp_path / "log.parquet")
    assert [row["time"] for row in rows_of(tmp_path / "log.parquet")] == [1532908838123456]


def test_plain_text_is_a_query_a_line(tmp_path: Path) -> None:
    rows = rows_of(write(tmp_path / "log.txt", "search\nnew york"))
    assert [row["query"] for row in rows] == ["search", "new york"]


def test_query_and_count_are_told_apart_without_a_header(tmp_path: Path) -> None:
    rows = rows_of(write(tmp_path / "log.tsv", "search\t722\nnew york\t5\n"))
    assert [(row["query"], row["count"]) for row in rows] == [("search", 722), ("new york", 5)]


@pytest.mark.parametrize(
    "time", ["2018-07-30 00:00:38", "2018-07-30T00:00:38Z", "1532908838", "1532908838000", "1532908838000000123"]
)
def test_time_and_query_are_told_apart_without_a_header(tmp_path: Path, time: str) -> None:
    (row,) = rows_of(write(tmp_path / "log.tsv", f"{time}\thigh arch\n"))
    assert (row["time"], row["query"]) == (1532908838000000, "high arch")


def test_columns_may_have_names_of_other_languages(tmp_path: Path) -> None:
    content = "Datum;Kundennummer;Suchbegriff;Umsatz\n2018-07-30T02:00:38+02:00;K7;Müsli;3,50\n"
    (row,) = rows_of(write(tmp_path / "log.csv", content))
    assert (row["time"], row["user"], row["query"]) == (1532908838000000, "K7", "müsli")


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("дата_время,сессия,поисковый_запрос", "2018-07-30 02:00:38,K7,ковёр"),
        ("検索日時,セッションID,検索キーワード", "2018-07-30 02:00:38,K7,鶏肉 レシピ"),
        ("Tarih,Ziyaretçi No,Aranan İfade", "2018-07-30 02:00:38,K7,altın fiyatı"),
        ("الوقت,رقم الجلسة,نص البحث", "2018-07-30 02:00:38,K7,فاتورة المياه"),
        ("时间,用户ID,搜索词", "2018-07-30 02:00:38,K7,手机壳"),
        ("시간,사용자ID,검색어", "2018-07-30 02:00:38,K7,날씨 서울"),
    ],
)
def test_columns_may_have_names_in_other_scripts(tmp_path: Path, header: str, row: str) -> None:
    (read,) = rows_of(write(tmp_path / "log.csv", f"{header}\n{row}\n"))
    assert (read["user"], read["query"]) == ("K7", row.split(",")[2])
    assert read["time"] is not None


def test_a_header_in_another_encoding_is_told_from_one_that_is_not_known(tmp_path: Path) -> None:
    log = write(tmp_path / "log.csv", "колонка;ещё\nковёр;1\nутюг;2\n".encode("cp1251"))
    with pytest.raises(LogError, match=r"log\.csv is not UTF-8; name its encoding, such as --encoding cp1251"):
        rows_of(log)


def test_compressed_files_are_read_by_their_suffix(tmp_path: Path) -> None:
    write(tmp_path / "a.txt.gz", gzip.compress(b"new york\n"))
    with pa.output_stream(str(tmp_path / "b.txt.zst"), compression="zstd") as stream:
        stream.write(b"weather\n")
    assert [row["query"] for row in rows_of(tmp_path)] == ["new york", "weather"]


def test_folders_and_patterns_stand_for_their_files_in_order(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", ".hidden", "_SUCCESS"):
        write(tmp_path / name, f"query of {name}\n")
    write(tmp_path / "empty.txt", "")
    expected = ["query of a.txt", "query of b.txt"]
    assert [row["query"] for row in rows_of(tmp_path)] == expected
    assert [row["query"] for row in rows_of(f"{tmp_path}/?.txt")] == expected


def test_columns_can_be_named_or_numbered(tmp_path: Path) -> None:
    log = write(tmp_path / "log.tsv", "wann\twas\n2006-03-01\tnew york\n")
    assert [row["query"] for row in rows_of(log, query="was", time="wann")] == ["new york"]
    log = write(tmp_path / "bare.tsv", "x1\tnew york\t9\t2006-03-01\n")
    (row,) = rows_of(log, query="2", user="1", time="4")
    assert (row["user"], row["query"], row["time"]) == ("x1", "new york", 1141171200000000)


def test_broken_rows_are_marked_with_the_reason_and_the_line(tmp_path: Path) -> None:
    good = "7\tnew york\t2006-03-01 07:17:12\n"
    text = b"user\tquery\ttime\n" + good.encode() + b"7\tnew york\n" + b"7\tcaf\xe9\t2006-03-01\n"
    text += b"7\tnew york\tyesterday\n" + b"\n" + b"7\tab\t2006-03-01\n"
    assert problems(rows_of(write(tmp_path / "log.tsv", text))) == [
        (2, None, 1),
        (3, "wrong column count", 1),
        (4, "bad UTF-8", 1),
        (5, "bad date", 1),
        (6, "too short", 1),
        (7, "too short", 1),
    ]


def test_broken_counts_csv_and_json_are_marked(tmp_path: Path) -> None:
    counts = "new york\t3\nweather\tmany\nweather\t0\nweather\t-2\nnews\t4\n"
    found = problems(rows_of(write(tmp_path / "a.tsv", counts)))
    assert found == [(1, None, 3), (2, "bad count", 3), (5, None, 4)]
    lines = b'{"query": "news"}\n{"query"\n[1]\n{"query": 5}\n{}\n{"query": "\\ud800abc"}\n{"query": "caf\xe9"}\n'
    found = problems(rows_of(write(tmp_path / "b.jsonl", lines)))
    assert found == [(1, None, 1), (2, "bad JSON", 2), (4, "no query", 2), (6, "bad UTF-8", 2)]
    found = problems(rows_of(write(tmp_path / "c.csv", b"query,n\nnews,1\nnews\nca\xe9f,1\n")))
    assert found == [(2, None, 1), (3, "wrong column count", 1), (4, "bad UTF-8", 1)]


def test_a_query_is_too_long_by_what_is_left_of_it(tmp_path: Path) -> None:
    lines = ["é" * LONGEST, "é" * (LONGEST + 1), "new york " + "7" * LONGEST]
    found = problems(rows_of(write(tmp_path / "log.txt", "\n".join(lines))))
    assert found == [(1, None, 1), (2, "too long", 1), (3, None, 1)]


def test_what_normalising_makes_too_long_is_left_out_before_it_is_scrubbed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scrubbed: list[str] = []

    def scrub(query: str) -> str:
        scrubbed.append(query)
        return query

    monkeypatch.setattr("halfword.core.scrub.scrub", scrub)
    found = problems(rows_of(write(tmp_path / "log.txt", "\ufdfa" * LONGEST + "\nnaïve café\n")))
    assert found == [(1, "too long", 1), (2, None, 1)]
    assert scrubbed == ["naïve café"]


def test_a_count_of_ten_thousand_digits_is_a_bad_count(tmp_path: Path) -> None:
    rows = rows_of(write(tmp_path / "log.tsv", f"new york\t3\nweather\t{'7' * 10_000}\nweather\t{'0' * 10_000}5\n"))
    assert [(row["problem"], row["count"]) for row in rows] == [(None, 3), ("bad count", 1), (None, 5)]


CSV = """query,user
"rome, italy",7
"the ""best"" pizza",8
15" monitor,9
"two
lines",10

too,many,cells
few
{bad},11
"bad"quote,12
last,13
""".replace("{bad}", "caf\udce9")


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("block", [40, 1 << 20])
def test_csv_is_read_as_people_write_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, block: int
) -> None:
    monkeypatch.setattr("halfword.data.log_rows.BLOCK_BYTES", block)
    log = write(tmp_path / "log.csv", CSV.replace("\n", ending).encode(errors="surrogateescape"))
    rows = rows_of(log)
    good = ["rome, italy", 'the "best" pizza', '15" monitor', "two lines", "badquote", "last"]
    assert [row["query"] for row in rows if not row["problem"]] == good
    found = [problem for problem in problems(rows) if problem[1]]
    first = {problem: line for line, problem, _ in reversed(found)}
    assert first == {"too short": 6, "wrong column count": 7, "bad UTF-8": 9}
    assert sum(number for _, _, number in found) == 4  # in small blocks the two of the wrong width lie in two portions


def test_a_long_csv_file_with_few_broken_rows_is_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_log, "ENOUGH_ROWS", 1000)
    monkeypatch.setattr("halfword.data.log_csv.MOST_ROWS", 1000)
    rows = rows_of(write(tmp_path / "log.csv", "query,user\n" + ("news,7\n" * 24 + "few\n") * 200))
    assert sum(row["problem"] is None for row in rows) == 24 * 200
    assert sum(row["count"] for row in rows if row["problem"]) == 200


def test_a_quote_that_is_never_closed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("halfword.data.log_rows.BLOCK_BYTES", 1 << 12)
    log = write(tmp_path / "log.csv", "query,user\n" + "news,7\n" * 2000 + '"open,8\n' + "news,9\n" * 2000)
    with pytest.raises(LogError, match=r"log.csv, line \d+ or later: a quote that is not closed"):
        rows_of(log)


JSON_VALUES = st.one_of(
    st.sampled_from(
        ["7", 7, -3, 2**70, 1.5, True, None, [1], "2006-03-01 07:17:12", "2018-07-30T00:00:38.25Z", 1532908838]
    ),
    st.text(max_size=5),
)
JSON_ROWS = st.lists(st.dictionaries(st.sampled_from(["query", "user", "time", "other"]), JSON_VALUES), min_size=1)


@given(JSON_ROWS, st.booleans())
def test_json_read_at_once_equals_json_read_line_by_line(records: list[dict[str, Any]], plain: bool) -> None:
    for record in records if plain else []:
        record["query"] = str(record.get("query"))
    block = "".join(json.dumps(record) + "\n" for record in records).encode(errors="surrogatepass")
    fields = {name: name for name in ("query", "user", "time")}
    cells = log_json._cells_at_once(fields, block)
    slow = log_json._line_by_line(fields, block, 1)
    if cells is not None:
        assert slow.lines == list(range(1, len(records) + 1))
        assert (cells["query"].to_pylist(), cells["user"].to_pylist()) == (slow.cells["query"], slow.cells["user"])
        assert (
            read_log._times(cells["time"]).to_pylist()
            == times_of(pa.array(slow.cells["time"], pa.string())).to_pylist()
        )


def test_clean_json_lines_are_read_at_once() -> None:
    block = b'{"q": "new york", "user": 7}\n{"q": "rome", "user": 8, "time": "2006-03-01 07:17:12"}\n'
    cells = log_json._cells_at_once({"query": "q", "user": "user", "time": "time"}, block)
    assert cells is not None
    assert (cells["query"].to_pylist(), cells["user"].to_pylist()) == (["new york", "rome"], ["7", "8"])


def test_line_numbers_are_exact_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("halfword.data.log_rows.BLOCK_BYTES", 64)
    lines = [f"query {number}" for number in range(500)]
    lines[321] = "a\tb"
    log = write(tmp_path / "log.txt", "\n".join(lines))
    (file,) = find_files([log], ColumnNames())
    rows = [row for batch in read_batches(file, DEFAULT, LONGEST, threads=3) for row in batch.to_pylist()]
    assert [row["row"] for row in rows if row["problem"]] == [322]
    assert {row["row"]: row["query"] for row in rows if not row["problem"]} == {
        number + 1: f"query {number}" for number in range(500) if number != 321
    }


@pytest.mark.parametrize("before", range(0, 70, 3))
@pytest.mark.parametrize("end", ["", "\n", "\nnew york\n"])
def test_a_line_is_too_long_wherever_blocks_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int, end: str
) -> None:
    monkeypatch.setattr("halfword.data.log_rows.BLOCK_BYTES", 64)
    monkeypatch.setattr("halfword.data.log_rows.LONGEST_LINE", 100)

    def read(length: int) -> list[int]:
        [file] = find_files([write(tmp_path / "log.txt", "b" * before + "\n" + "a" * length + end)], ColumnNames())
        blocks = [rows.args[1] for rows in portions_of(file, lambda place: None) if isinstance(rows, partial)]
        assert max(map(len, blocks)) <= 101
        rows = [row for batch in read_batches(file, DEFAULT, max_length=1000) for row in batch.to_pylist()]
        return [len(row["query"]) for row in rows if not row["problem"]]

    assert 99 in read(99)
    with pytest.raises(LogError, match="more than 0 MB long"):
        read(101)


@pytest.mark.parametrize(
    ("name", "header", "row"),
    [
        ("log.txt", "query\n", "new york\n"),
        ("log.csv", "query,user\n", "new york,7\n"),
        ("log.tsv", "query\tuser\n", "new york\t7\n"),
        ("log.jsonl", '{"query": "a"}\n', '{"query": "new york"}\n'),
    ],
)
def test_many_empty_lines_become_several_portions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, header: str, row: str
) -> None:
    # A line end takes a byte in the file, and a hundred in memory.
    for module in ("log_rows", "log_csv"):
        monkeypatch.setattr(f"halfword.data.{module}.MOST_ROWS", 10)
    [file] = find_files([write(tmp_path / name, header + "\n" * 94 + row)], ColumnNames())
    batches = list(read_batches(file, DEFAULT, LONGEST))
    assert max(batch.num_rows for batch in batches) <= 10
    rows = [row for batch in batches for row in batch.to_pylist() if row["row"] > 1]
    assert [(row["row"], row["query"]) for row in rows if row["problem"] is None] == [(96, "new york")]
    left = [row for row in rows if row["problem"]]
    assert {row["problem"] for row in left} == {"too short"}
    assert sum(row["count"] for row in left) == 94
    assert len(left) > 8


ONE_ROW = "new york\t3\n"


@pytest.mark.parametrize(
    "text",
    [ONE_ROW + "\n" * 5000, ONE_ROW * 5000 + "\t1\n" * 5000, ONE_ROW * 99_000 + "news\tmany\n" * 1000],
    ids=["empty", "short", "broken"],
)
def test_rows_that_are_left_out_take_no_room(tmp_path: Path, text: str) -> None:
    [file] = find_files([write(tmp_path / "log.tsv", text)], ColumnNames())
    rows = [row for batch in read_batches(file, DEFAULT, LONGEST) for row in batch.to_pylist()]
    assert sum(row["problem"] is not None for row in rows) == 1
    lines = sum(row["count"] if row["problem"] else 1 for row in rows)
    assert lines == text.count("\n")


def test_a_long_file_that_is_mostly_broken_stops_before_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_log, "ENOUGH_ROWS", 10)
    monkeypatch.setattr("halfword.data.log_rows.BLOCK_BYTES", 256)
    log = write(tmp_path / "log.tsv", "time\tquery\n" + "2006-03-01\tnew york\n" * 100 + "gestern\tnew york\n" * 1000)
    with pytest.raises(LogError, match=r"log.tsv, line 102: expected a time such as .*, found 'gestern'; \d+\.\d% of"):
        rows_of(log)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.txt", b"", "is empty"),
        ("log.zip", b"PK", r"\.zip files are not read; unpack it"),
        ("log.txt", gzip.compress(b"new york", mtime=0), r"is compressed; rename it to log.txt.gz"),
        ("log.txt.gz", b"new york", "cannot be unpacked"),
        ("log.parquet", b"new york", "is not a Parquet file"),
        ("log.jsonl", b"new york\n", "line 1: expected one JSON object per line, found 'new york'"),
        ("log.csv", b"one,two\nabc,def\n", "2 columns and no header; say what they hold"),
        ("log.tsv", b"5\tnew york\n", "2 columns and no header; say what they hold"),
        ("log.tsv", b"a\tnew york\t7\n", "3 columns and no header; say what they hold"),
        ("log.jsonl", b'{"one": "new york", "two": 2}\n', "none of the columns one, two is known to hold queries"),
        ("log.csv", b"when,what\n2018-07-30,new york\n", "none of the columns when, what is known to hold queries"),
        ("log.tsv", b"what\tno\nnew york\t7\nweather\t2\n", "none of the columns what, no is known to hold queries"),
        ("log.csv", b"\x1c\n \n", "holds no row"),
        ("log.csv", b'"' + b"a" * 200_000, "holds no row"),  # a longer cell than Python's parser takes
        ("log.jsonl", b"[" * 100_000, "line 1: expected one JSON object per line"),
        (
            "log.csv",
            b"query\nnew york\ncaf\xe9,bar\n",
            "line 2 or later: a row with the wrong number .* save the file as UTF-8",
        ),
        ("log\x1b[31m\n.csv", b"one,two\nabc,def\n", r"log\\x1b\[31m\\n.csv: 2 columns and no header"),
    ],
)
def test_a_file_that_cannot_be_understood_is_one_line(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    log = write(tmp_path / name, content)
    with pytest.raises(LogError, match=message) as caught:
        rows_of(log)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("header", "row", "expected"),
    [
        ("search_keywords,product,results_count", "new york,map,3", {"query": 0}),
        ("site.searchTerm,query_time,query_count", "new york,2024-05-01 10:00,3", {"query": 0, "time": 1}),
        ("usuario,fecha,Término de búsqueda", "v1,2024-05-01 10:00,new york", {"user": 0, "time": 1, "query": 2}),
        ("mot-clé,pays", "new york,fr", {"query": 0}),
        ("visitor-key,searchedAt,term", "v1,yesterday,new york", {"user": 0, "time": 1, "query": 2}),
        ("anonymous_user,when,query", "v1,2018-07-30 10:00,new york", {"user": 0, "time": 1, "query": 2}),
        ("clicked_at,searched_at,query", "x,y,new york", {"query": 2}),  # which of the two is not known
        ("session_length,query", "17,new york", {"query": 1}),
        ("event.search.terms,event.id", "new york,7", {"query": 0}),
    ],
)
def test_columns_are_known_by_the_words_of_their_names_and_times_by_what_they_are(
    header: str, row: str, expected: dict[str, int]
) -> None:
    rows = [row.split(",")] * 3
    found = named_columns(Path("log.csv"), tuple(header.split(",")), ColumnNames(), rows=lambda: rows)
    assert found.places == expected


@pytest.mark.parametrize(
    ("header", "row", "expected"),
    [
        ("guest,at,box_text", "g-1,2024-05-01 10:00,new york {}", {"user": 0, "time": 1, "query": 2}),
        (
            "quando,visitatore.sessione,ricerca.testo,url",
            "2024-05-01,s1,uffici {},/a b",
            {"time": 0, "user": 1, "query": 2},
        ),
    ],
)
def test_where_no_name_tells_queries_are_in_the_only_column_that_holds_what_people_type(
    header: str, row: str, expected: dict[str, int]
) -> None:
    rows = [row.format(word).split(",") for word in ("hotel", "map", "weather", "news")]
    names = tuple(header.split(","))
    assert named_columns(Path("log.csv"), names, ColumnNames(), rows=lambda: rows).places == expected
    doubled = (*names, "other_text")
    both = [[*cells, cells[expected["query"]]] for cells in rows]
    with pytest.raises(LogError, match="is known to hold queries"):
        named_columns(Path("log.csv"), doubled, ColumnNames(), rows=lambda: both)


def test_queries_are_known_by_what_json_and_parquet_hold(tmp_path: Path) -> None:
    texts = ["opening hours", "wifi", "renew a book", "book a room", "wifi"]
    records = [{"id": f"a{i}f", "event": {"said": text, "device": "mobile"}} for i, text in enumerate(texts)]
    log = write(tmp_path / "log.jsonl", "".join(f"{json.dumps(record)}\n" for record in records))
    parquet.write_table(pa.Table.from_pylist(records), tmp_path / "log.parquet")
    for path in (log, tmp_path / "log.parquet"):
        file = inspect(path, 1, ColumnNames())
        assert file is not None
        assert file.names[file.columns["query"]] == "event.said"


def test_csv_rows_of_the_wrong_width_are_not_collected_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("halfword.data.log_csv.MOST_REJECTED", 1000)
    log = write(tmp_path / "log.csv", "query,user\n" + "new york\n" * 2000)
    with pytest.raises(LogError, match=r"log.csv, line 2 or later: 1 column, not 2, in 1,000 rows; mend the file"):
        rows_of(log)


@pytest.mark.parametrize("name", ["log.csv", "log.txt"])
def test_a_single_column_of_dates_holds_queries(tmp_path: Path, name: str) -> None:
    rows = rows_of(write(tmp_path / name, "2006-03-01\n2006-03-02\n"))
    assert [(row["query"], row["time"]) for row in rows] == [("2006-03-01", None), ("2006-03-02", None)]


def test_brackets_without_end_are_a_broken_row(tmp_path: Path) -> None:
    log = write(tmp_path / "log.jsonl", '{"query": "new york"}\n' + "[" * 100_000 + "\n")
    assert problems(rows_of(log)) == [(1, None, 1), (2, "bad JSON", 1)]


def test_a_form_feed_ends_no_line(tmp_path: Path) -> None:
    log = write(tmp_path / "log.tsv", "AnonID\x0c\tquery\n7\tnew york\n")
    assert [row["query"] for row in rows_of(log)] == ["new york"]


def test_a_damaged_name_in_parquet_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    parquet.write_table(pa.table({"queryname": ["new york"]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"queryname", b"\xf6ueryname"))
    with pytest.raises(LogError, match="is not a Parquet file"):
        rows_of(path)


def test_damaged_text_in_parquet_is_named(tmp_path: Path) -> None:
    damaged = pa.array([b"new \xff york"]).view(pa.string())
    parquet.write_table(pa.table({"query": damaged}), tmp_path / "log.parquet")
    with pytest.raises(LogError, match=r"column 'query' holds text that is not UTF-8"):
        rows_of(tmp_path / "log.parquet")


def test_a_damaged_gzip_file_is_named(tmp_path: Path) -> None:
    packed = gzip.compress("".join(f"query {number * 7919 % 100_003}\n" for number in range(200_000)).encode())
    log = write(tmp_path / "log.txt.gz", packed[: len(packed) // 2] + b"\0" * 1000)
    with pytest.raises(LogError, match=r"log.txt.gz cannot be read"):
        rows_of(log)


def test_missing_files_and_columns_are_named(tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"nothing\.txt does not exist"):
        rows_of(tmp_path / "nothing.txt")
    write(tmp_path / "a.tsv", "query\tuser\nnew york\t7\n")
    with pytest.raises(LogError, match="has no column 'term'; its columns are: query, user"):
        rows_of(tmp_path / "a.tsv", query="term")
    write(tmp_path / "b.txt", "new york\n")
    with pytest.raises(LogError, match="none of the 2 files has a column 'term'; see --query-column"):
        rows_of(tmp_path, query="term")
    (tmp_path / "folder").mkdir()
    with pytest.raises(LogError, match="folder holds no file"):
        rows_of(tmp_path / "folder")


def test_rows_of_a_run_share_their_lot_and_counted_rows_draw_their_own(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "new york\n" * 100)
    assert len({row["draw"] for row in rows_of(tmp_path / "a.txt")}) == 100  # so few are divided one by one
    write(tmp_path / "a.txt", "new york" + " " * 700 + "\n" + f"new york{' ' * 700}\n" * 99)
    assert len({row["draw"] for row in rows_of(tmp_path / "a.txt")}) == 6  # lines 1 to 19, 20 to 39, …
    write(tmp_path / "b.tsv", "new york\t2\n" * 100)
    assert len({row["draw"] for row in rows_of(tmp_path / "b.tsv")}) == 100


TEXT = st.text(
    st.one_of(
        st.characters(codec="utf-8"), st.sampled_from(" \t\x0b\x1b\x1c\x1f\x7f\x85\xa0\xad\u200b@.-()/+0123456789aAbBÉ")
    )
)


@given(st.lists(TEXT), st.sampled_from([DEFAULT, PAPER]))
def test_the_column_of_queries_equals_the_plain_function(texts: list[str], profile: Profile) -> None:
    found = queries_of(pa.array(texts, pa.string()), profile).to_pylist()
    assert found == [query_of(text, profile) for text in texts]


TIMES = st.one_of(
    st.datetimes().map(str),
    st.datetimes().map(lambda time: time.isoformat() + "Z"),
    st.integers(0, 10**18).map(str),
    st.text("0123456789-: TZ.+", max_size=20),
    st.datetimes().map(lambda time: f"{time:%d.%m.%Y %H:%M}"),
)


@given(st.lists(TIMES))
def test_the_column_of_times_equals_the_plain_function(texts: list[str]) -> None:
    assert times_of(pa.array(texts, pa.string())).to_pylist() == [microseconds(text) for text in texts]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_every_piece_of_a_parquet_file_is_read(tmp_path: Path, kind: pa.DataType) -> None:
    queries = [f"Number {number}" for number in range(100)]
    users = pa.array(["7"] * 100).dictionary_encode()  # it comes in pieces, so that the queries do too
    table = pa.table({"query": pa.array(queries, kind), "user": users})
    parquet.write_table(table, tmp_path / "log.parquet", row_group_size=10)
    assert [row["query"] for row in rows_of(tmp_path / "log.parquet")] == [query.lower() for query in queries]


@pytest.mark.parametrize(
    "text",
    [
        "01.03.2006 07:17:12",
        "1.3.2006, 7:17:12",
        "2006/03/01 07:17:12",
        "2006.3.1 7:17:12",
        "01/Mar/2006:07:17:12 +0000",
        "01/Mar/2006:08:17:12 +0100",
    ],
)
def test_a_time_is_read_in_whatever_order_is_plain(text: str) -> None:
    assert microseconds(text) == microseconds("2006-03-01T07:17:12")


@pytest.mark.parametrize(
    "text", ["3/1/2006 07:17", "01.13.2006", "32.1.2006", "1.3.06", "01/Mrz/2006:07:17:12", "1.3.2006 7", "1.2.3"]
)
def test_what_may_be_two_days_or_none_is_no_time(text: str) -> None:
    assert microseconds(text) is None


def test_a_log_with_times_in_a_format_of_its_own_is_read_as_named(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", "date,query\n3/1/2006 7:17 PM,blue shoes\n")
    options = PrepareOptions(time_format="%m/%d/%Y %I:%M %p")
    (file,) = find_files([path], options)
    (batch,) = read_batches(file, DEFAULT, 500)
    assert batch["time"].to_pylist() == [microseconds("2006-03-01 19:17")]


def test_a_time_that_cannot_be_read_is_shown_with_what_to_say(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", "date,query\n3/1/2006,blue shoes\n")
    with pytest.raises(LogError, match=r"--time-format.*found '3/1/2006'"):
        prepare([path], tmp_path / "data")


@pytest.mark.parametrize("time_format", ["%d/%m/%y", "%Y%m%d %H%M", "%a, %d %b %Y %H:%M:%S %z"])
def test_a_format_that_tells_the_day_is_taken(time_format: str) -> None:
    assert PrepareOptions(time_format=time_format).time_format == time_format


@pytest.mark.parametrize("time_format", ["", "%H:%M", "%d %m", "day", "%"])
def test_a_format_that_does_not_tell_the_day_is_refused(time_format: str) -> None:
    with pytest.raises(OptionError, match="does not tell the day"):
        PrepareOptions(time_format=time_format)


@given(TIMES)
def test_a_single_time_equals_the_plain_function(text: str) -> None:
    assert times_of(pa.array([text], pa.string())).to_pylist() == [microseconds(text)]


@given(st.lists(st.one_of(st.integers().map(str), st.text("0123456789 -.²", max_size=5))))
def test_the_column_of_counts_equals_the_plain_function(texts: list[str]) -> None:
    assert counts_of(pa.array(texts, pa.string())).to_pylist() == [whole_number(text) for text in texts]


def test_a_log_file_knows_what_it_holds(tmp_path: Path) -> None:
    (file,) = find_files([write(tmp_path / "log.tsv", AOL + "7\tnew york\t2006-03-01\t\t\n")], ColumnNames())
    assert isinstance(file, LogFile)
    assert (file.holds("user"), file.holds("time"), file.holds("count")) == (True, True, False)
