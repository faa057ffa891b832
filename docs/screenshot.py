"""Screenshots of the search box; needs Chromium: python docs/screenshot.py MODEL -o docs/images/search-box.png."""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright


def take(browser: Browser, address: str, text: str, scheme: str, path: Path) -> None:
    """Type `text` key by key and take a screenshot."""
    context = browser.new_context(
        viewport={"width": 720, "height": 760},
        color_scheme="dark" if scheme == "dark" else "light",
        device_scale_factor=2,
    )
    page = context.new_page()
    page.goto(address)
    page.get_by_label("Show probability and source").check()
    box = page.get_by_role("combobox")
    box.focus()
    box.press_sequentially(text, delay=60)
    page.get_by_role("option").first.wait_for()
    page.wait_for_timeout(300)
    box.press("ArrowDown")
    page.screenshot(path=str(path))
    context.close()


def main() -> None:
    """Start a server, take screenshots in light and dark, stop it."""
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
        dark = arguments.output.with_stem(f"{arguments.output.stem}-dark")
        for scheme, path in (("light", arguments.output), ("dark", dark)):
            take(browser, address, arguments.text, scheme, path)
        browser.close()
        server.terminate()


if __name__ == "__main__":
    main()
