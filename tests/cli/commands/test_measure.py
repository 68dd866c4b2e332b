"""Sizes and Dice with intervals against a few lines of numpy, from arrays and from NIfTI volumes with a spacing."""

import csv
import json

import numpy as np
import pytest
from objects import discs, rank
from support import expect_refusal


def dice(a, b):
    return 2 * (a & b).sum() / (a.sum() + b.sum()) if a.any() or b.any() else 1.0


def read_csv(path):
    with open(path) as file:
        return list(csv.DictReader(file))


def test_intervals_are_conformalised_quantiles(room):
    cal, new = discs(40), discs(9, 1)
    for prefix, (probs, labels) in (("c", cal), ("n", new)):
        room.save(f"{prefix}p.npy", probs), room.save(f"{prefix}y.npy", labels)
    room.does("measure", "--cal-probs", "cp.npy", "--cal-labels", "cy.npy", "--alpha", "0.2", "--probs", "np.npy", "--labels", "ny.npy",
              "--csv", "v.csv", "--json", "v.json", "--save", "rule.json")

    def sizes(probs):
        return (probs[:, 1] > 0.9).sum((1, 2)), (probs[:, 1] > 0.1).sum((1, 2))

    def expected_dice(probs):
        p, mask = probs[:, 1].astype(float), probs[:, 1] > 0.5
        return 2 * (p * mask).sum((1, 2)) / ((p * (p > 0.1)).sum((1, 2)) + mask.sum((1, 2)))

    low, high = sizes(cal[0])
    truth = cal[1].sum((1, 2))
    q = np.sort(np.maximum(low - truth, truth - high))[rank(40, 0.2) - 1]
    d = np.sort([abs(dice(p[1] > 0.5, y == 1) - e) for p, y, e in zip(*cal, expected_dice(cal[0]))])[rank(40, 0.2) - 1]
    low, high = sizes(new[0])
    rows = read_csv(room.folder / "v.csv")
    assert len(rows) == 9
    for i, row in enumerate(rows):
        assert float(row["size_low"]) == max(0, low[i] - q) and float(row["size_high"]) == high[i] + q
        assert float(row["size_true"]) == new[1][i].sum()
        e = expected_dice(new[0])[i]
        assert abs(float(row["dice_low"]) - max(0, e - d)) < 1e-5 and abs(float(row["dice_high"]) - min(1, e + d)) < 1e-5
        assert abs(float(row["dice_true"]) - dice(new[0][i, 1] > 0.5, new[1][i] == 1)) < 1e-5
    found = json.loads((room.folder / "v.json").read_text())
    assert [one["size"]["low"] for one in found["groups"]] == [float(row["size_low"]) for row in rows]
    room.does("measure", "--rule", "rule.json", "--probs", "np.npy", "--labels", "ny.npy", "--csv", "again.csv")
    assert (room.folder / "again.csv").read_text() == (room.folder / "v.csv").read_text()


def test_masks_alone_are_enough(room):
    cal, new = discs(40, 2), discs(9, 3)
    for prefix, (probs, labels) in (("c", cal), ("n", new)):
        room.save(f"{prefix}m.npy", probs.argmax(1).astype(np.int32)), room.save(f"{prefix}y.npy", labels)
    room.does("measure", "--cal-masks", "cm.npy", "--cal-labels", "cy.npy", "--masks", "nm.npy", "--csv", "v.csv")
    size = (cal[0][:, 1] > 0.5).sum((1, 2))
    q = np.sort(abs(size - cal[1].sum((1, 2))))[rank(40, 0.1) - 1]
    for row, probs in zip(read_csv(room.folder / "v.csv"), new[0]):
        assert float(row["size_high"]) == (probs[1] > 0.5).sum() + q and "size_true" not in row
    for by in ("soft", "quantiles"):
        expect_refusal(room.run("measure", "--cal-masks", "cm.npy", "--cal-labels", "cy.npy", "--by", by, "--save", "r.json"), 2, f"by {by}", "masks")


def test_volumes_of_nifti_files_are_in_cubic_millimetres(room):
    nib = pytest.importorskip("nibabel", reason="python3-nibabel is missing")
    probe = room.run("collect", "--labels", room.folder, "-o", "out")
    if "cannot read NIfTI" in probe.err:
        pytest.skip("this build has no libnifti")
    for name in ("P", "Y"):
        (room.folder / name).mkdir()
    truth = {}
    for case in range(12):
        probs, labels = discs(4 + case % 3, 20 + case, 9 + case % 2)
        affine = np.diag([0.5 + case / 10, 2, 3, 1])
        volume = np.moveaxis(probs[:, 1], 0, -1).astype(np.float32)
        nib.save(nib.Nifti1Image(volume, affine), room.folder / "P" / f"case{case:02}.nii.gz")
        nib.save(nib.Nifti1Image(np.moveaxis(labels, 0, -1), affine), room.folder / "Y" / f"case{case:02}.nii.gz")
        truth[f"case{case:02}"] = labels.sum() * (0.5 + case / 10) * 2 * 3
    said = room.does("measure", "--cal-probs", "P", "--cal-labels", "Y", "--alpha", "0.3", "--probs", "P", "--labels", "Y", "--csv", "v.csv").out
    assert "mm^3" in said
    for row in read_csv(room.folder / "v.csv"):
        assert abs(float(row["size_true"]) - truth[row["name"]]) < 1e-3 * truth[row["name"]]
    # Outlines of volumes of several sizes go back into files of the same geometry.
    room.does("outline", "--cal-probs", "P", "--cal-labels", "Y", "--alpha", "0.4", "--probs", "P", "--labels", "Y", "-o", "O", "--contours", "L")
    made = nib.load(room.folder / "O" / "case03.nii.gz")
    given = nib.load(room.folder / "P" / "case03.nii.gz")
    assert made.shape[:3] == given.shape and np.allclose(made.affine, given.affine) and set(np.unique(made.get_fdata())) <= {0, 1, 2}
    assert len(list((room.folder / "L").iterdir())) == 12


def test_too_few_groups_give_infinite_intervals(room):
    probs, labels = discs(5, 30)
    room.save("p.npy", probs), room.save("y.npy", labels)
    done = room.run("measure", "--cal-probs", "p.npy", "--cal-labels", "y.npy", "--probs", "p.npy", "--csv", "v.csv")
    assert done.code == 0 and "5 calibration groups, but alpha 0.1 needs 9" in done.err
    assert all(row["size_low"] == "0" and row["size_high"] == "inf" for row in read_csv(room.folder / "v.csv"))


def test_groups_of_several_images_go_by_their_ids(room):
    probs, labels = discs(40, 31)
    room.save("p.npy", probs), room.save("y.npy", labels), room.save("g.npy", np.arange(40) // 2 + 700)
    given = ["--cal-probs", "p.npy", "--cal-labels", "y.npy", "--cal-groups", "g.npy", "--probs", "p.npy"]
    room.does("measure", *given, "--groups", "g.npy", "--csv", "v.csv")
    assert [row["name"] for row in read_csv(room.folder / "v.csv")] == [str(700 + i) for i in range(20)]
    room.does("measure", *given, "--csv", "v.csv")
    assert [row["name"] for row in read_csv(room.folder / "v.csv")] == [str(i) for i in range(40)]
