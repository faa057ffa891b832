"""`python -m tests.slow_server MODEL ASKED QUEUE`: the real server, but its completer dawdles and notes who asked."""

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from halfword.core.options import DEFAULTS, SearchOptions
from halfword.search.model import Answer, Completion
from halfword.serve.options import ServeOptions
from halfword.serve.process.service import Service
from halfword.serve.process.supervise import Supervisor, bind


class Dawdler:
    """Takes 0.3 seconds for each completion; for that of `first` until the file `go` lies beside the list."""

    def __init__(self, asked: Path) -> None:
        self._asked = asked

    def complete(self, prefix: str, options: SearchOptions = DEFAULTS, *, context: Sequence[str] = ()) -> Answer:
        with self._asked.open("a") as stream:
            stream.write(f"{prefix}\n")
        time.sleep(0.3)
        while prefix == "first" and not self._asked.with_name("go").exists():
            time.sleep(0.01)
        return Answer([Completion(f"{prefix}!", -1.0, "model")])


def main() -> None:
    model, asked = map(Path, sys.argv[1:3])
    options = ServeOptions(model=model, port=0, queue=int(sys.argv[3]), unfiltered=True)
    service = Service.begin(options, os.open(os.devnull, os.O_WRONLY))
    service.models.current = replace(service.models.current, completer=Dawdler(asked))
    with bind("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        Supervisor(service, listener).run(lambda: print(port, flush=True))


if __name__ == "__main__":
    main()
