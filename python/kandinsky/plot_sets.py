"""Prediction sets over the image that they were made for."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from ._arrays import as_array
from ._types import Array
from .errors import DataError, UsageError
from .plot import _axes, _legend, _panel

_SURE, _POSSIBLE = "C0", "C1"


def plot_sets(
    sets: Array,
    image: Optional[Array] = None,
    cls: Optional[int] = None,
    *,
    class_names: Sequence[str] = (),
    opacity: float = 0.5,
    ax: Any = None,
) -> Any:
    """Draws the sets of one image, over the image if there is one.

    Without `cls`, every pixel whose set has one class has that class's colour; undecided pixels (several classes) are
    grey, and pixels with an empty set are not drawn. With `cls`, it shows where the set has only this class, and where it has
    others too.

    Parameters
    ----------
    sets : array [C,H,W]
        The sets of one image, from :meth:`Calibrator.predict_set`.
    image : array [H,W] or [H,W,3], optional
        Drawn below.
    cls : int, optional
    class_names : sequence of str
        For the legend.
    opacity : float
        Opacity of the colours over an image; without an image they are opaque.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    held = as_array(sets, "sets").astype(bool)
    if held.ndim != 3:
        raise DataError(f"sets has shape {list(held.shape)}, but must be those of one image, [classes, height, width]")
    names = [str(one) for one in class_names] or [f"class {c}" for c in range(len(held))]
    if len(names) != len(held):
        raise UsageError(f"class_names has {len(names)} names, but there are {len(held)} classes")
    if cls is not None and not 0 <= cls < len(held):
        raise UsageError(f"there is no class {cls}; the sets have classes 0 to {len(held) - 1}")
    ax = _axes(ax)
    below = None if image is None else as_array(image, "image")
    if below is not None:
        if below.shape[:2] != held.shape[1:]:
            raise DataError(f"image has shape {list(below.shape)}, but the sets have {list(held.shape[1:])}")
        _panel(ax, below, "", False, cmap="gray")
    shown = _of_class(held, cls, names[cls]) if cls is not None else _of_all(held, names)
    _layers(ax, shown, 1.0 if below is None else opacity)
    ax.set_title(names[cls] if cls is not None else "prediction sets")
    return ax


_Layer = Tuple["np.ndarray[Any, Any]", str, Any]  # where, label, colour


def _of_class(held: "np.ndarray[Any, Any]", cls: int, name: str) -> List[_Layer]:
    alone = held[cls] & (held.sum(axis=0) == 1)
    return [(alone, f"{name} alone", _SURE), (held[cls] & ~alone, f"{name} possible", _POSSIBLE)]


def _of_all(held: "np.ndarray[Any, Any]", names: List[str]) -> List[_Layer]:
    size = held.sum(axis=0)
    layers = [(held[c] & (size == 1), name, colour) for c, (name, colour) in enumerate(zip(names, _distinct(len(names))))]
    return [*layers, (size > 1, "undecided", "0.4"), (size == 0, "empty", "white")]


def _distinct(count: int) -> "List[Any]":
    """A colour for each class. All differ, and none is grey, the colour of undecided pixels."""
    from matplotlib import colormaps

    if count > 18:
        return [colormaps["turbo"](c / (count - 1)) for c in range(count)]
    every = [colormaps["tab20"](place) for place in range(20)]
    strong, light = every[::2], every[1::2]
    return [one for part in (strong, light) for place, one in enumerate(part) if place != 7][:count]


def _layers(ax: Any, layers: List[_Layer], opacity: float) -> None:
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Patch

    colours = np.zeros((*layers[0][0].shape, 4))
    handles = []
    for where, label, colour in layers:
        if not where.any():
            continue
        colours[where] = to_rgba(colour, 0.0 if label == "empty" else opacity)
        handles.append(Patch(facecolor=to_rgba(colour, opacity), edgecolor="0.7", label=f"{label}: {where.mean():.1%}"))
    _panel(ax, colours, "", False)
    _legend(ax, handles=handles)
