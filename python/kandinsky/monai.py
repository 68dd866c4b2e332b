"""Sets inside a MONAI pipeline. Import it by name: ``import kandinsky`` alone imports neither torch nor MONAI.

>>> from kandinsky.monai import KandinskySetsd                                       # doctest: +SKIP
>>> post = Compose([Activationsd("pred", softmax=True), KandinskySetsd("pred", "cal.kcal", alpha=0.1)])  # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any, Dict, Hashable, Mapping, Optional, Sequence, Union

import numpy as np
import torch
from monai.data import MetaTensor
from monai.transforms import MapTransform
from monai.utils import convert_to_numpy

from ._arrays import one_level
from ._types import Empty, PathLike
from .calibrator import Calibrator, opened
from .errors import DataError, UsageError
from .volumes import from_slices, predict_volume, to_slices

__all__ = ["KandinskySetsd", "from_slices", "to_slices"]


class KandinskySetsd(MapTransform):
    """A dictionary transform from a network's probabilities to prediction sets, for images [C,H,W] and volumes [C,x,y,z].

    The input may be the output of a sliding window, one item at a time (after ``decollate_batch``, as in a bundle's
    postprocessing). A MetaTensor gives a MetaTensor with its affine and other metadata, so that ``SaveImaged`` and ``Invertd``
    work. Volumes are sliced as recorded by the calibrator (docs/files.md), or axially without a record, along the axes closest to
    RAS+. Sets equal those of ``kandinsky predict`` for the same numbers.

    Parameters
    ----------
    keys : hashable or sequence
        Keys of the probabilities, or of logits if the calibrator was made with logits.
    calibrator : Calibrator or path
        A calibrated Calibrator, or a `.kcal` file, which suits the JSON of a bundle.
    alpha : float
        Allowed share of misses.
    output_postfix : str
        Results are stored as KEY_POSTFIX; "" replaces the input.
    output : {"sets", "p_values", "certain"}
        uint8 0/1 [C,...]; float32 p-values [C,...]; or one label map [1,...]: the class where the set contains only it, otherwise
        the number of classes.
    axis : {"axial", "coronal", "sagittal"}, optional
        Direction of the slices of volumes, if the calibrator has no record of it.
    empty : {"auto", "fill", "keep"}
        As for :meth:`kandinsky.Calibrator.predict_set`.
    """

    def __init__(
        self,
        keys: Union[Hashable, Sequence[Hashable]],
        calibrator: Union[Calibrator, PathLike],
        alpha: float = 0.1,
        *,
        output_postfix: str = "sets",
        output: str = "sets",
        axis: Optional[str] = None,
        empty: Empty = "auto",
        allow_missing_keys: bool = False,
    ) -> None:
        super().__init__(keys, allow_missing_keys)  # type: ignore[arg-type]
        if output not in ("sets", "p_values", "certain"):
            raise UsageError(f"output is {output!r}, but must be 'sets', 'p_values' or 'certain'")
        self.calibrator, self.alpha = opened(calibrator), one_level(alpha, None)
        self.output_postfix, self.output, self.axis, self.empty = output_postfix, output, axis, empty

    def __call__(self, data: Mapping[Hashable, Any]) -> Dict[Hashable, Any]:
        if not isinstance(data, Mapping):
            raise UsageError(f"the item is of type {type(data).__name__}, but must be a dict with the key of the probabilities")
        out = dict(data)
        for key in self.key_iterator(out):  # type: ignore[arg-type]
            out[f"{key}_{self.output_postfix}" if self.output_postfix else key] = self._of(out[key])
        return out

    def _of(self, given: Any) -> Any:
        probs = convert_to_numpy(given)
        if not isinstance(probs, np.ndarray):
            raise DataError(f"the probabilities are of type {type(given).__name__}, but must be an array or a tensor: load them first")
        level = None if self.output == "p_values" else self.alpha
        if probs.ndim == 4:
            affine = given.affine if isinstance(given, MetaTensor) else None
            if affine is not None:
                affine = convert_to_numpy(affine)
            made = predict_volume(self.calibrator, probs, level, affine=affine, axis=self.axis, empty=self.empty)
        elif probs.ndim == 3:
            images = np.ascontiguousarray(probs)
            made = self.calibrator.predict_p(images) if level is None else self.calibrator.predict_set(
                images, alpha=level, empty=self.empty)  # fmt: skip
        else:
            raise DataError(f"the probabilities have shape {list(probs.shape)}, but must be [C,H,W] or [C,x,y,z]; a batch is "
                            f"split first (decollate_batch)")  # fmt: skip
        if self.output == "certain":
            made = np.where(made.sum(0, keepdims=True) == 1, made.argmax(0, keepdims=True), made.shape[0]).astype(np.uint8)
        made = np.ascontiguousarray(made if made.dtype == np.float32 else made.astype(np.uint8))
        tensor = torch.from_numpy(made)
        if isinstance(given, MetaTensor):
            return MetaTensor(tensor.to(given.device), meta=dict(given.meta), applied_operations=given.applied_operations)
        return tensor.to(given.device) if isinstance(given, torch.Tensor) else made
