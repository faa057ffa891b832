"""What `count` can be told."""

from dataclasses import dataclass

from halfword.core.errors import OptionError
from halfword.core.fields import option
from halfword.data.options import Engine
from halfword.training.options import ORDER


@dataclass(frozen=True, slots=True, kw_only=True)
class CountOptions:
    """Where n-grams are counted, and which are kept."""

    engine: Engine = option(Engine.DUCKDB, "duckdb or spark.")
    spark_master: str = option("local[*]", "Where Spark runs.", rare=True)
    least_count: int = option(1, "Leave out n-grams that occur less often.")
    order: int = ORDER  # pieces of the longest n-grams
    hold_out: bool = option(False, "Count the train split only, to measure it.")

    def __post_init__(self) -> None:
        if self.least_count < 1:
            raise OptionError(f"least-count must be 1 or more, got {self.least_count}")
