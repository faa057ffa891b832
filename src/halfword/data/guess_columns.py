"""Guessing which column of a log holds the queries, the users, the times and the counts, and saying why."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from halfword.core.errors import LogError
from halfword.data.options import ColumnNames
from halfword.data.times import format_of, microseconds

FIELDS = ("query", "user", "time", "count")
KNOWN_NAMES = {
    "query": "query q search search_query search_term search_terms searchterm keyword keywords term terms query_text "
    "query_string search_string search_phrase search_text phrase suchbegriff suchbegriffe suchanfrage suchwort requête "
    "requete recherche mot_clé búsqueda busqueda consulta ricerca busca pesquisa zoekterm zoekopdracht "
    "término termino terme termo запрос поисковый_запрос arama arama_terimi aranan_ifade sorgu zapytanie sökord "
    "استعلام بحث كلمة_البحث نص_البحث 検索語 検索ワード 検索キーワード クエリ 搜索词 查询 关键词 검색어",
    "user": "anonid user user_id userid uid session session_id sessionid visitor visitor_id client_id customer_id "
    "customer client kunde kundennummer nutzer benutzer besucher utilisateur visiteur usuario cliente utente gebruiker "
    "bezoeker klant klantnummer employee employee_id member member_id account account_id guest visitatore sessione "
    "сессия пользователь посетитель oturum kullanıcı ziyaretçi sesja użytkownik användare الجلسة رقم_الجلسة المستخدم "
    "الزائر セッション セッションid ユーザー ユーザーid 会員id 用户 用户id 会话 会话id 사용자 사용자id 세션 세션id",
    "time": "querytime query_time time timestamp date datetime ts created_at event_time datum zeit zeitpunkt "
    "zeitstempel horodatage fecha tijd tijdstip время дата дата_время tarih zaman czas التاريخ الوقت 日時 検索日時 "
    "时间 시간 일시",
    "count": "count counts frequency freq searches search_count search_volume anzahl häufigkeit fréquence frecuencia",
}
_CATALOGUE = "title name product_name product"  # which may be asked for where nothing else is
# Other names are known by their words: that of a query has one of these, and ends so or (`término de búsqueda`) begins
# so; that of a time ends so, that of a user has one of these and signs alone.
_QUERY_WORDS = (
    "search searched query keyword keywords búsqueda busqueda buscado buscada clave recherche recherché clé cle "
    "ricerca chiave pesquisa busca chave"
)
_QUERY_ENDS = "query queries term terms keyword keywords phrase text string input value"
_QUERY_BEGINS = "término termino texto palabra terme texte mot mots termine testo parola termo palavra"
_TIME_ENDS = "time timestamp date datetime ts at fecha hora zeit datum horodatage heure tijd tijdstip"
_USER_WORDS = (
    "user visitor session sesion sesión sitzung séance seance client customer anonymous anon employee member account "
    "kunde nutzer benutzer besucher utilisateur visiteur usuario cliente utente gebruiker bezoeker klant guest "
    "visitatore sessione visitante sessão sessao сессии пользователя посетителя oturum kullanıcı ziyaretçi sesja sesji "
    "użytkownika"
)
_USER_SIGNS = "id uid key hash number no nr token cookie"
_TYPED = re.compile(r"(?!/)(?!.*(?:://|@|www\.)).*[^\W\d_]{2}.*")  # words; no path, no address
_MOST_TYPED_WORDS = 12  # more are a title or a comment
_MOSTLY_TYPED = 0.8  # share of the cells that must be such texts: some are numbers, or signs alone
_WITH_SPACES = 0.2  # share of the texts that must have several words: names of kinds and places have one
_DIFFERENT = 0.05  # share of the texts that must be different: names of kinds are few
_FEWEST_DIFFERENT = 4  # texts; fewer tell nothing
NAMED, BY_NAME, BY_CONTENT, ONLY = "as named", "by its name", "by its contents", "the only one"

Rows = Callable[[], Sequence[Sequence[str]]]  # some rows of a file, read if names do not tell


@dataclass(frozen=True, slots=True)
class Columns:
    """Where the fields of a log lie, and why there."""

    places: dict[str, int]  # field → position
    reasons: dict[str, str] = field(default_factory=dict)


def is_header(rows: Sequence[list[str]], names: ColumnNames, others: bool = False) -> bool:
    """Tell whether the first row of a table names its columns; a name that was asked for may mean `others`' columns."""
    cells = rows[0]
    asked = [name for name in names.asked().values() if not name.isdigit()]
    if any(name in cells or not others for name in asked):
        return True
    if any(cell.strip().isdigit() or microseconds(cell) is not None for cell in cells):
        return False
    if len(cells) == 1:  # a plain list of queries may begin with the query "search"
        return _plain(cells[0]) == "query"
    usual = f"{KNOWN_NAMES['query']} {_CATALOGUE}".split()
    return any(_plain(cell) in usual or _is_of_query(cell) for cell in cells) or _stands_over_others(rows)


