"""`halfword serve`."""

from typing import Any

from halfword.cli.options import HelpAll, ModelFile, NoVerify, takes
from halfword.core.fields import changed
from halfword.search.model import DEFAULT_MODEL
from halfword.serve.options import ServeOptions


@takes(ServeOptions)
def serve(
    model: ModelFile = DEFAULT_MODEL,
    *,
    given: dict[str, Any],
    no_verify: NoVerify = False,
    help_all: HelpAll = False,
) -> None:
    """Answer over HTTP, with a search box on the page.

    Example: halfword serve --model my.halfword --workers 2
    """
    from halfword.serve.process.supervise import serve as run

    options = changed(ServeOptions(model=model, verify=not no_verify), given)
    run(options, lambda address: print(f"A search box is on {address} (Ctrl+C stops it)", flush=True))
