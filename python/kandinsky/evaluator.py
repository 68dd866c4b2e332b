"""Evaluation batch by batch. The measures are sums over images, so memory holds only one batch and the counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Set, Tuple, Union

import numpy as np

from ._arrays import levels, make_data
from ._options import empty_word
from ._types import Array, Empty, Floats, Groups, Level
from .calibrator import Calibrator
from .errors import UsageError

if TYPE_CHECKING:
    import pandas
    from typing_extensions import Self

_ENOUGH = 3  # test samples of a pixel, for the place error


@dataclass(frozen=True, eq=False)
class SetMeasures:
    """Measures of the sets at one alpha, with the names and values of :class:`kandinsky.Evaluation`.

    Arrays have one entry per class (a single entry with ``condition="none"``).
    """

    alpha: float
    images: int
    groups: int
    sets: int  #: pixels with a label
    samples: "np.ndarray[Any, np.dtype[np.int64]]"
    coverage: Floats  #: at alpha, before any set was filled
    coverage_at_alpha: float  #: of all classes together
    filled_coverage: float  #: of all classes together, after filling
    false_share: Floats
    place_error: Floats
    coverage_map: Floats  #: [class, height, width]; NaN where no image has the class
    set_size: float
    false_classes: float
    empty_share: float
    filled_share: float
    single_share: float
    single_right: float
    full_share: float

    def to_dict(self) -> Dict[str, Any]:
        """The measures by name."""
        return dict(self.__dict__)

    def to_frame(self) -> "pandas.DataFrame":
        """One row for each class, without the map; needs pandas."""
        import pandas

        plain = {key: value for key, value in self.__dict__.items() if key != "coverage_map"}
        return pandas.DataFrame(plain).rename_axis("class").reset_index()


class Evaluator:
    """Evaluates a calibrator on labelled images in batches, with the interface of torchmetrics.

    The figures equal those of :meth:`Calibrator.evaluate` on all images at once, for any batches. Only that method has measures
    that need all levels (coverage error, ECE) or all images (bootstrap intervals).

    Parameters
    ----------
    calibrator : Calibrator
        Calibrated.
    alpha, confidence_level : float or sequence of float
        A sequence gives a list of results.
    empty : {"auto", "fill", "keep"}
        As for :meth:`Calibrator.predict_set`.

    Examples
    --------
    >>> import kandinsky
    >>> scenes = kandinsky.make_scenes(images=40, grid=(24, 32))
    >>> cal = kandinsky.Calibrator("kmeans").fit(scenes.probs[:20], scenes.labels[:20])
    >>> evaluator = kandinsky.Evaluator(cal, alpha=0.1)
    >>> for first in (20, 30):
    ...     evaluator = evaluator.update(scenes.probs[first : first + 10], scenes.labels[first : first + 10])
    >>> evaluator.compute().images
    20
    """

    def __init__(
        self,
        calibrator: Calibrator,
        alpha: Optional[Level] = None,
        confidence_level: Optional[Level] = None,
        *,
        empty: Empty = "auto",
    ) -> None:
        calibrator._fitted()
        self.calibrator = calibrator
        self.alphas, self._single = levels(alpha, confidence_level)
        self._empty = empty_word(empty, None)
        self.reset()

    def reset(self) -> "Self":
        """Removes all images."""
        height, width = self.calibrator.grid_
        strata = len(self.calibrator.methods_)
        levels_, classes = len(self.alphas), self.calibrator.n_classes_
        self._images = 0
        self._groups: Set[int] = set()
        self._loose = 0  # each image without a group is a group
        self._sets = np.zeros((), np.int64)
        self._tested = np.zeros(classes, np.int64)
        self._wrong = np.zeros((levels_, classes), np.int64)
        self._held = np.zeros((levels_, len(_HELD)), np.int64)
        self._pixel_tested = np.zeros((strata, height, width), np.int64)
        self._pixel_covered = np.zeros((levels_, strata, height, width), np.int64)
        return self

    def _counts(self) -> List["np.ndarray[Any, Any]"]:
        return [self._sets, self._tested, self._wrong, self._held, self._pixel_tested, self._pixel_covered]

    def update(self, probs: Array, labels: Array, groups: Optional[Groups] = None) -> "Self":
        """Counts a batch; arrays as for :meth:`Calibrator.evaluate`. A batch that is refused changes nothing."""
        batch = self._fresh()
        batch._count(probs, labels, groups)
        return self.merge(batch)

    def __call__(
        self, probs: Array, labels: Array, groups: Optional[Groups] = None
    ) -> Union[SetMeasures, List[SetMeasures]]:
        """Counts a batch and returns the figures of the batch alone."""
        batch = self._fresh()
        batch._count(probs, labels, groups)
        self.merge(batch)
        return batch.compute()

    forward = __call__

    def merge(self, other: "Evaluator") -> "Self":
        """Adds the images of another evaluator, which must have the same calibrator, alphas and rule for empty sets."""
        if (self.alphas, self._empty) != (other.alphas, other._empty):
            raise UsageError("evaluators of other alphas or another choice for empty sets cannot be merged")
        mine, theirs = self.calibrator, other.calibrator
        if mine is not theirs and (mine.meta_ != theirs.meta_ or mine.ignore != theirs.ignore):
            raise UsageError("evaluators of different calibrators cannot be merged")
        for one, added in zip(self._counts(), other._counts()):
            one += added
        self._images += other._images
        self._loose += other._loose
        self._groups |= other._groups
        return self

    def _fresh(self) -> "Evaluator":
        out = Evaluator.__new__(type(self))
        out.calibrator, out.alphas, out._single, out._empty = self.calibrator, self.alphas, self._single, self._empty
        return out.reset()

    def _count(self, probs: Any, labels: Any, groups: Any) -> None:
        cal = self.calibrator
        if labels is None:
            raise UsageError("labels are needed to evaluate")
        data, p, _, g = make_data(probs, labels, groups, cal.ignore, cal.logits)
        shape = (data.images, data.classes, *data.grid)
        if data.grid != cal.grid_:
            raise UsageError(f"images of {list(data.grid)} are of another size than the calibrator's, {list(cal.grid_)}")
        member, valid = np.empty(shape, np.bool_), np.empty((shape[0], *shape[2:]), np.bool_)
        data.truth(member, valid, cal._threads())
        strata = len(self._pixel_tested)
        self._images, self._loose = data.images, data.images if g is None else 0
        self._groups = set() if g is None else set(g.tolist())
        self._sets += valid.sum()
        self._tested += member.sum(axis=(0, 2, 3))
        self._pixel_tested += _by_stratum(member.sum(axis=0), strata)
        predicted = cal.predicted_
        for level, alpha in enumerate(self.alphas):
            plain = cal.predict_set(p, alpha, empty="keep")
            self._pixel_covered[level] += _by_stratum((plain & member).sum(axis=0), strata)
            # The calibrator knows whether it fills empty sets. Without empty sets, filling changes nothing.
            sets = plain if self._empty == "keep" or plain.any(axis=1).all() else cal.predict_set(p, alpha, empty=self._empty)
            plain &= valid[:, None]
            sets = sets & valid[:, None]
            size, right = sets.sum(axis=1), sets & member
            self._wrong[level] += sets.sum(axis=(0, 2, 3)) - right.sum(axis=(0, 2, 3))
            empty = valid & ~plain.any(axis=1)
            single = size == 1
            self._held[level] += [
                size.sum(), empty.sum(), (empty & (size > 0)).sum(), right.sum() - (plain & member).sum(),
                single.sum(), (right.any(axis=1) & single).sum(), (size == shape[1]).sum(),
            ]  # fmt: skip
        cal._predicted = predicted  # the summary of the caller's last sets

    def compute(self) -> Union[SetMeasures, List[SetMeasures]]:
        """The figures of all images so far; a list for a sequence of alphas."""
        if not self._images:
            raise UsageError("there is no image yet; give some to update()")
        found = [self._measures(level) for level in range(len(self.alphas))]
        return found[0] if self._single else found

    def _measures(self, level: int) -> SetMeasures:
        alpha, held = self.alphas[level], dict(zip(_HELD, self._held[level]))
        strata, sets = len(self._pixel_tested), int(self._sets)
        tested, covered = self._pixel_tested.sum(axis=(1, 2)), self._pixel_covered[level].sum(axis=(1, 2))
        per = len(self._tested) // strata  # classes in a stratum
        others = per * sets - self._tested.reshape(strata, per).sum(axis=1)
        wrong = self._wrong[level].reshape(strata, per).sum(axis=1)
        places = _share(self._pixel_covered[level], self._pixel_tested)
        return SetMeasures(
            alpha=alpha,
            images=self._images,
            groups=len(self._groups) + self._loose,
            sets=sets,
            samples=tested,
            coverage=_share(covered, tested),
            coverage_at_alpha=float(_share(covered.sum(), tested.sum())),
            filled_coverage=float(_share(covered.sum() + held["hits"], tested.sum())),
            false_share=_share(wrong, others),
            place_error=np.array([_place_error(*one, alpha) for one in zip(places, self._pixel_tested)]),
            coverage_map=places,
            set_size=float(_share(held["members"], sets)),
            false_classes=float(_share(self._wrong[level].sum(), sets)),
            empty_share=float(_share(held["empty"], sets)),
            filled_share=float(_share(held["filled"], sets)),
            single_share=float(_share(held["single"], sets)),
            single_right=float(_share(held["right"], held["single"])),
            full_share=float(_share(held["full"], sets)),
        )

    def __repr__(self) -> str:
        return f"<Evaluator of {self.calibrator.method_} at alpha {', '.join(map(str, self.alphas))}: {self._images} images>"


_HELD = ("members", "empty", "filled", "hits", "single", "right", "full")


def _by_stratum(counts: "np.ndarray[Any, Any]", strata: int) -> "np.ndarray[Any, Any]":
    """[class, ...] as [stratum, ...]."""
    return counts if strata == len(counts) else counts.sum(axis=0, keepdims=True)


def _share(part: Any, whole: Any) -> Floats:
    """part / whole; NaN if `whole` is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.asarray(part, np.float64) / np.asarray(whole, np.float64)
    return np.where(np.asarray(whole) > 0, found, np.nan)


def _place_error(coverage: Floats, tested: "np.ndarray[Any, Any]", alpha: float) -> float:
    distances = np.abs(coverage[tested >= _ENOUGH] - (1 - alpha))
    # In the library's order of addition.
    return float(np.add.accumulate(distances)[-1] / len(distances)) if len(distances) else float("nan")
