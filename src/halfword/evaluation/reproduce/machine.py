"""The machine and the versions with which something was measured."""

import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_PACKAGES = ("numpy", "torch", "sentencepiece", "matplotlib")


def machine() -> dict[str, Any]:
    """Return the processor, its cores, and the GPU that PyTorch sees, if it is in use."""
    return {"processor": _processor(), "cores": os.cpu_count(), "gpu": _gpu()}


def versions() -> dict[str, str]:
    """Return the versions of Halfword, Python and the packages that a report depends on."""
    from halfword.core.version import __version__

    return {"halfword": __version__, "python": platform.python_version(), **_installed()}


def has_gpu() -> bool:
    """Tell whether PyTorch is installed and sees a GPU."""
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


@contextmanager
def one_thread() -> Iterator[None]:
    """Restrict PyTorch to one core: for a small network, synchronising several takes longer than computing."""
    try:
        import torch
    except ImportError:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _gpu() -> str | None:
    torch = sys.modules.get("torch")  # if it was not needed so far, importing it is not worth the seconds
    return torch.cuda.get_device_name() if torch and torch.cuda.is_available() else None


def _installed() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    """Return the name of the processor from Linux, or else from Python."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())
