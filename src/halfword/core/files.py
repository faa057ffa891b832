"""Files and folders that appear whole or not at all."""

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from halfword.core.errors import OutputError
from halfword.core.interrupts import undisturbed
from halfword.core.scratch import scratch_folder


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading; raises OSError for what is none: reading from a pipe or a device could never end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise OSError(errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL, "it is not a regular file")
    return os.fdopen(descriptor, "rb")


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
    with scratch_folder(path) as folder:
        aside = folder / path.name
        aside.mkdir()
        yield aside
        aside.chmod(0o777 & ~_umask())
        with undisturbed():
            _swap(aside, path)


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
