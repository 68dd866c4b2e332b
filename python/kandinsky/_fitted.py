"""The methods of a calibrated Calibrator: thresholds, sets, p-values, evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Tuple, Union, overload

import numpy as np

from . import _core as core_module
from ._arrays import as_probs, class_list, levels, make_data, one_level, output
from ._checks import switch, whole
from ._known import Known
from ._options import empty_word
from ._params import Parameters
from ._progress import Shown
from ._shapes import volumes_of_sets
from ._tensors import like
from ._types import AnyTensor, Array, Classes, Empty, Groups, Level
from .errors import UsageError
from .evaluation import Evaluation

if TYPE_CHECKING:
    from ._types import Sets


class _Asked(NamedTuple):
    """The images of a prediction."""

    data: "core_module.Data"
    core: "core_module.Calibrated"
    shape: Tuple[int, ...]  # [images, classes, height, width]
    one_image: bool
    depth: int  # slices of each volume; 0: these are images


class Fitted(Known, Parameters):
    """The part of :class:`kandinsky.Calibrator` that needs thresholds; it raises NotFittedError without them."""

    _predicted: Union[Dict[str, Any], List[Dict[str, Any]], None] = None

    # ---- using -----------------------------------------------------------------------------------------------

    def thresholds(
        self, alpha: Optional[Level] = None, confidence_level: Optional[Level] = None
    ) -> "np.ndarray[Any, np.dtype[Any]]":
        """Probability thresholds: a class is in the set if and only if ``p >= threshold``.

        They exist only for the score "lac" without ``adapt="image"``; otherwise UsageError. Prediction is then only this
        comparison. For an accelerator, move the thresholds there once.

        Parameters
        ----------
        alpha : float or sequence of float, default 0.1
            Allowed share of misses.
        confidence_level : float or sequence of float
            1 - alpha; give one of the two.

        Returns
        -------
        ndarray
            float32 [C,H,W], or [A,C,H,W] for a sequence; -inf: always in the set, +inf: never.
        """
        return self._each_level("thresholds", alpha, confidence_level)

    def score_thresholds(
        self, alpha: Optional[Level] = None, confidence_level: Optional[Level] = None
    ) -> "np.ndarray[Any, np.dtype[Any]]":
        """Score thresholds: a class is in the set if and only if ``score <= threshold``; +inf: always in the set.

        UsageError with ``adapt="image"``, because thresholds then depend on the image.
        """
        return self._each_level("score_thresholds", alpha, confidence_level)

    def _each_level(self, what: str, alpha: Optional[Level], confidence_level: Optional[Level]) -> np.ndarray:
        core = self._fitted()
        alphas, single = levels(alpha, confidence_level)
        each = [np.array(getattr(core, what)(one)) for one in alphas]
        if single:
            return each[0]
        return np.stack(each) if each else np.empty((0, self.n_classes_, *self.grid_), np.float32)

    def curves(self) -> np.ndarray:
        """The curve of every pixel: score thresholds at 1 %, 2 %, ..., 100 %, float32 [100,C,H,W].

        With ``compat="released"``, the levels are k/99 for k = 0 to 99.
        """
        released = self.meta_["options"]["compat"] == "released"
        return self.score_thresholds([1 - (q / 99 if released else (q + 1) / 100) for q in range(100)])

    @overload
    def predict_set(
        self, probs: "Union[np.ndarray[Any, Any], List[Any], memoryview]", alpha: Optional[Level] = ...,
        confidence_level: Optional[Level] = ..., *, packed: bool = ..., empty: Empty = ..., no_empty: Optional[bool] = ...,
        out: "Optional[Sets]" = ...,
    ) -> "Sets": ...  # fmt: skip

    @overload
    def predict_set(
        self, probs: AnyTensor, alpha: Optional[Level] = ..., confidence_level: Optional[Level] = ..., *, packed: bool = ...,
        empty: Empty = ..., no_empty: Optional[bool] = ..., out: None = ...,
    ) -> AnyTensor: ...  # fmt: skip

    def predict_set(
        self,
        probs: Any,
        alpha: Optional[Level] = None,
        confidence_level: Optional[Level] = None,
        *,
        packed: bool = False,
        empty: Empty = "auto",
        no_empty: Optional[bool] = None,
        out: Any = None,
    ) -> Any:
        """Prediction sets; :attr:`predicted_` summarises them.

        Parameters
        ----------
        probs : array [N,C,H,W], [C,H,W] or [N,C,D,H,W]
            Read in place unless it is a list, in foreign byte order, unaligned, or on an accelerator. Images have the
            calibrator's size; any size if thresholds do not depend on the place, as with method "image".
        alpha, confidence_level : float or sequence of float
            As for :meth:`thresholds`.
        packed : bool
            Eight pixels in a byte, as with ``numpy.packbits(sets, axis=-1)``.
        empty : {"auto", "fill", "keep"}
            Rule for empty sets: add the most probable class ("fill") or leave them empty ("keep"). "auto" fills,
            unless masks left calibration pixels without a class or `risk` includes precision. If `risk` includes precision,
            "fill" is a UsageError.
        no_empty : bool, optional
            The older name of `empty`: True means "fill", False "keep".
        out : ndarray, optional
            A C-order array of the result's shape and type to write into.

        Returns
        -------
        ndarray or tensor
            bool [N,C,H,W] (uint8 [N,C,H,ceil(W/8)] if packed), without the first axis for one image, with a leading
            axis for a sequence of levels; [N,C,D,H,W] for volumes. True where the class is in the pixel's set.
            A tensor gives a tensor of its library (torch: on its device).
        """
        word = empty_word(empty, no_empty)
        alphas, single = levels(alpha, confidence_level)
        asked = self._asked(probs, out)
        *leading, width = asked.shape
        shape = (len(alphas), *leading, (width + 7) // 8 if switch("packed", packed) else width)
        result, planes = output(shape, np.uint8 if packed else np.bool_, single, asked.one_image, out)
        threads = self._threads()
        with Shown(self.progress) as callback:
            held = [
                asked.core.predict_sets(asked.data, one, plane, packed, word, threads, callback)
                for one, plane in zip(alphas, planes)
            ]
        self._predicted = held[0] if single else held
        return like(volumes_of_sets(result, asked.depth) if asked.depth else result, probs)

    def predict(self, probs: Array, alpha: Optional[Level] = None, confidence_level: Optional[Level] = None) -> Any:
        """:meth:`predict_set` under scikit-learn's name, for pipelines."""
        return self.predict_set(probs, alpha, confidence_level)  # type: ignore[misc, type-var]

    @property
    def predicted_(self) -> Union[Dict[str, Any], List[Dict[str, Any]], None]:
        """Summary of the sets of the last :meth:`predict_set`; a list for a sequence of levels, None before the first call.

        Number of `sets`, mean `set_size`, and shares of the sets: `single_share` (one class), `empty_share` (no class, before
        filling), `filled_share` (filled), `full_share` (every class), and for each class `class_share` (sets that contain it).
        """
        return self._predicted

    @overload
    def predict_p(
        self, probs: "Union[np.ndarray[Any, Any], List[Any], memoryview]", *, out: "Optional[Sets]" = ...
    ) -> "np.ndarray[Any, np.dtype[np.float32]]": ...

    @overload
    def predict_p(self, probs: AnyTensor, *, out: None = ...) -> AnyTensor: ...

    def predict_p(self, probs: Any, *, out: Any = None) -> Any:
        """Conformal p-values: a class is in the set at alpha if and only if its p-value exceeds alpha.

        This holds before empty sets are filled. UsageError with ``risk="precision"``, which has no p-values.

        Parameters
        ----------
        probs : array [N,C,H,W], [C,H,W] or [N,C,D,H,W]
        out : ndarray, optional
            A C-order float32 array to write into.

        Returns
        -------
        ndarray or tensor
            float32 of the shape of `probs`.
        """
        asked = self._asked(probs, out)
        result, planes = output((1, *asked.shape), np.float32, True, asked.one_image, out)
        with Shown(self.progress) as callback:
            asked.core.predict_p(asked.data, planes[0], self._threads(), callback)
        return like(volumes_of_sets(result, asked.depth) if asked.depth else result, probs)

    def _asked(self, probs: Any, out: Any) -> _Asked:
        self._fitted()
        array = as_probs(probs, "probs")
        one_image = array.ndim == 3
        depth = array.shape[2] if array.ndim == 5 else 0
        if depth and out is not None:
            raise UsageError("out is for images; leave it out for volumes")
        data, *_ = make_data(array[None] if one_image else array, None, None, self.ignore, self.logits)
        core = self._sized(data)
        grid = self.grid_ if core is self._core else data.grid
        return _Asked(data, core, (data.images, self.n_classes_, *grid), one_image, depth)

    def _sized(self, data: "core_module.Data") -> "core_module.Calibrated":
        """The calibrator, resized to these images if its thresholds do not depend on the place."""
        core = self._fitted()
        if data.grid == self.grid_ or any(stratum["regions"] != 1 for stratum in self.meta_["strata"]):
            return core
        return core.resized(*data.grid)

    def evaluate(
        self,
        probs: Array,
        labels: Array,
        alpha: Optional[float] = None,
        confidence_level: Optional[float] = None,
        *,
        groups: Optional[Groups] = None,
        classes: Classes = None,
        empty: Empty = "auto",
        no_empty: Optional[bool] = None,
        bootstrap: int = 200,
        bootstrap_seed: int = 0,
    ) -> Evaluation:
        """Measures coverage, coverage error and the contents of the sets on labelled images.

        Parameters
        ----------
        probs, labels : arrays
            As for :meth:`partial_fit`.
        alpha, confidence_level : float
            Level of the measures of sets; the coverage error uses all levels.
        groups : array [N], optional
            Group of each image; the bootstrap draws groups.
        classes : int or sequence of int, optional
            Classes to report; default: all.
        empty, no_empty
            As for :meth:`predict_set`. Set size, false classes, and sets of one or all classes are measured after filling,
            coverage and coverage error before filling.
        bootstrap, bootstrap_seed : int
            Resamples of the test groups for the 90 % intervals (0: none), and their seed.

        Returns
        -------
        Evaluation
        """
        self._fitted()
        word = empty_word(empty, no_empty)
        level = one_level(alpha, confidence_level)
        wanted = class_list(classes)
        for one in wanted:
            if not 0 <= one < self.n_classes_:
                raise UsageError(f"classes has {one}, but the calibrator has classes 0 to {self.n_classes_ - 1}")
        if labels is None:
            raise UsageError("labels are needed to evaluate")
        data, *_ = make_data(probs, labels, groups, self.ignore, self.logits)
        counts = whole("bootstrap", bootstrap), whole("bootstrap_seed", bootstrap_seed), self._threads()
        with Shown(self.progress) as callback:
            found = core_module.evaluate(self._sized(data), data, level, word, *counts, callback)
        return Evaluation._of(found, wanted)

    def score(self, probs: Array, labels: Array) -> float:
        """The negative mean coverage error over classes, for model selection: higher is better, 0 is best; NaN without samples."""
        errors = self.evaluate(probs, labels, bootstrap=0).mean_ce
        return float("nan") if np.isnan(errors).all() else -float(np.nanmean(errors))
