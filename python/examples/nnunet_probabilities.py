"""nnU-Net: from `nnUNetv2_predict --save_probabilities` to prediction sets.

    nnunet_probabilities.py PREDICTIONS LABELS

PREDICTIONS holds CASE.npz with the key `probabilities`, [C,z,y,x]; LABELS holds CASE.npy, or CASE.nii.gz if nibabel is
installed, [z,y,x]. Without arguments a few made-up cases are written and used.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import kandinsky

IGNORE = 255


def make_cases(folder, cases=12, slices=5):
    """Stand-ins for nnU-Net's output: volumes of different sizes."""
    (folder / "predictions").mkdir()
    (folder / "labels").mkdir()
    for case in range(cases):
        size = (44 + case % 3 * 2, 60 - case % 2 * 4)
        scenes = kandinsky.make_scenes("medical", images=slices, first=case * slices, grid=size)
        np.savez_compressed(folder / "predictions" / f"case_{case:03}.npz",
                            probabilities=np.moveaxis(scenes.probs, 1, 0).astype(np.float32))
        np.save(folder / "labels" / f"case_{case:03}.npy", scenes.labels)
    return folder / "predictions", folder / "labels"


def read_label(folder, case):
    if (folder / f"{case}.npy").exists():
        return np.load(folder / f"{case}.npy")
    import nibabel

    # nibabel has x first, nnU-Net's arrays have z first.
    return np.asarray(nibabel.load(folder / f"{case}.nii.gz").dataobj).astype(np.int16).transpose(2, 1, 0)


def placed(array, grid, fill):
    """The last two axes cut or padded around their middle to `grid`, so that cases share one."""
    out = np.full((*array.shape[:-2], *grid), fill, array.dtype)
    source, target = [], []
    for have, want in zip(array.shape[-2:], grid):
        n = min(have, want)
        source.append(slice((have - n) // 2, (have - n) // 2 + n))
        target.append(slice((want - n) // 2, (want - n) // 2 + n))
    out[(..., *target)] = array[(..., *source)]
    return out


def slices_of(predictions, labels, case, grid):
    """Probabilities [z,C,y,x] and labels [z,y,x] of a case; what was padded is ignored."""
    with np.load(predictions / f"{case}.npz") as file:
        probs = np.moveaxis(file["probabilities"], 0, 1)
    truth = read_label(labels, case)
    if truth.shape != probs[:, 0].shape:
        sys.exit(f"{case}: the label has shape {truth.shape}, the probabilities {probs[:, 0].shape}")
    return placed(probs, grid, 0), placed(truth, grid, IGNORE)


def main(predictions, labels):
    cases = sorted(path.stem for path in predictions.glob("*.npz"))
    shapes = [np.load(predictions / f"{case}.npz")["probabilities"].shape[-2:] for case in cases]
    grid = tuple(int(n) for n in np.median(shapes, axis=0))
    held_out = max(1, len(cases) // 3)
    calibrator = kandinsky.Calibrator(method="kmeans", ignore=[IGNORE])
    for case in cases[held_out:]:
        probs, truth = slices_of(predictions, labels, case, grid)
        # Slices of one case are not independent: the case is the group.
        calibrator.partial_fit(probs, truth, groups=[case] * len(probs))
    calibrator.calibrate()
    print(calibrator)
    print(calibrator.guarantee_)
    parts = [slices_of(predictions, labels, case, grid) for case in cases[:held_out]]
    print(calibrator.evaluate(np.concatenate([p for p, _ in parts]), np.concatenate([y for _, y in parts])))
    calibrator.save("nnunet.kcal")


if len(sys.argv) == 3:
    main(Path(sys.argv[1]), Path(sys.argv[2]))
else:
    with tempfile.TemporaryDirectory() as made:
        main(*make_cases(Path(made)))
