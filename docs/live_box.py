"""A hook of mkdocs: the search box on the front page, with the default model, running in the page.

It needs the JavaScript package (`npm run build` in js/). Where that is not built, the front page has no box.
"""

import logging
import shutil
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent.parent / "js" / "dist"
MARK = "<!-- the live box -->"
MEGABYTES = 3.0
BOX = """<script type="module" src="halfword/halfword.js"></script>
<halfword-search label="Type the beginning of a query" model="halfword/default.halfword" count="6"></halfword-search>
<p><small>This box asks no server. The default model, {size:.1f} MB, completes in your browser.</small></p>
"""
log = logging.getLogger("mkdocs.plugins.live_box")


def is_built() -> bool:
    """Tell whether there is an engine for the box."""
    return all((PACKAGE / name).exists() for name in ("halfword.wasm", "halfword-simd.wasm"))


def web_model() -> Path:
    """Return the default model in its form for the web, made when it is needed."""
    from halfword.search.model import DEFAULT_MODEL
    from halfword.training.shrink import shrink

    model = PACKAGE / "default.halfword"
    if not model.exists() or model.stat().st_mtime < DEFAULT_MODEL.stat().st_mtime:
        shrink(DEFAULT_MODEL, model, MEGABYTES)
    return model


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the box where the front page has its mark."""
    if MARK not in markdown:
        return markdown
    if not is_built():
        log.info("the JavaScript package is not built, so the front page has no search box")
        return markdown.replace(MARK, "")
    return markdown.replace(MARK, BOX.format(size=web_model().stat().st_size / 1e6))


def on_post_build(config: Any, **_: Any) -> None:
    """Put what the box needs into the site."""
    if is_built():
        web_model()
        shutil.copytree(PACKAGE, Path(config["site_dir"]) / "halfword", dirs_exist_ok=True)
