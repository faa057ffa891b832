"""The JavaScript package in Firefox: a page asks its model, and sends the answers back to its server."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

import pytest

from halfword import load
from tests.browsing import QuietHandler
from tests.questions import TOYS
from tests.test_javascript import PACKAGE, needs_package
from tests.toy import write_toy

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
PATIENCE = 120  # seconds until the page must have answered, on a machine that does other things too
PREFIXES = ("ab", "Ab  C", "bcd a", "")
CONTEXT = ("cab d",)
PAGE = """<!doctype html><html lang="en"><title>Shop</title><label for="search">Find</label> <input id="search">
<script type="module">
  const found = { about: [], answers: [] };
  const shown = () => [...document.querySelectorAll("[role=option]")].map((row) => row.textContent.trim());
  const until = async (holds) => {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  try {
    const { attach, load } = await import("./dist/index.js");
    for (const worker of [true, false]) {
      const model = await load("all.halfword", { worker });
      found.about.push(model.about);
      for (const prefix of PREFIXES) {
        const answer = await model.complete(prefix, { context: CONTEXT });
        found.answers.push(answer.map(({ text }) => text));
      }
    }
    const models = await caches.open("halfword-models");
    await until(async () => (await models.keys()).length === 1);
    const box = document.querySelector("#search");
    attach(box, { source: await load("popular.halfword") });
    box.focus();
    box.value = "new yo";
    box.dispatchEvent(new InputEvent("input", { inputType: "insertText" }));
    await until(() => shown().length > 0);
    found.shown = shown();
    box.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true, cancelable: true }));
    found.chosen = box.value;
  } catch (error) {
    found.error = `${error}`;
  }
  await fetch("/found", { method: "POST", body: JSON.stringify(found) });
</script>"""

pytestmark = [
    needs_package,
    pytest.mark.skipif(FIREFOX is None, reason="no Firefox on this machine: apt-get install firefox-esr"),
    pytest.mark.xdist_group("browser"),
]


@contextmanager
def collecting(folder: Path) -> Iterator[tuple[str, "Queue[dict[str, Any]]"]]:
    """Serve the files of a folder, and collect what the page sends back."""
    sent: Queue[dict[str, Any]] = Queue()

    class Collector(QuietHandler):
        def do_POST(self) -> None:
            sent.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Collector, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", sent
        server.shutdown()


def what_firefox_finds(folder: Path) -> dict[str, Any]:
    """Open the page of a folder in Firefox, with a profile of its own, until it has sent what it found."""
    profile = folder / "profile"
    profile.mkdir()
    with collecting(folder) as (address, sent):
        command = [str(FIREFOX), "--headless", "--no-remote", "--profile", str(profile), address]
        firefox = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            return sent.get(timeout=PATIENCE)
        except Empty:
            pytest.fail(f"Firefox sent nothing within {PATIENCE} s")
        finally:
            firefox.kill()
            firefox.wait()


def test_firefox_answers_as_python_does_and_has_a_box_that_completes(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE / "dist", tmp_path / "dist")
    for name in ("popular", "all"):
        write_toy(tmp_path / f"{name}.halfword", TOYS[name])
    page = PAGE.replace("PREFIXES", json.dumps(PREFIXES)).replace("CONTEXT", json.dumps(CONTEXT))
    (tmp_path / "index.html").write_text(page)
    found = what_firefox_finds(tmp_path)
    assert "error" not in found, found["error"]
    assert [about["kernels"] for about in found["about"]] == ["simd128", "simd128"]
    model = load(tmp_path / "all.halfword")
    expected = [model.complete(prefix, context=CONTEXT).texts for prefix in PREFIXES]
    assert found["answers"] == expected * 2
    assert found["shown"] == ["new york times", "new york"]
    assert found["chosen"] == "new york times"
