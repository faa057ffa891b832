"""Measure completing in the page: sizes, time per keystroke, time to the first completion, memory, and against native.

python benchmarks/browser.py [web.halfword]      a model file; left out, the default model at 3 MB

Chromium by Playwright, one page and its worker; JSON on stdout. The JavaScript package must be built (`npm run build`).
Every figure is the best of several rounds: on a machine that does other things too, the others tell about those.
"""

import argparse
import gzip
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from time import perf_counter
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from halfword.search.model import DEFAULT_MODEL, load
from halfword.training.shrink import shrink

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PACKAGE = Path(__file__).parent.parent / "js" / "dist"
LOADED = ("load", "worker", "download", "engine", "model-file", "defaults", "model", "options", "text")  # modules
QUERIES = (
    *("weather in new york tomorrow", "how to tie a tie", "cheap flights to london", "running shoes for women"),
    *("symptoms of flu in children", "best laptop for students", "chocolate cake recipe", "used cars near me"),
    *("what is the capital of australia", "wireless headphones", "tax return online", "birthday gift for dad"),
    *("high blood pressure medication", "lyrics to yesterday", "garden hose reel", "when does the library open"),
    *("iphone 15 case", "jobs in healthcare", "history of the roman empire", "dog food for puppies"),
)
PAGE = "<!doctype html><title>Measuring</title>"
FIRST = """async () => {
  const begin = performance.now();
  const { load } = await import("./dist/load.js");
  window.model = await load("web.halfword");
  await window.model.complete("n");
  return performance.now() - begin;
}"""
TYPED = """async ([queries, worker]) => {
  const { load } = await import("./dist/load.js");
  const model = worker ? window.model : await load("web.halfword", { worker: false });
  const times = [];
  for (const query of queries) {
    for (let end = 1; end <= query.length; end += 1) {
      const begin = performance.now();
      await model.complete(query.slice(0, end));
      times.push(performance.now() - begin);
    }
  }
  return times;
}"""
MEMORY = """async () => {
  const { breakdown } = await performance.measureUserAgentSpecificMemory();
  const ours = ({ attribution }) => attribution.some(({ scope }) => scope === "DedicatedWorkerGlobalScope");
  const worker = breakdown.filter(ours).reduce((sum, { bytes }) => sum + bytes, 0);
  return { worker, engine: await window.model.memory() };
}"""


class _Handler(SimpleHTTPRequestHandler):
    """A static host that also allows a page to measure its memory."""

    def end_headers(self) -> None:
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@contextmanager
def site(model: Path) -> Iterator[str]:
    """Serve the package and a model."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "dist").symlink_to(PACKAGE)
        (Path(folder) / "web.halfword").symlink_to(model.resolve())
        (Path(folder) / "index.html").write_text(PAGE)
        with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=folder)) as server:
            Thread(target=server.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{server.server_port}/"
            server.shutdown()


def sizes(model: Path) -> dict[str, int]:
    """Return the bytes that a visitor downloads."""
    glue = b"".join((PACKAGE / f"{name}.js").read_bytes() for name in LOADED)
    engine = (PACKAGE / "halfword-simd.wasm").read_bytes()
    return {
        "engine": len(engine),
        "engine_gzip": len(gzip.compress(engine, 9)),
        "engine_brotli": _brotli(PACKAGE / "halfword-simd.wasm"),
        "glue_gzip": len(gzip.compress(glue, 9)),
        "model": model.stat().st_size,
    }


def _brotli(path: Path) -> int:
    script = "console.log(require('zlib').brotliCompressSync(require('fs').readFileSync(process.argv[1])).length)"
    return int(subprocess.run(["node", "-e", script, str(path)], check=True, capture_output=True, text=True).stdout)


def spread(times: list[float]) -> dict[str, float]:
    """Return the middle, the slow end and the mean of some times."""
    ordered = sorted(times)
    return {
        "p50_ms": round(ordered[len(ordered) // 2], 3),
        "p99_ms": round(ordered[int(0.99 * len(ordered))], 3),
        "mean_ms": round(statistics.fmean(ordered), 3),
    }


def native(model: Path) -> list[float]:
    """Return the time per keystroke of the engine in Python, on one core."""
    opened, times = load(model), []
    for query in QUERIES:
        for end in range(1, len(query) + 1):
            begin = perf_counter()
            opened.complete(query[:end])
            times.append(1000 * (perf_counter() - begin))
    return times


def measure(browser: Browser, address: str, model: Path, rounds: int) -> dict[str, Any]:
    """Return all figures; of several rounds the best."""
    found: list[dict[str, Any]] = []
    for _ in range(rounds):
        context = browser.new_context()
        page = context.new_page()
        page.goto(address)
        cold = page.evaluate(FIRST)
        page.wait_for_function("async () => (await (await caches.open('halfword-models')).keys()).length === 1")
        page.goto(address)
        warm = page.evaluate(FIRST)
        typing = page.evaluate(TYPED, [QUERIES, True])
        memory = page.evaluate(MEMORY)
        here = page.evaluate(TYPED, [QUERIES, False])
        context.close()
        found.append(
            {"cold": cold, "warm": warm, "typing": typing, "memory": memory, "here": here, "native": native(model)}
        )
    best = {name: min((each[name] for each in found), key=statistics.fmean) for name in ("typing", "here", "native")}
    page_times, native_times = spread(best["here"]), spread(best["native"])
    return {
        "first_completion_cold_ms": round(min(each["cold"] for each in found), 1),
        "first_completion_warm_ms": round(min(each["warm"] for each in found), 1),
        "typing_in_the_worker": spread(best["typing"]),
        "typing_in_the_page": page_times,
        "typing_native": native_times,
        "slower_than_native": {name: round(page_times[name] / native_times[name], 2) for name in ("p50_ms", "mean_ms")},
        "memory_of_the_worker": min((each["memory"] for each in found), key=lambda each: each["worker"]),
    }


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    if CHROMIUM is None or not (PACKAGE / "halfword-simd.wasm").exists():
        sys.exit("this needs Chromium (apt-get install chromium) and the JavaScript package (npm run build in js/)")
    with tempfile.TemporaryDirectory() as folder:
        model = given.model or Path(folder) / "web.halfword"
        if given.model is None:
            shrink(DEFAULT_MODEL, model, 3.0)
        with site(model) as address, sync_playwright() as playwright:
            arguments = ["--no-sandbox", "--enable-blink-features=ForceEagerMeasureMemory"]
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
            figures = {
                "browser": browser.version,
                "bytes": sizes(model),
                **measure(browser, address, model, given.rounds),
            }
            browser.close()
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
