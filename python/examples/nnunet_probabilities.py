"""Calibrates nnU-Net's probabilities in Python; `kandinsky nnunet FOLDER` does this and more for a folder of nnUNet_results.

    nnunet_probabilities.py PREDICTIONS LABELS

PREDICTIONS has CASE.npz with the key `probabilities`, [C,z,y,x]; LABELS has CASE.npy, or CASE.nii.gz if nibabel is installed,
[z,y,x]. Without arguments the example uses a few synthetic cases.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import kandinsky

IGNORE = 255


def make_cases(folder, cases=12, slices=5):
    """Synthetic outputs in the form of nnU-Net's: volumes of different sizes."""
    for case in range(cases):
        scenes = kandinsky.make_scenes("medical", images=slices, first=case * slices, grid=(44 + case % 3 * 2, 60 - case % 2 * 4))
        np.savez_compressed(folder / f"case_{case:03}.npz", probabilities=np.moveaxis(scenes.probs, 1, 0).astype(np.float32))
        np.save(folder / f"case_{case:03}.npy", scenes.labels)
    return folder, folder


def read_label(folder, case):
    if (folder / f"{case}.npy").exists():
        return np.load(folder / f"{case}.npy")
    import nibabel  # its arrays have x first, but nnU-Net's arrays have z first

    return np.asarray(nibabel.load(folder / f"{case}.nii.gz").dataobj).astype(np.int16).transpose(2, 1, 0)


def placed(array, grid, fill):
    """Crops or pads the last two axes around their middle to `grid`, so that all cases have one size."""
    out = np.full((*array.shape[:-2], *grid), fill, array.dtype)
    sizes = [(have, want, min(have, want)) for have, want in zip(array.shape[-2:], grid)]
    source, target = ([slice((s[i] - s[2]) // 2, (s[i] - s[2]) // 2 + s[2]) for s in sizes] for i in (0, 1))
    out[(..., *target)] = array[(..., *source)]
    return out


def main(predictions, labels):
    maps = {path.stem: np.load(path)["probabilities"] for path in sorted(predictions.glob("*.npz"))}
    grid = tuple(int(n) for n in np.median([one.shape[-2:] for one in maps.values()], axis=0))
    cases = {name: (placed(np.moveaxis(one, 0, 1), grid, 0), placed(read_label(labels, name), grid, IGNORE)) for name, one in maps.items()}
    names = list(cases)
    held_out = max(1, len(names) // 3)
    calibrator = kandinsky.Calibrator(method="kmeans", ignore=[IGNORE])
    for name in names[held_out:]:  # slices of one case are not independent: the case is the group
        calibrator.partial_fit(*cases[name], groups=[name] * len(cases[name][0]))
    print(calibrator.calibrate(), calibrator.guarantee_, sep="\n")
    print(calibrator.evaluate(*(np.concatenate([cases[name][i] for name in names[:held_out]]) for i in (0, 1))))


with tempfile.TemporaryDirectory() as made:
    main(*map(Path, sys.argv[1:3])) if len(sys.argv) == 3 else main(*make_cases(Path(made)))
