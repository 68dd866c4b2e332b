#!/usr/bin/env python3
"""Draws the pictures of docs/questions.md from synthetic scenes: questions_figure.py KANDINSKY. Needs numpy and matplotlib.

docs/figures/outline.png, objects.png, measure.png, confidence.png and pixels.png; about two minutes of processor time.
"""

import csv
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

FIGURES = Path(__file__).resolve().parents[2] / "docs" / "figures"
SHOWN = 12  # the image whose outline is shown
DRAWS = 200  # of calibration images
ALPHA = 0.15  # of the sets of pixels
GIVEN = ["--cal-probs", "demo/cal_probs.npy", "--cal-labels", "demo/cal_labels.npy", "--probs", "demo/test_probs.npy", "--labels", "demo/test_labels.npy"]


def lesions(folder, images, seed, side=64):
    """Writes probabilities and labels of images with 1, 2 or 7 round spots. The model finds large spots better."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[:side, :side]
    probs, labels = np.full((images, side, side), 0.01), np.zeros((images, side, side), np.uint8)
    for p, label in zip(probs, labels):
        for _ in range(random.choice([1, 2, 7])):
            r, cy, cx = random.uniform(1.5, 7), *random.uniform(6, side - 6, 2)
            d = np.hypot(y - cy, x - cx) - r
            label[d < 0] = 1
            p[:] = np.maximum(p, random.beta(2.5, 10 / r) / (1 + np.exp(1.2 * (d + random.normal(0, 0.5)))))
    p = np.clip(probs + random.uniform(0, 0.02, probs.shape), 0, 1).astype(np.float32)
    np.save(folder / f"lesion_probs{seed}.npy", np.stack([1 - p, p], 1)), np.save(folder / f"lesion_labels{seed}.npy", labels)


def draw_objects(folder, run):
    """docs/figures/objects.png: an image with several objects; the outer mask misses one of them."""
    lesions(folder, 200, 1), lesions(folder, 60, 2)
    run("outline", "--cal-probs", "lesion_probs1.npy", "--cal-labels", "lesion_labels1.npy", "--unit", "object", "--alpha", "0.2", "--score", "probability",
        "--probs", "lesion_probs2.npy", "--labels", "lesion_labels2.npy", "--contours", "objects", "-o", "objects.npy")
    codes, truth = np.load(folder / "objects.npy")[:, 0] > 0, np.load(folder / "lesion_labels2.npy") == 1
    # An image whose mask misses some pixels of the objects and contains many.
    missed = [(y & ~c).sum() * (y & c).sum() * (y.sum() > 250) for c, y in zip(codes, truth)]
    shutil.copy(folder / "objects" / f"{int(np.argmax(missed))}_class1.png", FIGURES / "objects.png")


def draw_measures(folder, run):
    """docs/figures/measure.png: intervals of area and Dice, with the truth."""
    run("measure", *GIVEN, "--csv", "areas.csv")
    with open(folder / "areas.csv") as file:
        rows = sorted(list(csv.DictReader(file))[:40], key=lambda row: float(row["size"]))
    figure, panels = pyplot.subplots(1, 2, figsize=(8, 2.8), layout="constrained")
    for axes, name, unit in zip(panels, ("size", "dice"), ("area (pixels)", "Dice")):
        low, high, truth, guess = (np.array([float(row[name + end]) for row in rows]) for end in ("_low", "_high", "_true", ""))
        places = np.arange(len(rows))
        held = (low <= truth) & (truth <= high)
        axes.vlines(places, low, high, color="C0", alpha=0.5, linewidth=4, label="interval")
        axes.plot(places, guess, "_", color="C0", label="best guess")
        axes.plot(places[held], truth[held], "o", markersize=3.5, color="black", label="truth")
        axes.plot(places[~held], truth[~held], "o", markersize=3.5, color="C3", label="truth, outside")
        axes.set_xticks([])
        axes.set_xlabel("images, by size of the predicted mask")
        axes.set_ylabel(unit)
    panels[1].legend(frameon=False, fontsize="small", loc="lower right")
    figure.savefig(FIGURES / "measure.png", dpi=110, metadata={"Software": None})


def draw_confidence(folder, run):
    """docs/figures/confidence.png: how often outlines hold, over draws of calibration images."""
    lesions(folder, 1500, 3, side=24)
    probs, labels = (np.load(folder / f"lesion_{what}3.npy") for what in ("probs", "labels"))
    random = np.random.default_rng(28)
    found = {"0": [], "0.95": []}
    for _ in range(DRAWS):
        order = random.permutation(len(probs))
        for part, own in (("cal", order[:100]), ("new", order[100:1100])):
            np.save(folder / f"{part}_probs.npy", probs[own]), np.save(folder / f"{part}_labels.npy", labels[own])
        for confidence, shares in found.items():
            run("outline", "--cal-probs", "cal_probs.npy", "--cal-labels", "cal_labels.npy", "--probs", "new_probs.npy", "--labels", "new_labels.npy",
                "--sides", "outer", "--share", "0.9", "--score", "distance:10", "--confidence", confidence, "--json", "held.json")
            test = json.loads((folder / "held.json").read_text())["test"][0]
            shares.append(test["held"] / test["groups"])
    figure, axes = pyplot.subplots(figsize=(6, 2.6), layout="constrained")
    for (confidence, shares), colour in zip(found.items(), ("C1", "C0")):
        below = np.mean(np.array(shares) < 0.9)
        name = "on average" if confidence == "0" else f"--confidence {confidence}"
        axes.hist(shares, np.arange(0.795, 1.005, 0.01), color=colour, alpha=0.6, label=f"{name}: {below:.0%} of the draws are below 0.9")
    axes.axvline(0.9, color="black", linewidth=1)
    axes.set_xlabel("share of new images whose outer mask contains 90 % of the object")
    axes.set_ylabel(f"of {DRAWS} draws")
    axes.set_ylim(top=1.4 * axes.get_ylim()[1])
    axes.legend(framealpha=1, edgecolor="white", fontsize="small", loc="upper left")
    figure.savefig(FIGURES / "confidence.png", dpi=110, metadata={"Software": None})


def draw_pixels(folder, run):
    """docs/figures/pixels.png: pixels that sets miss, and pixels that they mark wrongly."""
    data = ("--probs", "demo/cal_probs.npy", "--labels", "demo/cal_labels.npy", "--confidence", "0.95", "--method", "image")
    probs, labels = (np.load(folder / "demo" / f"test_{what}.npy") for what in ("probs", "labels"))
    panels = [("recall", "missed", (0.85, 0.1, 0.1)), ("precision", "marked, but something else", (0.95, 0.6, 0.0))]
    figure, both = pyplot.subplots(1, 2, figsize=(7.2, 3), layout="constrained")
    # An image with enough pixels of the class, whose sets miss about a share alpha of them.
    chosen = None
    for axes, (risk, failure, colour) in zip(both, panels):
        run("calibrate", *data, "--risk", risk, "-o", "one.kcal")
        run("predict", "one.kcal", "--probs", "demo/test_probs.npy", "--alpha", str(ALPHA), "--empty", "keep", "-o", "sets.npy")
        marked, truth = np.load(folder / "sets.npy")[:, 1] > 0, labels == 1
        wrong = truth & ~marked if risk == "recall" else marked & ~truth
        of = (truth if risk == "recall" else marked).sum((1, 2))
        share = wrong.sum((1, 2)) / np.maximum(1, of)
        mean = share[of > 0].mean() if risk == "recall" else share.mean()  # the mean over images that the risk bounds
        if chosen is None:
            chosen = int(np.argsort(np.where(of > 0.1 * truth[0].size, np.abs(share - ALPHA), 1))[0])
        picture = np.repeat(0.25 + 0.5 * probs[chosen, 1][..., None], 3, -1)
        picture[marked[chosen] & truth[chosen]] = 0.5 * picture[marked[chosen] & truth[chosen]] + 0.5 * np.array([0.2, 0.45, 0.8])
        picture[wrong[chosen]] = colour
        axes.imshow(picture, interpolation="nearest")
        axes.contour(truth[chosen].astype(float), [0.5], colors="white", linewidths=1)
        axes.set_title(f"--risk {risk}: {share[chosen]:.0%} {failure}\n(mean of all test images {mean:.0%})", fontsize="medium")
        axes.set_xticks([]), axes.set_yticks([])
    figure.savefig(FIGURES / "pixels.png", dpi=110, metadata={"Software": None})


def main(program):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def run(*words):
            subprocess.run([program, *words, "-q"], cwd=folder, check=True)

        run("demo", "-o", "demo")
        run("demo", "--preset", "medical", "--size", "96x96", "-o", "medical")
        patients = [f"--{prefix}{what}=medical/{part}_{what}.npy" for prefix, part in (("cal-", "cal"), ("", "test")) for what in ("probs", "labels", "groups")]
        run("outline", *patients, "--alpha", "0.2", "--share", "0.9", "--contours", "contours")
        shutil.copy(folder / "contours" / f"{SHOWN}_class1.png", FIGURES / "outline.png")
        draw_objects(folder, run)
        draw_measures(folder, run)
        draw_confidence(folder, run)
        draw_pixels(folder, run)


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).resolve()))
