"""A real change of the network: the stream's outputs come from another network than the calibrator's.

second_network.py cut MSD SPLIT DATA OUT          slices of the Decathlon's hippocampus volumes, for train and infer
second_network.py check DATA OUT                  Dice of both networks on the test slices

MSD has imagesTr and labelsTr, SPLIT is a JSON with the names of `train` and `test` volumes, DATA has hippocampus_test_labels.npy, against which the cut is
checked. experiments/second_network.sh has the whole experiment.
"""
import json
import sys
from pathlib import Path

import numpy as np

SIDE = 64


def slices(folder, names):
    """Images scaled by each volume's percentiles, labels, and the number of the volume, for slices with a label."""
    import nibabel

    images, labels, groups = [], [], []
    for name in sorted(names):
        volume, truth = (np.asarray(nibabel.load(Path(folder) / part / f"{name}.nii.gz").dataobj) for part in ("imagesTr", "labelsTr"))
        low, high = np.percentile(volume, [0.5, 99.5])
        volume = np.clip((volume.astype(np.float32) - low) / max(high - low, 1e-6), 0, 1).astype(np.float32)
        for z in np.flatnonzero(truth.any((0, 1))):
            for of, to in ((volume, images), (truth.astype(np.uint8), labels)):
                rows, columns = of.shape[1], of.shape[0]
                top, left = (SIDE - rows) // 2, (SIDE - columns) // 2
                page = np.zeros((SIDE, SIDE), of.dtype)
                page[top:top + rows, left:left + columns] = of[:, :, z].T
                to.append(page)
            groups.append(int(name.rsplit("_", 1)[1]))
    return np.stack(images), np.stack(labels), np.array(groups, np.int32)


def cut(msd, split, data, out):
    parts = json.loads(Path(split).read_text())
    for part in ("train", "test"):
        images, labels, groups = slices(msd, parts[part])
        if part == "test":
            given = np.load(f"{data}/hippocampus_test_labels.npy"), np.load(f"{data}/hippocampus_test_groups.npy")
            if not (np.array_equal(given[0], labels) and np.array_equal(given[1], groups)):
                sys.exit("the slices differ from those of hippocampus_test")
        for what, array in (("images", images), ("labels", labels), ("groups", groups)):
            np.save(f"{out}/{part}_{what}.npy", array)
        print(f"{part}: {len(images)} slices of {len(set(groups.tolist()))} patients")


def check(data, out):
    truth = np.load(f"{data}/hippocampus_test_labels.npy")
    for name, file in (("first", f"{data}/hippocampus_test_probs.npy"), ("second", f"{out}/hippocampus_other_probs.npy")):
        probs = np.load(file, mmap_mode="r")
        guess = np.concatenate([np.asarray(probs[i:i + 256], np.float32).argmax(1) for i in range(0, len(probs), 256)])
        dice = [2 * ((guess == c) & (truth == c)).sum() / ((guess == c).sum() + (truth == c).sum()) for c in (1, 2)]
        print(f"{name} network: Dice {dice[0]:.3f}, {dice[1]:.3f}")


if __name__ == "__main__":
    {"cut": cut, "check": check}[sys.argv[1]](*sys.argv[2:])
