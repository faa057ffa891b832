"""Print js/src/defaults.js: the defaults and limits of options and policy, which are defined in Python.

python js/make_defaults.py > js/src/defaults.js
"""

import json
from typing import Any

from halfword.core.context import LONGEST_QUERY, MOST_QUERIES
from halfword.core.options import _CHOICES, _MAY_BE_NONE, _RANGES, DEFAULTS, SearchOptions
from halfword.core.policy import DEFAULT_POLICY, LIMITS


def defaults() -> str:
    """Return the module."""
    ranges = {name: [kind is int, low, high] for name, (kind, low, high) in _RANGES.items()}
    policy = {name: [value, *LIMITS[name]] for name, value in DEFAULT_POLICY.to_json().items()}
    parts = [
        "// Made by js/make_defaults.py from core/options.py, core/context.py and core/policy.py; not written by hand.",
        "",
        "/** @type {Record<string, any>} */",
        _constant("DEFAULTS", {name: getattr(DEFAULTS, name) for name in SearchOptions.__slots__}),
        "/** By option: whether it is a whole number, its lowest and its highest value.",
        " * @type {Record<string, [boolean, number, number]>} */",
        _constant("RANGES", ranges),
        "/** @type {Record<string, string[]>} */",
        _constant("CHOICES", {name: list(kind) for name, kind in _CHOICES.items()}),
        _constant("MAY_BE_NULL", sorted(_MAY_BE_NONE)),
        "/** Earlier queries that are looked at, and characters of the longest of them. */",
        _constant("CONTEXT", {"mostQueries": MOST_QUERIES, "longestQuery": LONGEST_QUERY}),
        "/** By number of the policy: its default, its lowest and its highest value.",
        " * @type {Record<string, [number, number, number]>} */",
        _constant("POLICY", policy),
    ]
    return "\n".join(parts) + "\n"


def _constant(name: str, value: Any) -> str:
    if not isinstance(value, dict):
        return f"export const {name} = {json.dumps(value)};"
    lines = "".join(f"  {key}: {json.dumps(entry)},\n" for key, entry in value.items())
    return f"export const {name} = {{\n{lines}}};"


if __name__ == "__main__":
    print(defaults(), end="")
