"""Synthetic segmentation problems."""

from __future__ import annotations

from typing import NamedTuple, Optional, Tuple

import numpy as np

from . import _core
from ._checks import whole
from ._types import ScenePreset


class Scenes(NamedTuple):
    """Probability maps of a simulated network, and the truth."""

    probs: np.ndarray  #: float16 [N,C,H,W]
    labels: np.ndarray  #: uint8 [N,H,W]
    groups: Optional[np.ndarray]  #: int32 [N], or None for presets whose images are independent


def make_scenes(
    preset: ScenePreset = "photo",
    images: int = 100,
    *,
    seed: int = 0,
    first: int = 0,
    grid: Optional[Tuple[int, int]] = None,
    threads: int = 0,
) -> Scenes:
    """Draws the scenes of the command's demo.

    Parameters
    ----------
    preset : {"photo", "medical"}
    images : int
    seed : int
    first : int
        Number of the first scene: ``first=0, images=100`` and ``first=100`` never share a scene.
    grid : (height, width), optional
        Default: that of the preset.

    Returns
    -------
    Scenes
        Named tuple ``(probs, labels, groups)``.
    """
    for name, value in (("images", images), ("seed", seed), ("first", first), ("threads", threads)):
        whole(name, value)
    height, width = grid or (0, 0)
    probs, labels, groups = _core.make_scenes(preset, images, seed, first, height, width, threads)
    return Scenes(np.array(probs), np.array(labels), None if groups is None else np.array(groups))
