"""Quality against latency, drawn as SVG."""

import math
from collections.abc import Iterator
from typing import NamedTuple

WIDTH, HEIGHT, LEFT, BOTTOM, MARGIN = 860, 520, 70, 60, 20
FASTEST, SLOWEST, WORST, BEST = 0.001, 100.0, 0.24, 0.40
OURS = "#c2410c"


class Point(NamedTuple):
    """A system and its measurements."""

    name: str
    milliseconds: float
    mrr: float
    ours: bool


def picture(points: list[Point]) -> str:
    """Draw MRR against the mean latency, on a logarithmic scale."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
    lines = [head + 'font-size="12">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', *_axes()]
    for point in points:
        if not point.ours:
            lines += _mark(point, point.name)
    for number, point in enumerate(
        sorted((point for point in points if point.ours), key=lambda each: each.milliseconds), 1
    ):
        lines += _mark(point, "", str(number))
        legend = f"{number}  {point.name}: MRR {point.mrr:.3f}, {point.milliseconds:.2f} ms"
        lines.append(_text(LEFT + 225, 176 + 14 * number, legend, "start", OURS))
    return "\n".join([*lines, "</svg>"]) + "\n"


def _place(milliseconds: float, mrr: float) -> tuple[float, float]:
    across = math.log(milliseconds / FASTEST) / math.log(SLOWEST / FASTEST)
    up = (mrr - WORST) / (BEST - WORST)
    return LEFT + across * (WIDTH - LEFT - MARGIN), HEIGHT - BOTTOM - up * (HEIGHT - BOTTOM - MARGIN)


def _axes() -> Iterator[str]:
    for exponent in range(-3, 3):
        x, y = _place(10.0**exponent, WORST)
        yield f'<path d="M{x:.0f} {MARGIN}V{y:.0f}" stroke="#ddd"/>'
        yield _text(x, y + 18, f"{10.0**exponent:g}", "middle")
    for hundredths in range(24, 41, 2):
        x, y = _place(FASTEST, hundredths / 100)
        yield f'<path d="M{LEFT} {y:.0f}H{WIDTH - MARGIN}" stroke="#eee"/>'
        yield _text(x - 8, y + 4, f"{hundredths / 100:.2f}", "end")
    yield _text(WIDTH / 2, HEIGHT - 15, "milliseconds a completion on one core, mean", "middle")
    yield _text(LEFT, 14, "MRR over all", "middle")


def _mark(point: Point, name: str, inside: str = "") -> Iterator[str]:
    x, y = _place(point.milliseconds, point.mrr)
    colour = OURS if point.ours else "#475569"
    right = point.milliseconds > 5  # there is no room for its name on the right
    yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{7 if inside else 5}" fill="{colour}"/>'
    yield _text(x - 9 if right else x + 9, y + 16, name, "end" if right else "start", colour)
    yield f'<text x="{x:.1f}" y="{y + 3:.1f}" text-anchor="middle" fill="white" font-size="9">{inside}</text>'


def _text(x: float, y: float, words: str, anchor: str, colour: str = "#111") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'
