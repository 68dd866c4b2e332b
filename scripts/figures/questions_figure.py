#!/usr/bin/env python3
"""Draws docs/figures/outline.png and measure.png from the demo: questions_figure.py KANDINSKY. Needs matplotlib."""

import csv
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

FIGURES = Path(__file__).resolve().parents[2] / "docs" / "figures"
SHOWN = 12  # the image whose outline is shown


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
        run("measure", *given, "--csv", "areas.csv")
        with open(folder / "areas.csv") as file:
            rows = sorted(list(csv.DictReader(file))[:40], key=lambda row: float(row["size"]))
    low, high, truth, size = ([float(row[name]) for row in rows] for name in ("size_low", "size_high", "size_true", "size"))
    places = range(len(rows))
    figure, axes = pyplot.subplots(figsize=(7, 2.8), layout="constrained")
    axes.vlines(places, low, high, color="C0", alpha=0.5, linewidth=4, label="interval")
    axes.plot(places, size, "_", color="C0", label="predicted mask")
    missed = [not a <= t <= b for a, t, b in zip(low, truth, high)]
    axes.scatter(places, truth, s=12, color=["C3" if one else "black" for one in missed], zorder=3, label="truth")
    axes.set_xticks([])
    axes.set_ylabel("area (pixels)")
    axes.legend(frameon=False, fontsize="small")
    figure.savefig(FIGURES / "measure.png", dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).resolve()))
