"""Fitness of concentric annuli, which the method genann minimises."""

from __future__ import annotations

from typing import Literal

import numpy as np

from . import _core
from ._arrays import as_array
from ._checks import whole
from ._types import Array


def annuli_fitness(
    points: Array,
    params: Array,
    metric: Literal["euclidean", "sqeuclidean", "manhattan"] = "euclidean",
    *,
    shape: Literal["circle", "ellipse"] = "circle",
    rule: Literal["consistent", "released"] = "consistent",
    threads: int = 0,
) -> np.ndarray:
    """For each candidate, the sum over its regions of all pairwise distances between the pixels' vectors, divided by H W.

    Every ordered pair of pixels with data counts. Lower is better. For n pixels, a candidate costs O(n^2) with "euclidean",
    else O(n).

    Parameters
    ----------
    points : array [H,W,Q]
        The curve vector of every pixel; a pixel with a value that is not finite has no data. Converted to float32.
    params : array [P,2+radii]; [P,4+radii] for ellipses
        Rows (cx, cy, r0, r1, ...), in pixels from the middle of the grid, y up; for ellipses followed by axis ratio
        and angle in radians. One row may be given flat.
    metric : {"euclidean", "sqeuclidean", "manhattan"}
    shape : {"circle", "ellipse"}
    rule : {"consistent", "released"}
        Rule for the origin and for pixels on an edge.
    threads : int
        Number of threads; 0: all of the machine.

    Returns
    -------
    ndarray
        float64 [P].
    """
    whole("threads", threads)
    rows = as_array(params, "params")
    return np.array(
        _core.annuli_fitness(as_array(points, "points"), rows[None] if rows.ndim == 1 else rows, metric, shape, rule, threads)
    )
