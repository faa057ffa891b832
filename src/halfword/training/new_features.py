"""Weights that were fitted before some features were added: those get no weight."""

from typing import Any

import numpy as np


def widened(weights: dict[str, Any], features: int) -> dict[str, Any]:
    """Return arrays of weights, by name, with places for so many features; new ones weigh nothing."""
    new = (0, features - len(weights["mean"]))
    return weights | {
        "mean": np.pad(weights["mean"], new),
        "scale": np.pad(weights["scale"], new, constant_values=1.0),
        "linear": np.pad(weights["linear"], new),
        "hidden": np.pad(weights["hidden"], ((0, 0), new)),
    }
