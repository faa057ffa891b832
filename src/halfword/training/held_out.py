"""Which rows a model has learned, and whether what it is built on has learned rows that it must not know."""

from pathlib import Path

from halfword.core.card import LearnedCard
from halfword.core.errors import ModelFileError
from halfword.core.model_file import read_header
from halfword.data.dataset import Dataset, Split
from halfword.data.digest import split_digest
from halfword.training.options import NO_BACKGROUND, SHIPPED, TrainOptions


def learned_card(data: Dataset, options: TrainOptions) -> LearnedCard:
    """Return what the card of a model says of the rows that it has learned."""
    if options.hold_out:
        table = data.table(Split.TRAIN)
        rows = {str(Split.TRAIN): table.total}
        return LearnedCard(hold_out=True, rows=rows, digests={str(Split.TRAIN): split_digest(table)})
    learned = {split: table for split in Split if (table := data.learnable_table(split))}
    return LearnedCard(
        hold_out=False,
        rows={str(split): table.total for split, table in learned.items()},
        digests={str(split): split_digest(data.table(split)) for split in learned},
    )


def check_sources(data: Dataset, options: TrainOptions) -> None:
    """Refuse a teacher, base or background that has learned the rows which are to be held out."""
    background = options.background if options.stands else NO_BACKGROUND
    named = [background] if background not in (SHIPPED, NO_BACKGROUND) else []
    paths = [*map(Path, (*options.network.teachers, *named)), *([options.base] if options.base else [])]
    cards = {path: read_header(path).card.learned for path in paths}
    if not any(cards.values()):
        return
    held_out = {
        split: split_digest(data.table(split)) for split in (Split.VALID, Split.TEST) if data.learnable_table(split)
    }
    for path, card in cards.items():
        split = next((split for split, digest in held_out.items() if card and card.has_learned(digest)), None)
        if split is not None:
            raise ModelFileError(f"{path} has learned the {split} rows; train it with --hold-out too")
