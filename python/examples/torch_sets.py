"""Sets inside a torch model: calibrated at the end of validation, saved with the weights, exported with the network.

Needs torch.
"""

import numpy as np
import torch

import kandinsky
from kandinsky.torch import CalibrationMetric, PredictionSets

GRID = (48, 64)


def batches(first, count, size=16):
    """What a data loader gives. Here the images are already the network's logits."""
    for start in range(first, first + count, size):
        scenes = kandinsky.make_scenes(images=min(size, first + count - start), first=start, grid=GRID)
        p = np.clip(scenes.probs.astype(np.float32), 1e-4, 1 - 1e-4)
        yield torch.from_numpy(np.log(p / (1 - p))), torch.from_numpy(scenes.labels)


device = "cuda" if torch.cuda.is_available() else "cpu"
net = torch.nn.Sequential(torch.nn.Identity(), torch.nn.Sigmoid()).eval().to(device)  # yours, with its last layer

# Validation: update() with every batch, compute() at the end. kandinsky.lightning.Calibrate does this for Lightning.
metric = CalibrationMetric(kandinsky.Calibrator("kmeans"))
with torch.no_grad():
    for images, labels in batches(0, 96):
        metric.update(net(images.to(device)), labels)
calibrator = metric.compute()
calibrator.save("model.kcal")
print(calibrator.guarantee_)

# Deployment: one model from image to sets. half() and to(device) reach the network; thresholds stay float32.
model = torch.nn.Sequential(net, PredictionSets(calibrator, alpha=0.1)).to(device)
print(model[1])
covered = labelled = size = 0
with torch.no_grad():
    for images, labels in batches(96, 48):
        sets = model(images.to(device)).cpu()
        covered += sets.gather(1, labels[:, None].long()).sum().item()
        labelled, size = labelled + labels.numel(), size + sets.sum().item()
print(f"coverage {covered / labelled:.3f} at alpha 0.1, {size / labelled:.2f} classes in a set")

# One file for another process: it takes any batch size and runs without Kandinsky.
batch = torch.export.Dim("batch", min=1, max=256)
program = torch.export.export(model, (images.to(device),), dynamic_shapes=({0: batch},))
torch.export.save(program, "model.pt2")
again = torch.export.load("model.pt2").module()
assert torch.equal(again(images[:3].to(device)).cpu(), sets[:3])
print("model.pt2 gives the same sets")
