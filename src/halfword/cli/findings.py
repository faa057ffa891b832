"""What this installation can do: versions, processor, kernels, extras and the model that ships."""

import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from halfword.core.card import Card
from halfword.core.errors import HalfwordError, install_command
from halfword.core.model_file import read_header
from halfword.core.version import __version__
from halfword.search.model import DEFAULT_MODEL, import_engine

EXTRAS = {
    "prepare": ("ibis", "duckdb", "numpy", "pyarrow"),
    "train": ("torch", "sentencepiece", "safetensors"),
    "spark": ("pyspark",),
    "dev": ("pytest", "hypothesis", "mypy", "ruff"),
}
_FEATURES = ("sse4_2", "avx", "avx2", "fma", "avx512f", "avx512bw", "avx512_vnni", "asimd", "asimddp", "i8mm")
_PACKAGES = {"ibis": "ibis-framework"}  # where the name to import is not the name to install


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    name: str
    state: str
    well: bool = True
    remedy: str = ""  # what to type


def examine() -> Iterator[Finding]:
    """Look at everything, one thing after the other."""
    yield Finding("halfword", __version__)
    yield Finding("Python", f"{platform.python_version()}, {platform.system()} {platform.machine()}")
    yield Finding("processor", processor_line(Path("/proc/cpuinfo")))
    yield _engine()
    for extra, modules in EXTRAS.items():
        yield _extra(extra, modules)
    yield _default_model()


def processor_line(path: Path) -> str:
    """Return the processor's name and those of its instruction sets that concern us."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    fields = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in reversed(lines))}
    has = set(fields.get("flags", fields.get("Features", "")).split())
    features = [feature for feature in _FEATURES if feature in has]
    return ", ".join([fields.get("model name", platform.machine()), " ".join(features) or "no vector instructions"])


def _engine() -> Finding:
    try:
        kernels = import_engine().available_kernels()
    except HalfwordError as error:
        return Finding("engine", str(error), well=False, remedy="pip install .")
    chosen, *others = kernels
    return Finding("engine", f"uses the {chosen} kernels" + (f" (also here: {', '.join(others)})" if others else ""))


def _extra(extra: str, modules: tuple[str, ...]) -> Finding:
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        state = f"without {', '.join(missing)}"
        return Finding(f"[{extra}]", state, well=False, remedy=install_command(extra))
    return Finding(f"[{extra}]", ", ".join(f"{module} {_version_of(module)}" for module in modules))


def _version_of(module: str) -> str:
    try:
        return version(_PACKAGES.get(module, module))
    except PackageNotFoundError:
        return "of unknown version"


def _default_model() -> Finding:
    try:
        card = read_header(DEFAULT_MODEL).card
    except HalfwordError as error:
        return Finding("default model", str(error), well=False, remedy="pip install --force-reinstall .")
    size = DEFAULT_MODEL.stat().st_size / 1e6
    return Finding("default model", f"{size:.1f} MB, {card_line(card)}; more with: halfword info")


def card_line(card: Card) -> str:
    """Return in a short line what a model is made of.

    >>> card_line(Card.from_json({"parts": {"popular": {}, "network": {}}, "licence": "MIT"}))
    'network, popular; licence: MIT'
    """
    parts = ", ".join(card.parts.to_json())
    return f"{parts}; licence: {card.licence}" if card.licence else parts
