"""What the engine remembers between keystrokes is right even if memory ran out while it was stored."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
COMPILER = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")


@pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")
def test_a_row_that_could_not_be_stored_is_never_found(tmp_path: Path) -> None:
    assert COMPILER is not None
    program = tmp_path / "program"
    sources = [ROOT / "tests/data/state_cache_without_memory.cc", ROOT / "engine/lm/state_cache.cc"]
    command = [COMPILER, "-std=c++20", "-I", str(ROOT / "engine"), *map(str, sources), "-o", str(program)]
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # of a sanitizer
    subprocess.run(command, check=True, env=environment)
    ran = subprocess.run([program], capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stdout
