"""Checks of types before the library is called, each with a clear error of one line."""

from __future__ import annotations

import numbers
import os
from typing import Any, Iterable, List, get_args

import numpy as np

from ._types import WORDS
from .errors import UsageError


def word(name: str, value: Any) -> str:
    """A word; the library checks which words are allowed."""
    if isinstance(value, str):
        return value
    words = " or ".join(repr(one) for one in get_args(WORDS[name]))
    raise UsageError(f"{name} is {value!r}, but must be {words}")


def whole(name: str, value: Any, least: int = 0) -> int:
    """A whole number of at least `least`."""
    if isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_)) and int(value) >= least:
        return int(value)
    raise UsageError(f"{name} is {value!r}, but must be a whole number from {least} on")


def real(name: str, value: Any) -> float:
    if isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_)):
        return float(value)
    raise UsageError(f"{name} is {value!r}, but must be a number")


def file_path(name: str, value: Any) -> str:
    if isinstance(value, (str, bytes, os.PathLike)):
        return os.fsdecode(value)
    raise UsageError(f"{name} is {value!r}, but must be the path of a file")


def names_of_classes(value: Any, classes: int) -> List[str]:
    """A name for each class."""
    names = [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
    if isinstance(value, str) or not all(isinstance(one, str) for one in names):
        raise UsageError(f"class_names is {value!r}, but must be a list of names")
    if len(names) != classes:
        raise UsageError(f"class_names has {len(names)} names, but there are {classes} classes")
    return names


def switch(name: str, value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise UsageError(f"{name} is {value!r}, but must be True or False")
