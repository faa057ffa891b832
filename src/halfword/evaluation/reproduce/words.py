"""Numbers and options as people read them."""

from collections.abc import Mapping
from typing import Any

NOTHING = "–"
METRIC_NAMES = {
    "mrr": "MRR",
    "pmrr": "PMRR",
    "mrl": "MRL",
    "success": "success@10",
    "partial_mrl": "partial MRL",
    "normalised_mrl": "normalised MRL",
    "keystrokes_saved": "keystrokes saved",
}
_LENGTHS = ("mrl", "partial_mrl")  # in characters; the other metrics are shares


def figure(metric: str, value: float | None, signed: bool = False) -> str:
    """Return the value of a metric in the style of the tables.

    >>> figure("mrr", 0.4581), figure("mrl", 5.019), figure("mrr", -0.0204, signed=True), figure("mrr", None)
    ('.458', '5.02', '−.020', '–')
    """
    if value is None:
        return NOTHING
    text = f"{abs(value):.2f}" if metric in _LENGTHS else f"{abs(value):.3f}".removeprefix("0")
    sign = "−" if value < 0 and float(text) else "+" if signed and float(text) else ""
    return sign + text


def half_width(metric: str, estimate: Mapping[str, Any]) -> str:
    """Return half the width of an interval, such as ±.003."""
    if estimate["low"] is None:
        return ""
    return f"±{figure(metric, (estimate['high'] - estimate['low']) / 2)}"


def number(value: float | None) -> str:
    """Return a number with about three digits.

    >>> number(28412.3), number(131.6), number(7.12), number(0.0321), number(None)
    ('28,412', '132', '7.1', '0.032', '–')
    """
    if value is None:
        return NOTHING
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def chance(p: float) -> str:
    """Return a p-value.

    >>> chance(0.2345), chance(0.00001)
    ('.23', '<.001')
    """
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0") if p < 0.1 else f"{p:.2f}".removeprefix("0")


def marks(p: float) -> str:
    """Return stars for a p-value.

    >>> [marks(p) for p in (0.0001, 0.005, 0.03, 0.2)]
    ['***', '**', '*', '']
    """
    return "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else ""
