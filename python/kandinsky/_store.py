"""Stores batches until calibration in temporary files without a name, so that memory stays bounded. Results do not change."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from . import _core
from .errors import DataError, UsageError

_CHUNK = 32 << 20  # bytes converted at a time
_Mark = Tuple[Optional[_core.ScratchArray], Optional[np.dtype], int]


class Column:
    """Items of one shape; the type becomes wider when a batch needs it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.items: Optional[_core.ScratchArray] = None
        self.dtype: Optional[np.dtype] = None

    def __len__(self) -> int:
        return 0 if self.items is None else len(self.items)

    def array(self) -> np.ndarray:
        """The items so far, mapped from the file."""
        assert self.items is not None
        return np.asarray(self.items.array())

    def mark(self) -> _Mark:
        """What restore() goes back to."""
        return self.items, self.dtype, len(self)

    def restore(self, mark: _Mark) -> None:
        self.items, self.dtype, count = mark
        if self.items is not None:
            self.items.truncate(count)

    def append(self, batch: np.ndarray, dtype: np.dtype) -> None:
        """After a failure the column needs restore()."""
        if self.items is None:
            self._open(dtype, batch.shape[1:])
        elif dtype != self.dtype:
            wide = self._wider(dtype)
            if wide != self.dtype:
                before = self.array()
                self._open(wide, batch.shape[1:])
                self._write(before)
        self._write(batch)

    def _open(self, dtype: np.dtype, item_shape: Tuple[int, ...]) -> None:
        self.dtype = np.dtype(dtype)
        self.items = _core.ScratchArray(self.dtype.name, list(item_shape), self.folder)

    def _wider(self, dtype: np.dtype) -> np.dtype:
        raise NotImplementedError

    def _convert(self, part: np.ndarray) -> np.ndarray:
        return part.astype(self.dtype)

    def _write(self, batch: np.ndarray) -> None:
        assert self.items is not None
        if batch.dtype == self.dtype:
            self.items.append(batch)
            return
        step = max(1, _CHUNK // max(1, batch[:1].nbytes))
        for first in range(0, len(batch), step):
            self.items.append(self._convert(batch[first : first + step]))


class Probabilities(Column):
    """Probabilities. float16 and uint8 are stored unchanged; float64 is stored as float32, as in the library."""

    def append(self, batch: np.ndarray, dtype: Optional[np.dtype] = None) -> None:
        super().append(batch, np.dtype(np.float32) if batch.dtype == np.float64 else batch.dtype)

    def _wider(self, dtype: np.dtype) -> np.dtype:
        return np.dtype(np.float32)

    def _convert(self, part: np.ndarray) -> np.ndarray:
        if part.dtype == np.uint8:
            return part.astype(np.float32) / np.float32(255)
        return part.astype(self.dtype)


class Labels(Column):
    def append(self, batch: np.ndarray, dtype: Optional[np.dtype] = None) -> None:
        super().append(batch, batch.dtype)

    def _wider(self, dtype: np.dtype) -> np.dtype:
        return np.dtype(np.int64)


class Store:
    """All batches given to one calibrator."""

    def __init__(self, folder: str = "") -> None:
        self.folder = folder
        self.probs, self.labels = Probabilities(folder), Labels(folder)
        self.groups: Optional[List[np.ndarray]] = None

    def __len__(self) -> int:
        return len(self.probs)

    @property
    def grouped(self) -> bool:
        return self.groups is not None

    def append(self, probs: np.ndarray, labels: np.ndarray, groups: Optional[np.ndarray]) -> None:
        """Adds a batch whose values have been checked. A batch that does not fit or cannot be written changes nothing."""
        if len(self):
            self._check_fits(probs, labels, groups)
        before = self.probs.mark(), self.labels.mark()
        try:
            self.probs.append(probs)
            self.labels.append(labels)
            if groups is not None:
                self.groups = (self.groups or []) + [np.array(groups, np.int64)]
        except BaseException:  # also Ctrl-C
            for column, mark in zip((self.probs, self.labels), before):
                column.restore(mark)
            raise

    def _check_fits(self, probs: np.ndarray, labels: np.ndarray, groups: Optional[np.ndarray]) -> None:
        before, truth = self.probs.array().shape[1:], self.labels.array().shape[1:]
        if probs.shape[1:] != before:
            raise DataError(
                f"probs has images of shape {list(probs.shape[1:])} (classes, height, width), but earlier batches had "
                f"{list(before)}"
            )
        if labels.shape[1:] != truth:
            raise DataError(f"labels has images of shape {list(labels.shape[1:])}, but earlier batches had {list(truth)}")
        if (groups is not None) != self.grouped:
            raise UsageError(
                "groups must be given with every batch or with none; "
                + ("earlier batches had groups" if self.grouped else "earlier batches had none")
            )

    def all_groups(self) -> Optional[np.ndarray]:
        return None if self.groups is None else np.concatenate(self.groups)

    def extend(self, other: "Store") -> None:
        """Appends another store's data."""
        if len(other):
            # `other` may be this store, so its arrays are read before any of them grows.
            self.append(other.probs.array(), other.labels.array(), other.all_groups())

    def state(self) -> Dict[str, Any]:
        """Plain arrays, for pickle."""
        return {
            "probs": np.array(self.probs.array()),
            "labels": np.array(self.labels.array()),
            "groups": self.all_groups(),
        }

    @classmethod
    def from_state(cls, state: Dict[str, Any], folder: str) -> "Store":
        store = cls(folder)
        store.append(state["probs"], state["labels"], state["groups"])
        return store
