"""The paper's table: several methods on one calibration and one test set."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Dict, List, Optional, Sequence, Union

import numpy as np

from . import _core
from ._arrays import class_list, make_data, one_level
from ._options import empty_word, words_of
from ._progress import Progress, Shown
from .calibrator import Calibrator
from .errors import UsageError
from .evaluation import Result


class Comparison(Result):
    """What :func:`compare` found. Prints as the command's table.

    Attributes
    ----------
    rows : list of dict
        Per class and method; see docs/formats.md.
    methods : list of str
    calibrators : dict of str to Calibrator
        Of the last draw, ready for use.
    ce_maps : dict of str to ndarray
        Coverage error of every pixel, float64 [C,H,W], of the last draw.
    """

    _core: "_core.Contest"

    @property
    def methods(self) -> List[str]:
        return list(self.calibrators)

    @cached_property
    def calibrators(self) -> Dict[str, Calibrator]:
        found = [Calibrator._of(core) for core in self._core.calibrators()]
        return {one.method: one for one in found}

    @cached_property
    def ce_maps(self) -> Dict[str, np.ndarray]:
        return {name: np.array(self._core.ce_map(i)) for i, name in enumerate(self.methods)}

    @cached_property
    def ece_map(self) -> np.ndarray:
        return np.array(self._core.ece_map())

    def best(self, cls: Optional[int] = None) -> str:
        """The method with the lowest mean coverage error, of one class or over those reported."""
        rows = [row for row in self.rows if (cls is None or row["class"] in (cls, "all")) and row["mean_ce"] is not None]
        if not rows:
            raise UsageError(f"there is no result of class {cls}")
        means = {name: np.mean([row["mean_ce"] for row in rows if row["method"] == name]) for name in self.methods}
        return min(means, key=lambda name: float(means[name]))


def compare(
    cal_probs: Any,
    cal_labels: Any,
    test_probs: Any,
    test_labels: Any,
    *,
    cal_groups: Any = None,
    test_groups: Any = None,
    methods: Union[str, Sequence[str], None] = None,
    classes: Any = None,
    alpha: Optional[float] = None,
    confidence_level: Optional[float] = None,
    sample: int = 0,
    draws: int = 1,
    empty: str = "auto",
    no_empty: Optional[bool] = None,
    bootstrap: int = 0,
    ignore: Union[int, Sequence[int], None] = (255,),
    logits: str = "none",
    threads: int = 0,
    progress: Progress = False,
    options: Optional[Dict[str, Any]] = None,
    **more: Any,
) -> Comparison:
    """Calibrates with several methods on one data set and judges all on another.

    Parameters
    ----------
    cal_probs, cal_labels, test_probs, test_labels : arrays
        As for :meth:`Calibrator.fit`.
    cal_groups, test_groups : arrays, optional
        Which images belong together.
    methods : sequence of str or comma-separated str, optional
        All that need no array of their own unless given.
    classes : int or sequence of int, optional
        Classes to report; all unless given.
    alpha, confidence_level : float
        Level for coverage and what the sets hold.
    sample, draws : int
        Calibrate on `draws` random subsets of `sample` groups (images without groups) and report mean and spread.
    empty, no_empty, bootstrap
        As for :meth:`Calibrator.evaluate`; intervals need a single draw.
    ignore, logits, threads, progress, options, **more
        As for :class:`Calibrator`; the methods' own options go
        under their full names (``kmeans_clusters=6``).

    Returns
    -------
    Comparison
    """
    level = one_level(alpha, confidence_level)
    word = empty_word(empty, no_empty)
    names = [one for one in methods.split(",") if one] if isinstance(methods, str) else list(methods or [])
    given = {**(options or {}), **more}
    words, arrays = words_of(None, given)
    cal, *_ = make_data(cal_probs, cal_labels, cal_groups, ignore, logits, "cal_")
    test, *_ = make_data(test_probs, test_labels, test_groups, ignore, logits, "test_")
    if cal_labels is None or test_labels is None:
        raise UsageError("labels are needed to compare")
    wanted = class_list(classes)
    for one in wanted:
        if not 0 <= one < cal.classes:
            raise UsageError(f"classes has {one}, but there are classes 0 to {cal.classes - 1}")
    if sample < 0 or draws < 0:
        raise UsageError(f"sample and draws must not be negative, but are {sample} and {draws}")
    with Shown(progress) as callback:
        core = _core.compare(cal, test, names, words, arrays, level, sample, draws, word, bootstrap, threads, callback)
    return Comparison(core, wanted)
