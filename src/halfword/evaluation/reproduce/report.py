"""The files that people read: the page, the tables in Markdown, the figures, and the numbers as JSON."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from halfword.core.files import whole_file
from halfword.evaluation.reproduce.markdown import markdown
from halfword.evaluation.reproduce.page import page
from halfword.evaluation.reproduce.records import write_json, write_text


def write_report(folder: Path, content: Mapping[str, Any], beside: Mapping[str, tuple[float, float]]) -> None:
    """Write all files that are made from the results; the page comes last."""
    from halfword.evaluation.reproduce.figures import pictures

    drawn = pictures(content, beside)
    for name, kinds in drawn.items():
        for kind, data in kinds.items():
            with whole_file(folder / f"{name}.{kind}") as stream:
                stream.write(data)
    write_json(folder / "results.json", content)
    write_text(folder / "results.md", markdown(content))
    write_text(folder / "report.html", page(content, {name: kinds["svg"].decode() for name, kinds in drawn.items()}))
