"""Draws the pictures of the documents from the model that ships: python -m docs.pictures (needs the dev extra)."""

from html import escape
from itertools import pairwise
from pathlib import Path

import pyte
from tests.terminal import Terminal

from halfword.search.model import DEFAULT_MODEL, load
from halfword.search.reference import MARK, read_arrays

IMAGES = Path(__file__).parent / "images"
CELL, LINE = 8.4, 20  # size of a character on the terminal
FREED, READ, NEXT, INK = "#c2410c", "#1d4ed8", "#15803d", "#1e293b"


class Pieces:
    """The pieces of the shipped model, and how it cuts text into them."""

    def __init__(self, model: Path) -> None:
        arrays = read_arrays(model)
        text, begins = arrays["pieces.text"].tobytes(), arrays["pieces.begin"]
        self._texts = [text[begin:end].decode("utf-8", "replace") for begin, end in pairwise(begins)]
        self._neural = load(model, cache=False)._engine

    def cut(self, escaped: str) -> list[str]:
        """Return the best segmentation of `escaped`."""
        best: list[int] = self._neural.segment_best(escaped, 1)[0]
        return [self._texts[piece] for piece in best]

    def beyond(self, tail: str) -> list[str]:
        """Return the pieces that begin with `tail` and are longer."""
        return [text for text in self._texts if text.startswith(tail) and len(text) > len(tail)]


def retrace_picture(pieces: Pieces, prefix: str) -> str:
    """Draw every start of the search for `prefix`: what is read, what is freed, which pieces may come next."""
    escaped = MARK + prefix.replace(" ", MARK)
    starts = [(escaped[:cut], escaped[cut:]) for cut in range(len(escaped), -1, -1)]
    rows = [
        (head, tail, pieces.beyond(tail) if tail else []) for head, tail in starts if not tail or pieces.beyond(tail)
    ]
    lines = [_text(20, 34, f"typed: {prefix!r}, spelled {escaped}", INK, 16)]
    for x, title in ((20, "freed"), (90, "read already"), (380, "the next piece begins with")):
        lines.append(_text(x, 70, title, "#64748b", 13))
    for number, (head, tail, following) in enumerate(rows):
        lines += _start_row(104 + 46 * number, pieces.cut(head), tail, following)
    height = 104 + 46 * len(rows)
    return _svg(820, height, lines)


def _start_row(y: int, read: list[str], tail: str, following: list[str]) -> list[str]:
    lines = [_text(20, y + 17, str(len(tail)), FREED, 16)]
    x = 90.0
    for piece in read:
        lines += _box(x, y, piece, READ)
        x += _width(piece) + 8
    if not tail:
        return [*lines, _text(380, y + 17, "anything", NEXT, 14)]
    lines += _box(380, y, f"{tail}…", FREED)
    x = 380 + _width(f"{tail}…") + 14
    shown = ", ".join(sorted(following, key=len)[:4]) + (
        f" and {len(following) - 4} more" if len(following) > 4 else ""
    )
    return [*lines, _text(x, y + 17, shown, NEXT, 14)]


def terminal_picture(screen: pyte.Screen) -> str:
    """Draw the current screen of a terminal."""
    lines = []
    for row in range(screen.lines):
        for column in range(screen.columns):
            lines += _cell(screen.buffer[row][column], column, row)
    width, height = int(screen.columns * CELL) + 20, screen.lines * LINE + 20
    return _svg(width, height, lines, paper="#0f172a")


def _cell(cell: pyte.screens.Char, column: int, row: int) -> list[str]:
    x, y = 10 + column * CELL, 10 + row * LINE
    ink, paper = ("#0f172a", "#cbd5e1") if cell.reverse else ("#e2e8f0", "")
    ink = "#94a3b8" if cell.fg == "brightblack" else ink
    back = [f'<rect x="{x:.1f}" y="{y}" width="{CELL + 0.3:.1f}" height="{LINE}" fill="{paper}"/>'] if paper else []
    if not cell.data.strip():
        return back
    return [*back, _text(x, y + 15, cell.data, ink, 14, weight="bold" if cell.bold else "normal")]


def _box(x: float, y: float, text: str, colour: str) -> list[str]:
    frame = f'fill="{colour}14" stroke="{colour}" rx="5"'
    width = _width(text)
    return [
        f'<rect x="{x:.0f}" y="{y - 3}" width="{width:.0f}" height="28" {frame}/>',
        _text(x + 8, y + 17, text, colour, 16),
    ]


def _width(text: str) -> float:
    return 16 + 9.7 * len(text)


def _text(x: float, y: float, text: str, colour: str, size: int, weight: str = "normal") -> str:
    style = f'font-size="{size}" fill="{colour}"' + ("" if weight == "normal" else f' font-weight="{weight}"')
    return f'<text x="{x:.1f}" y="{y:.0f}" {style}>{escape(text)}</text>'


def _svg(width: int, height: int, lines: list[str], paper: str = "#ffffff") -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="monospace">'
    return "\n".join([head, f'<rect width="{width}" height="{height}" rx="8" fill="{paper}"/>', *lines, "</svg>\n"])


def main() -> None:
    """Write the pictures to docs/images."""
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / "retrace.svg").write_text(retrace_picture(Pieces(DEFAULT_MODEL), "new yo"), encoding="utf-8")
    with Terminal() as terminal:
        terminal.type("weather in")
        terminal.wait_for(lambda text: "Search: weather in" in text and "weather in new york" in text)
        terminal.type("\x1b[B")
        terminal.wait_for(lambda text: text.count("›") == 1 and "›weather information" not in text)
        (IMAGES / "try.svg").write_text(terminal_picture(terminal.screen), encoding="utf-8")


if __name__ == "__main__":
    main()
