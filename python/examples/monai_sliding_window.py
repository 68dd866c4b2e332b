"""Sliding-window inference as in MONAI, then calibration of the stitched probability maps.

Uses MONAI's `sliding_window_inference` if it is installed; otherwise a few lines of numpy do the same.
"""

import numpy as np

import kandinsky

GRID, WINDOW = (64, 96), (32, 48)

try:
    import torch
    from monai.inferers import sliding_window_inference
except ImportError:
    torch = None
    print("MONAI is not installed: windows are stitched in numpy")


def network(patch):
    """In place of a network from patches [B,channels,h,w] to probabilities [B,C,h,w]: the patch contains them."""
    return patch


def stitched(image):
    """Probabilities [C,H,W] of one image [channels,H,W], from overlapping windows whose results are averaged."""
    if torch:
        out = sliding_window_inference(torch.from_numpy(image)[None], WINDOW, 4, network, overlap=0.5)
        return out[0]  # a tensor, which partial_fit() accepts
    total, weight = np.zeros_like(image), np.zeros(image.shape[1:], np.float32)
    for y in range(0, GRID[0] - WINDOW[0] + 1, WINDOW[0] // 2):
        for x in range(0, GRID[1] - WINDOW[1] + 1, WINDOW[1] // 2):
            window = np.s_[..., y : y + WINDOW[0], x : x + WINDOW[1]]
            total[window] += network(image[window][None])[0]
            weight[window] += 1
    return total / weight


cal = kandinsky.make_scenes("medical", images=60, grid=GRID)
test = kandinsky.make_scenes("medical", images=30, first=60, grid=GRID)

calibrator = kandinsky.Calibrator(method="field", progress=True)
for image, label, patient in zip(cal.probs.astype(np.float32), cal.labels, cal.groups):
    # One image at a time; slices of a patient belong together.
    probs = stitched(image)
    calibrator.partial_fit(probs[None], label[None], groups=[patient])
calibrator.calibrate()
print(calibrator)

maps = np.stack([np.asarray(stitched(image)) for image in test.probs.astype(np.float32)])
print(calibrator.evaluate(maps, test.labels, alpha=0.1))

# For the reader of the image: where more than one class is possible.
sets = calibrator.predict_set(maps[0], alpha=0.1)
print(f"{(sets.sum(axis=0) != 1).mean():.1%} of the pixels of the first image are undecided")
