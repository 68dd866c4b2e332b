"""What a calibrated Calibrator does and knows: thresholds, sets, p-values, its judgement, its origin."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core as core_module
from ._arrays import Level, as_probs, class_list, levels, make_data, one_level, output
from ._options import empty_word
from ._progress import Progress, Shown
from .errors import NotFittedError, UsageError
from .evaluation import Evaluation


class Fitted:
    """The half of :class:`kandinsky.Calibrator` that needs thresholds; before there are any, it raises NotFittedError."""

    ignore: Union[int, Sequence[int], None]
    logits: str
    threads: int
    progress: Progress
    _core: Optional[core_module.Calibrated]
    _meta: Optional[Dict[str, Any]]

    # ---- using -----------------------------------------------------------------------------------------------

    def _fitted(self) -> "core_module.Calibrated":
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
        empty: str = "auto",
        no_empty: Optional[bool] = None,
        out: Optional[np.ndarray] = None,
    ) -> np.ndarray:
        """Prediction sets; :attr:`predicted_` says what they hold.

        Parameters
        ----------
        probs : array [N,C,H,W] or [C,H,W]
            Read in place unless it is a list, in foreign byte order, or unaligned.
        alpha, confidence_level : float or sequence of float
            As for :meth:`thresholds`.
        packed : bool
            Eight pixels a byte, as ``numpy.packbits(sets, axis=-1)`` would do.
        empty : {"auto", "fill", "keep"}
            What becomes of sets that would be empty: the most probable class enters ("fill"), or they stay empty
            ("keep"). "auto" fills, unless masks left calibration pixels without a class.
        no_empty : bool, optional
            The older name: True means "fill", False "keep".
        out : ndarray, optional
            A C-order array of the result's shape and type to write into.

        Returns
        -------
        ndarray
            bool [N,C,H,W] (uint8 [N,C,H,ceil(W/8)] if packed), without the first axis for one image, with a leading
            axis for a sequence of levels. True where the class is in the pixel's set.
        """
        core = self._fitted()
        word = empty_word(empty, no_empty)
        alphas, single = levels(alpha, confidence_level)
        data, one_image = self._predict_data(probs)
        height, width = self.grid_
        shape = (len(alphas), data.images, self.n_classes_, height, (width + 7) // 8 if packed else width)
        result, planes = output(shape, np.uint8 if packed else np.bool_, single, one_image, out)
        with Shown(self.progress) as callback:
            held = [
                core.predict_sets(data, one, plane, packed, word, self.threads, callback)
                for one, plane in zip(alphas, planes)
            ]
        self._predicted = held[0] if single else held
        return result

    @property
    def predicted_(self) -> Union[Dict[str, Any], List[Dict[str, Any]], None]:
        """What the sets of the last :meth:`predict_set` hold; a list for a sequence of levels, None before any.

        Number of `sets`, mean `set_size`, and shares of the sets: `single_share` of one class, `empty_share` before
        filling, `filled_share`, `full_share` with every class, `class_share` that hold each class.
        """
        return getattr(self, "_predicted", None)

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

    def _predict_data(self, probs: Any) -> Tuple["core_module.Data", bool]:
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
        empty: str = "auto",
        no_empty: Optional[bool] = None,
        bootstrap: int = 200,
        bootstrap_seed: int = 0,
    ) -> Evaluation:
        """Coverage, coverage error and what the sets hold, on labelled images.

        Parameters
        ----------
        probs, labels : arrays
            As for :meth:`partial_fit`.
        alpha, confidence_level : float
            Level for what the sets hold; coverage is measured at all levels.
        groups : array [N], optional
            Which images belong together: the bootstrap draws groups.
        classes : int or sequence of int, optional
            Classes to report; all unless given.
        empty, no_empty
            As for :meth:`predict_set`: set size, false classes, single-class and full sets are those of the sets as
            predicted. Coverage and coverage error are those before filling.
        bootstrap, bootstrap_seed : int
            Resamples of the test groups for the 90 % intervals (0: none), and their seed.

        Returns
        -------
        Evaluation
        """
        core = self._fitted()
        word = empty_word(empty, no_empty)
        level = one_level(alpha, confidence_level)
        wanted = class_list(classes)
        for one in wanted:
            if not 0 <= one < self.n_classes_:
                raise UsageError(f"classes has {one}, but the calibrator has classes 0 to {self.n_classes_ - 1}")
        if labels is None:
            raise UsageError("labels are needed to evaluate")
        data, *_ = make_data(probs, labels, groups, self.ignore, self.logits)
        with Shown(self.progress) as callback:
            found = core_module.evaluate(core, data, level, word, bootstrap, bootstrap_seed, self.threads, callback)
        return Evaluation(found, wanted)

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
