"""What `evaluate` found."""

from __future__ import annotations

import json
from functools import cached_property
from html import escape
from typing import Any, Dict, List

import numpy as np

from . import _core


class Result:
    """Something that prints as a table and turns into a dict, JSON, or a pandas frame."""

    def __init__(self, core: Any, classes: List[int]) -> None:
        self._core, self._classes = core, classes

    @cached_property
    def _content(self) -> Dict[str, Any]:
        return json.loads(self._core.json(self._classes))

    def to_dict(self) -> Dict[str, Any]:
        """The content of the command's ``--json`` as Python objects; None stands for NaN."""
        return json.loads(self.to_json())

    def to_json(self) -> str:
        """The text that the command's ``--json`` writes (times differ)."""
        return self._core.json(self._classes) + "\n"

    @property
    def rows(self) -> List[Dict[str, Any]]:
        """One dict per method and class."""
        return self.to_dict()["results"]

    def to_frame(self) -> Any:
        """The rows as a pandas DataFrame, without the lists; needs pandas."""
        import pandas

        flat = []
        for row in self.rows:
            plain = {key: value for key, value in row.items() if not isinstance(value, (list, dict))}
            plain.update({f"{key}_seconds": value for key, value in row.get("seconds", {}).items()})
            flat.append(plain)
        return pandas.DataFrame(flat)

    @property
    def levels(self) -> np.ndarray:
        """The levels 1 - alpha at which coverage was measured."""
        return np.asarray(self._content["levels"], np.float64)

    @property
    def grid(self) -> "tuple[int, int]":
        """(height, width)."""
        height, width = self._content["grid"]
        return height, width

    def __str__(self) -> str:
        return self._core.table(self._classes).rstrip("\n")

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


class Evaluation(Result):
    """One calibrator, judged on labelled images. Prints as the command's table.

    Attributes
    ----------
    rows : list of dict
        Per class: mean_ce, q05, q95, floor, coverage, false_share, set_size, ece and more; see docs/formats.md.
    ce_map : ndarray
        Coverage error of every pixel, float64 [C,H,W], NaN where no test image has the class.
    ece_map : ndarray
        Expected calibration error of the probabilities at every pixel, float64 [C,H,W].
    """

    _core: "_core.Judgement"

    @cached_property
    def ce_map(self) -> np.ndarray:
        return np.array(self._core.ce_map())

    @cached_property
    def ece_map(self) -> np.ndarray:
        return np.array(self._core.ece_map())

    def _values(self, name: str) -> np.ndarray:
        return np.asarray([np.nan if row[name] is None else row[name] for row in self.rows], np.float64)

    @property
    def mean_ce(self) -> np.ndarray:
        """Mean coverage error over pixels, one per class reported."""
        return self._values("mean_ce")

    @property
    def floor(self) -> np.ndarray:
        """The mean coverage error of a perfect calibrator with these test images."""
        return self._values("floor")

    @property
    def coverage(self) -> np.ndarray:
        """Coverage at :attr:`levels`, [class, level]."""
        return np.asarray([[np.nan if v is None else v for v in row["coverage"]] for row in self.rows], np.float64)

    @property
    def coverage_at_alpha(self) -> float:
        value = self._content["coverage_at_alpha"]
        return float("nan") if value is None else value

    @property
    def set_size(self) -> float:
        """Mean number of classes in a set at alpha, as predicted."""
        return float(self._values("set_size")[0])

    @property
    def false_share(self) -> np.ndarray:
        """Of the pixels with another label, the share whose set at alpha holds the class; one per class reported."""
        return self._values("false_share")

    @property
    def place_error(self) -> np.ndarray:
        """Mean distance of a pixel's coverage at alpha from 1 - alpha, over pixels with 3 test samples or more; one per class
        reported."""
        return self._values("place_error")

    @property
    def false_classes(self) -> float:
        """Mean number of wrong classes in a set at alpha."""
        return float(self._values("false_classes")[0])

    @property
    def single_share(self) -> float:
        """Share of sets of one class at alpha."""
        return float(self._values("single_share")[0])

    @property
    def single_right(self) -> float:
        """How often the sets of one class are right; NaN without any."""
        return float(self._values("single_right")[0])

    @property
    def full_share(self) -> float:
        """Share of sets with every class at alpha."""
        return float(self._values("full_share")[0])

    @property
    def empty_share(self) -> float:
        """Share of empty sets at alpha, before any was filled."""
        return float(self._values("empty_share")[0])

    @property
    def filled_share(self) -> float:
        """Share of sets that the most probable class was put into; 0 with ``empty="keep"``."""
        return float(self._values("filled_share")[0])
