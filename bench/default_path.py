"""Measures the default of `calibrate` at typical sizes against limits on time, memory and size of the file.

    python bench/default_path.py --build build [--scratch DIR] [--data DIR] [--rounds 2] [--only photos,classes,street,growth,camvid,promise]

Needs numpy. Data are smooth random fields, written below the scratch folder and removed (1.6 GB). --data names a folder with
SET_probs.npy, SET_labels.npy and SET_groups.npy for the sets camvid_cal, pets_cal and hippocampus_cal27. The task `promise` runs
with `--promise loo`, the default for at most 200 groups; all other tasks run with `--promise none`, except `pixel` and `image`,
which learn nothing. Every task runs in its own process with two threads; seconds are wall time, the minimum over the rounds. The
program exits with 1 if a limit is exceeded.
"""
import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from run import HERE, apart, run


def smooth_field(random, height, width, step):
    """Random numbers on a coarse grid, interpolated between its points."""
    coarse = random.standard_normal((height // step + 3, width // step + 3)).astype(np.float32)
    y, x = np.linspace(0, coarse.shape[0] - 2, height), np.linspace(0, coarse.shape[1] - 2, width)
    row, column = y.astype(int), x.astype(int)
    v, u = (y - row)[:, None].astype(np.float32), (x - column)[None].astype(np.float32)
    upper = coarse[row][:, column] * (1 - u) + coarse[row][:, column + 1] * u
    lower = coarse[row + 1][:, column] * (1 - u) + coarse[row + 1][:, column + 1] * u
    return upper * (1 - v) + lower * v


def make(folder, name, images, classes, height, width):
    """A network's outputs for classes that depend on the place, float16 [N,C,H,W], and labels with some errors."""
    random = np.random.default_rng(1)
    probs = np.lib.format.open_memmap(folder / f"{name}_probs.npy", "w+", np.float16, (images, classes, height, width))
    labels = np.lib.format.open_memmap(folder / f"{name}_labels.npy", "w+", np.uint8, (images, height, width))
    place = np.stack([2 * smooth_field(random, height, width, height // 4) for _ in range(classes)])
    for i in range(images):
        logit = place + np.stack([1.5 * smooth_field(random, height, width, height // 8) for _ in range(classes)])
        labels[i] = np.argmax(logit + 0.5 * random.standard_normal(logit.shape, np.float32), 0)
        odds = np.exp(2 * (logit - logit.max(0)))
        probs[i] = odds / odds.sum(0)


class Bench:
    def __init__(self, program, folder, rounds):
        self.program, self.folder, self.rounds, self.missed = program, folder, rounds, []

    def best(self, command, environment=None):
        got = [run(command, environment) for _ in range(self.rounds)]
        return min((one for one in got if one), default=None)

    def row(self, title, got, output=None):
        if got is None:
            self.missed.append(f"{title} failed")
            print(f"| {title} | failed | | | |", flush=True)
            return None
        size = f"{os.path.getsize(output) / 1e6:.1f}" if output else ""
        print(f"| {title} | {got[0]:.2f} | {got[1]:.2f} | {got[2]:.0f} | {size} |", flush=True)
        return got[0], got[1], got[2], os.path.getsize(output) / 1e6 if output else 0

    def calibrate(self, title, data, *words):
        output = self.folder / "out.kcal"
        command = [self.program, "calibrate", "--probs", f"{data}_probs.npy", "--labels", f"{data}_labels.npy", "-o", output,
                   "--quiet", "--threads", "2", *words,
                   *([] if {"--promise", "pixel", "image"} & set(words) else ["--promise", "none"])]
        return self.row(title, self.best(command), output)

    def predict(self, title, data, threads=2):
        command = [self.program, "predict", self.folder / "out.kcal", "--probs", f"{data}_probs.npy", "-o",
                   self.folder / "sets.npy", "--quiet", "--threads", str(threads)]
        return self.row(title, self.best(command))

    def numpy(self, title, images):
        threads = dict(os.environ, OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2")
        return self.row(title, self.best([sys.executable, HERE / "peers.py", "calibrate", "numpy", self.folder, str(images), "2"],
                                         threads))

    def bar(self, what, value, most):
        ok = value is not None and value <= most
        print(f"  {'met' if ok else 'MISSED'}: {what}: {'-' if value is None else f'{value:.3g}'} (at most {most:g})", flush=True)
        if not ok:
            self.missed.append(what)


def ratio(a, b):
    return a[0] / b[0] if a and b else None


def photos(bench):
    folder = bench.folder
    apart(make, folder, "cal", 500, 2, 240, 320)
    own = bench.calibrate("default, 500 images of 320 x 240, 2 classes", folder / "cal")
    pixel = bench.calibrate("`pixel`, the same", folder / "cal", "--method", "pixel")
    bench.numpy("numpy: exact curves of every pixel, the same", 500)
    bench.bar("default against pixel", ratio(own, pixel), 12)
    bench.bar("MiB of the default", own and own[2], 600)
    apart(make, folder, "cal", 2000, 2, 240, 320)
    own = bench.calibrate("default, 2000 images", folder / "cal")
    bench.numpy("numpy: exact curves of every pixel, the same", 2000)
    bench.bar("seconds for 2000 images", own and own[0], 8)


def classes(bench):
    for count in (3, 11):
        apart(make, bench.folder, f"c{count}", 142, count, 120, 160)
    plain = bench.calibrate("`--score lac`, 142 images of 160 x 120, 11 classes", bench.folder / "c11", "--score", "lac")
    few = bench.calibrate("default, 142 images of 160 x 120, 3 classes", bench.folder / "c3")
    many = bench.calibrate("default, 142 images of 160 x 120, 11 classes", bench.folder / "c11")
    bench.bar("11 classes against 3", ratio(many, few), 4.5)
    bench.bar("CPU seconds with near against lac", many and plain and many[1] / plain[1], 2)
    own = bench.predict("predict with it, one thread", bench.folder / "c11", threads=1)
    bench.bar("nanoseconds of a pixel and class in predict", own and own[1] / (142 * 160 * 120 * 11) * 1e9, 1000 / 60)


def street(bench):
    apart(make, bench.folder, "street", 100, 19, 256, 512)
    data = bench.folder / "street"
    bench.calibrate("`image`, 100 images of 512 x 256, 19 classes", data, "--method", "image")
    clusters = bench.calibrate("`kmeans`, the same", data, "--method", "kmeans")
    own = bench.calibrate("default, the same", data)
    sets = bench.predict("predict with it", data)
    bench.bar("seconds of kmeans", clusters and clusters[0], 6)
    bench.bar("seconds of the default", own and own[0], 20)
    bench.bar("MiB of the default", own and own[2], 1024)
    bench.bar("MB of its file", own and own[3], 40)
    bench.bar("MiB of predict", sets and sets[2], 500)


def growth(bench):
    before = None
    for side in (256, 512, 1024):
        apart(make, bench.folder, "wide", 24, 4, side, 2 * side)
        now = bench.calibrate(f"default, 24 images of {2 * side} x {side}, 4 classes", bench.folder / "wide")
        if before:
            bench.bar("seconds, four times the pixels", ratio(now, before), 4.4)
            bench.bar("MB of the file, four times the pixels", now and now[3] / before[3], 4.4)
        before = now


def promise(bench, data):
    """Learning again without each group, on real outputs."""
    for name in ("probs", "labels"):
        np.save(bench.folder / f"pets100_{name}.npy", np.load(data / f"pets_cal_{name}.npy", mmap_mode="r")[:100])
    groups = ["--groups", data / "hippocampus_cal27_groups.npy"]
    for title, where, most, words in (("pets, 100 images of 160 x 120, 2 classes", bench.folder / "pets100", 30, []),
                                      ("hippocampus, 27 patients, 671 slices of 64 x 64, 3 classes", data / "hippocampus_cal27", 10, groups),
                                      ("CamVid, 142 images of 160 x 120, 11 classes", data / "camvid_cal", 150, [])):
        own = bench.calibrate(f"`--promise loo`, {title}", where, "--promise", "loo", *words)
        bench.bar("seconds with a promise", own and own[0], most)
        bench.bar("MB of its file", own and own[3], 40)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="the build folder")
    parser.add_argument("--scratch", default=tempfile.gettempdir(), help="folder for large files, which are removed")
    parser.add_argument("--data", type=Path, help="folder of real outputs as .npy")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", default="photos,classes,street,growth,camvid,promise")
    arguments = parser.parse_args()
    program = Path(arguments.build, "bin", "kandinsky").resolve()
    if not program.exists():
        sys.exit(f"{program} is missing; build it first")
    folder = Path(tempfile.mkdtemp(prefix="kandinsky-bench-", dir=arguments.scratch))
    bench = Bench(program, folder, arguments.rounds)
    print("| task | seconds | CPU seconds | peak MiB | file, MB |\n| --- | --: | --: | --: | --: |")
    try:
        for name, task in (("photos", photos), ("classes", classes), ("street", street), ("growth", growth)):
            if name in arguments.only.split(","):
                task(bench)
            for left in folder.iterdir():
                left.unlink()
        if arguments.data and "camvid" in arguments.only.split(","):
            own = bench.calibrate("default, CamVid: 142 images of 160 x 120, 11 classes", arguments.data / "camvid_cal")
            bench.bar("seconds on CamVid", own and own[0], 6)
            bench.bar("MB of its file", own and own[3], 40)
        if arguments.data and "promise" in arguments.only.split(","):
            promise(bench, arguments.data)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(f"missed: {', '.join(bench.missed)}" if bench.missed else 0)


if __name__ == "__main__":
    main()
