"""The benchmarks as one table: kandinsky and other tools do every task, each in a separate process.

    python bench/run.py --build build --scratch /tmp [--images 2000] [--large] [--pets DIR] [--rounds 2] [--released PYTHON]
    python bench/run.py --kandinsky FILE [--tasks FILE]     from any folder; --tasks is the program bench_tasks

Needs numpy; the rows of other tools that are not installed say so. Seconds are wall time, the minimum over the rounds, in
which the tools take turns. CPU seconds count all threads and depend less on other programs. The figures of kandinsky are of
the whole command (start, reading, work, writing); those of other tools exclude imports. Memory is the largest resident set,
including mapped files.
"""
import argparse
import importlib.util
import json
import multiprocessing
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HEIGHT, WIDTH = 240, 320
HERE = Path(__file__).parent


def make_images(folder, name, count, seed, height=HEIGHT, width=WIDTH):
    """Round objects, more often in the middle, and an over-confident network; float16, two classes."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    probs = np.lib.format.open_memmap(f"{folder}/{name}_probs.npy", "w+", np.float16, (count, 2, height, width))
    labels = np.lib.format.open_memmap(f"{folder}/{name}_labels.npy", "w+", np.uint8, (count, height, width))
    for i in range(count):
        centre = random.normal((height / 2, width / 2), (height / 5, width / 5))
        inside = random.uniform(height / 12, height / 2.7) - np.hypot(y - centre[0], x - centre[1])
        logit = inside * 0.15 + random.standard_normal((height, width), np.float32) * 1.5
        probs[i, 1] = 1 / (1 + np.exp(-logit))
        probs[i, 0] = 1 - probs[i, 1]
        labels[i] = inside > 0


def repeat_images(folder, name, source, times):
    """The images of another set, repeated to the wanted size."""
    for part in ("probs", "labels"):
        one = np.load(f"{folder}/{source}_{part}.npy", mmap_mode="r")
        with open(f"{folder}/{name}_{part}.npy", "wb") as file:
            np.lib.format.write_array_header_1_0(
                file, {"descr": one.dtype.str, "fortran_order": False, "shape": (len(one) * times,) + one.shape[1:]})
            for _ in range(times):
                for begin in range(0, len(one), 200):
                    file.write(one[begin:begin + 200].tobytes())


def run(command, environment=None):
    """Wall seconds, CPU seconds, peak MiB and last line of output of a process; None if it fails."""
    start = time.perf_counter()
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment)
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - start
        if process.returncode != 0:
            errors.seek(0)
            print(f"failed: {' '.join(map(str, command))}\n{errors.read()[-800:]}", file=sys.stderr)
            return None
    told = output.strip().splitlines()[-1] if output.strip() else ""
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, told


def apart(work, *arguments):
    """Runs `work` in another process, because this process's memory would count as that of its children."""
    process = multiprocessing.get_context("fork").Process(target=work, args=arguments)
    process.start()
    process.join()
    if process.exitcode != 0:
        sys.exit("the benchmark's data could not be made")


def first_images(folder, name, source, count):
    for part in ("probs", "labels"):
        np.save(f"{folder}/{name}_{part}.npy", np.load(f"{folder}/{source}_{part}.npy", mmap_mode="r")[:count])


def make_points(folder):
    points = np.sort(np.random.default_rng(3).beta(2, 5, (HEIGHT * WIDTH, 4)), axis=1).astype(np.float32)
    np.save(f"{folder}/points.npy", points + np.linspace(0, 1, len(points), dtype=np.float32)[:, None])


