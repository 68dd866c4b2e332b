"""Translates Python keyword arguments into the command's words. The library declares every option once for both."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np

from . import _core
from ._arrays import as_array
from ._checks import switch, whole, word
from ._types import Empty
from ._words import flag_of, in_python, parameter
from .errors import UsageError

_AUTO = ("auto", "chooses among the methods for each class by cross-validation")


class Option(NamedTuple):
    """An option of calibration, as in the command's help."""

    name: str
    default: str
    help: str
    takes_value: bool


class Method(NamedTuple):
    """A calibration method, which decides which pixels share their scores."""

    name: str
    summary: str
    options: Tuple[Option, ...]


# For `regions=`: the method's own option, and how many more regions there are than the option says.
_REGIONS = {"kmeans": ("kmeans-clusters", 0), "genann": ("genann-radii", 1), "fcc": ("fcc-curves", 1)}
_OF_FIT = ("weights", "shift_to", "shift_groups", "max_weight")  # parameters of Calibrator.fit()


def methods() -> List[Method]:
    """The calibration methods, in the order of the tables, with their own options. `auto`, which chooses one, is the last.

    Returns
    -------
    list of Method
        Named tuples ``(name, summary, options)``; an option is ``(name, default, help, takes_value)``.
    """
    found = [
        Method(name, in_python(summary), tuple(Option(parameter(f), d, in_python(text), True) for f, _, d, text in own))
        for name, summary, own in _core.methods()
    ]
    return [*found, Method(*_AUTO, ())]


def options() -> List[Option]:
    """Every option of calibration, including those of methods, under its Python name."""
    return [Option(parameter(flag), default, in_python(text), value) for flag, default, text, value in _core.options()]


def own_flags() -> Dict[str, Tuple[str, str]]:
    """(method, type) of the methods' own options, by flag."""
    return {flag: (name, kind) for name, _, own in _core.methods() for flag, kind, *_ in own}


def find_flag(name: str, method: Optional[str], known: Mapping[str, Tuple[str, bool]]) -> Optional[str]:
    """The flag of a Python name, which may be an option of the method without the method's name."""
    flag = flag_of(name)
    if flag in known:
        return flag
    if method is not None and f"{method}-{flag}" in known:
        return f"{method}-{flag}"
    return None


def parameter_of(method: str, flag: str, text: str) -> Tuple[str, Any]:
    """A stored option of a method as a parameter of its type, named without the method: clusters=4."""
    owner, kind = own_flags().get(flag, ("", "text"))
    name = parameter(flag[len(method) + 1 :] if owner == method and flag.startswith(f"{method}-") else flag)
    try:
        return name, int(text) if kind == "integer" else float(text) if kind == "real" else text
    except ValueError:
        return name, text  # "auto"


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool) or isinstance(value, np.bool_):
        return "on" if value else "off"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, os.PathLike):
        return os.fspath(value) if isinstance(os.fspath(value), str) else os.fsdecode(value)
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple, np.ndarray)):
        return ",".join(_text(name, one) for one in value)
    raise UsageError(f"{name} is {value!r}, but must be a number, a text or a list of them")


def _same(text: str, default: str) -> bool:
    """Whether a value is the default and therefore not recorded; 0.001 equals 1e-3."""
    if text == default:
        return True
    try:
        return float(text) == float(default)
    except ValueError:
        return False


def _refuse(name: str, method: Optional[str]) -> UsageError:
    if name in _OF_FIT:
        return UsageError(f"there is no option '{name}'; give {name} to fit()")
    own = [option.name for one in methods() if one.name == method for option in one.options]
    others = [one for one in methods() if any(option.name in (name, f"{one.name}_{name}") for option in one.options)]
    return UsageError(
        f"there is no option '{name}'"
        + (f" of method {method}" if others else "")
        + (f"; method {method} has {', '.join(own)}" if own else "")
        + (f"; it is an option of {', '.join(one.name for one in others)}" if others else "")
        + "; kandinsky.options() lists all"
    )


def counts_for(name: str, method: Any) -> bool:
    """Whether the method, or every method, has this option. True for an unknown method, which is refused later."""
    known = {flag: (default, value) for flag, default, _, value in _core.options()}
    names = {one[0] for one in _core.methods()}
    if method not in names and method != _AUTO[0]:
        return True
    flag = find_flag(name, method, known)
    if flag is None:
        return name == "regions" and method in _REGIONS
    owner = own_flags().get(flag, ("", ""))[0]
    return method == _AUTO[0] or owner in ("", method)


def check_name(name: str, method: Any) -> None:
    """Refuses an option that does not exist or that the method does not have."""
    if not counts_for(name, method):
        raise _refuse(name, method)


def words_of(method: Optional[str], given: Mapping[str, Any]) -> Tuple[List[str], Dict[str, np.ndarray]]:
    """(words of the command line, arrays by flag) of Python options. None means the default."""
    known = {flag: (default, value) for flag, default, _, value in _core.options()}
    own = own_flags()
    words: List[str] = []
    arrays: Dict[str, np.ndarray] = {}
    for name, value in given.items():
        if value is None:
            continue
        if name == "regions" and method in _REGIONS and not isinstance(value, bool):
            flag: Optional[str] = _REGIONS[method][0]
            value = whole(name, value, _REGIONS[method][1]) - _REGIONS[method][1]
        else:
            flag = find_flag(name, method, known)
        if flag is None:
            raise _refuse(name, method)
        if own.get(flag, ("", ""))[1] == "array" and not isinstance(value, (str, os.PathLike)):
            # The library reads it in place, in any integer type.
            arrays[flag] = as_array(value, name)
            continue
        default, takes_value = known[flag]
        if not takes_value:
            if switch(name, value):
                words.append(f"--{flag}")
            continue
        text = _text(name, value)
        if not _same(text, default):
            words.append(f"--{flag}={text}")
    return words, arrays


def empty_word(empty: Empty, no_empty: Optional[bool]) -> Empty:
    """The rule for empty sets, "auto", "fill" or "keep"; `no_empty` is the older parameter."""
    if word("empty", empty) not in ("auto", "fill", "keep"):
        raise UsageError(f"empty is {empty!r}, but must be 'auto', 'fill' or 'keep'")
    if no_empty and empty == "keep":
        raise UsageError("no_empty=True means empty='fill', but empty is 'keep'; give one of the two")
    return empty if no_empty is None else "fill" if no_empty else "keep"
