"""The data of a batched search. An open hypothesis of any prefix is a *row*; the rows of a prefix lie side by side."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The open hypotheses."""

    width: int  # the most that a prefix can have
    begins: Tensor  # (prefixes + 1): where the rows of each prefix begin
    prefixes: Tensor  # (rows): whose each is
    scores: Tensor
    hashes: Tensor  # of their texts
    links: Tensor  # to their last pieces, or to the starts they are
    after_space: Tensor
    wholeness: Tensor | None  # see `columns`


@dataclass(frozen=True, slots=True)
class Scored:
    """What can come next."""

    scores: Tensor  # (rows, columns) of each row with each next piece
    peaks: Tensor  # (rows, groups) the best of each group of columns
    ends: Tensor  # (rows) of the rows that end here; -inf where they may not


@dataclass(frozen=True, slots=True)
class Children:
    """The best ways to go on of each prefix (prefixes, width), best first."""

    scores: Tensor
    parents: Tensor  # rows
    columns: Tensor
    counts: Tensor  # (prefixes): how many of them are of use


@dataclass(frozen=True, slots=True)
class Best:
    """Of each prefix the texts that ended best (prefixes, count), each text once."""

    scores: Tensor
    hashes: Tensor


@dataclass(frozen=True, slots=True)
class Norm:
    """What the layer norms of a layer's three gates are multiplied by, and what is added (3, hidden)."""

    scale: Tensor
    bias: Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """Which columns may follow."""

    end: int  # the column that ends a query
    spelled: int  # this many columns, the first, may be chosen
    words: tuple[int, int]  # from and to before which column a piece begins with a space: not after another space
    group: int  # columns whose best score is told
