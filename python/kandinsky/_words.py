"""Writes messages in Python's words. The library names parameters in back quotes (`min_count 3`); help texts have the command's flags."""

from __future__ import annotations

import re
from typing import Any, Dict, Optional, get_args

from ._types import WORDS

#: The parameters that have another name here: `score` is a method of every estimator.
RENAMED = {"score": "score_function"}
_FLAG = re.compile(r"(?<![\w-])--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?:[ =](?!--)('[^']*'|[\w.+-]*\w(?:,[\w.+-]*\w)*))?")
_NAMED = re.compile(r"`([a-z][a-z0-9_]*)(?: ([^`]*))?`")
_NUMBER = re.compile(r"[+-]?\d[\d.]*(e[+-]?\d+)?")
_PLACEHOLDER = re.compile(r"[A-Z][A-Z0-9_]*(\.[a-z]+)?")


def parameter(flag: str) -> str:
    """The name in Python of a flag without its dashes."""
    return RENAMED.get(flag, flag.replace("-", "_"))


def flag_of(name: str) -> str:
    """The flag, without dashes, of a name in Python."""
    for flag, renamed in RENAMED.items():
        if name == renamed:
            return flag
    return name.replace("_", "-")


def in_python(text: str) -> str:
    """A message in Python's words: ```pooling pixels``` and ``--pooling pixels`` become pooling='pixels', ``--min-count`` becomes min_count."""
    return _FLAG.sub(
        lambda found: _written(parameter(found[1]), found[2], found[0][2 + len(found[1]) :][:1]),
        _NAMED.sub(lambda found: _written(parameter(found[1]), found[2], " "), text),
    )


def _written(name: str, value: Optional[str], between: str) -> str:
    """A parameter and its value, which `between` separates in the message."""
    if value is None:
        return name
    if value in get_args(WORDS.get(name, Any)):
        return f"{name}={value!r}"
    if _NUMBER.fullmatch(value):
        return f"{name}={value}"
    if all(_NUMBER.fullmatch(one) for one in value.split(",")):
        return f"{name}=[{', '.join(value.split(','))}]"
    if _PLACEHOLDER.fullmatch(value):
        return name
    return f"{name}{between}{value}"


def renamed(params: Dict[str, Any]) -> Dict[str, Any]:
    """Parameters of an older version under their current names."""
    return {RENAMED.get(name, name): value for name, value in params.items()}
