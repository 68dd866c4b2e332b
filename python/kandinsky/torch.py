"""Sets inside a torch model. Import it by name: ``import kandinsky`` alone does not import torch.

>>> import kandinsky.torch                                                            # doctest: +SKIP
>>> model = torch.nn.Sequential(net, kandinsky.torch.PredictionSets(cal, alpha=0.1))  # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ._arrays import levels
from ._options import empty_word
from ._torch_adapted import AdaptedSets, ExactModule, image_features
from ._types import Empty, Groups, Level, Logits, PathLike
from .calibrator import Calibrator, opened
from .errors import DataError, UsageError

__all__ = ["CalibrationMetric", "PredictionSets"]

_SCORES = ("lac", "aps", "raps", "saps", "margin", "near")
_LOGITS = ("none", "sigmoid", "softmax")
# Constants of the score near (docs/scores.md), rounded to float32 as in the library.
_TOP = 65535.0
_HALF, _GROWN = float(np.float32(0.1)), float(np.float32(1) + np.float32(0.1))
_FEW = 8  # at most this many classes are ranked by comparing planes; a sort along the classes takes about eight times as long
_STEP = float(np.float32(0.5) / np.float32(_TOP))


class PredictionSets(ExactModule):
    """From probabilities (or logits) [N,C,H,W] to the sets of :meth:`kandinsky.Calibrator.predict_set`.

    Everything is a buffer: ``to(device)``, ``state_dict``, ``torch.export`` and ``torch.onnx.export`` work. ``half()`` and
    ``bfloat16()`` leave the thresholds in float32, and inputs of less precision are compared in float32, as predict_set does.

    Parameters
    ----------
    calibrator : Calibrator or path
        Calibrated, with a score that is not randomized; or its `.kcal` file.
    alpha, confidence_level : float or sequence of float
        As for :meth:`kandinsky.Calibrator.thresholds`.
    empty : {"auto", "fill", "keep"}
        As for :meth:`kandinsky.Calibrator.predict_set`.
    logits : {"none", "sigmoid", "softmax"}, optional
        Function that turns the module's input into probabilities; default: that of the calibrator.

    Attributes
    ----------
    thresholds : Tensor
        float32 [A,C,H,W]: probability thresholds for the score lac, score thresholds for the other scores. For classes whose
        thresholds depend on the image (``adapt="image"``), those of an average image.
    alphas, guarantee, fingerprint
        The levels of the sets, the guarantee, and the fingerprint of the calibration images.
    """

    thresholds: Tensor
    kind: Tensor
    of_levels: Tensor
    of_images: Tensor

    def __init__(
        self,
        calibrator: Union[Calibrator, PathLike],
        alpha: Optional[Level] = None,
        confidence_level: Optional[Level] = None,
        *,
        empty: Empty = "auto",
        logits: Optional[Logits] = None,
    ) -> None:
        super().__init__()
        calibrator = opened(calibrator)
        meta = calibrator.meta_
        options, more = meta["options"], meta["options"].get("score_options", {})
        if more.get("randomized"):
            raise UsageError(
                f"the score {options['score']} is randomized: its sets depend on a hash of the image, which a module does not "
                f"make; calibrate with randomized=False"
            )
        self.alphas, self.single = levels(alpha, confidence_level)
        if not self.alphas:
            raise UsageError("alpha is empty, but the module needs a level")
        self.guarantee, self.fingerprint = calibrator.guarantee_, calibrator.fingerprint_
        self.score, self.logits = str(options["score"]), str(logits or meta["data"].get("logits", "none"))
        if self.logits not in _LOGITS:
            raise UsageError(f"logits is {self.logits!r}, but must be 'none', 'sigmoid' or 'softmax'")
        rule = empty_word(empty, None)
        precise = options.get("risk", "recall") != "recall"
        if rule == "fill" and precise:
            raise UsageError(
                "empty='fill' puts classes into sets without a test, so the calibrator's promise of precision would not hold; "
                "leave it out"
            )
        self.fill = rule == "fill" or (rule == "auto" and not precise and not meta["data"].get("classless", False))
        self.classes, (self.height, self.width) = calibrator.n_classes_, calibrator.grid_
        core = calibrator._fitted()
        self.register_buffer("thresholds", torch.from_numpy(np.stack([np.array(core.limits(each)) for each in self.alphas])))
        # A stratum whose levels follow the image has its own module with the thresholds.
        self.pooled = options["condition"] == "none"
        strata = range(1 if self.pooled else self.classes)
        tables = {stratum: core.adapted_tables(stratum, self.alphas) for stratum in strata}
        self.adapted = torch.nn.ModuleDict(
            {str(s): AdaptedSets(each, self.height, self.width) for s, each in tables.items() if each is not None}
        )
        self.register_buffer("more", torch.from_numpy(_penalties(self.score, more, self.classes)).view(-1, 1, 1))
        words = [_SCORES.index(self.score), _LOGITS.index(self.logits), int(self.fill)]
        self.register_buffer("kind", torch.tensor(words))
        # Integers: every device has them, and half() keeps them.
        self.register_buffer("of_levels", torch.from_numpy(np.array(self.alphas).view(np.int64)))
        self.register_buffer("of_images", torch.tensor(list(self.fingerprint.encode()), dtype=torch.uint8))

    def extra_repr(self) -> str:
        filled = "filled" if self.fill else "kept"
        return f"alpha={self.alphas}, score={self.score}, logits={self.logits}, empty sets are {filled}"

    def _load_from_state_dict(self, state_dict: Dict[str, Any], prefix: str, *args: Any, **more: Any) -> None:
        kind = state_dict.get(prefix + "kind")
        if kind is not None and kind.tolist() != self.kind.tolist():
            raise UsageError(
                f"the state has another score, logits or rule for empty sets than this module, whose score is {self.score!r} and "
                f"logits {self.logits!r}; its empty sets are {'filled' if self.fill else 'kept'}"
            )
        alphas, images = (state_dict.get(prefix + name) for name in ("of_levels", "of_images"))
        if alphas is not None and alphas.tolist() != self.of_levels.tolist():
            found = alphas.cpu().numpy().view(np.float64).tolist()
            raise UsageError(f"the state has alpha {found}, but this module has {self.alphas}; make it with the same alpha")
        if images is not None and images.tolist() != self.of_images.tolist():
            raise UsageError(
                "the state is of a calibrator with other calibration images than this module's; make the module from the same calibrator"
            )
        super()._load_from_state_dict(state_dict, prefix, *args, **more)

    def forward(self, probs: Tensor) -> Tensor:
        """bool [N,C,H,W], with a leading axis for a sequence of levels; true where the class is in the pixel's set."""
        p = self.probabilities(probs)
        if len(self.adapted) > 0:
            sets = self._adapted_sets(p)
        elif self.score == "lac":
            sets = [p >= limit for limit in self.thresholds.unbind()]
        else:
            scores = self.scores(p)
            sets = [scores <= limit for limit in self.thresholds.unbind()]
        if self.fill:
            numbers = torch.arange(self.classes, device=p.device).view(-1, 1, 1)
            top = p.argmax(1, keepdim=True) == numbers  # of equally probable classes the lowest number
            sets = [each | (~each.any(1, keepdim=True) & top) for each in sets]
        return sets[0] if self.single else torch.stack(sets)

    def _adapted_sets(self, p: Tensor) -> List[Tensor]:
        """The sets for each alpha, before empty sets are filled."""
        features, scores = image_features(p), self.scores(p)
        if self.pooled:
            return self.adapted["0"]((features / self.classes).sum(1), scores)
        planes: List[List[Tensor]] = []
        for c in range(self.classes):
            own = slice(c, c + 1)
            if str(c) in self.adapted:
                planes.append(self.adapted[str(c)](features[:, c], scores[:, own]))
            elif self.score == "lac":
                planes.append([p[:, own] >= limit[own] for limit in self.thresholds.unbind()])
            else:
                planes.append([scores[:, own] <= limit[own] for limit in self.thresholds.unbind()])
        return [torch.cat(each, 1) for each in zip(*planes)]

    def probabilities(self, given: Tensor) -> Tensor:
        """Probabilities, float32 [N,C,H,W]; a single plane (class 1 of two classes) becomes two planes."""
        if not isinstance(given, Tensor) or not given.is_floating_point():
            what = given.dtype if isinstance(given, Tensor) else f"of type {type(given).__name__}"
            raise DataError(f"the input is {what}, but must be a tensor of floats: the network's output")
        one = self.classes == 2 and given.ndim == 4 and given.shape[1] == 1
        if given.ndim != 4 or tuple(given.shape[1:]) != (1 if one else self.classes, self.height, self.width):
            raise DataError(
                f"the input has shape {list(given.shape)}, but the calibrator is made for "
                f"[N,{self.classes},{self.height},{self.width}]"
            )
        p = given.float()
        if self.logits == "sigmoid":
            p = p.sigmoid()
        elif self.logits == "softmax":
            p = p.softmax(1)
        return torch.cat((1 - p, p), 1) if one else p

    def scores(self, p: Tensor) -> Tensor:
        """The scores of float32 probabilities, by the same operations in the same order as in the library."""
        if self.score == "lac":
            return 1 - p
        if self.score == "near":
            return self._near(p)
        planes = list(p.unbind(1))
        if self.score == "margin":
            first, second = planes[0], torch.full_like(planes[0], -torch.inf)
            for plane in planes[1:]:
                second = torch.maximum(second, torch.minimum(first, plane))
                first = torch.maximum(first, plane)
            first, second = first.unsqueeze(1), second.unsqueeze(1)
            return torch.where(p >= first, second, first) - p
        few = self.classes <= _FEW
        ordered, order = (_sorted(planes), None) if few else self._order(p)
        for rank in range(1, self.classes):  # in a loop, because cumsum() may use another precision or order
            ordered[rank] = ordered[0] if self.score == "saps" else ordered[rank - 1] + ordered[rank]
        by_rank = [plane + more for plane, more in zip(ordered, self.more.unbind())]
        if order is not None:
            return torch.zeros_like(p).scatter(1, order, torch.stack(by_rank, 1))
        ranks, scores = _ranks(p, planes), torch.empty_like(p)
        for rank, plane in enumerate(by_rank):
            scores = torch.where(ranks == rank, plane.unsqueeze(1), scores)
        return scores

    def _order(self, p: Tensor) -> Tuple[List[Tensor], Tensor]:
        """The planes in descending order at each pixel, and their classes; of equal values the lower class comes first."""
        # ONNX has no stable sort, but its TopK guarantees this order; torch's topk does not.
        exporting = torch.onnx.is_in_onnx_export()
        ordered, order = p.topk(self.classes, 1) if exporting else torch.sort(p, dim=1, descending=True, stable=True)
        return list(ordered.unbind(1)), order

    def _near(self, p: Tensor) -> Tensor:
        side = max(1, (self.height + self.width) // 256)
        down, across = -(-self.height // side), -(-self.width // side)
        known = (functional.max_pool2d(p, side, ceil_mode=True) if side > 1 else p).clamp(0, 1)
        window = torch.floor((_GROWN * known / (known + _HALF)).clamp(max=1) * _TOP + 0.5)
        reach, total = 0, torch.zeros_like(window)  # `reach`: radius of the windows, which is also the sum of the weights
        while reach == 0 or 2 * reach * 8 <= down + across:
            shift = max(1, reach)
            for length, pads in ((down, (0, 0, shift, -shift)), (across, (shift, -shift, 0, 0))):
                if shift < length:  # otherwise the window already covers the axis
                    back = tuple(-pad for pad in pads)
                    beside = torch.maximum(functional.pad(window, pads), functional.pad(window, back))
                    window = torch.maximum(window, beside)
            total = total + shift * (_TOP - window)
            reach += shift
        more = _STEP * torch.floor(total / reach)
        if side > 1:
            cells = more[:, :, :, None, :, None].expand(-1, -1, -1, side, -1, side)
            more = cells.reshape(-1, self.classes, down * side, across * side)[:, :, : self.height, : self.width]
        return (1 - p) + more


def _sorted(planes: List[Tensor]) -> List[Tensor]:
    """The planes in descending order at each pixel, by odd-even transposition, which needs no sort along the classes."""
    planes, count = list(planes), len(planes)
    for turn in range(count):
        for i in range(turn % 2, count - 1, 2):
            a, b = planes[i], planes[i + 1]
            planes[i], planes[i + 1] = torch.maximum(a, b), torch.minimum(a, b)
    return planes


def _ranks(p: Tensor, planes: List[Tensor]) -> Tensor:
    """The rank of each class, uint8 [N,C,H,W]; of equally probable classes the lower number comes first."""
    numbers = torch.arange(len(planes), device=p.device).view(-1, 1, 1)
    ranks = torch.zeros_like(p, dtype=torch.uint8)
    for number, plane in enumerate(planes):
        plane = plane.unsqueeze(1)
        ranks = ranks + ((plane > p) | ((plane == p) & (numbers > number))).to(torch.uint8)
    return ranks


def _penalties(score: str, more: Dict[str, Any], classes: int) -> np.ndarray:
    """The penalty that each rank adds to the score, float32."""
    ranks = np.arange(classes, dtype=np.float32)
    if score == "raps":
        return np.float32(more["lambda"]) * np.maximum(ranks + np.float32(1 - more["kreg"]), np.float32(0))
    return np.float32(more["weight"]) * ranks if score == "saps" else np.zeros(classes, np.float32)


class CalibrationMetric:
    """Calibrates batch by batch, with the method names of torchmetrics: ``update``, ``compute``, ``reset``, ``merge_state``.

    Parameters
    ----------
    calibrator : Calibrator, optional
        With the parameters to use; a default one unless given. Batches are kept in its temporary file.
    """

    def __init__(self, calibrator: Optional[Calibrator] = None) -> None:
        self.calibrator = Calibrator() if calibrator is None else calibrator

    def update(self, preds: Tensor, target: Tensor, groups: Optional[Groups] = None) -> None:
        """Adds a batch: [N,C,H,W] and [N,H,W], on any device and in any precision."""
        self.calibrator.partial_fit(_plain(preds), target.detach().cpu(), groups)

    __call__ = update

    def compute(self) -> Calibrator:
        """The calibrator, calibrated on all batches so far."""
        return self.calibrator.calibrate()

    def reset(self) -> None:
        """Removes all batches."""
        self.calibrator.reset()

    def merge_state(self, others: "List[CalibrationMetric]") -> None:
        """Adds the batches of other metrics, such as those of other workers, in any order."""
        for other in others:
            self.calibrator.merge(other.calibrator)


def _plain(values: Tensor) -> Tensor:
    """On the CPU, in a precision that numpy knows."""
    values = values.detach().cpu()
    return values.float() if values.dtype == torch.bfloat16 else values
