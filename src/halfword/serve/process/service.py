"""What all processes of a server share."""

from dataclasses import dataclass
from functools import partial

from halfword.serve.http.app import App
from halfword.serve.http.metrics import Metrics
from halfword.serve.live.follow import Follower
from halfword.serve.log import Log
from halfword.serve.models import Models
from halfword.serve.options import ServeOptions
from halfword.serve.process.helper import catch_up, follower_of


@dataclass(frozen=True, slots=True)
class Service:
    """A model that is loaded, what answers requests with it, and what is counted and logged."""

    options: ServeOptions
    models: Models
    metrics: Metrics
    log: Log
    app: App
    follower: Follower | None = None

    @classmethod
    def begin(cls, options: ServeOptions, log_descriptor: int | None = None) -> "Service":
        """Load the model; raises when it or another option is wrong."""
        metrics = Metrics(options.workers)
        log = Log(log_descriptor, partial(metrics.add, "log_lines_dropped_total"))
        follower = follower_of(options)
        if follower is not None:
            catch_up(follower, log)
        models = Models(options, lambda text: log.event("live changes", warning=text))
        return cls(options, models, metrics, log, App(options, models, metrics, log), follower)
