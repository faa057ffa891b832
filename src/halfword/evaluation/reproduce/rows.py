"""The rows of the table: the paper's, ours, and larger networks; each is a model and a way to search it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from halfword.core.errors import OptionError
from halfword.core.options import SearchOptions
from halfword.evaluation.reproduce.published import PUBLISHED, Published
from halfword.evaluation.reproduce.recipes import (
    POPULAR,
    SMALL,
    STUDENT,
    TEACHER,
    TEACHERS,
    Recipe,
    blend,
    paper_network,
)
from halfword.search.model import PARTS

GROUPS = {
    "paper": "The paper's table",
    "vocabulary": "Vocabularies (256 pieces unless noted), each with its best settings",
    "search": "Ways to search the same network",
    "ours": "Memory, popularity and network",
    "beyond": "Beyond: larger networks, and what they teach small ones",
}
ALSO = {  # rows of another group that a table repeats for comparison
    "vocabulary": ("bpe-256-r", "sr-256-r-m"),
    "search": ("bpe-256-r", "sr-256-r-m"),
    "ours": ("mpc",),
    "beyond": ("bpe-1024-r",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table."""

    name: str  # the name of its files, and for --rows
    label: str  # for people
    group: str
    model: Recipe
    search: SearchOptions
    parts: tuple[str, ...] = ("network",)  # the parts of the model that are used
    precision: str = "fp32"

    @property
    def published(self) -> Published | None:
        """The figures that the paper reports for this row."""
        return PUBLISHED.get(self.name)

    def quick(self) -> "Row":
        """Return the same row with a model that is trained in seconds."""
        return replace(self, model=self.model.quick())


_BEAM = 30  # as in the paper
_PLAIN = SearchOptions(beam=_BEAM, retrace=0, merge=False)
_RETRACE = replace(_PLAIN, retrace=None)
_MERGE = replace(_PLAIN, merge=True)
_BOTH = replace(_PLAIN, retrace=None, merge=True)

CHAR, BPE, SR = paper_network("char"), paper_network("bpe"), paper_network("unigram")
FAST, DEFAULT, BEST = blend("fast"), blend("default"), blend("taught", *TEACHERS)


def _paper() -> Iterable[Row]:
    group = "paper"
    yield Row(name="mpc", label="MPC", group=group, model=POPULAR, search=SearchOptions(), parts=("popular",))
    yield Row(name="char", label="Char", group=group, model=CHAR, search=_PLAIN)
    yield Row(name="bpe-256", label="BPE", group=group, model=BPE, search=_PLAIN)
    for steps in (1, 2):
        search = replace(_PLAIN, retrace=steps)
        yield Row(name=f"bpe-256-r{steps}", label=f"BPE + R{'⁰¹²'[steps]}", group=group, model=BPE, search=search)
    yield Row(name="bpe-256-r", label="BPE + R∞", group=group, model=BPE, search=_RETRACE)
    yield Row(name="sr-256", label="SR", group=group, model=SR, search=_PLAIN)
    yield Row(name="sr-256-m", label="SR + M", group=group, model=SR, search=_MERGE)
    yield Row(name="sr-256-r", label="SR + R∞", group=group, model=SR, search=_RETRACE)
    yield Row(name="sr-256-r-m", label="SR + R∞ + M", group=group, model=SR, search=_BOTH)


def _vocabulary() -> Iterable[Row]:
    for kind, prefix, search, setting in (("bpe", "BPE", _RETRACE, "R∞"), ("unigram", "SR", _BOTH, "R∞ + M")):
        suffix = "r-m" if search.merge else "r"
        for size in (512, 1024, 4096):
            yield Row(
                name=f"{prefix.lower()}-{size}-{suffix}",
                label=f"{prefix} {size} + {setting}",
                group="vocabulary",
                model=paper_network(kind, size),
                search=search,
            )


def _search() -> Iterable[Row]:
    group = "search"
    for count in (2, 5):
        label, search = f"SR + R∞ + M, {count}-best", replace(_BOTH, segmentations=count)
        yield Row(name=f"sr-256-r-m-{count}best", label=label, group=group, model=SR, search=search)
    yield Row(name="bpe-256-r-m", label="BPE + R∞ + M", group=group, model=BPE, search=_BOTH)
    for beam in (10, 4):
        label, search = f"BPE + R∞ + M, beam {beam}", replace(_BOTH, beam=beam)
        yield Row(name=f"bpe-256-r-m-{beam}", label=label, group=group, model=BPE, search=search)
    label, search = "BPE + R∞ + M, beam 10, int8", replace(_BOTH, beam=10)
    yield Row(name="bpe-256-r-m-10-int8", label=label, group=group, model=BPE, search=search, precision="int8")


def _ours() -> Iterable[Row]:
    def row(name: str, label: str, model: Recipe, parts: Sequence[str] = PARTS, beam: int = 10, **more: Any) -> Row:
        search = SearchOptions(beam=beam)
        changes = {"precision": "int8", **more}
        return Row(name=name, label=label, group="ours", model=model, search=search, parts=tuple(parts), **changes)

    yield row("network", "network (1200 wide, taught)", BEST, ("network",))
    yield row("memory", "memory", BEST, ("ngram",))
    yield row("network-memory", "network + memory", BEST, ("ngram", "network"))
    yield row("popularity-memory", "popularity + memory", BEST, ("popular", "ngram"))
    yield row("popularity-network", "popularity + network", BEST, ("popular", "network"))
    yield row("fast", "all parts, fast", FAST)
    yield row("default", "all parts, default", DEFAULT)
    yield row("best", "all parts, taught", BEST)
    yield row("best-fp32", "all parts, taught, fp32", BEST, precision="fp32")
    yield row("best-4", "all parts, taught, beam 4", BEST, beam=4)
    yield row("best-30", "all parts, taught, beam 30", BEST, beam=30)


def _beyond() -> Iterable[Row]:
    """Return rows of a larger network, and of a network of the paper's size that is distilled from it."""
    for name, label, model in (
        ("teacher", "BPE 1024, 1200 wide", TEACHER),
        ("small", "BPE 1024, the paper's size", SMALL),
        ("student", "the same, taught by the wide one", STUDENT),
    ):
        yield Row(name=name, label=f"{label}, R∞ + M", group="beyond", model=model, search=_BOTH)


ROWS: tuple[Row, ...] = (*_paper(), *_vocabulary(), *_search(), *_ours(), *_beyond())


def chosen_rows(names: Sequence[str], rows: Sequence[Row] = ROWS) -> list[Row]:
    """Return the rows with these names or groups, in the order of the table; without names all rows."""
    known = {row.name for row in rows} | {row.group for row in rows}
    unknown = [name for name in names if name not in known]
    if unknown:
        listed = ", ".join([*GROUPS, *(row.name for row in rows)])
        raise OptionError(f"no row is called {', '.join(unknown)}; the groups and rows are: {listed}")
    return [row for row in rows if not names or {row.name, row.group} & set(names)]
