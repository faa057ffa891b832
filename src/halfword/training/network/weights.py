"""The weights of a network as arrays of a model file, in fp32 and in int8."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from halfword.core.model_file import Array

Weights = dict[str, NDArray[np.float32]]  # by name in the model file, without `network.`


_READ_WHOLE = ("network.embedding", "network.projection", "network.layer0.input")  # read in fp32 when a model is loaded


def network_arrays(weights: Mapping[str, NDArray[np.float32]]) -> dict[str, Array]:
    """Return `weights` as arrays for a model file, matrices also in int8."""
    arrays = {}
    for name, weight in weights.items():
        arrays[f"network.{name}"] = _array("F32", weight.astype("<f4"))
        if weight.ndim == 2:
            arrays |= _in_8_bits(f"network.{name}", weight)
    return arrays


def network_weights(arrays: Mapping[str, Array]) -> Weights:
    """Return the weights that lie in the arrays of a model file; those kept in int8 only are rounded."""
    weights: Weights = {}
    for name, array in arrays.items():
        part, _, short = name.partition(".")
        if part != "network" or short.endswith(".scale"):
            continue
        if short.endswith(".int8"):
            scale = np.frombuffer(arrays[f"{name.removesuffix('.int8')}.scale"].data, "<f4")
            rounded = np.frombuffer(array.data, np.int8).reshape(array.shape or (-1,))
            weights.setdefault(short.removesuffix(".int8"), rounded * scale[:, None])
        else:
            weights[short] = np.frombuffer(array.data, "<f4").reshape(array.shape or (-1,))
    return weights


def network_sizes(weights: Weights) -> dict[str, int]:
    """Return the sizes of a network: of its embedding, its layers and their summary, and how many layers it has."""
    width, hidden = weights["projection"].shape
    layers = sum(name.endswith(".norm_scale") for name in weights)
    summary = len(weights.get("layer0.summary", ()))
    return {"embedding_size": width, "hidden_size": hidden, "layers": layers, "summary_size": summary}


def without_unused(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return arrays of a model file without the int8 form of matrices that the engine reads in fp32.

    Of these only a narrow embedding is multiplied in int8; it is quantised when it is loaded.
    """
    unused = {f"{name}.{form}" for name in _READ_WHOLE if name in arrays for form in ("int8", "scale")}
    return {name: array for name, array in arrays.items() if name not in unused}


def in_8_bits(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return arrays of a model file with the network's matrices in int8 only."""
    small = {name: array for name, array in arrays.items() if f"{name}.int8" not in arrays}
    for name, array in list(small.items()):
        if name.startswith("network.") and array.dtype == "F32" and array.shape is not None and len(array.shape) == 2:
            small |= _in_8_bits(name, np.frombuffer(small.pop(name).data, "<f4").reshape(array.shape))
    return small


def _in_8_bits(name: str, weight: NDArray[np.float32]) -> dict[str, Array]:
    rounded, scale = quantise(weight)
    return {f"{name}.int8": _array("I8", rounded), f"{name}.scale": _array("F32", scale.astype("<f4"))}


def quantise(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Quantise a matrix (outputs, inputs): integers from -127 to 127, and one scale per output."""
    largest = np.abs(matrix).max(axis=1)
    scale = np.where(largest > 0, largest / 127, 1).astype(np.float32)
    return np.rint(matrix / scale[:, None]).astype(np.int8), scale


def _array(dtype: str, values: NDArray[np.generic]) -> Array:
    return Array(dtype, np.ascontiguousarray(values).tobytes(), values.shape)
