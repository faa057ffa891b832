"""Every error that Halfword raises on purpose: one line that names the thing, what was found and what to do."""

from importlib import import_module
from types import ModuleType

from halfword.core.printable import printable

INTERRUPTED = 130  # the exit status after Ctrl-C, as shells have it


class HalfwordError(Exception):
    """A mistake that was foreseen; its text is one line, written for the person who made it.

    Names of files and words of other libraries may hold line ends and worse, so what is not printable is escaped.
    """

    def __str__(self) -> str:
        return printable(super().__str__())


class OptionError(HalfwordError, ValueError):
    """An option outside its range, or two options that exclude each other."""


class TextError(HalfwordError, ValueError):
    """A prefix or query that is not text."""


class LogError(HalfwordError):
    """A query log that cannot be read, or holds too many broken rows."""


class DatasetError(HalfwordError):
    """A dataset folder that is missing, foreign or damaged."""


class ModelFileError(HalfwordError):
    """A model file that is missing, foreign, damaged, or lacks a part that was asked for."""


class OutputError(HalfwordError):
    """A file or folder that cannot be written."""


class LiveError(HalfwordError):
    """A live change that is refused, or a journal that cannot be read or written."""


class MissingExtraError(HalfwordError, ImportError):
    """A command needs packages that the base install leaves out."""


def require(module: str, extra: str) -> ModuleType:
    """Import `module`, or say which extra brings it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"this needs the package {error.name}, which is not installed; in the folder of the project, type: "
            + install_command(extra)
        ) from error


def install_command(extra: str) -> str:
    """Return the command that installs an extra; it runs in the folder of the project, for Halfword is not on PyPI."""
    return f"pip install -c constraints.txt '.[{extra}]'"
