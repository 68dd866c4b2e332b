""
    "Thresholds for a false-negative rate: kandinsky calibrate and MAPIE's SemanticSegmentationController on the same data.

    risk_peers
        .py FOLDER[--kandinsky build / bin / kandinsky][--images 400][--alphas 0.05, 0.1, 0.2][--step 0.01]

    FOLDER holds pets_cal_ *.npy,
    pets_test_ *.npy,
    hippocampus_cal_ *.npy and hippocampus_test_ *.npy.Needs bench /
        requirements.txt.Both control the expected share of
            a class's pixels that sets miss, over images (pets) or patients (hippocampus), by one threshold on
                the probability : kandinsky with-- method image-- score lac,
    MAPIE with risk = "recall",
               method =
                   "crc".MAPIE searches a grid of thresholds(--step, default 0.01) and uses p > threshold;
kandinsky has no grid and uses p >= threshold.MAPIE has one class, so each class is a separate run; it has no groups, so a patient's slices become one tall image; it refuses
images without the class, so they are left out. Every calibration is a separate process, and its processor time and largest
memory are those of the whole process, including imports and reading. The exit status is 1 if
kandinsky's threshold is more than a grid step away from MAPIE's, or lower, which would mean larger sets.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np


def load(folder, name, part, images):
    """Probabilities, labels and group of each image."""
    probs = np.load(f"{folder}/{name}_{part}_probs.npy", mmap_mode="r")[:images]
    labels = np.load(f"{folder}/{name}_{part}_labels.npy", mmap_mode="r")[:images]
    path = f"{folder}/{name}_{part}_groups.npy"
    groups = np.load(path)[:images] if os.path.exists(path) else np.arange(len(labels))
    return probs, labels, groups


def tall(probs, labels, groups, cls):
    """Each group as one image of one class: (probability, truth), without ignored pixels. Groups without the class are left out."""
    for group in np.unique(groups):
        own = np.flatnonzero(groups == group)
        truth = labels[own]
        p = np.asarray(probs[own, cls], np.float32)
        valid = truth != 255
        if (truth[valid] == cls).any():
            yield p[valid], truth[valid] == cls


def mapie(folder, name, images, cls, alphas, step):
    """Prints MAPIE's thresholds; runs in a separate process."""
    from mapie.risk_control import SemanticSegmentationController

    grid = np.arange(0, 1, step)
    controller = SemanticSegmentationController(
        predict_function=lambda x: x, risk="recall", method="crc", target_level=[1 - a for a in alphas], predict_params=grid
    )
    for p, truth in tall(*load(folder, name, "cal", images), cls):  # one at a time, which needs the least memory
        controller.compute_risks(p[None, None, :, None], truth.astype(int)[None])
    controller.compute_best_predict_param()
    print(json.dumps(list(controller.best_predict_param)))


def measured(command):
    """(output, seconds of processor time, megabytes) of a process."""
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"failed: {' '.join(command)}")
        out.seek(0)
        return out.read(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def ours(command, folder, name, images, alphas, scratch):
    """({alpha: thresholds of the classes}, seconds, megabytes)."""
    probs, labels, groups = load(folder, name, "cal", images)
    for part, array in (("probs", probs), ("labels", labels), ("groups", groups)):
        np.save(f"{scratch}/{part}.npy", array)
    words = [command, "calibrate", "--method", "image", "--score", "lac", "-q", "--probs", f"{scratch}/probs.npy", "--labels",
             f"{scratch}/labels.npy", "--groups", f"{scratch}/groups.npy", "-o", f"{scratch}/model.kcal"]  # fmt: skip
    _, seconds, megabytes = measured(words)
    found = {}
    np.save(f"{scratch}/one.npy", np.array(probs[:1]))
    for alpha in alphas:
        subprocess.run([command, "predict", f"{scratch}/model.kcal", "--probs", f"{scratch}/one.npy", "--alpha", str(alpha), "-q",
                        "--thresholds", f"{scratch}/t.npy", "-o", f"{scratch}/s.npy"], check=True)  # fmt: skip
        found[alpha] = np.load(f"{scratch}/t.npy").reshape(probs.shape[1], -1)[:, 0]
    return found, seconds, megabytes


def tested(folder, name, cls, threshold, strict):
    """The share of the class's pixels that test groups miss, and the share of all pixels with the class in their set."""
    missed, size = [], []
    for p, truth in tall(*load(folder, name, "test", None), cls):
        held = p > threshold if strict else p >= threshold
        missed.append(1 - held[truth].mean())
        size.append(held.mean())
    return np.mean(missed), np.mean(size)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--kandinsky", default="build/bin/kandinsky")
    parser.add_argument("--images", type=int, default=400, help="calibration images of pets")
    parser.add_argument("--alphas", default="0.05,0.1,0.2")
    parser.add_argument("--step", type=float, default=0.01, help="of MAPIE's grid")
    parser.add_argument("--mapie", help=argparse.SUPPRESS)
    flags = parser.parse_args()
    alphas = [float(a) for a in flags.alphas.split(",")]
    if flags.mapie:
        name, cls, step, images = flags.mapie.split(":")
        return mapie(flags.folder, name, int(images) or None, int(cls), alphas, float(step))
    fails = 0
    for name, classes, images in (("pets", [1], flags.images), ("hippocampus", [1, 2], 0)):
        with tempfile.TemporaryDirectory() as scratch:
            found, seconds, megabytes = ours(flags.kandinsky, flags.folder, name, images or None, alphas, scratch)
        print(f"{name}: kandinsky, all classes: {seconds:.2f} s, {megabytes:.0f} MB")
        for cls in classes:
            step = flags.step
            text, seconds, megabytes = measured([sys.executable, __file__, flags.folder, "--alphas", flags.alphas, "--mapie",
                                                 f"{name}:{cls}:{step}:{images}"])  # fmt: skip
            theirs = json.loads(text)
            print(f"{name}: MAPIE, class {cls}, grid {step}: {seconds:.2f} s, {megabytes:.0f} MB")
            for alpha, other in zip(alphas, theirs):
                own = float(found[alpha][cls])
                fine = -1e-6 <= own - other <= step + 1e-6
                fails += not fine
                (miss, size), (their_miss, their_size) = (
                    tested(flags.folder, name, cls, own, False), tested(flags.folder, name, cls, other, True))  # fmt: skip
                print(f"  alpha {alpha}: threshold {own:.4f}, MAPIE {other:.4f}; test misses {miss:.4f}, {their_miss:.4f}; "
                      f"share of pixels {size:.4f}, {their_size:.4f}  {'ok' if fine else 'FAIL'}")
    return 1 if fails else 0


if __name__ == "__main__":
    sys.exit(main())
