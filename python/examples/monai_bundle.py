"""MONAI: a bundle whose postprocessing makes prediction sets and saves them with the image's geometry.

Needs monai and nibabel. monai_bundle.json beside this file is the fragment. The "network" here returns its input, logits.
"""

import sys
from pathlib import Path

import nibabel
import numpy as np
import torch
from monai.bundle import ConfigParser

import kandinsky
from kandinsky.monai import to_slices

HERE, SHAPE = Path(__file__).resolve().parent, (32, 40, 6)  # x, y, z
AFFINE = np.diag([-1.0, 1.0, 2.0, 1.0])  # x runs to the patient's left


class Network(torch.nn.Module):
    """In place of your network. Images are logits here."""

    def forward(self, image):
        return image


def volume(case):
    """Logits [x,y,z,C] and labels [x,y,z] of a patient, stored with x backwards."""
    scenes = kandinsky.make_scenes("medical", images=SHAPE[2], first=case * SHAPE[2], grid=(SHAPE[1], SHAPE[0]))
    logits = np.log(np.clip(scenes.probs.astype(np.float32), 1e-4, 1))
    return logits.transpose(3, 2, 0, 1)[::-1], scenes.labels.transpose(2, 1, 0)[::-1]


sys.modules.setdefault("monai_bundle", sys.modules["__main__"])  # so that the fragment finds Network
parser = ConfigParser()
parser.read_config(HERE / "monai_bundle.json")
network, inferer = parser.get_parsed_content("network"), parser.get_parsed_content("inferer")

# Calibrate on the pipeline's own outputs for labelled cases, window by window. The slices of a case are a group.
calibrator = kandinsky.Calibrator("image")
for case in range(24):
    logits, labels = volume(case)
    stitched = inferer(torch.from_numpy(logits.transpose(3, 0, 1, 2).copy())[None], network).softmax(1)[0].numpy()
    slices, truth = to_slices(stitched, AFFINE), to_slices(labels[None], AFFINE)[:, 0]
    calibrator.partial_fit(np.ascontiguousarray(slices), np.ascontiguousarray(truth), groups=[case] * len(truth))
calibrator.calibrate().save("model.kcal")
print(calibrator.guarantee_)

Path("images").mkdir(exist_ok=True)
for case in range(24, 27):
    nibabel.save(nibabel.Nifti1Image(np.ascontiguousarray(volume(case)[0]), AFFINE), f"images/case_{case}.nii.gz")
post = parser.get_parsed_content("postprocessing")
for item in parser.get_parsed_content("dataset"):
    item["pred"] = inferer(item["image"][None], network)[0]
    sets = post(item)["pred_sets"]
saved = nibabel.load("sets/case_26_sets.nii.gz")
assert np.array_equal(saved.affine, AFFINE) and saved.shape[:3] == SHAPE
print(f"{saved.get_filename()}: {np.asarray(saved.dataobj).sum(-1).mean():.2f} classes in a set")
