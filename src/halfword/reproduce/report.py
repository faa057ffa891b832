"""The files that people read: the page, the tables in Markdown, the pictures, and the numbers as JSON."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from halfword.reproduce.records import write_json


def write_report(folder: Path, content: Mapping[str, Any], beside: Mapping[str, tuple[float, float]]) -> None:
    """Write everything that is made from the results."""
    write_json(folder / "results.json", content)
