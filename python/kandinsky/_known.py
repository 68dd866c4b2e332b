"""Properties and guarantee of a calibrated Calibrator."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from . import _core as core_module
from ._words import in_python
from .errors import NotFittedError


class Known:
    """The attributes of :class:`kandinsky.Calibrator` with a trailing underscore; before calibration they raise."""

    _core: Optional[core_module.Calibrated]
    _meta: Optional[Dict[str, Any]]

    def _fitted(self) -> "core_module.Calibrated":
        if self._core is None:
            raise NotFittedError(
                "this Calibrator is not calibrated yet; call fit(probs, labels), or calibrate() after partial_fit()"
            )
        return self._core

    @property
    def meta_(self) -> Dict[str, Any]:
        """The content of the file's meta.json."""
        core = self._fitted()
        if self._meta is None:
            self._meta = json.loads(core.describe())
        return self._meta

    @property
    def methods_(self) -> List[str]:
        """The method of each class (one entry with ``condition="none"``): the given method, or the choice of `auto`."""
        return [stratum.get("method", self.meta_["method"]) for stratum in self.meta_["strata"]]

    @property
    def method_(self) -> str:
        """The method that was used; if `auto` chose several, their names separated by commas."""
        return ", ".join(dict.fromkeys(self.methods_))

    @property
    def grid_(self) -> Tuple[int, int]:
        """(height, width)."""
        data = self.meta_["data"]
        return data["height"], data["width"]

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return int(self.meta_["data"]["classes"])

    @property
    def classes_(self) -> "np.ndarray[Any, np.dtype[Any]]":
        """The class numbers."""
        return np.arange(self.n_classes_)

    @property
    def n_images_(self) -> int:
        """Number of calibration images."""
        return int(self.meta_["data"]["images"])

    @property
    def n_groups_(self) -> int:
        """Number of calibration groups."""
        return int(self.meta_["data"]["groups"])

    @property
    def fingerprint_(self) -> str:
        """Hash of the calibration images, which does not depend on their order."""
        return str(self.meta_["data"]["fingerprint"])

    @property
    def guarantee_(self) -> str:
        """The guarantee, as text."""
        return in_python(self._fitted().guarantee())

    @property
    def regions_(self) -> "np.ndarray[Any, np.dtype[Any]]":
        """Each pixel's region, [S,H,W]."""
        return np.array(self._fitted().regions())

    @property
    def counts_(self) -> "np.ndarray[Any, np.dtype[Any]]":
        """Number of calibration scores at each pixel, [S,H,W]."""
        return np.array(self._fitted().counts())

    @property
    def curve_level_(self) -> "np.ndarray[Any, np.dtype[Any]]":
        """The curve that a pixel uses, [S,H,W]: 0 its region's, 1 the image's, 2 none."""
        return np.array(self._fitted().levels())
