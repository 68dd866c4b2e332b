""
    "Compares thresholds that follow the image with other tools, on the same images and features.

    adapt_peers
        .py FOLDER SET CLASS[--images 100][--test 200][--draws 2][--sides "crc;mapie"]
                            [--kandinsky build / bin / kandinsky]

    FOLDER holds SET_cal_probs.npy,
    SET_cal_labels.npy and the same of test.Needs numpy; the side `mapie` needs
bench/requirements.txt. Every side runs in its own process, on one thread, with the images of a draw. The program prints for one
class at alpha 0.1, as means over draws: coverage, spread, far below, hardest, false and place as defined in bench/adapt.cpp;
processor seconds to calibrate and milliseconds to predict an image, without imports (for kandinsky, those of the whole command
with reading and writing); and the largest memory of the process.

`crc` is conformal risk control of the false-negative rate with one threshold on p. `mapie` is MAPIE's
ConditionalExpectedRiskController, which learns a threshold linear in the features of docs/adapt.md, standardised. It works on
logit(p), because a threshold linear in p cannot follow probabilities near 0. With its learning rate of 0.0001 the threshold would
hardly move, so the rate is 0.1 here. It uses a GPU if torch finds one. It refuses images without the class, so they are left out.
"""
import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ALPHA = 0.1
SIDES = {
    "crc": None,
    "mapie": None,
    "image": ["--method", "image"],
    "image, adapt": ["--method", "image", "--promise", "split", "--adapt", "image"],
    "field": ["--promise", "split"],
    "field, adapt": ["--promise", "split", "--adapt", "image"],
}
FIGURES = ("coverage", "spread", "far below", "hardest", "false", "place", "fit s", "predict ms", "MB")


def processor_seconds(who=resource.RUSAGE_SELF):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def features(probs):
    """[image][feature], as defined in docs/adapt.md."""
    p = probs.reshape(len(probs), -1).astype(np.float64)
    inside, least = p > 0.5, 1 / 4096
    doubt = 4 * p * (1 - p)
    within = np.where(inside.any(1), (doubt * inside).sum(1) / np.maximum(1, inside.sum(1)), 1)
    stray = (p * ~inside).sum(1) / (p.sum(1) + p.shape[1] / 1024)
    known = np.floor(4096 * p + 0.5) / 4096
    roots = [np.log2(((known * (1 - known) ** a).mean(1) + least / 4) / (known.mean(1) + least)) for a in (1 / 2, 1 / 4)]
    return np.stack([np.log2(doubt.mean(1) + least), np.log2(p.mean(1) + least), np.log2(within + least), stray, *roots], 1)


def crc(cal, truth, test):
    """The largest threshold on p whose mean false-negative rate, with an additional image of rate 1, is at most alpha."""
    start = processor_seconds()
    some = [np.sort(one[mask]) for one, mask in zip(cal, truth) if mask.any()]
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        risk = (sum(np.searchsorted(one, middle) / len(one) for one in some) + 1) / (len(some) + 1)
        low, high = (middle, high) if risk <= ALPHA else (low, middle)
    fitted = processor_seconds()
    sets = test >= low
    return sets, fitted - start, processor_seconds() - fitted


def mapie(cal, truth, test):
    import torch
    from mapie.risk_control import ConditionalExpectedRiskController

    np.random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(1)

    def logit(p):
        q = np.clip(p.astype(np.float32), 1e-6, 1 - 1e-6)
        return np.log(q / (1 - q))

    known = features(cal)
    mean, scale = known.mean(0), known.std(0) + 1e-9

    def feature_map(x):
        x = np.asarray(x)
        x = x[None] if x.ndim == 2 else x
        return ((features(1 / (1 + np.exp(-x))) - mean) / scale).astype(np.float32)

    def predict(x, param=None):
        return x if param is None else np.asarray(x) >= np.asarray(param).reshape(-1, 1, 1)

    some = truth.reshape(len(truth), -1).any(1)
    controller = ConditionalExpectedRiskController(predict, feature_map, target_level=ALPHA, risk="recall", learning_rate=0.1)
    start = processor_seconds()
    controller.conformalize(logit(cal[some]), truth[some].astype(np.float32), n_epochs=100)
    fitted = processor_seconds()
    sets = controller.predict(logit(test))
    return np.asarray(sets, bool), fitted - start, processor_seconds() - fitted


def kandinsky(program, options, folder, cls):
    def call(*words):
        before = processor_seconds(resource.RUSAGE_CHILDREN)
        subprocess.run([program, *words, "--threads", "1", "--quiet"], check=True, stdout=subprocess.DEVNULL)
        return processor_seconds(resource.RUSAGE_CHILDREN) - before

    cal, test = (["--probs", f"{folder}/{part}_probs.npy"] for part in ("cal", "test"))
    fit = call("calibrate", *cal, "--labels", f"{folder}/cal_labels.npy", "-o", f"{folder}/c.kcal", *options)
    seconds = call("predict", f"{folder}/c.kcal", *test, "--alpha", str(ALPHA), "--empty", "keep", "-o", f"{folder}/sets.npy")
    return np.load(f"{folder}/sets.npy", mmap_mode="r")[:, cls].astype(bool), fit, seconds


def one_side(side, folder, cls, program):
    """Prints the figures of a side on the arrays in a folder."""

    def load(name):
        return np.load(f"{folder}/{name}.npy", mmap_mode="r")

    if SIDES[side] is None:
        cal, test = np.array(load("cal_probs")[:, cls]), np.array(load("test_probs")[:, cls])
        sets, fit, seconds = (crc if side == "crc" else mapie)(cal, load("cal_labels") == cls, test)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    else:
        sets, fit, seconds = kandinsky(program, SIDES[side], folder, cls)
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    labels = load("test_labels")
    truth, other = labels == cls, (labels != cls) & (labels != 255)
    some = truth.reshape(len(truth), -1).any(1)
    coverage = np.array([one[mask].mean() for one, mask in zip(sets[some], truth[some])])
    doubt = features(np.asarray(load("test_probs")[:, cls]))[some, 0]
    hardest = coverage[np.argsort(doubt)[-((len(doubt) + 9) // 10) :]].mean()
    seen = truth.sum(0)
    place = (sets & truth).sum(0)[seen >= 3] / seen[seen >= 3]
    far = (coverage < 0.9 - ALPHA - 1e-12).mean()
    print(json.dumps([coverage.mean(), np.abs(coverage - 1 + ALPHA).mean(), far, hardest, (sets & other).sum() / other.sum(),
                      np.abs(place - 1 + ALPHA).mean(), fit, 1000 * seconds / len(labels), memory / 1024]))  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("set")
    parser.add_argument("cls", type=int, metavar="CLASS")
    for name, value in (("--images", 100), ("--test", 200), ("--draws", 2)):
        parser.add_argument(name, type=int, default=value)
    parser.add_argument("--kandinsky", default="build/bin/kandinsky")
    parser.add_argument("--sides", default=";".join(SIDES), help="some of: " + ";".join(SIDES))
    parser.add_argument("--one", help="one side, on the arrays in FOLDER")
    args = parser.parse_args()
    if args.one:
        return one_side(args.one, args.folder, args.cls, args.kandinsky)
    rows = {
side: [] for side in args.sides.split(";")}
    for draw in range(args.draws):
        with tempfile.TemporaryDirectory() as room:
            for part, count in (("cal", args.images), ("test", args.test)):
                base = Path(args.folder) / f"{args.set}_{part}"
                probs, labels = (np.load(f"{base}_{what}.npy", mmap_mode="r") for what in ("probs", "labels"))
                chosen = np.sort(np.random.default_rng([26, draw]).permutation(len(probs))[:count])
                np.save(f"{room}/{part}_probs.npy", probs[chosen])
                np.save(f"{room}/{part}_labels.npy", labels[chosen])
            for side, found in rows.items():
                words = [sys.executable, __file__, room, args.set, str(args.cls), "--one", side, "--kandinsky", args.kandinsky]
                found.append(json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout.splitlines()[-1]))
    print(f"{args.set}, {args.images} images, class {args.cls}, {args.test} test images, {args.draws} draws")
    print(f"{'':<14}" + "".join(f"{name:>11}" for name in FIGURES))
    for side, found in rows.items():
        print(f"{side:<14}" + "".join(f"{value:>11.{4 if i < 6 else 2}f}" for i, value in enumerate(np.mean(found, 0))))


if __name__ == "__main__":
    main()
