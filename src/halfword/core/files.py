"""Files and folders that appear whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from halfword.core.errors import OutputError
from halfword.core.interrupts import undisturbed


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file aside that becomes `path` when the block ends well, and vanishes when it does not."""
    handle, aside = _aside_file(path)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        aside.chmod(0o666 & ~_umask())  # mkstemp keeps others out; a result is an ordinary file
        aside.replace(path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror}); nothing was changed") from error
    finally:
        with undisturbed():
            aside.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Yield a folder aside that becomes `path` when the block ends well; one already there is replaced."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror})") from error
    try:
        yield aside
        aside.chmod(0o777 & ~_umask())
        with undisturbed():
            _swap(aside, path)
    finally:
        with undisturbed():
            shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def scratch_folder(output: Path) -> Iterator[Path]:
    """Yield a folder beside `output`, on the same disk, that is gone when the block ends, however it ends."""
    try:
        output.absolute().parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{output.name}.", dir=output.absolute().parent))
    except OSError as error:
        raise OutputError(f"{output}: cannot be written ({error.strerror})") from error
    try:
        yield folder
    finally:
        with undisturbed():
            shutil.rmtree(folder, ignore_errors=True)


def check_output_file(path: Path, is_ours: Callable[[Path], bool] = lambda path: True, kind: str = "file") -> None:
    """Refuse, before any work is done, a `path` at which no file can appear, or at which another kind of file lies."""
    if path.is_dir():
        raise OutputError(f"{path} is a folder; name a file")
    if not path.parent.is_dir():
        raise OutputError(f"{path}: the folder {path.parent} does not exist; create it first")
    if not path.exists():
        return
    if not path.is_file():
        raise OutputError(f"{path} is a {_kind_of(path)}; name a file")
    if not is_ours(path):
        raise OutputError(f"{path} is there already and is not a {kind}; name a new file or move this one away")


def check_output_folder(path: Path, is_ours: Callable[[Path], bool], kind: str) -> None:
    """Refuse, before any work is done, a `path` at which no folder can appear, or at which another kind of one lies."""
    if not path.exists():
        return
    if not path.is_dir():
        raise OutputError(f"{path} is a {_kind_of(path)}; name a folder")
    if any(path.iterdir()) and not is_ours(path):
        raise OutputError(f"{path} holds other files than a {kind}; name a new folder or empty this one")


def _kind_of(path: Path) -> str:
    kinds = {"file": path.is_file(), "pipe": path.is_fifo(), "socket": path.is_socket()}
    return next((kind for kind, is_it in kinds.items() if is_it), "device")


def _swap(aside: Path, path: Path) -> None:
    if not path.exists():
        aside.rename(path)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{path.name}.old.", dir=path.parent))
    path.rename(old / path.name)
    aside.rename(path)
    shutil.rmtree(old)


def _aside_file(path: Path) -> tuple[int, Path]:
    check_output_file(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror})") from error
    return handle, Path(name)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