class Table:
    def __init__(self, rounds):
        self.rounds, self.rows = rounds, []

    def task(self, title, sides):
        """sides: (name, function that returns wall and CPU seconds and MiB, or a text with the reason for a missing row). The first
        is kandinsky's."""
        best = {}
        for _ in range(self.rounds):
            for name, side in sides:
                if isinstance(side, str):
                    continue
                got = side()
                if got is not None and (name not in best or got[0] < best[name][0]):
                    best[name] = got
        ours = best.get(sides[0][0])
        for name, side in sides:
            if isinstance(side, str):
                row = (title, name, "-", "-", "-", side)
            elif name not in best:
                row = (title, name, "-", "-", "-", "failed")
            else:
                seconds, cpu, memory = best[name]
                ratio = "1" if name == sides[0][0] else "-"
                if ours and name != sides[0][0]:
                    ratio = f"{seconds / ours[0]:.1f}" + (f" ({cpu / ours[1]:.1f})" if cpu and ours[1] else "")
                row = (title, name, f"{seconds:.3g}", f"{cpu:.3g}" if cpu else "-", f"{memory:.0f}", ratio)
            self.rows.append(row)
            print("| " + " | ".join(row) + " |", flush=True)
            title = ""
        return ours


def growth(what, before, after):
    if not before or not after:
        return f"{what}: failed"
    return f"{what}: {after[0] / before[0]:.1f} times the seconds, {after[1] / before[1]:.1f} times the CPU seconds"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="the build folder, with benchmarks")
    parser.add_argument("--kandinsky", help="the command (default: bin/kandinsky of the build folder)")
    parser.add_argument("--tasks", help="the program bench_tasks (default: bin/bench_tasks of the build folder)")
    parser.add_argument("--scratch", default=tempfile.gettempdir(), help="folder for large files, which are removed")
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--large", action="store_true", help="also ten times as many images, and larger ones (10 GB)")
    parser.add_argument("--pets", help="folder of pets_{cal,test}_{probs,labels}.npy: adds the times of compare on them")
    parser.add_argument("--released", help="a Python with torch 1.13.0, for which the released code was written: adds rows")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", help="only these tasks, separated by commas, such as calibrate,evaluate")
    arguments = parser.parse_args()
    program = Path(arguments.kandinsky or Path(arguments.build, "bin", "kandinsky")).resolve()
    tasks = Path(arguments.tasks or Path(arguments.build, "bin", "bench_tasks")).resolve()
    if not program.exists():
        sys.exit(f"{program} is missing; build it, or name it with --kandinsky")
    folder = Path(tempfile.mkdtemp(prefix="kandinsky-bench-", dir=arguments.scratch))
    threads, last = str(arguments.threads), {}
    environment = dict(os.environ, OMP_NUM_THREADS=threads, OPENBLAS_NUM_THREADS=threads)

    def command(*words):
        def once():
            got = run([program, *map(str, words), "--quiet", "--threads", threads])
            return got and got[:3]
        return once

    def calibrate(name, method, output, *more):
        once = command("calibrate", "--probs", folder / f"{name}_probs.npy", "--labels", folder / f"{name}_labels.npy",
                       "--method", method, "--pooling", "pixels", "-o", folder / output, *more)

        def afresh():
            (folder / output).unlink(missing_ok=True)  # so that the time does not include removing an old file
            return once()
        return afresh

    def peer(task, side, count, python=sys.executable):
        needed = {"torch": "torch", "torchcp": "torchcp", "mapie": "mapie", "scikit-learn": "sklearn"}
        module = needed.get(side.split(",")[0])
        if module and python == sys.executable and not importlib.util.find_spec(module):
            return f"{side.split(',')[0]} is not installed"

        def once():
            got = run([python, HERE / "peers.py", task, side, folder, str(count), threads], environment)
            return got and (json.loads(got[3])["seconds"], json.loads(got[3])["cpu"], got[2])
        return once

    def pets_parts(pets, method):
        """The commands that do one method's part of the comparison."""
        data = {part: [f"--{kind}={pets}/pets_{part}_{kind}.npy" for kind in ("probs", "labels")] for part in ("cal", "test")}
        return [command("calibrate", *data["cal"], "--method", method, "--preset", "paper", "-o", folder / "part.kcal"),
                command("evaluate", folder / "part.kcal", *data["test"], "--json", folder / "part.json")]

    def together(sides):
        def once():
            got = [side() for side in sides]
            return None if None in got else (sum(g[0] for g in got), sum(g[1] for g in got), max(g[2] for g in got))
        return once

    def own(*words, pick="seconds", again=True):
        """A task of bench_tasks. again=False takes a figure of the previous run, so that both figures have the same load."""
        def once():
            if again:
                last[words] = run([tasks, *map(str, words)])
            got = last[words]
            return got and (json.loads(got[3])[pick], json.loads(got[3]).get("cpu"), got[2])
        last.setdefault(words, None)
        return once if tasks.exists() else f"{tasks.name} is not built (-DKANDINSKY_BUILD_BENCH=ON)"

    def wanted(title):
        return not arguments.only or title in arguments.only.split(",")

    table, notes = Table(arguments.rounds), []
    print(f"{platform.platform()}, {os.cpu_count()} cores, {threads} threads, {time.strftime('%Y-%m-%d')}; "
          f"load {os.getloadavg()[0]:.1f} at the start", flush=True)
    print("\n| task | by | seconds | CPU seconds | peak MiB | seconds (CPU seconds) relative to kandinsky |\n"
          "| --- | --- | --: | --: | --: | --: |")
    try:
        n = arguments.images
        apart(make_images, folder, "cal", n, 1)
        apart(make_images, folder, "test", 500, 2)
        if wanted("calibrate"):
            table.task(f"calibrate: exact curves of every pixel, score 1 - p, {n} images of 320 x 240, 2 classes, float16",
                       [("kandinsky", calibrate("cal", "pixel", "pixel.kcal", "--score", "lac")),
                        ("kandinsky, score near (default)", calibrate("cal", "pixel", "pixel.kcal")),
                        ("torch, as released", peer("calibrate", "torch, as released", n)),
                        *([("torch 1.13.0, as released", peer("calibrate", "torch, as released", n, arguments.released))]
                          if arguments.released else []),
                        ("numpy", peer("calibrate", "numpy", n)),
                        ("reading alone: numpy's sum over the file", peer("calibrate", "reading", n)),
                        ("scikit-learn", "has no conformal calibration"),
                        ("mapie", "one sample only: a calibrator for each pixel would be needed"),
                        ("torchcp", "one sample only: a predictor for each pixel would be needed")])
        if wanted("calibrate"):
            table.task("calibrate: the same curves from files to memory, none written",
                       [("kandinsky, the library", own("curves", folder / "cal_probs.npy", folder / "cal_labels.npy")),
                        ("torch, as released", peer("calibrate", "torch, as released", n)),
                        *([("torch 1.13.0, as released", peer("calibrate", "torch, as released", n, arguments.released))]
                          if arguments.released else []),
                        ("numpy", peer("calibrate", "numpy", n))])
        if wanted("pooled"):
            some = min(n, 100)
            apart(first_images, folder, "some", "cal", some)
            table.task(f"pooled: curves of the image as one region, score 1 - p, {some} of those images",
                       [("kandinsky", calibrate("some", "image", "image.kcal", "--score", "lac")),
                        ("numpy", peer("pooled", "numpy", some)), ("torchcp", peer("pooled", "torchcp", some)),
                        ("mapie", peer("pooled", "mapie", some))])
        if wanted("evaluate"):
            few = ["--probs", folder / "test_probs.npy", "--labels", folder / "test_labels.npy"]
            run([program, "calibrate", *few, "--method", "pixel", "--pooling", "pixels", "--score", "lac",
                 "-o", folder / "few.kcal", "--curves", folder / "curves.npy", "-q"])
            table.task("evaluate: map of the coverage error, score 1 - p, 500 images of 320 x 240",
                       [("kandinsky", command("evaluate", folder / "few.kcal", *few, "--ce-map", folder / "ce.npy",
                                              "--json", folder / "ce.json", "--bootstrap", 0)),
                        ("kandinsky, with intervals of 200 resamples (default)",
                         command("evaluate", folder / "few.kcal", *few, "--ce-map", folder / "ce.npy",
                                 "--json", folder / "ce.json")),
                        ("numpy, as released", peer("evaluate", "numpy, as released", 500)),
                        ("numpy", peer("evaluate", "numpy", 500)),
                        ("scikit-learn, mapie, torchcp", "have no coverage by pixel")])
            table.task("evaluate: the same with curves in memory, no map written",
                       [("kandinsky, the library",
                         own("errors", folder / "few.kcal", folder / "test_probs.npy", folder / "test_labels.npy")),
                        ("numpy, as released", peer("evaluate", "numpy, as released", 500))])
        if wanted("loops"):
            words = ["loops", folder / "test_probs.npy", folder / "test_labels.npy"]
            table.task("loops: curves of every pixel in memory, 500 images of 320 x 240, float16",
                       [("kandinsky, scores held and sorted (one process)", own(*words, pick="pixels_held")),
                        ("kandinsky, bisection by counting (ranks)", own(*words, pick="pixels_counted", again=False))])
            table.task("loops: curves of 64 regions of those images in memory, float32",
                       [("kandinsky, scores held and sorted (regions that fit)", own(*words, pick="regions_sorted", again=False)),
                        ("kandinsky, counted digit by digit (larger ones, ranks)",
                         own(*words, pick="regions_counted", again=False)),
                        ("kandinsky, float16, counted in one pass", own(*words, pick="halves_counted", again=False))])
        if wanted("partition"):
            apart(make_points, folder)
            table.task("partition: k-means, k = 4, of 76,800 points with 4 coordinates",
                       [("kandinsky", own("kmeans", folder / "points.npy")),
                        ("scikit-learn", peer("partition", "scikit-learn", 0))])
        if wanted("predict"):
            for kind, name in (("float32", "float32 to bytes"), ("packed", "float32 to bits"),
                               ("float16", "float16 to bytes")):
                copy = ("float16" if kind == "float16" else "float32") + "_memcpy"
                table.task(f"predict: sets of 128 images in memory, {name}, one thread",
                           [("kandinsky", own("predict", pick=kind)),
                            ("memcpy of the input", own("predict", pick=copy, again=False))])
            table.task("predict: latency of one image of 320 x 240, 2 classes, float32, one thread",
                       [("kandinsky", own("predict", pick="one_image"))])
        if wanted("read"):
            table.task(f"read: {n} images as float32", [("kandinsky", own("read", folder / "cal_probs.npy")),
                                                        ("numpy", peer("read", "numpy", n))])
        if arguments.pets and wanted("compare"):
            pets = [f"--{part}-{kind}={arguments.pets}/pets_{part}_{kind}.npy"
                    for part in ("cal", "test") for kind in ("probs", "labels")]
            five = ["--methods", "pixel,image,kmeans,genann,fcc"]
            parts = [part for method in five[1].split(",") for part in pets_parts(arguments.pets, method)]
            table.task("compare: pixel, image, kmeans, genann, fcc on pets, as in the paper",
                       [("kandinsky", command("compare", *pets, *five, "--preset", "paper", "--json",
                                              folder / "pets.json")),
                        ("kandinsky: calibrate and evaluate for each, one after the other", together(parts)),
                        ("kandinsky, regions by cross-validation (default)",
                         command("compare", *pets, *five, "--json", folder / "pets.json"))])
        if arguments.large and wanted("growth"):
            base = table.task(f"growth: calibrate, score 1 - p, {n} images",
                              [("kandinsky", calibrate("cal", "pixel", "pixel.kcal", "--score", "lac"))])
            apart(repeat_images, folder, "large", "cal", 10)
            for part in ("probs", "labels"):
                (folder / f"cal_{part}.npy").unlink()
            more = table.task(f"growth: calibrate, score 1 - p, {10 * n} images",
                              [("kandinsky", calibrate("large", "pixel", "pixel.kcal", "--score", "lac")),
                               ("torch, as released", "needs 63 GiB")])
            notes.append(growth("ten times the images", base, more))
            for part in ("probs", "labels"):
                (folder / f"large_{part}.npy").unlink()
            base = None
            for side in (256, 512, 1024, 2048):
                apart(make_images, folder, "wide", 50, 4, side, side)
                more = table.task(f"growth: calibrate, score near (default), 50 images of {side} x {side}",
                                  [("kandinsky", calibrate("wide", "pixel", "pixel.kcal"))])
                if base:
                    notes.append(growth(f"{side} x {side} against half the side: four times the pixels", base, more))
                base = more
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("".join(f"\n{note}" for note in notes))
    print(f"\nload {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
