"""The data of a batched search. An open hypothesis is a *row*; the rows of one prefix are next to each other."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The open hypotheses."""

    width: int  # the largest possible number of rows per prefix
    begins: Tensor  # (prefixes + 1): where the rows of each prefix begin
    prefixes: Tensor  # (rows): the prefix of each row
    scores: Tensor
    hashes: Tensor  # of their texts
    links: Tensor  # to their last pieces; for a start, to itself
    after_space: Tensor
    wholeness: Tensor | None  # the UTF-8 state, see `columns`


@dataclass(frozen=True, slots=True)
class Scored:
    """The scores of everything that can come next."""

    scores: Tensor  # (rows, columns) of each row extended by each piece
    peaks: Tensor  # (rows, groups) the best score of each group of columns
    ends: Tensor  # (rows) of rows that end here; -inf if they may not


@dataclass(frozen=True, slots=True)
class Children:
    """The best extensions of each prefix (prefixes, width), best first."""

    scores: Tensor
    parents: Tensor  # rows
    columns: Tensor
    counts: Tensor  # (prefixes): how many of them are useful


@dataclass(frozen=True, slots=True)
class Best:
    """The best finished texts of each prefix (prefixes, count), each text once."""

    scores: Tensor
    hashes: Tensor


@dataclass(frozen=True, slots=True)
class Norm:
    """Scale and bias of the layer norms of a layer's three gates (3, hidden)."""

    scale: Tensor
    bias: Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """Which columns may come next."""

    end: int  # the column that ends a query
    spelled: int  # only the first so many columns may be chosen
    words: tuple[int, int]  # first and last + 1 of the columns that begin with a space; forbidden after a space
    group: int  # columns per group of `Scored.peaks`
