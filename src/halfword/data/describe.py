"""How each file of a log was read, in a line that a person can check."""

from collections.abc import Iterable, Sequence

from halfword.data.log_format import Format, LogFile

_HELD = {"query": "queries", "user": "users", "time": "times", "count": "counts"}
_FORMATS = {Format.TAB: "tabs", Format.CSV: "CSV", Format.JSONL: "JSON lines", Format.PARQUET: "Parquet"}
_MOST_NAMES = 5


def described(files: Sequence[LogFile]) -> list[str]:
    """Return a line per file; files that were read alike share one."""
    alike: dict[str, list[str]] = {}
    for file in files:
        alike.setdefault(_description(file), []).append(file.path.name)
    return [f"{_listed(names)}: {description}" for description, names in alike.items()]


def _description(file: LogFile) -> str:
    parts = [_shape(file), *(_column(file, field) for field in _HELD if file.holds(field))]
    if file.encoding:
        parts.append(f"read as {file.encoding.upper()}")
    if file.is_list:
        parts.append("a list: all of it is learned")
    if file.weight != 1:
        parts.append(f"each row counts {file.weight:g}")
    unused = [name for place, name in enumerate(file.names) if place not in file.columns.values()]
    if unused:
        parts.append(f"not used: {_listed(unused if file.header else [f'column {name}' for name in unused])}")
    missing = [field for field in ("user", "time") if not file.holds(field)]
    if unused and missing and not file.is_list and not file.holds("count"):
        kinds, options = " or ".join(_HELD[each] for each in missing), ", ".join(f"--{each}-column" for each in missing)
        parts.append(f"if one of these holds {kinds}, name it: {options}")
    return "; ".join(parts)


def _shape(file: LogFile) -> str:
    if len(file.names) == 1 and not file.header:
        return "one query per line"
    return _FORMATS[file.format] if file.header else f"{_FORMATS[file.format]} without a header"


def _column(file: LogFile, field: str) -> str:
    name = file.names[file.columns[field]]
    written = f", written {file.time_format}" if field == "time" and file.time_format else ""
    return f"{_HELD[field]} from {name if file.header else f'column {name}'} ({file.reasons[field]}{written})"


def _listed(names: Iterable[str]) -> str:
    several = list(names)
    if len(several) <= _MOST_NAMES + 1:
        return ", ".join(several)
    return f"{', '.join(several[:_MOST_NAMES])} and {len(several) - _MOST_NAMES} others"
