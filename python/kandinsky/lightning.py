"""A callback for Lightning. Import it by name: ``import kandinsky`` alone imports neither torch nor Lightning."""

from __future__ import annotations

import copy
import os
from typing import Any, Callable, Optional, Tuple

try:
    from lightning.pytorch import Callback
except ImportError:  # the name of older versions
    from pytorch_lightning import Callback  # type: ignore[no-redef]

from ._types import PathLike
from .calibrator import Calibrator
from .errors import UsageError
from .torch import CalibrationMetric

__all__ = ["Calibrate"]


def _of_step(outputs: Any, batch: Any) -> Tuple[Any, ...]:
    if not isinstance(outputs, dict) or not {"probs", "labels"} <= outputs.keys():
        raise UsageError(
            "validation_step() must return a dict with 'probs' and 'labels' (and 'groups', if any), or Calibrate needs "
            "take=function(outputs, batch)"
        )
    return outputs["probs"], outputs["labels"], outputs.get("groups")


class Calibrate(Callback):
    """Calibrates on the validation images at the end of each validation, on one device.

    Parameters
    ----------
    calibrator : Calibrator, optional
        A calibrator with the parameters to use.
    path : path, optional
        File to which the calibrator is saved each time.
    take : callable, optional
        ``take(outputs, batch)`` returns probabilities, labels and optionally groups of a step. Without it, ``validation_step()`` must
        return a dict with "probs", "labels" and optionally "groups".

    Attributes
    ----------
    calibrator_ : Calibrator
        The calibrator of the last validation that ended, without its data.
    """

    def __init__(
        self,
        calibrator: Optional[Calibrator] = None,
        path: Optional[PathLike] = None,
        take: Callable[[Any, Any], Tuple[Any, ...]] = _of_step,
    ) -> None:
        self.metric, self.path, self.take = CalibrationMetric(calibrator), path, take
        self.calibrator_: Optional[Calibrator] = None

    def on_validation_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        if trainer.world_size > 1:
            raise UsageError(
                "Calibrate works on one device; on several devices, keep a CalibrationMetric on each and call merge_state() at the end"
            )
        self.metric.reset()

    def on_validation_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int, dataloader_idx: int = 0
    ) -> None:
        if not trainer.sanity_checking:
            self.metric.update(*self.take(outputs, batch))

    def on_validation_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        if trainer.sanity_checking:
            return
        self.calibrator_ = copy.copy(self.metric.compute())  # the next validation empties the metric's own
        if self.path is not None:
            self.calibrator_.save(os.fspath(self.path))
