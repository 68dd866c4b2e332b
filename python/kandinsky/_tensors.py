"""Tensors of other libraries: to numpy, and back to their library and device."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .errors import DataError, UsageError

_CPU_DEVICES = {1, 3, 11, 13}  # DLPack: CPU, pinned by CUDA, pinned by ROCm, managed by CUDA


def is_tensor(value: Any) -> bool:
    """Whether it is an array of another library."""
    return not isinstance(value, np.ndarray) and hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__")


def to_numpy(value: Any, name: str) -> np.ndarray:
    """A view of a tensor's memory, or a copy if it is on an accelerator. Without gradients."""
    if hasattr(value, "detach"):
        value = value.detach()
    device = int(value.__dlpack_device__()[0])
    if device not in _CPU_DEVICES:
        if not hasattr(value, "cpu"):
            raise UsageError(
                f"{name} is on an accelerator (DLPack device type {device}) and has no method cpu(); move it to the CPU, "
                f"or, with score_function='lac', move t = thresholds(alpha) to the device once: prediction is probs >= t"
            )
        value = value.cpu()
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError) as problem:
        raise DataError(
            f"{name}: this tensor cannot be shared ({problem}); use .detach(), and .float() for bfloat16"
        ) from problem


def like(result: np.ndarray, given: Any) -> Any:
    """The result as a tensor of the given tensor's library; unchanged if that library has no conversion.

    A torch tensor is on the given tensor's device, an array of another library on the library's default device.
    """
    if not is_tensor(given):
        return result
    module = sys.modules.get(type(given).__module__.partition(".")[0])
    if hasattr(module, "as_tensor"):  # torch
        return module.as_tensor(result, device=given.device)  # type: ignore[union-attr]
    if hasattr(given, "__array_namespace__"):  # the array API: JAX, CuPy
        return given.__array_namespace__().asarray(result)
    return result
