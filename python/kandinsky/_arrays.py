"""Turns users' data (numpy arrays, tensors, lists) into arrays that the library reads in place."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple, Union

import numpy as np

from . import _core
from ._checks import word
from ._shapes import slices
from ._tensors import is_tensor, to_numpy
from ._types import Level
from .errors import DataError, UsageError


def as_array(value: Any, name: str) -> np.ndarray:
    """A numpy array of `value`, which shares its memory if possible.

    Lists, arrays in foreign byte order, unaligned arrays and tensors on an accelerator are copied. All other numpy arrays,
    memory maps and objects that support DLPack are read in place, in any memory order and with any strides.
    """
    if isinstance(value, np.ndarray):
        array = value
    elif is_tensor(value):
        array = to_numpy(value, name)
    else:
        _refuse_sizes(value, name)
        array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise DataError(f"{name}: elements are {array.dtype}, but must be numbers")
    if not array.dtype.isnative or not array.flags.aligned:
        array = array.astype(array.dtype.newbyteorder("="))
    return array


def _refuse_sizes(value: Any, name: str) -> None:
    """Refuses a list of images of different sizes, because thresholds belong to pixels."""
    if not isinstance(value, (list, tuple)):
        return
    shapes = {tuple(one.shape) for one in value if hasattr(one, "shape")}
    if len(shapes) > 1:
        some = " and ".join(str(list(shape)) for shape in sorted(shapes)[:2])
        raise DataError(
            f"{name} has images of different sizes, such as {some}; resize or pad them to one size (the command does it "
            "for folders: --resize WxH or --grid WxH)"
        )


def as_probs(value: Any, name: str) -> np.ndarray:
    array = as_array(value, name)
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        array = array.astype(np.float64)
    return array


def as_labels(value: Any, name: str, planes: int) -> np.ndarray:
    """Labels [N,H,W] or masks [N,C,H,W]. With several classes, [N,1,H,W] means [N,H,W]. Floats must be whole numbers."""
    array = as_array(value, name)
    if array.dtype.kind == "f":
        array = _whole(array, name)
    if array.ndim == 4 and array.shape[1] == 1 and planes > 1:
        array = array[:, 0]
    return array


def _whole(array: np.ndarray, name: str) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        numbers = array.astype(np.int32)
    wrong = numbers != array
    if wrong.any():
        place = np.unravel_index(int(wrong.argmax()), array.shape)
        raise DataError(f"{name}: label {array[place]} at {list(map(int, place))} is not a whole number")
    return numbers


def as_groups(value: Any, name: str) -> Optional[np.ndarray]:
    """Groups as int64. A name becomes the number that the command gives it, on every machine and in every process."""
    if value is None:
        return None
    array = as_array(value, name) if is_tensor(value) else np.asarray(value)
    if array.dtype.kind in "USO" and array.ndim == 1 and all(isinstance(one, (str, bytes)) for one in array.tolist()):
        return np.array([_number_of(one) for one in array.tolist()], np.int64)
    array = as_array(array, name)
    if array.dtype.kind in "iu" and array.dtype != np.uint64:
        array = array.astype(np.int64)
    return array


def _number_of(name: Union[str, bytes]) -> int:
    return _core.group_number(name.encode() if isinstance(name, str) else name)


def as_weights(value: Any, images: int, slices: int) -> List[float]:
    """One weight for each image, as floats; the slices of a volume share its weight."""
    array = as_array(value, "weights") if is_tensor(value) else np.asarray(value)
    if array.shape != (images,) or array.dtype.kind not in "fiu":
        raise DataError(f"weights are {array.dtype} {list(array.shape)}, but must be one number for each of {images} images")
    return np.repeat(array.astype(np.float64), slices // max(1, images)).tolist()


def make_data(
    probs: Any, labels: Any, groups: Any, ignore: Any, logits: Optional[str], prefix: str = ""
) -> Tuple["_core.Data", np.ndarray, Optional[np.ndarray], Optional[np.ndarray]]:
    """The library's data set and the arrays that it reads. Volumes become slices."""
    p = as_probs(probs, prefix + "probs")
    y = None if labels is None else as_labels(labels, prefix + "labels", p.shape[1] if p.ndim == 4 else 0)
    g = as_groups(groups, prefix + "groups")
    if p.ndim == 5 and 0 not in p.shape:
        p, y, g = slices(p, y, g, prefix)
    kind = "none" if logits is None else word("logits", logits)
    return _core.Data(p, y, g, ignore_list(ignore), kind, prefix), p, y, g


def ignore_list(ignore: Any) -> List[int]:
    if ignore is None:
        return []
    try:
        return [int(one) for one in np.atleast_1d(np.asarray(ignore)).tolist()]
    except (TypeError, ValueError):
        raise UsageError(f"ignore is {ignore!r}, but must be a label, a list of labels, or None") from None


def levels(alpha: Optional[Level], confidence_level: Optional[Level], default: float = 0.1) -> Tuple[List[float], bool]:
    """The alphas, and whether the caller gave a single number. If so, results have no axis of levels."""
    if alpha is not None and confidence_level is not None:
        raise UsageError(
            f"alpha ({alpha}) and confidence_level ({confidence_level}) are two names for the same level "
            f"(alpha = 1 - confidence_level); give one of them"
        )
    if confidence_level is not None:
        given, alphas = np.asarray(confidence_level, np.float64), None
    else:
        given = alphas = np.asarray(default if alpha is None else alpha, np.float64)
    if given.ndim > 1:
        raise UsageError("levels must be a number or a flat sequence of numbers")
    values = given.reshape(-1).tolist()
    if alphas is None:
        # 1 - 0.9 is not 0.1 in binary; use the decimal number that was meant.
        values = [round(1 - one, 12) for one in values]
    return values, given.ndim == 0


def one_level(alpha: Optional[float], confidence_level: Optional[float]) -> float:
    values, single = levels(alpha, confidence_level)
    if not single:
        raise UsageError("one level is needed here, not a sequence of them")
    return values[0]


def class_list(classes: Any) -> List[int]:
    if classes is None:
        return []
    found: List[Any] = np.atleast_1d(np.asarray(classes)).tolist()
    for one in found:
        if isinstance(one, bool) or not isinstance(one, int) or one < 0:
            raise UsageError(f"classes has {one!r}, which is not a class: classes are numbers from 0 on")
    return found


def output(
    shape: Tuple[int, ...], dtype: Any, single: bool, one_image: bool, out: Optional[np.ndarray]
) -> Tuple[np.ndarray, List[np.ndarray]]:
    """The array to return for results of `shape` [levels, images, ...], and its parts for each level."""
    wanted = shape[1:] if single else shape
    if one_image:
        wanted = wanted[1:] if single else (wanted[0], *wanted[2:])
    if out is None:
        out = np.empty(wanted, dtype)
    elif not isinstance(out, np.ndarray) or out.shape != wanted or out.dtype != dtype or not out.flags.c_contiguous:
        raise UsageError(f"out must be a C-order numpy array of {np.dtype(dtype).name} and shape {list(wanted)}")
    elif not out.flags.writeable:
        raise UsageError("out is read-only")
    return out, list(out.reshape(shape))
