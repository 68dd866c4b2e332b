"""How even coverage can become if only the level of an image follows its features.

    adapt_limit.py FOLDER SET CLASS [--curves 300] [--slopes 1250] [--test 1250] [--seed 0] [--kandinsky build/bin/kandinsky]

FOLDER holds SET_cal_probs.npy and SET_cal_labels.npy. Some images give the curves (`calibrate --promise none`), others the slopes
of a quantile regression on features of the image, and others are test images. For each rule the program prints `spread` and `far
below` as defined in bench/adapt.cpp, at alpha 0.1. The constant of each rule is chosen on the test images, so that their mean
coverage is 0.9: no calibration can do better with these curves, features and slopes. The rule `fitted to the test images` also
learns its slopes from them. Needs numpy and scikit-learn (bench/requirements.txt).
"""
import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from sklearn.ensemble import ExtraTreesRegressor

from adapt_peers import features

LEAST, QUANTILES, LEVELS, RIDGES, COVERAGE = 1 / 4096, 101, (0.85, 0.9, 0.95), (0.001, 0.01, 0.1), 0.9


def more_features(p):
    """Quantiles of the log-odds, areas at several thresholds, shape and place of the mask, slopes of the probability."""
    odds, inside = np.log((p + 1e-6) / (1 - p + 1e-6)), p > 0.5
    within = odds[inside] if inside.any() else np.zeros(1)
    without = odds[~inside] if (~inside).any() else np.zeros(1)
    rows, columns = np.nonzero(inside) if inside.any() else (np.zeros(1), np.zeros(1))
    down, right = np.abs(np.diff(p, axis=0)), np.abs(np.diff(p, axis=1))
    edge = inside[0].mean() + inside[-1].mean() + inside[:, 0].mean() + inside[:, -1].mean()
    return np.concatenate([
        np.quantile(within, (0.02, 0.05, 0.1, 0.25, 0.5, 0.75)), np.quantile(without, (0.5, 0.75, 0.9, 0.95, 0.98)),
        [np.log2((p > share).mean() + LEAST) for share in (0.01, 0.1, 0.25, 0.75, 0.9, 0.99)],
        [rows.std(), columns.std(), rows.mean(), columns.mean(), np.log2(down.mean() + right.mean() + LEAST)],
        [np.log2((right > 0.25).mean() + LEAST), np.log2(p.max() + LEAST), within.mean(), edge],
    ])  # fmt: skip


def values_of(work, command, cal, fresh, cls):
    """[image][quantile] of logit(u) over the pixels of the class (docs/adapt.md), and the images: those with at least 20 such pixels."""
    for name, (probs, labels) in {"cal": cal, "new": fresh}.items():
        np.save(work / f"{name}_p.npy", probs), np.save(work / f"{name}_y.npy", labels)
    run = lambda *words: subprocess.run([command, *map(str, words), "-q"], check=True)  # noqa: E731
    run("calibrate", "--probs", work / "cal_p.npy", "--labels", work / "cal_y.npy", "--promise", "none", "-o", work / "cal.kcal")
    run("predict", work / "cal.kcal", "--probs", work / "new_p.npy", "--alpha", 0.1, "--pvalues", work / "v.npy", "-o", work / "s.npy")
    pvalues, out, kept = np.load(work / "v.npy", mmap_mode="r"), [], []
    for i, truth in enumerate(fresh[1]):
        own = truth == cls
        if own.sum() >= 20:
            u = np.clip(1 - pvalues[i, cls][own], 1e-4, 1 - 1e-4)
            out.append(np.quantile(np.log(u / (1 - u)), (np.arange(QUANTILES) + 0.5) / QUANTILES))
            kept.append(i)
    return np.array(out), np.array(kept)


def slopes(x, values, ridge, width=0.05):
    """Quantile regression with common slopes; the pinball loss is smoothed over `width`."""
    n, k = x.shape

    def loss(weights):
        beta, gradient = weights[:k], np.zeros_like(weights)
        total, gradient[:k] = ridge * beta @ beta / 2, ridge * beta
        for j, level in enumerate(LEVELS):
            rest = values - (x @ beta)[:, None] - weights[k + j]
            total += (width * np.logaddexp(0, rest / width) - (1 - level) * rest).mean() / len(LEVELS)
            slope = -(1 / (1 + np.exp(-np.clip(rest / width, -50, 50))) - (1 - level)).mean(1) / len(LEVELS)
            gradient[:k] += x.T @ slope / n
            gradient[k + j] = slope.mean()
        return total, gradient

    return minimize(loss, np.zeros(k + len(LEVELS)), jac=True, method="L-BFGS-B", options={"maxiter": 500}).x[:k]


def judge(name, values, shift):
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if (values - shift[:, None] <= middle).mean() < COVERAGE else (low, middle)
    coverage = (values - shift[:, None] <= high).mean(1)
    print(f"{name:<44} spread {np.abs(coverage - COVERAGE).mean():.4f}  far below {(coverage < COVERAGE - 0.1).mean():.4f}", flush=True)


def main(given):
    folder = Path(given.folder)
    probs = np.load(folder / f"{given.set}_cal_probs.npy", mmap_mode="r")
    labels = np.load(folder / f"{given.set}_cal_labels.npy", mmap_mode="r")
    order = np.random.default_rng(given.seed).permutation(len(probs))
    curves, rest = order[: given.curves], order[given.curves :][: given.slopes + given.test]
    fresh = probs[rest], labels[rest]
    with tempfile.TemporaryDirectory() as work:
        values, kept = values_of(Path(work), given.kandinsky, (probs[curves], labels[curves]), fresh, given.cls)
    own = fresh[0][kept, given.cls].astype(np.float64)
    x = np.concatenate([features(own), np.stack([more_features(p) for p in own])], 1)
    learn, test = kept < given.slopes, kept >= given.slopes
    x = np.clip((x - x[learn].mean(0)) / (x[learn].std(0) + 1e-9), -4, 4)
    print(f"{given.set}, class {given.cls}: {given.curves} images for curves, {learn.sum()} for slopes, {test.sum()} to test")
    judge("one level", values[test], np.zeros(test.sum()))
    for count in (4, 6, x.shape[1]):
        for ridge in RIDGES:
            judge(f"{count} features, ridge {ridge}", values[test], x[test, :count] @ slopes(x[learn, :count], values[learn], ridge))
        judge(f"{count} features, fitted to the test images", values[test], x[test, :count] @ slopes(x[test, :count], values[test], RIDGES[0]))
    trees = ExtraTreesRegressor(400, min_samples_leaf=5, random_state=0).fit(x[learn], values[learn][:, int(COVERAGE * QUANTILES)])
    judge(f"trees on {x.shape[1]} features", values[test], trees.predict(x[test]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder"), parser.add_argument("set"), parser.add_argument("cls", type=int)
    parser.add_argument("--curves", type=int, default=300), parser.add_argument("--slopes", type=int, default=1250)
    parser.add_argument("--test", type=int, default=1250), parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kandinsky", default="build/bin/kandinsky")
    main(parser.parse_args())
