"""Sets of a torch module whose levels follow the image: src/calibrate/adapted_tables.hpp has the rule, step by step."""

from __future__ import annotations

from typing import Any, Callable, Dict, List

import numpy as np
import torch
from torch import Tensor

_LARGEST = 4.0  # largest absolute value of a shift
_BINADE = 2.0**23  # number of keys between two powers of 2
_KEY_OF_ONE = 2 * 23 * _BINADE


class ExactModule(torch.nn.Module):
    """A module whose buffers keep their types, because thresholds rounded by half() would change the sets."""

    def _apply(self, fn: Callable[[Tensor], Tensor], *args: Any, **more: Any) -> "ExactModule":
        kept = dict(self._buffers)
        super()._apply(fn, *args, **more)
        for name, old in kept.items():
            new = self._buffers[name]
            if old is not None and new is not None and new.dtype != old.dtype:
                self._buffers[name] = old.to(new.device)
        return self


def image_features(p: Tensor) -> Tensor:
    """The features (docs/adapt.md) of probabilities [N,planes,H,W], float64 [N,planes,6]. Sums are exact in any order."""
    pixels = p.shape[2] * p.shape[3]
    p = torch.where(p > 0, p, torch.zeros_like(p)).clamp(max=1)
    own = torch.floor(p * 4096 + 0.5)
    unsure = torch.floor(p * (1 - p) * 262144)
    inside = own > 2048

    def total(values: Tensor) -> Tensor:
        return values.sum((2, 3), dtype=torch.float64)

    mass, count = total(own), total(inside)
    within = total(unsure * inside) / (count.clamp(min=1) * 65536)
    shares = [total(unsure) / (pixels * 65536), mass / (pixels * 4096), torch.where(count > 0, within, torch.ones_like(within))]
    stray = total(torch.where(inside, torch.zeros_like(own), own)) / (mass + 4 * pixels)
    first = torch.sqrt(4096 - own)
    roots = [total(torch.floor(own * root)) for root in (first, torch.sqrt(first) * 8)]
    means = [torch.log2((root + 16 * pixels) / (64 * (mass + pixels))) for root in roots]
    return torch.stack([*(torch.log2(share + 1 / 4096) for share in shares), stray, *means], -1)


