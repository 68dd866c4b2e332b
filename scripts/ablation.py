#!/usr/bin/env python3
"""Runs the paper's methods with other settings on real model outputs. docs/results.md shows the last column of its table.

    scripts/ablation.py FOLDER [--only PATTERN] [--keep FILE.json]

FOLDER has the arrays that scripts/real_data.sh describes. Each row is one method with one set of options; the
columns are mean coverage errors by `kandinsky compare` (score lac, pooling pixels). --only: rows whose name contains PATTERN.
--keep: stores results in FILE.json and does not compute them again. KANDINSKY: the program (default: build/bin/kandinsky).
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

PROGRAM = os.environ.get("KANDINSKY", str(Path(__file__).resolve().parents[1] / "build/bin/kandinsky"))

# (calibration set, test set, options, (class, column name)...)
COLUMNS = [
    ("pets_cal", "pets_test", ["--sample", "100", "--draws", "5"], [(1, "pets 100")]),
    ("pets_cal", "pets_test", [], [(1, "pets 3843")]),
    ("hippocampus_cal", "hippocampus_test", [], [(1, "hip 77 c1"), (2, "hip 77 c2")]),
    ("hippocampus_cal27", "hippocampus_test", [], [(1, "hip 27 c1"), (2, "hip 27 c2")]),
    ("camvid_cal", "camvid_test", [],
     [(0, "sky"), (1, "building"), (3, "road"), (4, "pavement"), (5, "tree"), (8, "car")]),
]

# The paper's settings of each method, all given explicitly so that a change of a default changes no row.
KMEANS = {"kmeans-clusters": "4"}
GENANN = {"genann-shape": "circle", "genann-radii": "3", "genann-weights": "none"}
FCC = {"fcc-curves": "3", "fcc-limit": "circle", "fcc-centre": "middle", "fcc-variance": "mean", "fcc-penalty": "1e-3"}
RECTANGLE = {"fcc-limit": "rectangle"}
AREA = {"fcc-variance": "area", "fcc-penalty": "1e-4", **RECTANGLE}
FREE = {"fcc-centre": "free"}
ELLIPSE = {"genann-shape": "ellipse"}
COUNTS = {"genann-weights": "counts"}

ROWS = [
    ("pixel (paper)", "pixel", {"fallback": "none"}),
    ("pixel, fallback image", "pixel", {"fallback": "image"}),
    ("pixel, fallback image below 5", "pixel", {"fallback": "image", "min-count": "5"}),
    ("kmeans, 4 (paper)", "kmeans", KMEANS),
    ("kmeans, 2", "kmeans", {"kmeans-clusters": "2"}),
    ("kmeans, 6", "kmeans", {"kmeans-clusters": "6"}),
    ("kmeans, 8", "kmeans", {"kmeans-clusters": "8"}),
    ("kmeans, 12", "kmeans", {"kmeans-clusters": "12"}),
    ("kmeans, 16", "kmeans", {"kmeans-clusters": "16"}),
    ("kmeans, 32", "kmeans", {"kmeans-clusters": "32"}),
    ("kmeans, 64", "kmeans", {"kmeans-clusters": "64"}),
    ("kmeans, auto", "kmeans", {"kmeans-clusters": "auto"}),
    ("genann, circle, 3 (paper)", "genann", GENANN),
    ("genann, circle, counts", "genann", {**GENANN, **COUNTS}),
    ("genann, ellipse", "genann", {**GENANN, **ELLIPSE}),
    ("genann, ellipse, counts", "genann", {**GENANN, **ELLIPSE, **COUNTS}),
    ("genann, ellipse, 5 radii", "genann", {**GENANN, **ELLIPSE, "genann-radii": "5"}),
    ("genann, ellipse, 8 radii", "genann", {**GENANN, **ELLIPSE, "genann-radii": "8"}),
    ("genann, circle, 5 radii", "genann", {**GENANN, "genann-radii": "5"}),
    ("genann, ellipse, auto", "genann", {**GENANN, **ELLIPSE, "genann-radii": "auto"}),
    ("fcc, circle, 3 (paper)", "fcc", FCC),
    ("fcc, rectangle", "fcc", {**FCC, **RECTANGLE}),
    ("fcc, area", "fcc", {**FCC, **AREA}),
    ("fcc, area, penalty 1e-3", "fcc", {**FCC, **AREA, "fcc-penalty": "1e-3"}),
    ("fcc, rectangle, free centre", "fcc", {**FCC, **RECTANGLE, **FREE}),
    ("fcc, area, free centre", "fcc", {**FCC, **AREA, **FREE}),
    ("fcc, area, free centre, 5 curves", "fcc", {**FCC, **AREA, **FREE, "fcc-curves": "5"}),
    ("fcc, area, free centre, 8 curves", "fcc", {**FCC, **AREA, **FREE, "fcc-curves": "8"}),
    ("fcc, area, free centre, auto", "fcc", {**FCC, **AREA, **FREE, "fcc-curves": "auto"}),
]


def batches(rows):
    """Combines rows of different methods into one run if their options are compatible."""
    waiting = list(rows)
    while waiting:
        batch = [waiting.pop(0)]
        shared = [key for key in batch[0][2] if not key.startswith(batch[0][1] + "-")]
        for row in [] if shared else list(waiting):
            own = all(key.startswith(row[1] + "-") for key in row[2])
            if own and row[1] not in [other[1] for other in batch]:
                batch.append(row)
                waiting.remove(row)
        yield batch


def measure(folder, batch, column):
    """{(method, class): mean CE} of one run of compare."""
    cal, test, options, classes = column
    words = [PROGRAM, "compare", "--quiet", "--json", "-", "--pooling", "pixels", "--score", "lac",
             "--methods", ",".join(row[1] for row in batch),
             "--cal-probs", f"{cal}_probs.npy", "--cal-labels", f"{cal}_labels.npy",
             "--test-probs", f"{test}_probs.npy", "--test-labels", f"{test}_labels.npy",
             "--classes", ",".join(str(cls) for cls, _ in classes), *options]
    if (folder / f"{cal}_groups.npy").exists():
        words += ["--cal-groups", f"{cal}_groups.npy"]
    for row in batch:
        for flag, value in row[2].items():
            words += [f"--{flag}", value]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}\n{done.stderr}")
    return {(one["method"], one["class"]): one["mean_ce"] for one in json.loads(done.stdout)["results"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=Path)
    asked = parser.parse_args()
    rows = [row for row in ROWS if asked.only in row[0]]
    kept = json.loads(asked.keep.read_text()) if asked.keep and asked.keep.exists() else {}

    def name(row, column):
        return f"{row[1]} {sorted(row[2].items())} {column}"

    for column in COLUMNS:
        todo = [row for row in rows if any(name(row, title) not in kept for _, title in column[3])]
        for batch in batches(todo):
            found = measure(asked.folder, batch, column)
            for row in batch:
                for cls, title in column[3]:
                    kept[name(row, title)] = found[row[1], cls]
            if asked.keep:
                asked.keep.write_text(json.dumps(kept, indent=1))
    titles = [title for column in COLUMNS for _, title in column[3]]
    print("| setting | " + " | ".join(titles) + " | mean |")
    print("|---" * (len(titles) + 2) + "|")
    for row in rows:
        values = [kept[name(row, title)] for title in titles]
        print(f"| {row[0]} | " + " | ".join(f"{v:.4f}" for v in values) + f" | {sum(values) / len(values):.4f} |")


if __name__ == "__main__":
    main()
