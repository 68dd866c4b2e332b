# %% [markdown]
# # Prediction sets for a segmentation network
#
# A network marks the two parts of the hippocampus in slices of brain scans, with a probability for each class at each
# pixel. How far can these be trusted, and where? This tutorial calibrates the network on a few patients and checks the
# result on others. It opens as a notebook in VS Code, Jupyter (with jupytext) and PyCharm, and runs as a script.
#
# `KANDINSKY_DATA` names a folder with `hippocampus_{cal27,test}_{probs,labels,groups}.npy`; without it, synthetic scenes of
# a small organ are used.

# %%
import os
from pathlib import Path

import numpy as np

import kandinsky

folder = Path(os.environ.get("KANDINSKY_DATA", "."))
if (folder / "hippocampus_cal27_probs.npy").exists():
    cal, test = (
        [np.load(folder / f"hippocampus_{part}_{what}.npy", mmap_mode="r") for what in ("probs", "labels", "groups")]
        for part in ("cal27", "test")
    )
    print("hippocampus slices")
else:
    print("no hippocampus data: synthetic scenes are used")
    cal = kandinsky.make_scenes("medical", images=120, grid=(64, 64))
    test = kandinsky.make_scenes("medical", images=120, first=120, grid=(64, 64))
cal_probs, cal_labels, cal_groups = cal
test_probs, test_labels, test_groups = test
print(cal_probs.shape, cal_probs.dtype, "from", len(np.unique(cal_groups)), "patients")

# %% [markdown]
# ## Are the probabilities calibrated?
# Among the pixels with probability 0.8 of a class, about eight in ten should have it. One calibrator for the whole image
# is enough to check this.

# %%
whole = kandinsky.Calibrator(method="image").fit(cal_probs, cal_labels, cal_groups)
found = whole.evaluate(test_probs, test_labels, alpha=0.1)
print(found)

# %% [markdown]
# ## One threshold for the whole image is right on average and wrong almost everywhere
# The coverage over all pixels is close to the chosen level. The map of coverage errors shows that it is too high at some
# pixels and too low at others.

# %%
try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None
    print("matplotlib is not installed: pictures are left out")
if plt:
    figure, axes = plt.subplots(1, 3, figsize=(13, 4), constrained_layout=True)
    kandinsky.plot_reliability(found, 1, ax=axes[0])
    kandinsky.plot_coverage(found, 1, ax=axes[1])
    kandinsky.plot_ce_map(found, 1, ax=axes[2])
    figure.savefig("whole_image.png", dpi=80)

# %% [markdown]
# ## Which pixels should share their scores?
# With so few patients, a single pixel has too few scores. `compare` tries several ways of sharing; the slices of one
# patient stay together.

# %%
methods = ["pixel", "image", "kmeans", "field"]
comparison = kandinsky.compare(cal_probs, cal_labels, test_probs, test_labels, cal_groups=cal_groups, methods=methods,
                               classes=[1])
print(comparison)
best = comparison.best(1)
print("best:", best)

# %%
if plt:
    figure, axes = plt.subplots(1, 3, figsize=(13, 4), constrained_layout=True)
    kandinsky.plot_partition(comparison.calibrators["kmeans"], 1, ax=axes[0])
    kandinsky.plot_ce_map(comparison, 1, ax=axes[1])
    kandinsky.plot_violin(comparison, 1, ax=axes[2])
    figure.savefig("methods.png", dpi=80)

# %% [markdown]
# ## Use it
# A calibrator is a small file. Prediction is a comparison with a threshold at each pixel.

# %%
calibrator = kandinsky.Calibrator(method=best).fit(cal_probs, cal_labels, cal_groups)
calibrator.save("hippocampus.kcal")
calibrator = kandinsky.load("hippocampus.kcal")
sets = calibrator.predict_set(test_probs[:4], alpha=0.1)
print(sets.shape, sets.dtype, f"{sets.sum(axis=1).mean():.3f} classes in a set")
print(calibrator.guarantee_)

# %% [markdown]
# ## Share it
# `kandinsky.report(comparison)` writes a page with all these results, for colleagues without Python.
