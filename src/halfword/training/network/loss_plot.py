"""A plot of the losses of a training, as a small SVG file."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from halfword.core.files import whole_file

_WIDTH, _HEIGHT, _MARGIN = 640, 400, 60
_COLOURS = {"train_loss": "#888888", "valid_loss": "#c03020"}


def write_loss_plot(path: Path, history: Sequence[dict[str, float]]) -> None:
    """Draw the training and validation loss of every epoch."""
    values = [entry[name] for entry in history for name in _COLOURS]
    least, most = min(values), max(values)
    spread = (most - least) or 1.0
    lines = [_axis(least, most, len(history))]
    for number, (name, colour) in enumerate(_COLOURS.items()):
        heights = [(entry[name] - least) / spread for entry in history]
        lines.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{_points(heights)}"/>')
        label = name.replace("_", " ")
        lines.append(f'<text x="{_WIDTH - _MARGIN - 90}" y="{_MARGIN + 20 * number}" fill="{colour}">{label}</text>')
    body = "\n".join(lines)
    frame = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="13"'
    text = f'<svg xmlns="http://www.w3.org/2000/svg" {frame}>\n'
    with whole_file(path) as stream:
        stream.write(f"{text}{body}\n</svg>\n".encode())


def _points(heights: Iterable[float]) -> str:
    shares = list(heights)
    steps = max(len(shares) - 1, 1)
    return " ".join(f"{_across(number / steps):.1f},{_down(height):.1f}" for number, height in enumerate(shares))


def _axis(least: float, most: float, epochs: int) -> str:
    left, bottom = _across(0) - 8, _down(0)
    return (
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>\n'
        f'<text x="{left}" y="{_down(1):.0f}" text-anchor="end">{most:.2f}</text>\n'
        f'<text x="{left}" y="{bottom:.0f}" text-anchor="end">{least:.2f}</text>\n'
        f'<text x="{_across(0):.0f}" y="{bottom + 25:.0f}">epoch 1</text>\n'
        f'<text x="{_across(1):.0f}" y="{bottom + 25:.0f}" text-anchor="end">{epochs}</text>\n'
        f'<text x="{_MARGIN}" y="{_MARGIN / 2}">loss in nats a query</text>'
    )


def _across(share: float) -> float:
    return _MARGIN + share * (_WIDTH - 2 * _MARGIN)


def _down(share: float) -> float:
    return _HEIGHT - _MARGIN - share * (_HEIGHT - 2 * _MARGIN)
