"""The paper's table: several methods on one calibration and one test set."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._core import Contest
from ._arrays import class_list, make_data, one_level
from ._checks import whole
from ._options import empty_word, own_flags, words_of
from ._params import current
from ._progress import Progress, Shown
from ._types import Array, Classes, ComparedName, Empty, Floats, Groups, Labels, Logits
from ._words import flag_of
from .calibrator import Calibrator
from .errors import UsageError
from .evaluation import Result

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import CompareOptions


@dataclass(eq=False, repr=False)
class Comparison(Result):
    """The result of :func:`compare`. Prints as the command's table.

    Attributes
    ----------
    results : tuple of ClassResult
        Every measure of each class and method; `rows` has the same as dicts.
    calibrators : dict of str to Calibrator
        Calibrators of the last draw, ready for use.
    ce_maps : dict of str to ndarray
        Coverage error of every pixel, float64 [C,H,W] ([1,H,W] with ``condition="none"``), of the last draw; NaN where no
        test image has the class.
    ece_map : ndarray
        Expected calibration error of the probabilities at every pixel, float64 [C,H,W].
    """

    calibrators: Dict[str, Calibrator] = field(default_factory=dict)
    ce_maps: Dict[str, Floats] = field(default_factory=dict)
    ece_map: Floats = field(default_factory=lambda: np.empty(0))
    #: (count, confidence, accuracy, ece) of every class
    _reliability: Tuple[Any, ...] = ()
    _classes: Tuple[int, ...] = ()
    #: Holds the test images for the report; None in copies and after unpickling.
    _core: Optional[Contest] = None

    @classmethod
    def _of(cls, core: Contest, classes: List[int]) -> "Comparison":
        _, common = cls._common(core, classes)
        made = [Calibrator._of(one) for one in core.calibrators()]
        # Rows are ordered by class, then by method; a method may occur twice, with two scores.
        names = [one.method for one in common["results"][: len(made)]]
        return cls(
            **common,
            calibrators=dict(zip(names, made)),
            ce_maps={name: np.array(core.ce_map(i)) for i, name in enumerate(names)},
            ece_map=np.array(core.ece_map()),
            _reliability=tuple(core.reliability()),
            _classes=tuple(classes),
            _core=core,
        )

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "_core": None}

    @property
    def methods(self) -> List[str]:
        """The compared methods."""
        return list(self.calibrators)

    def best(self, cls: Optional[int] = None) -> str:
        """The method with the lowest mean coverage error, for one class or over the reported classes."""
        rows = [one for one in self.results if (cls is None or one.cls in (cls, "all")) and not np.isnan(one.mean_ce)]
        if not rows:
            raise UsageError(f"there is no result of class {cls}")
        means = {name: np.mean([one.mean_ce for one in rows if one.method == name]) for name in self.methods}
        return min(means, key=lambda name: float(means[name]))


def compare(
    cal_probs: Array,
    cal_labels: Array,
    test_probs: Array,
    test_labels: Array,
    *,
    cal_groups: Optional[Groups] = None,
    test_groups: Optional[Groups] = None,
    methods: Union[str, Sequence[ComparedName], None] = None,
    classes: Classes = None,
    alpha: Optional[float] = None,
    confidence_level: Optional[float] = None,
    sample: int = 0,
    draws: int = 1,
    empty: Empty = "auto",
    no_empty: Optional[bool] = None,
    bootstrap: int = 0,
    ignore: Labels = (255,),
    logits: Logits = "none",
    threads: int = 0,
    progress: Progress = False,
    options: Optional[Dict[str, Any]] = None,
    **more: "Unpack[CompareOptions]",
) -> Comparison:
    """Calibrates several methods on one data set and evaluates them on another.

    Parameters
    ----------
    cal_probs, cal_labels, test_probs, test_labels : arrays
        As for :meth:`Calibrator.fit`.
    cal_groups, test_groups : arrays, optional
        Group of each image.
    methods : sequence of str or comma-separated str, optional
        Default: all methods that need no array.
    classes : int or sequence of int, optional
        Classes to report; default: all.
    alpha, confidence_level : float
        Level of coverage and of the measures of sets.
    sample, draws : int
        Calibrate on `draws` random subsets of `sample` groups (or images, if there are no groups) and report mean and spread.
    empty, no_empty, bootstrap
        As for :meth:`Calibrator.evaluate`; intervals need a single draw.
    ignore, logits, threads, progress, options, **more
        As for :class:`Calibrator`; options of methods have their
        full names (``kmeans_clusters=6``).

    Returns
    -------
    Comparison
    """
    level = one_level(alpha, confidence_level)
    word = empty_word(empty, no_empty)
    names: List[str] = [one for one in methods.split(",") if one] if isinstance(methods, str) else [*(methods or [])]
    given = current({**(options or {}), **more})
    _check_owners(given, names)
    words, arrays = words_of(None, given)
    cal, *_ = make_data(cal_probs, cal_labels, cal_groups, ignore, logits, "cal_")
    test, *_ = make_data(test_probs, test_labels, test_groups, ignore, logits, "test_")
    if cal_labels is None or test_labels is None:
        raise UsageError("labels are needed to compare")
    wanted = class_list(classes)
    for one in wanted:
        if not 0 <= one < cal.classes:
            raise UsageError(f"classes has {one}, but there are classes 0 to {cal.classes - 1}")
    counts = whole("sample", sample), whole("draws", draws)
    more_counts = whole("bootstrap", bootstrap), whole("threads", threads)
    with Shown(progress) as callback:
        core = _core.compare(cal, test, names, words, arrays, level, *counts, word, *more_counts, callback)
    return Comparison._of(core, wanted)


def _check_owners(given: Dict[str, Any], names: List[str]) -> None:
    """Refuses options of methods that are not compared."""
    own = own_flags()
    compared = {name.partition(":")[0] for name in names}
    for name in given:
        owner = own.get(flag_of(name), ("", ""))[0]
        if compared and owner and owner not in compared and "auto" not in compared:
            raise UsageError(f"{name} has no effect: it is an option of {owner}, which is not among methods")
