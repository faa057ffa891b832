"""Halfword finishes half-typed search queries."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from halfword.core.version import __version__

if TYPE_CHECKING:
    from halfword.api import evaluate, prepare, train
    from halfword.core.errors import HalfwordError
    from halfword.core.options import SearchOptions
    from halfword.core.progress import Event, Progress, Stopped
    from halfword.data.dataset import Dataset, Split
    from halfword.data.options import PrepareOptions
    from halfword.evaluation.evaluate import EvaluateOptions
    from halfword.evaluation.report import Report
    from halfword.search.live import Live
    from halfword.search.model import Answer, Completer, Completion, Model, load
    from halfword.training.options import TrainOptions

# Where each public name lives. A name is imported when it is first used: completing needs neither pyarrow nor torch,
# and starts in milliseconds.
_HOMES = {
    "halfword.api": ("evaluate", "prepare", "train"),
    "halfword.core.errors": ("HalfwordError",),
    "halfword.core.options": ("SearchOptions",),
    "halfword.core.progress": ("Event", "Progress", "Stopped"),
    "halfword.data.dataset": ("Dataset", "Split"),
    "halfword.data.options": ("PrepareOptions",),
    "halfword.evaluation.evaluate": ("EvaluateOptions",),
    "halfword.evaluation.report": ("Report",),
    "halfword.search.live": ("Live",),
    "halfword.search.model": ("Answer", "Completer", "Completion", "Model", "load"),
    "halfword.training.options": ("TrainOptions",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Answer",
    "Completer",
    "Completion",
    "Dataset",
    "EvaluateOptions",
    "Event",
    "HalfwordError",
    "Live",
    "Model",
    "PrepareOptions",
    "Progress",
    "Report",
    "SearchOptions",
    "Split",
    "Stopped",
    "TrainOptions",
    "__version__",
    "evaluate",
    "load",
    "prepare",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'halfword' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
