"""The weights of a network as arrays of a model file, in fp32 and in int8."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from halfword.model_file import Array

Weights = dict[str, NDArray[np.float32]]  # by name in the model file, without `network.`


def network_arrays(weights: Mapping[str, NDArray[np.float32]]) -> dict[str, Array]:
    """Return `weights` as arrays for a model file, matrices also in int8."""
    arrays = {}
    for name, weight in weights.items():
        arrays[f"network.{name}"] = _array("F32", weight.astype("<f4"))
        if weight.ndim == 2:
            rounded, scale = quantise(weight)
            arrays[f"network.{name}.int8"] = _array("I8", rounded)
            arrays[f"network.{name}.scale"] = _array("F32", scale.astype("<f4"))
    return arrays


def quantise(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return a matrix (outputs, inputs) as whole numbers from -127 to 127 and a scale for each output."""
    largest = np.abs(matrix).max(axis=1)
    scale = np.where(largest > 0, largest / 127, 1).astype(np.float32)
    return np.rint(matrix / scale[:, None]).astype(np.int8), scale


def _array(dtype: str, values: NDArray[np.generic]) -> Array:
    return Array(dtype, np.ascontiguousarray(values).tobytes(), values.shape)
