"""The files that make a dataset: found by path, folder or pattern, each with its format, its columns and its weight."""

import glob
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from halfword.core.errors import LogError, OptionError
from halfword.data.guess_columns import NAMED
from halfword.data.log_format import LogFile, inspect
from halfword.data.options import ColumnNames, PrepareOptions


def find_files(inputs: Sequence[str | Path], options: PrepareOptions | ColumnNames) -> list[LogFile]:
    """Return the files that `inputs` (files, folders, globs) stand for, in a fixed order."""
    options = options if isinstance(options, PrepareOptions) else PrepareOptions(columns=options)
    given = {path: str(each) for each in reversed(inputs) for path in _expand(str(each))}
    paths = list(dict.fromkeys(path for each in inputs for path in _expand(str(each))))
    found = [file for path in paths if (file := inspect(path, len(paths), options.columns, options.encoding))]
    if not found:
        raise LogError(f"{', '.join(map(str, inputs)) or 'no file'}: no row to read; name a log that holds queries")
    _check_named(found, options.columns)
    weights = {path: (options.weights or {})[name] for path, name in _chosen(given, options.weights or {}, "weight")}
    lists = {path for path, _ in _chosen(given, dict.fromkeys(options.lists, 1.0), "list")}
    return [
        replace(
            file,
            index=index,
            weight=weights.get(file.path, 1.0),
            is_list=file.path in lists,
            time_format=options.time_format or file.time_format,
        )
        for index, file in enumerate(found)
    ]


def _chosen(given: Mapping[Path, str], named: Mapping[str, float], what: str) -> Iterator[tuple[Path, str]]:
    """Yield the files that names stand for: a path as it was given, a whole path, or the name of a file."""
    for name in named:
        matches = [path for path, text in given.items() if name in (text, str(path), path.name)]
        if not matches:
            known = ", ".join(dict.fromkeys(given.values()))
            raise OptionError(f"--{what} {name}: no log is called so; the logs are: {known}")
        yield from ((path, name) for path in matches)


def _check_named(files: Iterable[LogFile], names: ColumnNames) -> None:
    """Refuse the name of a column that no file has."""
    files = list(files)
    for field, name in names.asked().items():
        if not any(file.reasons.get(field) == NAMED for file in files):
            raise LogError(f"none of the {len(files)} files has a column {name!r}; see --{field}-column")


def _expand(given: str) -> Iterable[Path]:
    path = Path(given)
    if path.is_dir():
        inside = sorted(child for child in path.rglob("*") if child.is_file() and not _hidden(child.relative_to(path)))
        if not inside:
            raise LogError(f"{path} holds no file; name a log or a folder of logs")
        return inside
    if path.exists():
        return [path]
    matches = [Path(match) for match in sorted(glob.glob(given, recursive=True)) if Path(match).is_file()]  # noqa: PTH207
    if not matches:
        raise LogError(f"{given} does not exist; name a log file, a folder or a pattern such as 'logs/*.tsv.gz'")
    return matches


def _hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)  # files such as _SUCCESS are not logs
