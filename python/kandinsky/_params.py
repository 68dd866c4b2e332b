"""A calibrator's parameters by scikit-learn's conventions: stored as given, checked when data are given."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple, Union

import numpy as np

from . import _core
from ._checks import real, whole, word
from ._options import check_name, counts_for, words_of
from ._types import WORDS, Adapt, Condition, Compat, Fallback, Labels, Logits, MethodName, PathLike, Pooling, Promise, Risk, ScoreName
from ._words import RENAMED, flag_of, renamed

if TYPE_CHECKING:
    from typing import Sequence

    from typing_extensions import Self

    from ._progress import Progress

_COUNTS = ("min_count", "rungs", "seed", "threads")


class Parameters:
    """The part of :class:`kandinsky.Calibrator` that knows its parameters."""

    method: MethodName
    condition: Condition
    pooling: Pooling
    fallback: Fallback
    min_count: int
    score_function: ScoreName
    quantiles: "Sequence[float]"
    rungs: int
    split: float
    promise: Promise
    adapt: Adapt
    confidence: float
    risk: Risk
    compat: Compat
    seed: int
    memory: Union[str, int, None]
    ignore: Labels
    logits: Logits
    threads: int
    scratch: Optional[PathLike]
    progress: "Progress"
    options: Optional[Dict[str, Any]]
    _more: Dict[str, Any]
    _names: Tuple[str, ...] = ()  # of the constructor's parameters
    _made_with: Optional[Dict[str, Any]] = None  # the value of _calibration() at calibration

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """Parameters by name, as given."""
        return {**{name: getattr(self, name) for name in self._names}, **self._more}

    def set_params(self, **params: Any) -> "Self":
        """Changes all given parameters, or none if a name is unknown. With a new method, options that only the old one has are removed.

        The calibration stays as it is until the next :meth:`fit`.
        """
        params = current(params)
        method = params.get("method", self.method)
        more = {name: value for name, value in params.items() if name not in self._names}
        for name in more:
            check_name(name, method)
        kept = {name: value for name, value in self._more.items() if counts_for(name, method)}
        for name, value in params.items():
            if name in self._names:
                setattr(self, name, value)
        self._more = {**kept, **more}
        return self

    def _calibration(self) -> Dict[str, Any]:
        """The parameters that the thresholds depend on."""
        flags = {flag for flag, *_ in _core.options()}
        named = {name: getattr(self, name) for name in self._names if flag_of(name) in flags}
        return {"method": self.method, **named, **(self.options or {}), **self._more}

    def _changed(self) -> bool:
        """Whether parameters changed after calibration."""
        now = self._calibration()
        made = self._made_with
        return made is not None and (now.keys() != made.keys() or any(differ(now[k], made[k]) for k in now))

    def _option_words(self) -> Tuple[str, List[str], Dict[str, np.ndarray]]:
        """(method, words, arrays), after every parameter's type has been checked."""
        for name in WORDS:
            if name in self._names:
                word(name, getattr(self, name))
        for name in _COUNTS:
            whole(name, getattr(self, name))
        real("split", self.split)
        real("confidence", self.confidence)
        given = self._calibration()
        del given["method"]
        return (self.method, *words_of(self.method, given))

    def _threads(self) -> int:
        return whole("threads", self.threads)

    # ---- scikit-learn's protocols; scikit-learn is imported only when it calls them --------------------------

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=True))

    def get_metadata_routing(self) -> Any:
        """The metadata that scikit-learn passes to fit and partial_fit: `groups`, if requested."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = getattr(self, "_metadata_request", None)
        if request is None:
            request = MetadataRequest(owner=type(self).__name__)
            for name in ("fit", "partial_fit"):
                getattr(request, name).add_request(param="groups", alias=None)
        return request

    def set_fit_request(self, *, groups: Union[bool, str, None] = None) -> "Self":
        """Requests that scikit-learn (with metadata routing enabled) pass `groups` to :meth:`fit`, as in GridSearchCV."""
        request = self.get_metadata_routing()
        request.fit.add_request(param="groups", alias=groups)
        self._metadata_request = request
        return self


def current(params: Dict[str, Any]) -> Dict[str, Any]:
    """Parameters under their current names; warns about older names."""
    for old, new in RENAMED.items():
        if old in params:
            warnings.warn(f"the parameter {old} is called {new} now", FutureWarning, stacklevel=3)
    return renamed(params)


def differ(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return one is not other
    return bool(one != other)
