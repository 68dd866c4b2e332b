"""Python keyword arguments as the command's words: the library declares every option once, for both."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np

from . import _core
from ._arrays import as_array
from .errors import UsageError


class Option(NamedTuple):
    """An option of calibration, as the command's help shows it."""

    name: str
    default: str
    help: str
    takes_value: bool


class Method(NamedTuple):
    """A calibration method: a choice of which pixels share their scores."""

    name: str
    summary: str
    options: Tuple[Option, ...]


# name of the method -> (its option, how many fewer than regions it counts): so that `regions=` serves all alike
_REGIONS = {"kmeans": ("kmeans-clusters", 0), "genann": ("genann-radii", 1), "fcc": ("fcc-curves", 1)}


def methods() -> List[Method]:
    """The calibration methods, in the order of the tables, with their own options.

    Returns
    -------
    list of Method
        Named tuples ``(name, summary, options)``; an option is ``(name, default, help, takes_value)``.
    """
    return [
        Method(name, summary, tuple(Option(_python(flag), default, text, True) for flag, _, default, text in own))
        for name, summary, own in _core.methods()
    ]


def options() -> List[Option]:
    """Every option of calibration, the methods' own included, under its Python name."""
    return [Option(_python(flag), default, text, value) for flag, default, text, value in _core.options()]


def _python(flag: str) -> str:
    return flag.replace("-", "_")


def _is_array_option(flag: str) -> bool:
    return any(flag == own[0] and own[1] == "array" for _, _, mine in _core.methods() for own in mine)


def find_flag(name: str, method: Optional[str], known: Mapping[str, Tuple[str, bool]]) -> Optional[str]:
    """The flag a Python name means: itself, or the method's own option without its prefix."""
    flag = name.replace("_", "-")
    if flag in known:
        return flag
    if method is not None and f"{method}-{flag}" in known:
        return f"{method}-{flag}"
    return None


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
    raise UsageError(f"{name} is {value!r}, which is no number, text or list of them")


def _same(text: str, default: str) -> bool:
    """Whether a value is the default, so that it is not recorded as chosen: 0.001 is 1e-3."""
    if text == default:
        return True
    try:
        return float(text) == float(default)
    except ValueError:
        return False


def _refuse(name: str, method: Optional[str]) -> UsageError:
    own = [option.name for one in methods() if one.name == method for option in one.options]
    return UsageError(
        f"there is no option '{name}'"
        + (f"; method {method} has {', '.join(own)}" if own else "")
        + "; kandinsky.options() lists all"
    )


def check_name(name: str, method: Optional[str]) -> None:
    """Refuses an option that does not exist. An unknown method is judged when data come, and so are its options."""
    known = {flag: (default, value) for flag, default, _, value in _core.options()}
    known_method = method in {one[0] for one in _core.methods()}
    if known_method and find_flag(name, method, known) is None and not (name == "regions" and method in _REGIONS):
        raise _refuse(name, method)


def words_of(method: Optional[str], given: Mapping[str, Any]) -> Tuple[List[str], Dict[str, np.ndarray]]:
    """(words of the command line, arrays by flag) of Python options. None means the default."""
    known = {flag: (default, value) for flag, default, _, value in _core.options()}
    words: List[str] = []
    arrays: Dict[str, np.ndarray] = {}
    for name, value in given.items():
        if value is None:
            continue
        if name == "regions" and method in _REGIONS and not isinstance(value, bool):
            flag: Optional[str] = _REGIONS[method][0]
            value = int(value) - _REGIONS[method][1]
        else:
            flag = find_flag(name, method, known)
        if flag is None:
            raise _refuse(name, method)
        if _is_array_option(flag) and not isinstance(value, (str, os.PathLike)):
            # The library reads it in place, in any integer type.
            arrays[flag] = as_array(value, name)
            continue
        default, takes_value = known[flag]
        if not takes_value:
            if not isinstance(value, (bool, np.bool_)):
                raise UsageError(f"{name} is {value!r}, but must be True or False")
            if value:
                words.append(f"--{flag}")
            continue
        text = _text(name, value)
        if not _same(text, default):
            words.append(f"--{flag}={text}")
    return words, arrays


def empty_word(empty: str, no_empty: Optional[bool]) -> str:
    """What becomes of empty sets, "auto", "fill" or "keep"; `no_empty` is the older way to say it."""
    if empty not in ("auto", "fill", "keep"):
        raise UsageError(f"empty is {empty!r}, but must be 'auto', 'fill' or 'keep'")
    if no_empty and empty == "keep":
        raise UsageError("no_empty=True means empty='fill', but empty is 'keep'; give one of the two")
    return empty if no_empty is None else "fill" if no_empty else "keep"
