"""Measures the monitor's delays on real outputs.

monitor.py outputs PROGRAM FOLDER SET [options of bench/monitor.cpp]   compared with crepes' martingales, in one run
monitor.py labels COMMAND CALIBRATOR FOLDER SET                        with and without labels

PROGRAM is the built bench/monitor.cpp. crepes gets the p-values on which the monitor bets, one feature of the whole image at a time,
and its best feature and martingale are reported; the monitor uses all features and regions at once. COMMAND is the built kandinsky, CALIBRATOR a .kcal of other images
than SET's test images: each stream has 300 random test images (patients if there are groups), which are changed from the first on;
`other` is the output of another network (experiments/second_network.sh).
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

DELTA, NEVER, STREAMS, DRAWS, LENGTH = 0.01, 10**6, 60, 20, 300
NAMES = ["doubt", "area", "inside", "stray", "odds inside", "odds outside", "balance", "roughness"]
REGIONS = 16


def text(value):
    return "never" if value >= NEVER else f"{value:g}"


def delay(martingale, p_values):
    index = martingale.apply(p_values, c=1 / DELTA)
    return index + 1 if index < len(p_values) else NEVER


def outputs(program, folder, name, *options):
    from crepes.martingales import CompositeMartingale, SimpleJumper, SleeperDrifter, SleeperStayer

    kinds = {"SimpleJumper": SimpleJumper, "SleeperStayer": SleeperStayer, "SleeperDrifter": SleeperDrifter,
             "Composite": lambda: CompositeMartingale([SimpleJumper(), SleeperStayer(), SleeperDrifter()])}  # fmt: skip
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([program, folder, name, *options, "--out", out], check=True)
        for file in sorted(Path(out).glob("p_*.npy")):
            kind, p = file.stem[2:], np.load(file)[:STREAMS]
            own = np.load(Path(out) / f"delay_{kind}.npy")[:STREAMS]
            best = (NEVER, "none", "none")
            for f in range(p.shape[1]):
                number = f % (len(NAMES) + REGIONS)
                if number >= len(NAMES):
                    continue
                for label, make in kinds.items():
                    median = float(np.median([delay(make(), stream[f]) for stream in p]))
                    best = min(best, (median, label, f"{NAMES[number]} of class {f // (len(NAMES) + REGIONS) + (p.shape[1] == 24)}"))
            ours = float(np.median(np.where(own == 0, NEVER, own)))
            print(f"{kind:<9} {len(p)} streams: monitor {text(ours)}, crepes' best {text(best[0])} ({best[1]}, {best[2]})", flush=True)


def changed(kind, probs, random):
    if kind in ("none", "other"):
        return probs
    if kind == "blur":
        for _ in range(3):
            wide = np.pad(probs, ((0, 0), (0, 0), (1, 1), (1, 1)), "edge")
            height, width = probs.shape[2:]
            probs = sum(wide[:, :, y:y + height, x:x + width] for y in range(3) for x in range(3)) / 9
        return np.minimum(probs, 1)
    logs = np.log(np.maximum(probs, 1e-6))
    if kind == "odds":
        logs[:, 1:] -= np.log(4)
    if kind == "noise":
        logs += random.normal(size=logs.shape).astype(np.float32)
    if kind == "contrast":
        logs *= 0.7
    odds = np.exp(logs - logs.max(1, keepdims=True))
    return odds / odds.sum(1, keepdims=True)


def labels(command, calibrator, folder, name):
    probs = np.load(f"{folder}/{name}_test_probs.npy", mmap_mode="r")
    truth = np.load(f"{folder}/{name}_test_labels.npy", mmap_mode="r")
    groups_file, other_file = (Path(f"{folder}/{name}_{what}.npy") for what in ("test_groups", "other_probs"))
    groups = np.load(groups_file) if groups_file.exists() else np.arange(len(probs))
    units = np.unique(groups)
    for kind in ("none", "odds", "blur", "noise", "contrast", *(["other"] if other_file.exists() else [])):
        given = np.load(other_file, mmap_mode="r") if kind == "other" else probs
        rang, coverage = {"outputs_alarm": [], "labels_alarm": [], "odds_alarm": []}, []
        for draw in range(DRAWS):
            random = np.random.default_rng(draw)
            rows = np.concatenate([np.flatnonzero(groups == unit) for unit in random.permutation(units)[:LENGTH]])
            with tempfile.TemporaryDirectory() as out:
                np.save(f"{out}/p.npy", changed(kind, np.asarray(given[rows], np.float32), random))
                np.save(f"{out}/y.npy", truth[rows])
                np.save(f"{out}/g.npy", groups[rows])
                call = [command, "monitor", calibrator, "--probs", f"{out}/p.npy", "--labels", f"{out}/y.npy", "--json", "-"]
                call += ["--groups", f"{out}/g.npy", "--complete"] if groups_file.exists() else []
                found = json.loads(subprocess.run(call, check=True, capture_output=True).stdout)
            for key, units_of in rang.items():
                units_of.append(found[key]["unit"] if found[key] else NEVER)
            coverage.append([one["coverage"] for one in found["coverage"]])
        words = ", ".join(f"{mean:.3f}" for mean in np.mean(coverage, 0))
        rings = [f"{key.removesuffix('_alarm')} in {sum(one < NEVER for one in of)} of {DRAWS}, median {text(float(np.median(of)))}" for key, of in rang.items()]
        print(f"{kind:<9} coverage by class {words}; alarm by {'; '.join(rings)}", flush=True)


if __name__ == "__main__":
    {"outputs": outputs, "labels": labels}[sys.argv[1]](*sys.argv[2:])
