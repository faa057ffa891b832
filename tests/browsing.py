"""A search box in a real browser, as a person meets it, and pages of other origins."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: apt-get install chromium")


def expect(found: Any) -> Any:
    """Return Playwright's assertions about something found, which wait until they hold."""
    from playwright.sync_api import expect

    return expect(found)


@dataclass(frozen=True, slots=True)
class Box:
    """The search box of a page, as a person meets it."""

    page: "Page"

    @property
    def input(self) -> Any:
        return self.page.get_by_role("combobox")

    @property
    def text(self) -> str:
        value: str = self.input.input_value()
        return value

    def rows(self) -> list[str]:
        return [row.strip() for row in self.page.get_by_role("option").all_inner_texts()]

    def chosen(self) -> str | None:
        """Return the row that assistive technology is told about."""
        row = self.input.get_attribute("aria-activedescendant")
        return None if row is None else self.page.locator(f"#{row}").inner_text().strip()

    def wait_for(self, *rows: str) -> None:
        """Wait until these rows, and no others, are shown."""
        expect(self.page.get_by_role("option")).to_have_text(list(rows))

    def wait_until_closed(self) -> None:
        expect(self.input).to_have_attribute("aria-expanded", "false")

    def type(self, text: str) -> None:
        self.input.press_sequentially(text)

    def press(self, key: str) -> None:
        self.input.press(key)


@contextmanager
def page_elsewhere(folder: Path) -> Iterator[str]:
    """Serve the files of a folder from an origin of their own."""
    handler = partial(QuietHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as elsewhere:
        Thread(target=elsewhere.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{elsewhere.server_port}"
        elsewhere.shutdown()


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: Any) -> None:
        pass
