"""The words of options and the types of arrays, for type checkers and messages."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, List, Literal, Protocol, Sequence, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

MethodName = Literal["pixel", "image", "mask", "kmeans", "genann", "fcc", "field", "auto"]
Condition = Literal["class", "none"]
Pooling = Literal["groups", "pixels"]
Fallback = Literal["auto", "none", "image"]
ScoreName = Literal["near", "lac", "aps", "raps", "saps", "margin"]
# A method, or a method with a score, for `compare`.
ComparedName = Union[
    MethodName,
    Literal[
        "pixel:near", "pixel:lac", "pixel:aps", "pixel:raps", "pixel:saps", "pixel:margin",
        "image:near", "image:lac", "image:aps", "image:raps", "image:saps", "image:margin",
        "mask:near", "mask:lac", "mask:aps", "mask:raps", "mask:saps", "mask:margin",
        "kmeans:near", "kmeans:lac", "kmeans:aps", "kmeans:raps", "kmeans:saps", "kmeans:margin",
        "genann:near", "genann:lac", "genann:aps", "genann:raps", "genann:saps", "genann:margin",
        "fcc:near", "fcc:lac", "fcc:aps", "fcc:raps", "fcc:saps", "fcc:margin",
        "field:near", "field:lac", "field:aps", "field:raps", "field:saps", "field:margin",
        "auto:near", "auto:lac", "auto:aps", "auto:raps", "auto:saps", "auto:margin",
    ],
]
Promise = Literal["auto", "loo", "split", "none"]
Adapt = Literal["none", "image"]
Risk = Literal["recall", "precision", "recall,precision"]
Compat = Literal["none", "released"]
Logits = Literal["none", "sigmoid", "softmax"]
Empty = Literal["auto", "fill", "keep"]
Sides = Literal["both", "outer", "inner"]
OutlineUnit = Literal["group", "object"]
Connectivity = Literal["corners", "faces"]
MeasureBy = Literal["quantiles", "predicted", "soft", "relative", "auto"]
ScenePreset = Literal["photo", "medical"]

#: The words of an option, by its name in Python.
WORDS = {
    "method": MethodName,
    "condition": Condition,
    "pooling": Pooling,
    "fallback": Fallback,
    "score_function": ScoreName,
    "promise": Promise,
    "adapt": Adapt,
    "risk": Risk,
    "compat": Compat,
    "logits": Logits,
    "empty": Empty,
    "sides": Sides,
    "unit": OutlineUnit,
    "connectivity": Connectivity,
    "by": MeasureBy,
}


class Tensor(Protocol):
    """An array of another library that supports DLPack: torch, JAX, CuPy."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...

    def __dlpack_device__(self) -> Any: ...


AnyTensor = TypeVar("AnyTensor", bound=Tensor)
#: Numbers in any number of axes.
Array = Union["np.ndarray[Any, Any]", Tensor, List[Any], memoryview]
#: The group of each image: integers or names.
Groups = Union["np.ndarray[Any, Any]", Tensor, Sequence[int], Sequence[str], Sequence[bytes]]
#: The weight of each image.
Weights = Union["np.ndarray[Any, Any]", Tensor, Sequence[float]]
Level = Union[float, Sequence[float]]
Labels = Union[int, Sequence[int], None]
Classes = Union[int, Sequence[int], "np.ndarray[Any, Any]", None]
PathLike = Union[str, "os.PathLike[str]"]

Floats = NDArray[np.float64]
if TYPE_CHECKING:
    Sets = NDArray[Any]  # bool, or uint8 if packed
