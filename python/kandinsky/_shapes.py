"""Volumes as stacks of images: [N,C,D,H,W] is read slice by slice, and each volume is a group."""

from __future__ import annotations

import hashlib
from typing import Optional, Tuple

import numpy as np

from .errors import DataError


def slices_of_probs(probs: np.ndarray) -> np.ndarray:
    """[N,C,D,H,W] as [N*D,C,H,W]; a view for one volume, a copy for several."""
    volumes, classes, depth, height, width = probs.shape
    return np.moveaxis(probs, 2, 1).reshape(volumes * depth, classes, height, width)


def volumes_of_sets(sets: np.ndarray, depth: int) -> np.ndarray:
    """[..., N*D,C,H,W] as [..., N,C,D,H,W], without a copy."""
    *leading, images, classes, height, width = sets.shape
    return np.moveaxis(sets.reshape(*leading, images // depth, depth, classes, height, width), -3, -4)


def slices(
    probs: np.ndarray, labels: Optional[np.ndarray], groups: Optional[np.ndarray], prefix: str
) -> Tuple[np.ndarray, Optional[np.ndarray], Optional[np.ndarray]]:
    """Labels are [N,D,H,W] or [N,C,D,H,W]. Without groups every volume is a group, identified by its content."""
    volumes, _, depth = probs.shape[:3]
    if labels is not None:
        if labels.ndim == 5 and labels.shape[1] == 1 and probs.shape[1] > 1:
            labels = labels[:, 0]
        if labels.ndim not in (4, 5) or (labels.shape[0], labels.shape[-3]) != (volumes, depth):
            raise DataError(
                f"{prefix}labels have shape {list(labels.shape)}, but probabilities {list(probs.shape)} need "
                f"[volumes, depth, height, width], or masks [volumes, classes, depth, height, width]"
            )
        labels = slices_of_probs(labels) if labels.ndim == 5 else labels.reshape(volumes * depth, *labels.shape[2:])
    if groups is None:
        groups = np.array([_content(one) for one in probs], np.int64)
    elif groups.shape != (volumes,):
        raise DataError(f"{prefix}groups has {groups.size} groups, but {prefix}probs has {volumes} volumes")
    return slices_of_probs(probs), labels, np.repeat(groups, depth)


def _content(volume: np.ndarray) -> int:
    """A number for each volume that does not depend on the batch or the order."""
    raw = np.ascontiguousarray(volume)
    return int.from_bytes(hashlib.blake2b(raw.view(np.uint8).data, digest_size=8).digest(), "little", signed=True)
