"""A plain PyTorch loop: calibrate batch by batch, predict on the device.

Runs without torch too; the batches are then numpy arrays, and everything else is the same.
"""

import numpy as np

import kandinsky

try:
    import torch
except ImportError:
    torch = None
    print("torch is not installed: numpy arrays take the place of tensors")

GRID = (48, 64)


def batches(first, count, size=16):
    """What a data loader gives: images with their labels. Here the images are already the network's logits."""
    for start in range(first, first + count, size):
        scenes = kandinsky.make_scenes(images=min(size, first + count - start), first=start, grid=GRID)
        p = np.clip(scenes.probs.astype(np.float32), 1e-4, 1 - 1e-4)
        logits, labels = np.log(p / (1 - p)), scenes.labels
        yield (torch.from_numpy(logits), torch.from_numpy(labels)) if torch else (logits, labels)


def model(images):
    """Your network with its last layer, in eval mode."""
    return torch.sigmoid(images) if torch else 1 / (1 + np.exp(-images))


# Calibrate: images the network has not been trained on. Memory stays that of one batch.
calibrator = kandinsky.Calibrator(method="kmeans", score_function="lac")  # lac: thresholds on probabilities
with torch.no_grad() if torch else open("/dev/null"):
    for images, labels in batches(0, 96):
        probs = model(images)  # on a GPU: model(images.cuda()).cpu()
        calibrator.partial_fit(probs, labels)
calibrator.calibrate()
calibrator.save("model.kcal")
print(calibrator)
print(calibrator.guarantee_)

# Predict: this is only a comparison with the thresholds, on any device.
thresholds = calibrator.thresholds(alpha=0.1)  # float32 [C,H,W]
if torch:
    thresholds = torch.from_numpy(thresholds)  # .cuda()
covered = labelled = size = 0
for images, labels in batches(96, 48):
    sets = model(images) >= thresholds  # bool [N,C,H,W], on the device
    sets, labels = np.asarray(sets), np.asarray(labels).astype(np.int64)
    covered += np.take_along_axis(sets, labels[:, None], axis=1).sum()
    labelled += labels.size
    size += sets.sum()
print(f"coverage {covered / labelled:.3f} at alpha 0.1, {size / labelled:.2f} classes in a set")
