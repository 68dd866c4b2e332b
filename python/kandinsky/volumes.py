"""Volumes in the layout of medical tools, processed as in the command's folders: slice by slice on the calibrator's grid."""

from __future__ import annotations

import itertools
from typing import Any, Optional, Tuple

import numpy as np

from ._types import Empty
from .calibrator import Calibrator
from .errors import DataError, UsageError

__all__ = ["from_slices", "predict_volume", "to_slices"]

_SLICE_ROW_COLUMN = {"axial": (2, 1, 0), "coronal": (1, 2, 0), "sagittal": (0, 2, 1)}
_SURE = 200.0  # in float32 the sigmoid of this logit is 1, and that of its negative is 0


def _turn(affine: Optional[Any]) -> Tuple[Tuple[int, ...], Tuple[bool, ...]]:
    """For each canonical axis (RAS+) the closest stored axis, and whether it is reversed."""
    if affine is None:
        return (0, 1, 2), (False, False, False)
    matrix = np.asarray(affine, np.float64)[:3, :3]
    lengths = np.sqrt((matrix**2).sum(0))
    if matrix.shape != (3, 3) or not np.isfinite(matrix).all() or (lengths == 0).any():
        raise DataError("the affine matrix of the volume has no usable axes")
    left, _, right = np.linalg.svd(matrix / lengths)
    turned = left @ right
    orders = itertools.permutations(range(3))
    order = max(orders, key=lambda one: sum(abs(turned[a, one[a]]) for a in range(3)))  # ties go to the first
    return order, tuple(bool(turned[a, order[a]] < 0) for a in range(3))


def to_slices(volume: np.ndarray, affine: Optional[Any] = None, axis: str = "axial") -> np.ndarray:
    """A view of a volume [C,x,y,z] as images [S,C,H,W], sliced like NIfTI files in the command (docs/files.md): along the axes
    closest to RAS+ by the affine, or as stored without one. Rows and columns of an axial slice are y and x."""
    if volume.ndim != 4:
        raise DataError(f"the volume has shape {list(volume.shape)}, but must be [C,x,y,z]")
    if axis not in _SLICE_ROW_COLUMN:
        raise UsageError(f"axis is {axis!r}, but must be 'axial', 'coronal' or 'sagittal'")
    order, backwards = _turn(affine)
    turned = volume.transpose(0, *(1 + one for one in order))
    turned = turned[(slice(None), *(slice(None, None, -1 if back else 1) for back in backwards))]
    at, row, column = _SLICE_ROW_COLUMN[axis]
    return turned.transpose(1 + at, 0, 1 + row, 1 + column)


def from_slices(slices: np.ndarray, affine: Optional[Any] = None, axis: str = "axial") -> np.ndarray:
    """The inverse of :func:`to_slices`."""
    order, backwards = _turn(affine)
    at, row, column = _SLICE_ROW_COLUMN[axis]
    home = {at: 0, row: 2, column: 3}
    turned = slices.transpose(1, home[0], home[1], home[2])
    turned = turned[(slice(None), *(slice(None, None, -1 if back else 1) for back in backwards))]
    return turned.transpose(0, *(1 + order.index(stored) for stored in range(3)))


def _centred(size: int, grid: int) -> Tuple[slice, slice]:
    """The slices that centre an image on a grid: one of the image, one of the grid."""
    count = min(size, grid)
    source, target = (size - count) // 2, (grid - count) // 2
    return slice(source, source + count), slice(target, target + count)


def predict_volume(
    calibrator: Calibrator,
    probs: np.ndarray,
    alpha: Optional[float] = 0.1,
    *,
    affine: Optional[Any] = None,
    axis: Optional[str] = None,
    empty: Empty = "auto",
) -> np.ndarray:
    """Sets (bool) of a volume of probabilities [C,x,y,z], in its own layout; p-values (float32) where `alpha` is None.

    Slices, axes and grid are those that the calibrator records if the command made it from files; otherwise slices are `axis`
    (default: axial), along the axes closest to RAS+ by the affine. Pixels outside the recorded grid have every class in their
    set, and p-value 1.
    """
    record = calibrator.meta_.get("input") or {}
    axis = axis or record.get("axis", "axial")
    if record and axis != record.get("axis", axis):
        raise UsageError(f"axis is {axis!r}, but the calibrator was made from {record['axis']} slices")
    turn = affine if record.get("orientation", "RAS") == "RAS" else None
    images = to_slices(np.asarray(probs), turn, axis)
    height, width = calibrator.grid_
    fit = record.get("fit", "none")
    if images.shape[2:] == (height, width):
        return from_slices(_predict(calibrator, np.ascontiguousarray(images), alpha, empty), turn, axis)
    if fit != "centre":
        how = "resize the probabilities to it, as" if fit == "resize" else "crop or pad them as"
        raise DataError(f"slices are {images.shape[2]} x {images.shape[3]} (height x width), but the calibrator is made for "
                        f"{height} x {width}: {how} for calibration")  # fmt: skip
    certain, other = (1.0, 0.0) if calibrator.meta_["data"].get("logits", "none") == "none" else (_SURE, -_SURE)
    placed = np.full((*images.shape[:2], height, width), other, np.float32)
    placed[:, 0] = certain
    (rows_from, rows_to), (columns_from, columns_to) = _centred(images.shape[2], height), _centred(images.shape[3], width)
    placed[..., rows_to, columns_to] = images[..., rows_from, columns_from]
    made = _predict(calibrator, placed, alpha, empty)
    out = np.ones(images.shape, made.dtype)
    out[..., rows_from, columns_from] = made[..., rows_to, columns_to]
    return from_slices(out, turn, axis)


def _predict(calibrator: Calibrator, images: np.ndarray, alpha: Optional[float], empty: Empty) -> np.ndarray:
    made = calibrator.predict_p(images) if alpha is None else calibrator.predict_set(images, alpha=alpha, empty=empty)
    return np.asarray(made)
