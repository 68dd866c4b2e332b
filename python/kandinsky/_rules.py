"""Common code of outlines and measures: a rule made from labelled images and stored as JSON, and images as cases."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple, Type, TypeVar

import numpy as np

from ._arrays import as_array, as_groups, as_labels, ignore_list, make_data
from ._checks import file_path
from ._files import write_whole
from ._types import PathLike
from ._words import in_python
from .calibrator import CalibrationWarning
from .errors import DataError, FileError, UsageError

_Own = TypeVar("_Own", bound="Rule")


def told(remarks: Sequence[str]) -> None:
    """Shows the library's remarks on a new rule as warnings."""
    for remark in remarks:
        warnings.warn(in_python(remark), CalibrationWarning, stacklevel=3)


class Cases:
    """The library's data set, with the properties that arrays do not have."""

    def __init__(
        self, probs: Any, labels: Any, groups: Any, *, masks: bool, spacing: Optional[Sequence[float]], ignore: Any, logits: Optional[str],
        class_count: int = 0, prefix: str = "",
    ) -> None:  # fmt: skip
        if masks:
            if logits not in (None, "none"):
                raise UsageError("logits has no effect: masks have no probabilities")
            probs = _one_hot(probs, labels, ignore_list(ignore), class_count, prefix)
        self.shape: Tuple[int, ...] = np.shape(probs)
        self.volumes = len(self.shape) == 5
        if self.volumes and groups is not None:
            given = as_groups(groups, prefix + "groups")
            if given is not None and len(np.unique(given)) != len(given):
                raise UsageError(f"{prefix}groups: each volume needs a group of its own")
        if self.volumes and groups is None:
            groups = np.arange(self.shape[0])
        self.data = make_data(probs, labels, groups, ignore, logits, prefix)[0]
        self.spacing = _steps(spacing, self.volumes)


def _steps(spacing: Optional[Sequence[float]], volumes: bool) -> List[float]:
    """(z, y, x); zeros mean pixels."""
    if spacing is None:
        return [0.0, 0.0, 0.0]
    try:
        steps = [float(one) for one in np.asarray(spacing, float).reshape(-1)]
    except (TypeError, ValueError):
        steps = []
    if len(steps) != (3 if volumes else 2) or not all(np.isfinite(steps)) or min(steps) <= 0:
        wanted = "three numbers (z, y, x)" if volumes else "two numbers (y, x)"
        raise UsageError(f"spacing is {spacing!r}, but must be {wanted} above 0")
    return steps if volumes else [1.0, *steps]


def _one_hot(masks: Any, labels: Any, ignore: List[int], classes: int, prefix: str) -> np.ndarray:
    """Predicted labels as probabilities of 0 and 1 (p * 255)."""
    found = as_labels(masks, prefix + "masks", 0)
    if found.ndim not in (3, 4) or found.dtype.kind not in "biu":
        raise DataError(f"{prefix}masks: shape {list(found.shape)} of {found.dtype}, but must be labels [N,H,W] or [N,D,H,W]")
    found = np.where(np.isin(found, ignore), 0, found)
    if classes == 0:
        truth = np.empty(0, int) if labels is None else as_array(labels, prefix + "labels")
        kept = truth[~np.isin(truth, ignore)]
        classes = 1 + int(max(1, found.max(initial=0), kept.max(initial=0)))
    if found.size and (found.min() < 0 or found.max() >= classes):
        raise DataError(f"{prefix}masks: a label is not one of the {classes} classes")
    return (found[:, None] == np.arange(classes).reshape(-1, *[1] * (found.ndim - 1))).astype(np.uint8) * 255


class Rule:
    """A rule made by :func:`fit_outline` or :func:`fit_measure`. Compares by content; can be pickled; prints as a sentence.

    Attributes
    ----------
    alpha : float
    guarantee : str
        The guarantee for a new group.
    classes : tuple of int
        In the order of the results of :meth:`predict`.
    """

    _format = ""

    def __init__(self, text: str) -> None:
        self._text = text
        self._json: Dict[str, Any] = json.loads(text)
        self.alpha: float = self._json["alpha"]
        self.guarantee: str = self._json["guarantee"]
        self.classes: Tuple[int, ...] = tuple(one["class"] for one in self._json["classes"])

    def to_dict(self) -> Dict[str, Any]:
        """The complete rule, as the command's --save writes it."""
        out: Dict[str, Any] = json.loads(self._text)
        return out

    def save(self, path: PathLike) -> None:
        """Writes the file that the command's --rule reads. A failure leaves an existing file unchanged."""
        write_whole(file_path("path", path), self._text.encode())

    @classmethod
    def load(cls: Type[_Own], path: PathLike) -> _Own:
        """Reads a file of :meth:`save` or of the command's --save."""
        try:
            text = Path(path).read_text(encoding="utf-8")
            found = json.loads(text)
        except OSError as problem:
            raise FileError(f"cannot read {path}: {problem.strerror or problem}") from problem
        except ValueError:  # no text, or no JSON
            found = None
        if not isinstance(found, dict) or found.get("format") != cls._format:
            raise DataError(f"{path} has no rule of this kind")
        try:
            return cls(text)
        except (KeyError, TypeError):
            raise DataError(f"{path} is damaged: a field is missing or of another kind") from None

    def _cases(self, probs: Any, labels: Any, groups: Any, spacing: Any, ignore: Any, logits: Optional[str]) -> Cases:
        hard = bool(self._json["masks_only"])
        return Cases(
            probs, labels, groups, masks=hard, spacing=spacing, ignore=ignore, logits=logits, class_count=self._json["class_count"]
        )

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._text == self._text  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return f"{type(self).__name__}: {self.guarantee}"
