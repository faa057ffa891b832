"""The JavaScript package: the same answers as Python gives, and the numbers that both share."""

import os
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.questions import write_answers

PACKAGE = Path(__file__).parent.parent / "js"
ENGINES = [PACKAGE / "dist" / name for name in ("halfword.wasm", "halfword-simd.wasm")]
NODE = shutil.which("node")
LATER = "HALFWORD_JAVASCRIPT_LATER" in os.environ  # it is being built, and tested when it is
needs_package = pytest.mark.skipif(
    LATER or NODE is None or not all(engine.exists() for engine in ENGINES),
    reason="the JavaScript package is not built: apt-get install nodejs npm emscripten, then npm run build in js/",
)


def test_the_defaults_in_javascript_are_those_of_python() -> None:
    made = runpy.run_path(str(PACKAGE / "make_defaults.py"))["defaults"]()
    assert (PACKAGE / "src" / "defaults.js").read_text() == made, "python js/make_defaults.py > js/src/defaults.js"


@needs_package
def test_javascript_answers_as_python_does(tmp_path: Path) -> None:
    answers = write_answers(tmp_path)
    environment = os.environ | {"HALFWORD_ANSWERS": str(answers)}
    done = subprocess.run([str(NODE), "--test", "test/"], cwd=PACKAGE, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
