"""The calibrator: from probability maps and labels to prediction sets per pixel."""

from __future__ import annotations

import inspect
import json
import os
import tempfile
import warnings
from html import escape
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._arrays import Level, as_probs, class_list, ignore_list, levels, make_data, one_level, output
from ._options import check_name, words_of
from ._progress import Progress, Shown
from ._store import Store
from .errors import NotFittedError, UsageError
from .evaluation import Evaluation

PathLike = Union[str, "os.PathLike[str]"]


class CalibrationWarning(UserWarning):
    """Something a user should know about a calibration: classes never seen, too few images."""


class Calibrator:
    """Prediction sets per pixel whose coverage is right where in the image it matters.

    Parameters follow scikit-learn's conventions: they are stored as given and judged when data come;
    ``get_params``, ``set_params`` and ``sklearn.base.clone`` work.

    Parameters
    ----------
    method : str
        Which pixels share their scores; :func:`kandinsky.methods` lists them.
    condition : {"class", "none"}
        A curve for each class, or one for all labels.
    pooling : {"groups", "pixels"}
        What counts alike in a region: groups of images (guaranteed) or pixels (the paper).
    fallback : {"auto", "none", "image"}
        What regions with fewer than `min_count` scores do: keep their curve, or take the image-wide one.
        "auto" is the latter where pixels are pooled, which promises nothing anyway.
    min_count : int
        Scores below which a region falls back.
    score : str
        The non-conformity score.
    quantiles : sequence of float
        Levels at which curves are compared.
    rungs : int
        Resolution of long curves; 0 chooses.
    split : float
        Share of the groups on which regions are found; the thresholds are set on the rest. 0: both on all.
    compat : {"none", "released"}
        "released" reproduces the authors' released code.
    seed : int
        Of everything random.
    memory : str or int, optional
        Bytes of scores to hold at a time, such as "2G"; a quarter of the machine unless given.
    ignore : int, sequence of int or None
        Labels that belong to no class.
    logits : {"none", "sigmoid", "softmax"}
        Whether inputs are logits. Never guessed.
    threads : int
        Threads to use; 0: all of the machine. Results do not depend on it.
    scratch : path, optional
        Folder for the temporary file that holds the batches of :meth:`partial_fit`.
    progress : bool or callable
        True shows a bar if tqdm is installed; a callable gets ``(stage, done, total)``.
    options : dict, optional
        More options, under the command's names or Python's: ``{"kmeans-clusters": 6}``.
    **more
        The same as keyword arguments. The method's own options may be written without its name,
        ``Calibrator(method="kmeans", clusters=6)``; `regions` means the number of regions for every method that
        lets it be chosen. An option that takes a file takes an array.

    Attributes
    ----------
    method_, grid_, classes_, n_classes_, n_images_, n_groups_, guarantee_, fingerprint_
        What the finished calibrator was made of and what it promises. `grid_` is (height, width).
    regions_, counts_, curve_level_ : ndarray [S,H,W]
        Region number, scores seen, and whose curve is used (0 region, 1 image, 2 none) at each pixel; S is the
        number of classes, or 1 with ``condition="none"``.
    meta_ : dict
        Everything that meta.json of the file holds.

    Notes
    -----
    Arrays are numpy's, or anything that speaks DLPack on the CPU, such as torch tensors; float16, float32, float64
    or uint8 (p * 255), in any memory order, without a copy. Copied are: lists, foreign byte order, unaligned memory.

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
        method: str = _core.default_method,
        *,
        condition: str = "class",
        pooling: str = "groups",
        fallback: str = "auto",
        min_count: int = 1,
        score: str = "lac",
        quantiles: Sequence[float] = (0.6, 0.7, 0.8, 0.9),
        rungs: int = 0,
        split: float = 0.0,
        compat: str = "none",
        seed: int = 0,
        memory: Union[str, int, None] = None,
        ignore: Union[int, Sequence[int], None] = (255,),
        logits: str = "none",
        threads: int = 0,
        scratch: Optional[PathLike] = None,
        progress: Progress = False,
        options: Optional[Dict[str, Any]] = None,
        **more: Any,
    ) -> None:
        self.method = method
        self.condition = condition
        self.pooling = pooling
        self.fallback = fallback
        self.min_count = min_count
        self.score = score
        self.quantiles = quantiles
        self.rungs = rungs
        self.split = split
        self.compat = compat
        self.seed = seed
        self.memory = memory
        self.ignore = ignore
        self.logits = logits
        self.threads = threads
        self.scratch = scratch
        self.progress = progress
        self.options = options
        self._more: Dict[str, Any] = {}
        self._core: Optional[_core.Calibrated] = None
        self._store: Optional[Store] = None
        self._meta: Optional[Dict[str, Any]] = None
        self._take_more(more)

    # ---- parameters, as scikit-learn has them ----------------------------------------------------------------

    def _take_more(self, more: Dict[str, Any]) -> None:
        # A misspelt name is found at once, as for any keyword argument; its value is judged when data come.
        for name in more:
            check_name(name, self.method)
        self._more.update(more)

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """Parameters by name, as given."""
        return {**{name: getattr(self, name) for name in _NAMED}, **self._more}

    def set_params(self, **params: Any) -> "Calibrator":
        """Changes parameters; what has been calibrated already stays as it is."""
        named = {name: value for name, value in params.items() if name in _NAMED}
        for name, value in named.items():
            setattr(self, name, value)
        self._take_more({name: value for name, value in params.items() if name not in _NAMED})
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return self._core is not None

    def __sklearn_tags__(self) -> Any:
        # Only scikit-learn asks, so it is there.
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=True))

    def _option_words(self) -> Tuple[List[str], Dict[str, np.ndarray]]:
        given = {name: getattr(self, name) for name in _CALIBRATION}
        for extra in (self.options or {}, self._more):
            given.update(extra)
        return words_of(self.method, given)

    # ---- calibrating -----------------------------------------------------------------------------------------

    def partial_fit(self, probs: Any, labels: Any, groups: Any = None) -> "Calibrator":
        """Adds a batch of labelled images; :meth:`calibrate` then uses all of them.

        Batches go to a temporary file without a name (in `scratch`, or the system's folder), so that memory stays
        bounded by the largest batch. Nothing is rounded or thinned: the result is the same as for all images at
        once, for any size and order of the batches.

        Parameters
        ----------
        probs : array [N,C,H,W]
            Probabilities (or logits, see `logits`). C = 1 means foreground only.
        labels : array [N,H,W] or [N,C,H,W]
            Class numbers, or 0/1 masks of classes that may overlap. Of several classes, [N,1,H,W] holds numbers too.
        groups : array [N], optional
            Which images belong together (patient, video): integers or names. With every batch or with none.

        Returns
        -------
        Calibrator
            Itself, not calibrated any more.
        """
        if self._core is not None and self._store is None:
            raise UsageError(
                "this calibrator does not hold its data (it was made by fit() or loaded), so none can be added; "
                "call reset(), or give every batch to partial_fit()"
            )
        data, p, y, g = make_data(probs, labels, groups, self.ignore, self.logits)
        if y is None:
            raise UsageError("labels are needed to calibrate")
        data.check(self.threads)
        store = Store(os.fspath(self.scratch) if self.scratch is not None else "") if self._store is None else self._store
        store.append(p, y, g)
        self._store, self._core, self._meta = store, None, None
        return self

    update = partial_fit

    def calibrate(self) -> "Calibrator":
        """Derives the thresholds from all batches given to :meth:`partial_fit`, which are kept for more."""
        if self._store is None or not len(self._store):
            raise UsageError("there is nothing to calibrate on; give images to partial_fit() first, or use fit()")
        store = self._store
        data, *_ = make_data(store.probs.array(), store.labels.array(), store.all_groups(), self.ignore, self.logits)
        return self._calibrate(data)

    def fit(self, probs: Any, labels: Any, groups: Any = None) -> "Calibrator":
        """Calibrates on these images alone, in place: the arrays are neither copied nor kept.

        Parameters and result are those of :meth:`partial_fit` and :meth:`calibrate`.
        """
        if labels is None:
            raise UsageError("labels are needed to calibrate")
        data, *_ = make_data(probs, labels, groups, self.ignore, self.logits)
        self._calibrate(data)
        self._store = None
        return self

    def _calibrate(self, data: "_core.Data") -> "Calibrator":
        words, arrays = self._option_words()
        with Shown(self.progress) as callback:
            core = _core.calibrate(data, self.method, words, arrays, self.threads, callback)
        self._core, self._meta = core, None
        for remark in core.remarks():
            warnings.warn(remark, CalibrationWarning, stacklevel=3)
        return self

    def merge(self, other: "Calibrator") -> "Calibrator":
        """Adds the data of another calibrator: the result is that of one built on all data, in any order.

        Both must hold their data, as they do after :meth:`partial_fit`; a calibrator that was loaded or made by
        :meth:`fit` does not. If this one was calibrated it is calibrated again.

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
                    f"{name} does not hold its data any more (it was made by fit(), loaded, unpickled when calibrated, "
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
        return sorted(ignore_list(self.ignore)), self.logits

    def reset(self) -> "Calibrator":
        """Forgets data and thresholds."""
        self._store = self._core = self._meta = None
        return self

    def discard_data(self) -> "Calibrator":
        """Forgets the batches of :meth:`partial_fit`, which frees their place on disk; thresholds stay."""
        self._fitted()
        self._store = None
        return self

    @property
    def n_images_seen_(self) -> int:
        """Images given to :meth:`partial_fit` that are held."""
        return 0 if self._store is None else len(self._store)

    # ---- using -----------------------------------------------------------------------------------------------

    def _fitted(self) -> "_core.Calibrated":
        if self._core is None:
            raise NotFittedError(
                "this Calibrator is not calibrated yet; call fit(probs, labels), or calibrate() after partial_fit()"
            )
        return self._core

    def thresholds(
        self, alpha: Optional[Level] = None, confidence_level: Optional[Level] = None
    ) -> np.ndarray:
        """Probability thresholds: a class is in the set if and only if ``p >= threshold``.

        That comparison is the whole prediction, also on an accelerator: move the thresholds there once.

        Parameters
        ----------
        alpha : float or sequence of float, default 0.1
            Allowed share of misses.
        confidence_level : float or sequence of float
            1 - alpha; instead of it.

        Returns
        -------
        ndarray
            float32 [C,H,W], or [A,C,H,W] for a sequence; -inf: always in the set, +inf: never.
        """
        return self._each_level("thresholds", alpha, confidence_level)

    def score_thresholds(
        self, alpha: Optional[Level] = None, confidence_level: Optional[Level] = None
    ) -> np.ndarray:
        """The same on scores: a class is in the set if and only if ``score <= threshold``; +inf: always."""
        return self._each_level("score_thresholds", alpha, confidence_level)

    def _each_level(self, what: str, alpha: Optional[Level], confidence_level: Optional[Level]) -> np.ndarray:
        core = self._fitted()
        alphas, single = levels(alpha, confidence_level)
        each = [np.array(getattr(core, what)(one)) for one in alphas]
        if single:
            return each[0]
        return np.stack(each) if each else np.empty((0, self.n_classes_, *self.grid_), np.float32)

    def curves(self) -> np.ndarray:
        """Every pixel's curve as used: score thresholds at 1 %, 2 %, ..., 100 %, float32 [100,C,H,W].

        With ``compat="released"`` the 100 curve points k/99.
        """
        released = self.meta_["options"]["compat"] == "released"
        return self.score_thresholds([1 - (q / 99 if released else (q + 1) / 100) for q in range(100)])

    def predict_set(
        self,
        probs: Any,
        alpha: Optional[Level] = None,
        confidence_level: Optional[Level] = None,
        *,
        packed: bool = False,
        no_empty: bool = False,
        out: Optional[np.ndarray] = None,
    ) -> np.ndarray:
        """Prediction sets.

        Parameters
        ----------
        probs : array [N,C,H,W] or [C,H,W]
            Read in place unless it is a list, in foreign byte order, or unaligned.
        alpha, confidence_level : float or sequence of float
            As for :meth:`thresholds`.
        packed : bool
            Eight pixels a byte, as ``numpy.packbits(sets, axis=-1)`` would do.
        no_empty : bool
            The most probable class enters sets that would be empty.
        out : ndarray, optional
            A C-order array of the result's shape and type to write into.

        Returns
        -------
        ndarray
            bool [N,C,H,W] (uint8 [N,C,H,ceil(W/8)] if packed), without the first axis for one image, with a leading
            axis for a sequence of levels. True where the class is in the pixel's set.
        """
        core = self._fitted()
        alphas, single = levels(alpha, confidence_level)
        data, one_image = self._predict_data(probs)
        height, width = self.grid_
        shape = (len(alphas), data.images, self.n_classes_, height, (width + 7) // 8 if packed else width)
        result, planes = output(shape, np.uint8 if packed else np.bool_, single, one_image, out)
        with Shown(self.progress) as callback:
            for one, plane in zip(alphas, planes):
                core.predict_sets(data, one, plane, packed, no_empty, self.threads, callback)
        return result

    def predict_p(self, probs: Any, *, out: Optional[np.ndarray] = None) -> np.ndarray:
        """Conformal p-values: a class is in the set at alpha if and only if its p-value exceeds alpha.

        Parameters
        ----------
        probs : array [N,C,H,W] or [C,H,W]
        out : ndarray, optional
            A C-order float32 array to write into.

        Returns
        -------
        ndarray
            float32 [N,C,H,W], or [C,H,W] for one image.
        """
        core = self._fitted()
        data, one_image = self._predict_data(probs)
        shape = (1, data.images, self.n_classes_, *self.grid_)
        result, planes = output(shape, np.float32, True, one_image, out)
        with Shown(self.progress) as callback:
            core.predict_p(data, planes[0], self.threads, callback)
        return result

    def _predict_data(self, probs: Any) -> Tuple["_core.Data", bool]:
        array = as_probs(probs, "probs")
        one_image = array.ndim == 3
        data, *_ = make_data(array[None] if one_image else array, None, None, self.ignore, self.logits)
        return data, one_image

    def evaluate(
        self,
        probs: Any,
        labels: Any,
        alpha: Optional[float] = None,
        confidence_level: Optional[float] = None,
        *,
        groups: Any = None,
        classes: Any = None,
        no_empty: bool = False,
        bootstrap: int = 200,
        bootstrap_seed: int = 0,
    ) -> Evaluation:
        """Coverage, coverage error and set size on labelled images.

        Parameters
        ----------
        probs, labels : arrays
            As for :meth:`partial_fit`.
        alpha, confidence_level : float
            Level for set size and empty sets; coverage is measured at all levels.
        groups : array [N], optional
            Which images belong together: the bootstrap draws groups.
        classes : int or sequence of int, optional
            Classes to report; all unless given.
        no_empty : bool
            Judge sets into which the most probable class enters where they would be empty.
        bootstrap, bootstrap_seed : int
            Resamples of the test groups for the 90 % intervals (0: none), and their seed.

        Returns
        -------
        Evaluation
        """
        core = self._fitted()
        level = one_level(alpha, confidence_level)
        wanted = class_list(classes)
        for one in wanted:
            if not 0 <= one < self.n_classes_:
                raise UsageError(f"classes has {one}, but the calibrator has classes 0 to {self.n_classes_ - 1}")
        if labels is None:
            raise UsageError("labels are needed to evaluate")
        data, *_ = make_data(probs, labels, groups, self.ignore, self.logits)
        with Shown(self.progress) as callback:
            found = _core.evaluate(core, data, level, no_empty, bootstrap, bootstrap_seed, self.threads, callback)
        return Evaluation(found, wanted)

    # ---- files -----------------------------------------------------------------------------------------------

    def save(self, path: PathLike) -> None:
        """Writes the .kcal file, byte for byte the one that the command writes. Complete or untouched."""
        self._fitted().save(os.fspath(path))

    @classmethod
    def load(cls, path: PathLike) -> "Calibrator":
        """Reads a .kcal file; see :func:`kandinsky.load`."""
        return cls._of(_core.load(os.fspath(path)))

    @classmethod
    def _of(cls, core: "_core.Calibrated") -> "Calibrator":
        meta = json.loads(core.describe())
        given = {"method": meta["method"]}
        more = {}
        for name, value in meta["options"].items():
            if name == "method_options":
                more.update({flag.replace("-", "_"): text for flag, text in value.items()})
            elif name in _NAMED:
                given[name] = tuple(value) if isinstance(value, list) else value
            elif name.replace("_", "-") in {flag for flag, *_ in _core.options()}:
                more[name] = value
        calibrator = cls(**given, **more)
        calibrator._core, calibrator._meta = core, meta
        return calibrator

    def __getstate__(self) -> Dict[str, Any]:
        """For pickle and copy: a calibrated one carries its thresholds, another one all its data."""
        state: Dict[str, Any] = {"params": self.get_params(), "kcal": None, "data": None}
        if self._core is not None:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "state.kcal")
                self.save(path)
                with open(path, "rb") as file:
                    state["kcal"] = file.read()
        elif self._store is not None:
            state["data"] = self._store.state()
        return state

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__init__(**state["params"])  # type: ignore[misc]
        if state["kcal"] is not None:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "state.kcal")
                with open(path, "wb") as file:
                    file.write(state["kcal"])
                self._core = _core.load(path)
        if state["data"] is not None:
            folder = os.fspath(self.scratch) if self.scratch is not None and os.path.isdir(self.scratch) else ""
            self._store = Store.from_state(state["data"], folder)

    # ---- what is known after calibration ---------------------------------------------------------------------

    @property
    def meta_(self) -> Dict[str, Any]:
        core = self._fitted()
        if self._meta is None:
            self._meta = json.loads(core.describe())
        return self._meta

    @property
    def method_(self) -> str:
        return self.meta_["method"]

    @property
    def grid_(self) -> Tuple[int, int]:
        data = self.meta_["data"]
        return data["height"], data["width"]

    @property
    def n_classes_(self) -> int:
        return self.meta_["data"]["classes"]

    @property
    def classes_(self) -> np.ndarray:
        return np.arange(self.n_classes_)

    @property
    def n_images_(self) -> int:
        return self.meta_["data"]["images"]

    @property
    def n_groups_(self) -> int:
        return self.meta_["data"]["groups"]

    @property
    def fingerprint_(self) -> str:
        return self.meta_["data"]["fingerprint"]

    @property
    def guarantee_(self) -> str:
        return self._fitted().guarantee()

    @property
    def regions_(self) -> np.ndarray:
        return np.array(self._fitted().regions())

    @property
    def counts_(self) -> np.ndarray:
        return np.array(self._fitted().counts())

    @property
    def curve_level_(self) -> np.ndarray:
        return np.array(self._fitted().levels())

    # ---- for the eye -----------------------------------------------------------------------------------------

    def _state_text(self) -> str:
        if self._core is not None:
            height, width = self.grid_
            return (
                f"calibrated on {self.n_images_} images"
                + (f" of {self.n_groups_} groups" if self.meta_["data"]["grouped"] else "")
                + f", {self.n_classes_} classes, {height} x {width} pixels"
            )
        return f"not calibrated, {self.n_images_seen_} images held"

    def __repr__(self) -> str:
        shown = [f"method={self.method!r}"]
        for name, value in self.get_params().items():
            if name != "method" and (name not in _STANDARD or not _equal(value, _STANDARD[name])):
                shown.append(f"{name}={value!r}")
        return f"<{type(self).__name__}({', '.join(shown)}): {self._state_text()}>"

    def _repr_html_(self) -> str:
        rows = [("method", self.method), ("state", self._state_text())]
        if self._core is not None:
            meta = self.meta_
            rows += [
                ("regions", ", ".join(str(stratum["regions"]) for stratum in meta["strata"])),
                ("rule", ", ".join(f"{k} {meta['options'][k]}" for k in ("score", "condition", "pooling", "fallback"))),
                ("guarantee", self.guarantee_),
            ]
        body = "".join(
            f"<tr><th style='text-align:left;vertical-align:top'>{escape(name)}</th>"
            f"<td style='text-align:left'>{escape(text)}</td></tr>"
            for name, text in rows
        )
        return f"<table><caption style='text-align:left'>kandinsky.{type(self).__name__}</caption>{body}</table>"


_STANDARD = {
    name: parameter.default
    for name, parameter in inspect.signature(Calibrator.__init__).parameters.items()
    if parameter.default is not inspect.Parameter.empty
}
_NAMED = tuple(_STANDARD)
# Those that are the library's options of calibration; the others tell how data are read and work is done.
_CALIBRATION = tuple(name for name in _NAMED if name.replace("_", "-") in {flag for flag, *_ in _core.options()})


def _equal(one: Any, other: Any) -> bool:
    """Whether a parameter has its standard value; arrays never have."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return False
    return bool(one == other)


def load(path: PathLike) -> Calibrator:
    """Reads a calibrator from a .kcal file, written by Python, C++ or the command.

    Its parameters are those it was made with, apart from `ignore` and `logits`, which tell how arrays are read and
    are not part of the file: set them with ``set_params`` if yours differ from the defaults.

    Parameters
    ----------
    path : path

    Returns
    -------
    Calibrator
        Calibrated; it does not hold data.
    """
    return Calibrator.load(path)
