"""Thresholds that follow the image, beside others: adapt_peers.py FOLDER SET CLASS [--images 100] [--test 200] [--draws 2] [--command build/bin/kandinsky].

FOLDER holds SET_cal_probs.npy, SET_cal_labels.npy, SET_test_probs.npy and SET_test_labels.npy. Every side sees the same images of each
draw in a process of its own. Printed, as means over draws, for one class at alpha 0.1:

  coverage, spread, far below, false, place   as bench/adapt prints them
  fit s, predict ms   processor time: of the calibration, and of a test image (for the command, reading and writing included)
  MB                  the most memory that the process had

Sides: `crc` is conformal risk control of the false negative rate with one threshold on p. `mapie` is MAPIE's ConditionalExpectedRiskController
with the features of docs/adapt.md, standardised, on logit(p): a threshold linear in p itself cannot reach the probabilities near 0 that
these networks give. The others are the command's.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ALPHA = 0.1
SIDES = {"crc": [], "mapie": [], "image": ["--method", "image", "--promise", "split"], "image, adapt": ["--method", "image", "--adapt", "image", "--promise", "split"],
         "field": ["--promise", "split"], "field, adapt": ["--adapt", "image", "--promise", "split"]}  # fmt: skip


def features(probs):
    """docs/adapt.md, [image][feature]."""
    p = probs.reshape(len(probs), -1).astype(np.float64)
    inside, least = p > 0.5, 1 / 4096
    doubt = 4 * p * (1 - p)
    within = np.where(inside.any(1), (doubt * inside).sum(1) / np.maximum(1, inside.sum(1)), 1)
    stray = (p * ~inside).sum(1) / (p.sum(1) + p.shape[1] / 1024)
    return np.stack([np.log2(doubt.mean(1) + least), np.log2(p.mean(1) + least), np.log2(within + least), stray], 1)


def crc(cal, truth, test):
    """The largest threshold on p whose mean false negative rate, with one more image that misses all, is at most alpha."""
    start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    some = [np.sort(one[mask]) for one, mask in zip(cal, truth) if mask.any()]
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        risk = (sum(np.searchsorted(one, middle) / len(one) for one in some) + 1) / (len(some) + 1)
        low, high = (middle, high) if risk <= ALPHA else (low, middle)
    fitted = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    sets = test >= low
    return sets, fitted - start, resource.getrusage(resource.RUSAGE_SELF).ru_utime - fitted


def mapie(cal, truth, test):
    import torch
    from mapie.risk_control import ConditionalExpectedRiskController

    torch.manual_seed(0)
    torch.set_num_threads(1)

    def logit(p):
        q = np.clip(p, 1e-5, 1 - 1e-5)
        return np.log(q / (1 - q)).astype(np.float32)

    known = features(cal)
    mean, scale = known.mean(0), known.std(0) + 1e-9

    def feature_map(x):
        x = np.asarray(x)
        x = x[None] if x.ndim == 2 else x
        return ((features(1 / (1 + np.exp(-x))) - mean) / scale).astype(np.float32)

    def predict(x, param=None):
        return x if param is None else np.asarray(x) >= np.asarray(param).reshape(-1, 1, 1)

    some = truth.reshape(len(truth), -1).any(1)  # recall has no value without the class
    controller = ConditionalExpectedRiskController(predict, feature_map, target_level=1 - ALPHA, risk="recall", learning_rate=0.03)
    start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    controller.conformalize(logit(cal[some]), truth[some].astype(np.float32), n_epochs=300)
    fitted = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    sets = controller.predict(logit(test))
    return np.asarray(sets, bool), fitted - start, resource.getrusage(resource.RUSAGE_SELF).ru_utime - fitted


def command(words, options, folder, c):
    def call(*more):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([words, *more, "--threads", "1", "--quiet"], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime

    fit = call("calibrate", "--probs", f"{folder}/cal_probs.npy", "--labels", f"{folder}/cal_labels.npy", "-o", f"{folder}/c.kcal", *options)
    seconds = call("predict", f"{folder}/c.kcal", "--probs", f"{folder}/test_probs.npy", "--alpha", str(ALPHA), "--empty", "keep", "-o", f"{folder}/sets.npy")
    sets = np.load(f"{folder}/sets.npy", mmap_mode="r")[:, c].astype(bool)
    return sets, fit, seconds


def one_side(side, folder, c, program):
    load = lambda name: np.load(f"{folder}/{name}.npy", mmap_mode="r")  # noqa: E731
    if side in ("crc", "mapie"):
        cal, test = np.array(load("cal_probs")[:, c]), np.array(load("test_probs")[:, c])
        sets, fit, seconds = (crc if side == "crc" else mapie)(cal, load("cal_labels") == c, test)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    else:
        sets, fit, seconds = command(program, SIDES[side], folder, c)
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    labels = load("test_labels")
    truth, other = labels == c, (labels != c) & (labels != 255)
    coverage = np.array([one[mask].mean() for one, mask in zip(sets, truth) if mask.any()])
    seen = truth.sum(0)
    place = (sets & truth).sum(0)[seen >= 3] / seen[seen >= 3]
    print(json.dumps([coverage.mean(), np.abs(coverage - 1 + ALPHA).mean(), (coverage < 0.9 - ALPHA).mean(), (sets & other).sum() / other.sum(),
                      np.abs(place - 1 + ALPHA).mean(), fit, 1000 * seconds / len(labels), memory / 1024]))  # fmt: skip


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder"), parser.add_argument("set"), parser.add_argument("cls", type=int)
    for name, value in (("--images", 100), ("--test", 200), ("--draws", 2)):
        parser.add_argument(name, type=int, default=value)
    parser.add_argument("--command", default="build/bin/kandinsky")
    parser.add_argument("--side", help="one side, on the arrays that lie in FOLDER")
    args = parser.parse_args()
    if args.side:
        return one_side(args.side, args.folder, args.cls, args.command)
    rows = {side: [] for side in SIDES}
    for draw in range(args.draws):
        with tempfile.TemporaryDirectory() as room:
            for part, count in (("cal", args.images), ("test", args.test)):
                probs, labels = (np.load(Path(args.folder) / f"{args.set}_{part}_{what}.npy", mmap_mode="r") for what in ("probs", "labels"))
                chosen = np.sort(np.random.default_rng([26, draw]).permutation(len(probs))[:count])
                np.save(f"{room}/{part}_probs.npy", probs[chosen]), np.save(f"{room}/{part}_labels.npy", labels[chosen])
            for side in SIDES:
                words = [sys.executable, __file__, room, args.set, str(args.cls), "--side", side, "--command", args.command]
                rows[side].append(json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE, env={**os.environ}).stdout.splitlines()[-1]))
    print(f"{args.set} {args.images} images, class {args.cls}, {args.test} test images, {args.draws} draws")
    print(f"{'':<14}" + "".join(f"{name:>11}" for name in ("coverage", "spread", "far below", "false", "place", "fit s", "predict ms", "MB")))
    for side, found in rows.items():
        print(f"{side:<14}" + "".join(f"{value:>11.4f}" if i < 5 else f"{value:>11.2f}" for i, value in enumerate(np.mean(found, 0))))


if __name__ == "__main__":
    main()