def _stands_over_others(rows: Sequence[list[str]]) -> bool:
    """Tell whether the first row has words where most others have times or numbers."""
    below = [row for row in rows[1:] if len(row) == len(rows[0])]
    return any(
        cell.strip() and _kind([row[place] for row in below]) in ("time", "number")
        for place, cell in enumerate(rows[0] if below else [])
    )


def named_columns(
    path: Path, header: tuple[str, ...], names: ColumnNames, others: bool = False, rows: Rows = tuple
) -> Columns:
    """Return the position of each field under `header`: as the caller named it, else by the usual names.

    A single column that is called like users or times, or that holds times in some `rows`, is taken for them, too. If
    no name tells where the queries are, they are in the only column that holds what people type.
    """
    found = _asked(path, header, names, others)
    for field_name in FIELDS:
        _guess_known(field_name, KNOWN_NAMES[field_name], header, found)
    _guess_alone("query", [place for place, name in enumerate(header) if _is_of_query(name)], BY_NAME, found)
    _guess_known("query", _CATALOGUE, header, found)
    _guess_alone("user", [place for place, name in enumerate(header) if _is_of_user(name)], BY_NAME, found)
    _guess_alone("time", [place for place, name in enumerate(header) if _is_of_time(name)], BY_NAME, found)
    if not {"query", "time"} <= found.places.keys():
        columns = list(enumerate(zip(*(row for row in rows() if len(row) == len(header)), strict=True)))
        _guess_alone("time", [place for place, cells in columns if _are_times(cells)], BY_CONTENT, found)
        _guess_alone("query", [place for place, cells in columns if _are_typed(cells)], BY_CONTENT, found)
    if "query" not in found.places and len(header) == 1:
        found.places["query"], found.reasons["query"] = 0, ONLY
    if "query" not in found.places:
        if any("\ufffd" in name for name in header):
            raise LogError(f"{path} is not UTF-8; name its encoding, such as --encoding cp1251 or --encoding latin-1")
        raise LogError(
            f"{path}: none of the columns {', '.join(header)} is known to hold queries; name it with --query-column"
        )
    return found


def _guess_known(field_name: str, names: str, header: tuple[str, ...], found: Columns) -> None:
    """Take a column for a field that has one of its usual names."""
    place = next((place for place in _known(names, header) if place not in found.places.values()), None)
    if field_name not in found.places and place is not None:
        found.places[field_name], found.reasons[field_name] = place, BY_NAME


def _guess_alone(field_name: str, places: Sequence[int], reason: str, found: Columns) -> None:
    """Take a column for a field that no other one is, if it is the only one."""
    free = [place for place in places if place not in found.places.values()]
    if field_name not in found.places and len(free) == 1:
        found.places[field_name], found.reasons[field_name] = free[0], reason


def _is_of_query(name: str) -> bool:
    words = _words(name)
    if set(words).isdisjoint(_QUERY_WORDS.split()):
        return False
    return words[-1] in _QUERY_ENDS.split() or words[0] in _QUERY_BEGINS.split()


def _is_of_user(name: str) -> bool:
    words, users = set(_words(name)), set(_USER_WORDS.split())
    return not words.isdisjoint(users) and words <= users | set(_USER_SIGNS.split())


def _is_of_time(name: str) -> bool:
    return _words(name)[-1:] != [] and _words(name)[-1] in _TIME_ENDS.split()


def _are_times(cells: Sequence[str]) -> bool:
    """Tell whether most cells are times, and no numbers, which may be anything."""
    return _kind(cells) == "time" and not all(cell.strip().isdigit() for cell in cells)


