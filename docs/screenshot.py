"""A screenshot of the search box; needs Chromium: python docs/screenshot.py MODEL -o docs/images/search-box.png."""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

TOP, MARGIN = 56, 24  # pixels of empty page above that are left out, and below the list that are kept


def take(browser: Browser, address: str, text: str, path: Path) -> None:
    """Type `text` key by key, and take a picture of the box and its list."""
    page = browser.new_page(viewport={"width": 640, "height": 900}, device_scale_factor=1.5)
    page.goto(address)
    page.get_by_label("Show probability and source").check()
    box = page.get_by_role("combobox")
    box.focus()
    box.press_sequentially(text, delay=60)
    page.get_by_role("option").first.wait_for()
    page.wait_for_timeout(300)
    box.press("ArrowDown")
    shown = page.get_by_role("listbox").bounding_box()
    assert shown is not None
    page.screenshot(
        path=str(path), clip={"x": 0, "y": TOP, "width": 640, "height": shown["y"] + shown["height"] + MARGIN - TOP}
    )
    page.close()


def main() -> None:
    """Start a server, take the screenshot, stop it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--output", "-o", type=Path, required=True)
    parser.add_argument("--text", default="new yo")
    arguments = parser.parse_args()
    command = [sys.executable, "-m", "halfword", "serve", "--model", str(arguments.model), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as playwright:
        assert server.stdout is not None
        address = server.stdout.readline().split(" on ")[1].split()[0]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        take(browser, address, arguments.text, arguments.output)
        browser.close()
        server.terminate()


if __name__ == "__main__":
    main()
