"""The popularity index of a table of queries, and the same by keys (`folding.py`); made by the engine."""

from halfword.core.errors import OptionError
from halfword.core.model_file import Array
from halfword.data.query_table import QueryTable
from halfword.search.model import import_engine
from halfword.training.folding import LARGEST_COUNT


def popular_of(table: QueryTable) -> dict[str, Array]:
    """Return the popularity index of a table, as arrays for a model file."""
    counts = table.values()
    if len(table) and (largest := max(counts)) > LARGEST_COUNT:
        query = table.at(counts.tolist().index(largest))
        raise OptionError(f"the count of {query!r} is {largest}; scale the counts below 2^32")
    arrays = import_engine().index_arrays(table.columns, table.order)
    return {name: Array(dtype, data) for name, (dtype, data) in arrays.items()}
