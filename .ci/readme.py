"""Print or run the shell examples of the documents.

python .ci/readme.py print test       the block of README.md marked ```sh test
python .ci/readme.py run README.md    run all other ```sh blocks, each document's in a new folder of its own
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```sh ?(?P<mark>\w*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(document: Path) -> list[tuple[str, str]]:
    """Return the shell examples with their marks."""
    return [(match["mark"], match["code"]) for match in BLOCK.finditer(document.read_text(encoding="utf-8"))]


def run(document: Path) -> None:
    """Run the unmarked examples of one document, one after the other, in a new folder."""
    script = "\n".join(code for mark, code in blocks(document) if not mark)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        (Path(folder) / "benchmarks").symlink_to(ROOT / "benchmarks")
        subprocess.run(["bash", "-euo", "pipefail", "-x", "-c", script], cwd=folder, check=True)


if __name__ == "__main__":
    if sys.argv[1] == "print":
        print(next(code for mark, code in blocks(ROOT / "README.md") if mark == sys.argv[2]))
    else:
        for name in sys.argv[2:]:
            run(ROOT / name)