class AdaptedSets(ExactModule):
    """Turns features [N,6] and scores [N,planes,H,W] of one stratum into its sets for each alpha."""

    slope: Tensor
    low: Tensor
    high: Tensor
    constant: Tensor
    levels: Tensor
    sure: Tensor
    last: Tensor
    limits: Tensor
    ends: Tensor
    edges: Tensor
    share: Tensor
    powers: Tensor
    whole: Tensor
    down: Tensor
    across: Tensor
    region: Tensor
    row_cells: Tensor
    column_cells: Tensor
    row_weights: Tensor
    column_weights: Tensor

    def __init__(self, tables: Dict[str, Any], height: int, width: int) -> None:
        super().__init__()
        self.height, self.width, self.lattice = height, width, "region" not in tables

        def keep(name: str, values: Any, dtype: torch.dtype) -> None:
            self.register_buffer(name, torch.from_numpy(np.array(values)).to(dtype))

        for name in ("slope", "low", "high", "constant"):
            keep(name, tables[name], torch.float64)
        keep("levels", np.array(tables["levels"]).astype(np.int64), torch.float64)
        keep("sure", np.array(tables["sure"]).astype(np.int64), torch.int16)
        keep("last", np.array(tables["last"]).astype(np.int64), torch.int16)
        keep("limits", tables["limits"], torch.float32)
        keep("ends", np.array(tables["ends"])[1:-1], torch.float32)
        keep("edges", tables["edges"], torch.float64)
        keep("share", np.array(tables["share"]).astype(np.int64), torch.int32)
        first, final = tables["exponents"]
        keep("powers", 0.5 ** np.arange(first, final + 1.0), torch.float64)
        keep("whole", np.array([tables["least"], tables["steps"], tables["unit"], first + 24]), torch.int64)
        if self.lattice:
            rows, columns = (tables[axis] for axis in ("down", "across"))
            keep("down", rows["place"], torch.int64)
            keep("across", columns["place"], torch.int64)
            # A pixel lies between two rows and two columns of cells. The number of each of the four cells is the sum of a row's
            # and a column's number, and its weight is the product of their weights.
            keep("row_cells", np.repeat(np.array(rows["cells"]) * tables["width"], 2, axis=0), torch.int64)
            keep("column_cells", np.tile(np.array(columns["cells"]), (2, 1)), torch.int64)
            keep("row_weights", np.repeat(np.array(rows["weights"]), 2, axis=0), torch.float64)
            keep("column_weights", np.tile(np.array(columns["weights"]), (2, 1)), torch.float64)
        else:
            keep("region", tables["region"], torch.int64)

    def _load_from_state_dict(self, state_dict: Dict[str, Any], prefix: str, *args: Any, **more: Any) -> None:
        for name, old in self._buffers.items():  # tables of another calibrator may have other sizes
            given = state_dict.get(prefix + name)
            if old is not None and given is not None and given.ndim == old.ndim:
                self._buffers[name] = torch.empty_like(given, dtype=old.dtype, device=old.device)
        super()._load_from_state_dict(state_dict, prefix, *args, **more)

    def forward(self, features: Tensor, scores: Tensor) -> List[Tensor]:
        row = self._row(features)
        return [self._sets(alpha, row, scores) for alpha in range(self.levels.shape[0])]

    def _row(self, features: Tensor) -> Tensor:
        """The row of the tables for each image, int64 [N], from its shift."""
        total = self.constant
        for k in range(self.slope.shape[0]):
            own = torch.maximum(torch.minimum(features[:, k, None], self.high[k]), self.low[k])
            total = total + self.slope[k] * own
        steps = torch.ceil(self.whole[1] * total.amax(1).clamp(-_LARGEST, _LARGEST)).to(torch.int64)
        return (steps - self.whole[0]).clamp(0, self.levels.shape[1] - 1)

    def _sets(self, alpha: int, row: Tensor, scores: Tensor) -> Tensor:
        sure = scores <= self._limits(self.sure[alpha], row)
        open_ = (scores <= self._limits(self.last[alpha], row)) & ~sure
        which = open_.flatten().nonzero().squeeze(1)
        pixels, planes = self.height * self.width, scores.shape[1]
        image = torch.div(which, pixels * planes, rounding_mode="floor")
        level = self.levels[alpha][row][image]
        decided = self._decide(level, which % pixels, scores.flatten()[which])
        return sure.flatten().index_put((which,), decided).view_as(sure)

    def _limits(self, columns: Tensor, row: Tensor) -> Tensor:
        """Score limits, float32 [N,1,H,W]. `columns` [row,place down,place across] has indices into the list of limits."""
        limit = self.limits[columns[row].to(torch.int64)]
        if self.lattice:
            return limit[:, :, self.across][:, self.down].unsqueeze(1)
        return limit[:, 0][:, self.region].view(-1, 1, self.height, self.width)

    def _decide(self, level: Tensor, pixel: Tensor, score: Tensor) -> Tensor:
        key = self._key(score.double())
        column = (score[:, None] > self.ends).sum(1)
        start, end = self.edges[column], self.edges[column + 1]
        columns = self.share.shape[1]
        if self.lattice:
            y, x = torch.div(pixel, self.width, rounding_mode="floor"), pixel % self.width
            at = (self.row_cells[:, y] + self.column_cells[:, x]) * columns + column
            weight = self.row_weights[:, y] * self.column_weights[:, x]
        else:
            at = (self.region[pixel] * columns + column)[None]
            weight = torch.ones_like(level)[None]
        share = self.share.flatten()
        below, above = (share[at] * weight).sum(0), (share[at + 1] * weight).sum(0)
        passed = torch.minimum((key - start).clamp(min=0), end - start)
        return (above - below) * passed <= (level * self.whole[2] - below) * (end - start)

    def _key(self, score: Tensor) -> Tensor:
        """scale_key() without access to bits: between two powers of 2 the key grows linearly by _BINADE."""
        size = score.abs()
        upper = size >= 0.5
        distance = torch.where(upper, (size - 1).abs(), size)
        bits = _BINADE * ((distance[:, None] * self.powers - 1).clamp(0, 1).sum(1) + self.whole[3])
        return score.sign() * torch.where(upper, _KEY_OF_ONE + (size - 1).sign() * bits, bits)
