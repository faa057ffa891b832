"""The examples in docstrings are true."""

import doctest
import pkgutil
from importlib import import_module

import pytest

import halfword

MODULES = [name for _, name, _ in pkgutil.walk_packages(halfword.__path__, "halfword.") if "__main__" not in name]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name: str) -> None:
    try:
        module = import_module(name)
    except ImportError as error:
        pytest.skip(f"{name} needs {error.name}, which is not installed")
    assert doctest.testmod(module).failed == 0
