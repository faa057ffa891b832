"""What `reproduce` can be told; each default has its home here."""

from dataclasses import dataclass
from pathlib import Path

from halfword.core.errors import OptionError
from halfword.core.fields import option
from halfword.evaluation.reproduce.rows import Row, chosen_rows

STEPS = ("train", "quality", "speed", "report")
DEVICES = ("auto", "cpu", "cuda")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReproduceOptions:
    """Which steps are done, for which rows, and how."""

    rows: tuple[str, ...] = option((), "Rows or groups of the table; left out, all.", commas=True)
    paper: bool = option(False, "Repeat the accident of the paper's code.")
    quick: bool = option(False, "Small networks, few test rows: minutes on a CPU.")
    steps: tuple[str, ...] = option(STEPS, "What to do.", commas=True)
    device: str = option("auto", "auto, cpu or cuda.")
    # None: all, or few if quick.
    sample: int | None = option(None, "Measure only so many test rows.")
    seed: int = option(0, "Draws another sample and intervals.")
    # The MRR is that over all test rows.
    beside: Path | None = option(None, 'JSON of others for the picture: {"name": [ms, MRR]}.')

    def __post_init__(self) -> None:
        unknown = [step for step in self.steps if step not in STEPS]
        if unknown or not self.steps:
            raise OptionError(f"steps must be some of {', '.join(STEPS)}; got {', '.join(unknown) or 'none'}")
        if self.device not in DEVICES:
            raise OptionError(f"device must be one of {', '.join(DEVICES)}; got {self.device!r}")
        if self.sample is not None and self.sample < 1:
            raise OptionError(f"sample must be 1 or more, got {self.sample}")
        chosen_rows(self.rows)  # checks the names

    def chosen(self) -> list[Row]:
        """Return the rows to work on."""
        rows = chosen_rows(self.rows)
        return [row.quick() for row in rows] if self.quick else rows
