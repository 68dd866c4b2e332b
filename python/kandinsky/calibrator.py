"""The calibrator: from probability maps and labels to prediction sets per pixel."""

from __future__ import annotations

import inspect
import os
import warnings
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Sized, Tuple, Union, cast

import numpy as np

from . import _core
from ._arrays import as_weights, ignore_list, make_data
from ._files import Filed
from ._fitted import Fitted
from ._options import check_name
from ._params import current
from ._progress import Progress, Shown
from ._shown import line_of, table_of
from ._store import Store
from ._types import (
    Adapt,
    Array,
    Compat,
    Condition,
    Fallback,
    Groups,
    Labels,
    Logits,
    MethodName,
    PathLike,
    Pooling,
    Promise,
    Risk,
    ScoreName,
    Weights,
)
from ._words import in_python
from .errors import UsageError

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from ._keywords import MoreOptions


class CalibrationWarning(UserWarning):
    """A warning about a calibration: classes without pixels, too few images."""


class Calibrator(Filed, Fitted):
    """Prediction sets for the pixels of a segmentation, with a coverage guarantee.

    Parameters follow scikit-learn's conventions: they are stored as given and checked when data are given;
    ``get_params``, ``set_params`` and ``sklearn.base.clone`` work.

    Parameters
    ----------
    method : str
        Method that decides which pixels share their scores, one of :func:`kandinsky.methods`. `method_` is the method used.
    condition : {"class", "none"}
        One curve for each class, or one for all classes.
    pooling : {"groups", "pixels"}
        Unit of equal weight in a region: groups of images (with a guarantee) or pixels (the paper's; no guarantee).
    fallback : {"auto", "none", "image"}
        Curve of regions with fewer than `min_count` scores: their own ("none") or the image-wide one ("image").
        "auto" is "image" with ``pooling="pixels"``, else "none".
    min_count : int
        Number of scores below which a region uses `fallback`.
    score_function : str
        The non-conformity score.
    quantiles : sequence of float
        Quantiles at which methods compare curves.
    rungs : int
        Number of levels at which long curves are stored; 0: 2000, or 200 for more than 1024 curves.
    split : float
        Share of the groups that learns; above 0 it selects ``promise="split"``. 0: a quarter with `confidence`, else half,
        but if "auto" selects "split" for more than 200 groups, 100 groups (more if they have weights) set the thresholds.
    promise : {"auto", "loo", "split", "none"}
        Rule of the guarantee. "loo": every group learns and sets thresholds, and learning is repeated without each group.
        "split": some groups learn, the others set thresholds. Both guarantee 1 - alpha. "none": no guarantee. "auto": "none"
        with ``pooling="pixels"``; "loo" for at most 200 groups with method field (with ``adapt="image"`` also with
        image, pixel and mask) and at most 20 with others; else "split".
    adapt : {"none", "image"}
        "image": thresholds depend on how uncertain the model is about the image. The guarantee stays the same. Needs pooling by
        groups and a method other than auto. "none": all images have the same thresholds.
    confidence : float
        Confidence, such as 0.95, with which the guarantee holds over draws of calibration groups; 0: on average over them.
    risk : {"recall", "precision", "recall,precision"}
        Risk that alpha bounds. "recall": share of a class's pixels whose set misses the class. "precision": among the pixels
        whose set contains the class, the share with another label; needs `confidence`. "recall,precision": both.
    compat : {"none", "released"}
        "released" reproduces the authors' released code.
    seed : int
        Seed of all random numbers.
    memory : str or int, optional
        Working memory in bytes besides the result, such as "2G"; default: a quarter of the machine's memory, at most 1G.
    ignore : int, sequence of int or None
        Labels to ignore.
    logits : {"none", "sigmoid", "softmax"}
        Function that turns the inputs into probabilities; "none" if they are probabilities.
    threads : int
        Number of threads; 0: all of the machine. Results do not depend on it.
    scratch : path, optional
        Folder for the temporary file with the batches of :meth:`partial_fit`.
    progress : bool or callable
        True shows a bar if tqdm is installed; a callable gets ``(stage, done, total)``.
    options : dict, optional
        More options, under the command's names or Python's: ``{"kmeans-clusters": 6}``.
    **more
        The same as keyword arguments. The method's own options may be written without its name,
        ``Calibrator(method="kmeans", clusters=6)``. `regions` is the number of regions, for every method that has such an
        option. An option that takes a file in the command takes an array here.

    Attributes
    ----------
    method_, methods_, grid_, classes_, n_classes_, n_images_, n_groups_, guarantee_, fingerprint_
        Properties and guarantee of the calibrator. `grid_` is (height, width). `methods_` has the
        method of each class, which `auto` chooses.
    regions_, counts_, curve_level_ : ndarray [S,H,W]
        Region number, number of scores, and curve used (0 the region's, 1 the image's, 2 none) at each pixel; S is the
        number of classes, or 1 with ``condition="none"``.

    Notes
    -----
    Arrays are numpy arrays or objects that support DLPack, such as torch tensors, of float16, float32, float64 or uint8
    (p * 255). They are read in place, in any memory order. Lists, arrays in foreign byte order, unaligned arrays, several
    volumes and tensors on an accelerator are copied. Volumes [N,C,D,H,W] are read as slices, and each volume is a group
    unless groups are given; sets have the volumes' shape.

    Several threads may predict with one calibrator; the interpreter's lock is released while work is done.

    Examples
    --------
    >>> import kandinsky
    >>> scenes = kandinsky.make_scenes(images=40, grid=(24, 32))
    >>> cal = kandinsky.Calibrator(method="kmeans", regions=3).fit(scenes.probs, scenes.labels)
    >>> cal.predict_set(scenes.probs[:2], alpha=0.1).shape
    (2, 2, 24, 32)
    """

    def __init__(
        self,
        method: MethodName = "field",
        *,
        condition: Condition = "class",
        pooling: Pooling = "groups",
        fallback: Fallback = "auto",
        min_count: int = 1,
        score_function: ScoreName = "near",
        quantiles: Sequence[float] = (0.6, 0.7, 0.8, 0.9),
        rungs: int = 0,
        split: float = 0.0,
        promise: Promise = "auto",
        adapt: Adapt = "none",
        confidence: float = 0.0,
        risk: Risk = "recall",
        compat: Compat = "none",
        seed: int = 0,
        memory: Union[str, int, None] = None,
        ignore: Labels = (255,),
        logits: Logits = "none",
        threads: int = 0,
        scratch: Optional[PathLike] = None,
        progress: Progress = False,
        options: Optional[Dict[str, Any]] = None,
        **more: "Unpack[MoreOptions]",
    ) -> None:
        self.method = method
        self.condition = condition
        self.pooling = pooling
        self.fallback = fallback
        self.min_count = min_count
        self.score_function = score_function
        self.quantiles = quantiles
        self.rungs = rungs
        self.split = split
        self.promise = promise
        self.adapt = adapt
        self.confidence = confidence
        self.risk = risk
        self.compat = compat
        self.seed = seed
        self.memory = memory
        self.ignore = ignore
        self.logits = logits
        self.threads = threads
        self.scratch = scratch
        self.progress = progress
        self.options = options
        self._core: Optional[_core.Calibrated] = None
        self._store: Optional[Store] = None
        self._meta: Optional[Dict[str, Any]] = None
        self._more: Dict[str, Any] = current(dict(more))
        for old in [name for name in self._more if name in self._names]:
            setattr(self, old, self._more.pop(old))
        # As for any keyword argument, a misspelt name is refused at once. Values are checked when data are given.
        for name in self._more:
            check_name(name, self.method)

    def __sklearn_is_fitted__(self) -> bool:
        return self._core is not None

    # ---- calibrating -----------------------------------------------------------------------------------------

    def partial_fit(self, probs: Array, labels: Array, groups: Optional[Groups] = None) -> "Self":
        """Adds a batch of labelled images; :meth:`calibrate` then uses all of them.

        Batches are written to a temporary file without a name (in `scratch`, or the system's folder), so that memory is
        bounded by the largest batch. The result equals that for all images at once, for any size and order of the
        batches.

        Parameters
        ----------
        probs : array [N,C,H,W]
            Probabilities (or logits, see `logits`). C = 1 means foreground only. Volumes are [N,C,D,H,W].
        labels : array [N,H,W] or [N,C,H,W]
            Class numbers, or 0/1 masks of classes that may overlap. With several classes, [N,1,H,W] has class numbers.
            Floats must be whole numbers. For volumes [N,D,H,W] or [N,C,D,H,W].
        groups : array [N], optional
            Group of each image (patient, video): integers or names. Give groups with every batch or with none.

        Returns
        -------
        Calibrator
            Itself; no longer calibrated.
        """
        if self._core is not None and self._store is None:
            raise UsageError(
                "this calibrator does not store its data (it was made by fit() or loaded), so no batch can be added; "
                "call reset(), or give every batch to partial_fit()"
            )
        data, p, y, g = make_data(probs, labels, groups, self.ignore, self.logits)
        if y is None:
            raise UsageError("labels are needed to calibrate")
        data.check(self._threads())
        store = Store(os.fspath(self.scratch) if self.scratch is not None else "") if self._store is None else self._store
        store.append(p, y, g)
        self._store, self._core, self._meta = store, None, None
        return self

    update = partial_fit

    def calibrate(self) -> "Self":
        """Derives the thresholds from all batches given to :meth:`partial_fit`. The batches are kept, so more can be added."""
        if self._store is None or not len(self._store):
            raise UsageError("there are no images to calibrate on; give some to partial_fit() first, or use fit()")
        store = self._store
        data, *_ = make_data(store.probs.array(), store.labels.array(), store.all_groups(), self.ignore, self.logits)
        return self._calibrate(data)

    def fit(
        self,
        probs: Array,
        labels: Array,
        groups: Optional[Groups] = None,
        *,
        weights: Optional[Weights] = None,
        shift_to: Optional[Array] = None,
        shift_groups: Optional[Groups] = None,
        max_weight: float = 0.0,
    ) -> "Self":
        """Calibrates on these images only. The arrays are not kept, and batches of :meth:`partial_fit` are removed.

        Takes `probs`, `labels` and `groups` as :meth:`partial_fit` does, returns the calibrator itself, and also takes:

        Parameters
        ----------
        weights : array [N], optional
            Weight of each image, if new images come from another population: the density of images like it there, divided by
            their density here. Equal within a group; a common factor has no effect. The documentation's page on shift has the
            guarantee.
        shift_to, shift_groups : arrays, optional
            New images without labels, and their groups if `groups` are given: weights are estimated from them.
        max_weight : float
            Largest weight of a calibration or new image; larger weights are reduced to it. With `shift_to` its
            unit is the mean weight, and weights are also limited to the 0.9 quantile of those of the new images. 0: the
            largest of `weights`, or 10 with `shift_to`.
        """
        if labels is None:
            raise UsageError("labels are needed to calibrate")
        data, slices, *_ = make_data(probs, labels, groups, self.ignore, self.logits)
        given: List[float] = []
        fresh = None
        if weights is not None:
            if shift_to is not None:
                raise UsageError("shift_to estimates the weights; leave one of the two out")
            given = as_weights(weights, len(cast(Sized, probs)), len(slices))
        elif shift_to is not None:
            fresh = make_data(shift_to, None, shift_groups, self.ignore, self.logits, "shift_to: ")[0]
        elif max_weight != 0:
            raise UsageError("max_weight has no effect: there are no weights without weights or shift_to")
        if shift_groups is not None and shift_to is None:
            raise UsageError("shift_groups has no effect: it is for shift_to")
        self._calibrate(data, given, fresh, max_weight)
        self._store = None
        return self

    def recalibrate(self, probs: Array, labels: Array, groups: Optional[Groups] = None) -> "Self":
        """Returns a calibrator with the curves of this one, whose levels are set by other labelled images.

        Its guarantee of 1 - alpha is for images that are exchangeable with the given ones. The images of this calibrator
        are not needed. The new calibrator has the parameters of this one.

        Returns
        -------
        Calibrator
            A new calibrator; this one does not change.
        """
        if labels is None:
            raise UsageError("labels are needed to recalibrate")
        data, *_ = make_data(probs, labels, groups, self.ignore, self.logits)
        with Shown(self.progress) as callback:
            core = self._fitted().recalibrate(data, self._threads(), callback)
        for remark in core.remarks():
            warnings.warn(in_python(remark), CalibrationWarning, stacklevel=2)
        new = self._of(core)
        # Results do not depend on these parameters, so files do not have them.
        for name in ("memory", "threads", "scratch", "progress"):
            setattr(new, name, getattr(self, name))
        new._made_with = new._calibration()
        return new

    def _calibrate(
        self, data: "_core.Data", weights: Sequence[float] = (), fresh: Optional["_core.Data"] = None, max_weight: float = 0.0
    ) -> "Self":
        method, words, arrays = self._option_words()
        with Shown(self.progress) as callback:
            core = _core.calibrate(data, method, words, arrays, list(weights), fresh, max_weight, self.threads, callback)
        self._core, self._meta, self._made_with = core, None, self._calibration()
        for remark in core.remarks():
            warnings.warn(in_python(remark), CalibrationWarning, stacklevel=3)
        return self

    def merge(self, other: "Calibrator") -> "Self":
        """Adds the data of another calibrator. The result equals that of one calibrator with all data, in any order.

        Both must store their data, as after :meth:`partial_fit`; a calibrator that was loaded or made by :meth:`fit` does
        not. If this calibrator was calibrated, it is calibrated again.

        Returns
        -------
        Calibrator
            Itself.
        """
        if not isinstance(other, Calibrator):
            raise UsageError(f"a Calibrator is needed to merge, not {type(other).__name__}")
        for name, one in (("this calibrator", self), ("the other calibrator", other)):
            if one._store is None and one._core is not None:
                raise UsageError(
                    f"{name} does not store its data (it was made by fit(), loaded, unpickled when calibrated, "
                    f"or told to discard_data()); thresholds cannot be merged exactly, so merge before calibrating"
                )
        mine, theirs = self._reading(), other._reading()
        if mine != theirs:
            raise UsageError(f"the calibrators read their data differently: {mine} and {theirs} (ignore, logits)")
        if other._store is None:
            return self
        again = self._core is not None
        store = Store(os.fspath(self.scratch) if self.scratch is not None else "") if self._store is None else self._store
        store.extend(other._store)
        self._store, self._core, self._meta = store, None, None
        return self.calibrate() if again else self

    def _reading(self) -> Tuple[List[int], str]:
        return sorted(ignore_list(self.ignore)), str(self.logits)

    def reset(self) -> "Self":
        """Removes data and thresholds."""
        self._store = self._core = self._meta = None
        return self

    def discard_data(self) -> "Self":
        """Removes the batches of :meth:`partial_fit` and frees their space on disk; thresholds stay."""
        self._fitted()
        self._store = None
        return self

    @property
    def n_images_seen_(self) -> int:
        """Number of images given to :meth:`partial_fit` that are stored."""
        return 0 if self._store is None else len(self._store)

    # ---- display ---------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return line_of(self, _STANDARD)

    def _repr_html_(self) -> str:
        return table_of(self)


_STANDARD = {
    name: parameter.default
    for name, parameter in inspect.signature(Calibrator.__init__).parameters.items()
    if parameter.default is not inspect.Parameter.empty
}
Calibrator._names = tuple(_STANDARD)


def opened(calibrator: Union[Calibrator, PathLike]) -> Calibrator:
    """A calibrator as it is, or from its file."""
    if isinstance(calibrator, Calibrator):
        return calibrator
    if isinstance(calibrator, (str, os.PathLike)):
        return Calibrator.load(calibrator)
    raise UsageError(f"calibrator is of type {type(calibrator).__name__}, but must be a Calibrator or the path of a .kcal file")


def load(path: PathLike) -> Calibrator:
    """Reads a calibrator from a .kcal file, written by Python, C++ or the command.

    Its parameters are those that it was made with, including `ignore` and `logits`. Files of version 0.1 do not have these
    two: set them with ``set_params`` if they differ from the defaults.

    Parameters
    ----------
    path : path

    Returns
    -------
    Calibrator
        Calibrated, without data.
    """
    return Calibrator.load(path)