def _are_typed(cells: Sequence[str]) -> bool:
    """Tell whether cells hold what people type into a search box: different texts of a few words.

    >>> _are_typed(["wifi", "opening hours", "renew a book", "wifi", "books"])
    True
    >>> _are_typed(["mobile", "tablet"] * 9), _are_typed([f"/events/new york/{number}" for number in range(9)])
    (False, False)
    """
    filled = [cell.strip() for cell in cells if cell.strip()]
    texts = [cell for cell in filled if _TYPED.fullmatch(cell) and len(cell.split()) <= _MOST_TYPED_WORDS]
    if len(texts) < _MOSTLY_TYPED * len(filled):
        return False
    several = sum(" " in cell for cell in texts)
    different = len(set(texts)) >= max(_DIFFERENT * len(texts), _FEWEST_DIFFERENT)
    return different and several >= _WITH_SPACES * len(texts)


def _words(name: str) -> list[str]:
    """Return the words of a name.

    >>> _words("searchedAt"), _words("visitor-id"), _words("event.TIME")
    (['searched', 'at'], ['visitor', 'id'], ['event', 'time'])
    """
    return [word.lower() for word in re.findall(r"[A-Z]+(?![^\WA-Z\d_])|[^\W\d_][^\WA-Z_]*", name)]


def columns_by_content(
    path: Path, rows: list[list[str]], names: ColumnNames, others: bool = False
) -> tuple[tuple[str, ...], Columns]:
    """Return numbers as column names, and the position of each field: as the caller named it, else by the content."""
    width = Counter(map(len, rows)).most_common(1)[0][0]
    numbers = tuple(str(number + 1) for number in range(width))
    found = _asked(path, numbers, names, others)
    columns = found.places
    cells = list(zip(*(row for row in rows if len(row) == width), strict=True))
    kinds = {place: _kind(cells[place]) for place in range(width) if place not in columns.values()}
    texts = [place for place, kind in kinds.items() if kind == "text"]
    times = [place for place, kind in kinds.items() if kind == "time"]
    if "query" not in columns:
        sure = len(texts) == 1 and (width < 3 or bool(columns)) and kinds.get(0) != "number"
        if not sure and width > 1:
            raise LogError(
                f"{path}: {width} columns and no header; say what they hold, such as --query-column 2 --time-column 1"
            )
        columns["query"] = texts[0] if texts else 0
    if "time" not in columns and len(times) == 1 and times[0] not in columns.values():
        columns["time"] = times[0]
    if "count" not in columns and width == 2 and kinds.get(1) == "number":
        columns["count"] = 1
    guess = ONLY if width == 1 else BY_CONTENT
    return numbers, Columns(columns, {name: found.reasons.get(name, guess) for name in columns})


def _asked(path: Path, header: tuple[str, ...], names: ColumnNames, others: bool) -> Columns:
    """Return the columns that the caller named; a column that this file lacks may be one of `others`."""
    asked = {
        field_name: _position(path, header, name)
        for field_name, name in names.asked().items()
        if not others or _has(header, name)
    }
    return Columns(asked, dict.fromkeys(asked, NAMED))


def _known(names: str, header: tuple[str, ...]) -> list[int]:
    """Return the columns with one of some names; the names inside structs come last."""
    plain, inner = [_plain(name) for name in header], [_plain(name.rpartition(".")[2]) for name in header]
    return [column.index(name) for column in (plain, inner) for name in names.split() if name in column]


def _kind(cells: Sequence[str]) -> str:
    """Return what most of the cells are: time, number, empty or text."""

    def kind(cell: str) -> str:
        if microseconds(cell) is not None:
            return "time"
        return "number" if cell.strip().isdigit() else "text" if cell.strip() else "empty"

    found = Counter(map(kind, cells)).most_common(1)[0][0]
    return "time" if found == "text" and format_of(cells) else found


def _has(header: tuple[str, ...], name: str) -> bool:
    return name in header or (name.isdigit() and 1 <= int(name) <= len(header))


def _position(path: Path, header: tuple[str, ...], name: str) -> int:
    if not _has(header, name):
        raise LogError(f"{path} has no column {name!r}; its columns are: {', '.join(header)}")
    return header.index(name) if name in header else int(name) - 1


def _plain(name: str) -> str:
    return name.strip().lower().replace("i\u0307", "i").replace("-", "_").replace(" ", "_")  # İ has a dot of its own
