#!/usr/bin/env python3
"""Draws docs/figures/outline.png, objects.png and measure.png from synthetic scenes: questions_figure.py KANDINSKY. Needs numpy and matplotlib."""

import csv
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


def lesions(folder, images, seed):
    """Few or many round spots an image, of which the model sees the larger ones better; probabilities and labels."""
    random = np.random.default_rng(seed)
    side = 64
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
    """docs/figures/objects.png: an image of several objects of which the outer mask misses one."""
    lesions(folder, 200, 1), lesions(folder, 60, 2)
    run("outline", "--cal-probs", "lesion_probs1.npy", "--cal-labels", "lesion_labels1.npy", "--unit", "object", "--alpha", "0.2", "--score", "probability",
        "--probs", "lesion_probs2.npy", "--labels", "lesion_labels2.npy", "--contours", "objects", "-o", "objects.npy")
    codes, truth = np.load(folder / "objects.npy")[:, 0] > 0, np.load(folder / "lesion_labels2.npy") == 1
    # An image whose mask leaves some of the truth's pixels out, and many of them in.
    missed = [(y & ~c).sum() * (y & c).sum() * (y.sum() > 250) for c, y in zip(codes, truth)]
    shutil.copy(folder / "objects" / f"{int(np.argmax(missed))}_class1.png", FIGURES / "objects.png")


def main(program):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def run(*words):
            subprocess.run([program, *words, "-q"], cwd=folder, check=True)

        given = ["--cal-probs", "demo/cal_probs.npy", "--cal-labels", "demo/cal_labels.npy", "--probs", "demo/test_probs.npy", "--labels", "demo/test_labels.npy"]
        run("demo", "-o", "demo")
        run("demo", "--preset", "medical", "--size", "96x96", "-o", "medical")
        patients = [f"--{prefix}{what}=medical/{part}_{what}.npy" for prefix, part in (("cal-", "cal"), ("", "test")) for what in ("probs", "labels", "groups")]
        run("outline", *patients, "--alpha", "0.2", "--share", "0.9", "--contours", "contours")
        shutil.copy(folder / "contours" / f"{SHOWN}_class1.png", FIGURES / "outline.png")
        draw_objects(folder, run)
        run("measure", *given, "--csv", "areas.csv")
        with open(folder / "areas.csv") as file:
            rows = sorted(list(csv.DictReader(file))[:40], key=lambda row: float(row["size"]))
    figure, panels = pyplot.subplots(1, 2, figsize=(8, 2.8), layout="constrained")
    for axes, name, unit in zip(panels, ("size", "dice"), ("area (pixels)", "Dice")):
        low, high, truth, guess = ([float(row[name + end]) for row in rows] for end in ("_low", "_high", "_true", ""))
        places = range(len(rows))
        axes.vlines(places, low, high, color="C0", alpha=0.5, linewidth=4, label="interval")
        axes.plot(places, guess, "_", color="C0", label="best guess")
        missed = [not a <= t <= b for a, t, b in zip(low, truth, high)]
        axes.scatter(places, truth, s=12, color=["C3" if one else "black" for one in missed], zorder=3, label="truth")
        axes.set_xticks([])
        axes.set_ylabel(unit)
    panels[0].legend(frameon=False, fontsize="small")
    figure.savefig(FIGURES / "measure.png", dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).resolve()))
