"""Conformal prediction sets per pixel in plain numpy, slow and short: the reference for the command's numbers.

Scores are 1 - p in float32. A stratum is a class (condition class) or all labels together (condition none); `member` is
bool [N,C,H,W], true where the pixel has the class; `regions` [H,W] has the number of each pixel's region.
"""

from fractions import Fraction
from math import comb

import numpy as np

INF = np.float32(np.inf)
LEVELS = [Fraction(m, 20) for m in range(1, 20)]


def two_classes(probs):
    """A single plane is the foreground: classes 1 - p and p."""
    return np.concatenate([np.float32(1) - probs, probs], axis=1) if probs.shape[1] == 1 else probs


def members(labels, classes, ignore=(255,)):
    """(member, valid) of labels [N,H,W] or masks [N,C,H,W]."""
    if labels.ndim == 4:
        member = labels != 0
        member = np.concatenate([~member, member], axis=1) if labels.shape[1] == 1 else member
        return member, np.ones(member[:, 0].shape, bool)
    valid = ~np.isin(labels, ignore)
    return (labels[:, None] == np.arange(classes)[:, None, None]) & valid[:, None], valid


def plain_threshold(scores, alpha):
    """The k-th smallest score, k = ceil((n+1)(1-alpha)); all scores have equal weight."""
    k = -((-(len(scores) + 1) * (1 - alpha)) // 1)
    if k <= 0:
        return -INF
    return np.sort(scores)[int(k) - 1] if k <= len(scores) else INF


def group_threshold(scores, groups, alpha):
    """The smallest score at which the weights reach 1-alpha: a group has weight 1/(G+1), shared equally by its scores."""
    if alpha >= 1:
        return -INF
    names, sizes = np.unique(groups, return_counts=True)
    weight = {name: Fraction(1, (len(names) + 1) * int(size)) for name, size in zip(names, sizes)}
    reached = Fraction(0)
    order = np.argsort(scores, kind="stable")
    for score, group in zip(scores[order], groups[order]):
        reached += weight[group]
        if reached >= 1 - alpha:
            return score
    return INF


def strata(member, condition):
    """The classes of each stratum, which share a curve."""
    classes = range(member.shape[1])
    return [[c] for c in classes] if condition == "class" else [list(classes)]


class Reference:
    """A calibrator for given regions. Its levels are exact fractions."""

    def __init__(self, probs, member, regions, pooling="pixels", groups=None, condition="class", min_count=None):
        self.classes, self.grid = member.shape[1], member.shape[2:]
        self.condition, self.pooling, self.min_count = condition, pooling, min_count
        self.regions = np.broadcast_to(regions, (self.classes, *self.grid))
        self.scores = np.float32(1) - two_classes(probs)
        self.member = member
        names = np.arange(len(probs)) if groups is None else np.asarray(groups)
        self.groups = np.broadcast_to(names[:, None, None, None], member.shape)

    def _value(self, chosen, alpha):
        scores, groups = self.scores[chosen], self.groups[chosen]
        if len(scores) == 0:
            return INF if alpha < 1 else -INF
        return plain_threshold(scores, alpha) if self.pooling == "pixels" else group_threshold(scores, groups, alpha)

    def score_thresholds(self, alpha):
        """float32 [C,H,W]."""
        alpha = Fraction(alpha)
        out = np.empty((self.classes, *self.grid), np.float32)
        for classes in strata(self.member, self.condition):
            own = np.zeros(self.member.shape, bool)
            own[:, classes] = self.member[:, classes]
            regions = self.regions[classes[0]]
            for region in np.unique(regions):
                chosen = own & (regions == region)
                if self.min_count is not None and chosen.sum() < self.min_count:
                    chosen = own
                for c in classes:
                    out[c][regions == region] = self._value(chosen, alpha)
        return out

    def sets(self, probs, alpha):
        return (np.float32(1) - two_classes(probs) <= self.score_thresholds(alpha)).astype(np.uint8)


def evaluation(calibrator, probs, member, valid, alpha):
    """What evaluate prints, as a dictionary; lists and maps have one entry for each stratum."""
    levels = np.array([float(level) for level in LEVELS])
    covered = np.stack([calibrator.sets(probs, 1 - level).astype(bool) for level in LEVELS])
    out = {"ce_map": [], "coverage": [], "mean_ce": [], "q05": [], "q95": [], "pixels": [], "samples": []}
    for classes in strata(member, calibrator.condition):
        there = member[:, classes]
        count = there.sum(axis=(0, 1))
        hits = (covered[:, :, classes] & there).sum(axis=(1, 2))
        with np.errstate(invalid="ignore"):
            ce = np.abs(hits / count - levels[:, None, None]).mean(axis=0)
        seen = ce[count > 0]
        out["ce_map"].append(ce)
        out["coverage"].append(hits.sum(axis=(1, 2)) / count.sum())
        out["mean_ce"].append(seen.mean())
        out["q05"].append(np.quantile(seen, 0.05))
        out["q95"].append(np.quantile(seen, 0.95))
        out["pixels"].append(len(seen))
        out["samples"].append(int(count.sum()))
    sets = calibrator.sets(probs, alpha).astype(bool)
    out["place_error"] = [place_error(sets, member[:, classes], classes, 1 - float(alpha))
                          for classes in strata(member, calibrator.condition)]
    out["false_shares"] = [[false_share(there, member, valid, classes) for there in covered]
                           for classes in strata(member, calibrator.condition)]
    out["level_sets"] = [what_sets_hold(there, member, valid) for there in covered]
    out["without_filling"] = what_sets_hold(sets, member, valid)
    out["empty_share"] = out["without_filling"]["empty_share"]
    full = filled(sets, two_classes(probs))
    out.update({name: value for name, value in what_sets_hold(full, member, valid).items() if name != "empty_share"})
    out["false_share"] = [false_share(full, member, valid, classes) for classes in strata(member, calibrator.condition)]
    out["ece"] = [expected_calibration_error(two_classes(probs)[:, c][valid], member[:, c][valid])
                  for c in range(member.shape[1])]
    return out


def place_error(sets, there, classes, wanted):
    """Mean distance of a pixel's coverage from what is wanted, over pixels with at least three samples; None without any."""
    count = there.sum(axis=(0, 1))
    hits = (sets[:, classes] & there).sum(axis=(0, 1))
    enough = count >= 3
    return np.abs(hits[enough] / count[enough] - wanted).mean() if enough.any() else None


def filled(sets, probs):
    """The sets, with the most probable class added to empty ones."""
    best = probs.argmax(axis=1)[:, None] == np.arange(sets.shape[1])[:, None, None]
    return sets | (best & ~sets.any(axis=1, keepdims=True))


def false_share(sets, member, valid, classes):
    """Of the labelled pixels without the class, the share whose set holds it; None without any."""
    others = valid[:, None] & ~member[:, classes]
    return (sets[:, classes] & others).sum() / others.sum() if others.any() else None


def what_sets_hold(sets, member, valid):
    size, right = sets.sum(axis=1)[valid], (sets & member).sum(axis=1)[valid]
    single = size == 1
    return {"set_size": size.mean(), "false_classes": (size - right).mean(), "empty_share": (size == 0).mean(),
            "single_share": single.mean(), "single_right": right[single].mean() if single.any() else None,
            "full_share": (size == sets.shape[1]).mean()}


def same_measures(row, expected, stratum):
    """The first measure in which a row of evaluate's JSON differs from evaluation(), or None."""
    def close(found, wanted):
        return found is None if wanted is None else found is not None and abs(found - wanted) < 1e-9
    names = ("set_size", "false_classes", "empty_share", "single_share", "single_right", "full_share")
    wrong = [name for name in names if not close(row[name], expected[name])]
    wrong += [f"{name} without filling" for name, found in row["without_filling"].items()
              if name in names and not close(found, expected["without_filling"][name])]
    wrong += [f"{name} at {level}" for name in names for level, wanted in enumerate(expected["level_sets"])
              if not close(row["level_sets"][name][level], wanted[name])]
    wrong += [name for name in ("false_share", "place_error") if not close(row[name], expected[name][stratum])]
    wrong += [f"false_shares at {level}" for level, wanted in enumerate(expected["false_shares"][stratum])
              if not close(row["false_shares"][level], wanted)]
    return wrong[0] if wrong else None


def expected_calibration_error(confidence, truth):
    """20 equal bins, the last one closed, weighted by their counts."""
    bins = np.minimum((confidence * np.float32(20)).astype(int), 19)
    gaps = [abs(confidence[bins == b].astype(float).sum() - truth[bins == b].sum()) for b in range(20)]
    return sum(gaps) / len(confidence)


def sampling_floor(n):
    """E|X/n - t| averaged over the levels t, X binomial: the coverage error of a perfect calibrator."""
    total = Fraction(0)
    for t in LEVELS:
        total += sum(comb(n, x) * t**x * (1 - t) ** (n - x) * abs(Fraction(x, n) - t) for x in range(n + 1))
    return float(total / len(LEVELS))
