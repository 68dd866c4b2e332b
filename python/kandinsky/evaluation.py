"""The result of `evaluate`."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Dict, List, Tuple

import numpy as np

from . import _core
from ._types import Floats
from .measures import ClassResult, Interval

if TYPE_CHECKING:
    import pandas


@dataclass(eq=False, repr=False)
class Result:
    """A result that prints as a table and converts to a dict, JSON, or a pandas frame. Can be pickled and copied."""

    alpha: float
    grid: Tuple[int, int]  #: (height, width)
    levels: Floats  #: the levels 1 - alpha at which coverage was measured
    results: Tuple[ClassResult, ...]  #: one for each method and class
    _json: str = field(repr=False)
    _table: str = field(repr=False)

    @staticmethod
    def _common(core: Any, classes: List[int]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """(the content of the JSON, the fields of every result)."""
        text = core.json(classes)
        content = json.loads(text)
        height, width = content["grid"]
        return content, {
            "alpha": float(content["alpha"]),
            "grid": (height, width),
            "levels": np.asarray(content["levels"], np.float64),
            "results": tuple(map(ClassResult.of, content["results"])),
            "_json": text + "\n",
            "_table": core.table(classes).rstrip("\n"),
        }

    def to_dict(self) -> Dict[str, Any]:
        """The content of the command's JSON as Python objects; None means NaN."""
        return dict(json.loads(self._json))

    def to_json(self) -> str:
        """The text that the command writes as JSON (times differ)."""
        return self._json

    @property
    def rows(self) -> List[Dict[str, Any]]:
        """The results as dicts, as in the JSON; :attr:`results` has them typed."""
        return list(self.to_dict()["results"])

    def to_frame(self) -> "pandas.DataFrame":
        """One row for each result, without the lists; needs pandas."""
        import pandas

        flat = []
        for row in self.rows:
            plain = {key: value for key, value in row.items() if not isinstance(value, (list, dict))}
            plain.update({f"{key}_seconds": value for key, value in row.get("seconds", {}).items()})
            flat.append(plain)
        return pandas.DataFrame(flat)

    def __str__(self) -> str:
        return self._table

    def __repr__(self) -> str:
        return self._table

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self._table)}</pre>"


@dataclass(eq=False, repr=False)
class Evaluation(Result):
    """The evaluation of a calibrator on labelled images. Prints as the command's table.

    Attributes
    ----------
    results : tuple of ClassResult
        Every measure of each reported class; `rows` has the same as dicts.
    ce_map : ndarray
        Coverage error of every pixel, float64 [C,H,W] ([1,H,W] with ``condition="none"``); NaN where no test image has the
        class.
    ece_map : ndarray
        Expected calibration error of the probabilities at every pixel, float64 [C,H,W].
    """

    images: int = 0  #: test images
    coverage_at_alpha: float = float("nan")  #: of all classes together, before any set was filled
    coverage_interval: Interval = (float("nan"), float("nan"))  #: its 90 % bootstrap interval
    infinite_thresholds: int = 0  #: thresholds at alpha that are infinite, over classes and pixels
    guarantee: str = ""
    ce_map: Floats = field(default_factory=lambda: np.empty(0))
    ece_map: Floats = field(default_factory=lambda: np.empty(0))

    @classmethod
    def _of(cls, core: "_core.Judgement", classes: List[int]) -> "Evaluation":
        content, common = cls._common(core, classes)
        coverage, interval = content["coverage_at_alpha"], content["coverage_interval"]
        nan = float("nan")
        return cls(
            **common,
            images=content["images"]["test"],
            coverage_at_alpha=nan if coverage is None else coverage,
            coverage_interval=(nan, nan) if interval is None else (interval[0], interval[1]),
            infinite_thresholds=content["infinite_thresholds"],
            guarantee=content["guarantee"],
            ce_map=np.array(core.ce_map()),
            ece_map=np.array(core.ece_map()),
        )

    def _each(self, name: str) -> Floats:
        return np.asarray([getattr(one, name) for one in self.results], np.float64)

    @property
    def mean_ce(self) -> Floats:
        """Mean coverage error over pixels, for each reported class."""
        return self._each("mean_ce")

    @property
    def floor(self) -> Floats:
        """The mean coverage error of a perfect calibrator with these test images."""
        return self._each("floor")

    @property
    def coverage(self) -> Floats:
        """Coverage at :attr:`levels`, [class, level]."""
        return np.stack([one.coverage for one in self.results])

    @property
    def ece(self) -> Floats:
        """Expected calibration error of the probabilities, for each reported class."""
        return self._each("ece")

    @property
    def set_size(self) -> float:
        """Mean number of classes in a set at alpha, after filling."""
        return self.results[0].set_size

    @property
    def false_share(self) -> Floats:
        """Share of the pixels with another label whose set at alpha contains the class, for each reported class."""
        return self._each("false_share")

    @property
    def false_discovery(self) -> Floats:
        """Among a group's pixels whose set at alpha contains the class, the share with another label (0 without such a pixel);
        mean over the groups, for each reported class."""
        return self._each("false_discovery")

    @property
    def place_error(self) -> Floats:
        """Mean distance of a pixel's coverage at alpha from 1 - alpha, over pixels with 3 test samples or more, for each
        reported class."""
        return self._each("place_error")

    @property
    def false_classes(self) -> float:
        """Mean number of wrong classes in a set at alpha."""
        return self.results[0].false_classes

    @property
    def single_share(self) -> float:
        """Share of sets of one class at alpha."""
        return self.results[0].single_share

    @property
    def single_right(self) -> float:
        """Share of the sets of one class that are right; NaN without such sets."""
        return self.results[0].single_right

    @property
    def full_share(self) -> float:
        """Share of sets with every class at alpha."""
        return self.results[0].full_share

    @property
    def empty_share(self) -> float:
        """Share of empty sets at alpha, before filling."""
        return self.results[0].empty_share

    @property
    def filled_share(self) -> float:
        """Share of sets that were filled with the most probable class; 0 with ``empty="keep"``."""
        return self.results[0].filled_share
