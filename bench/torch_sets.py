#!/usr/bin/env python3
"""Measures the time that kandinsky.torch.PredictionSets adds to a U-Net's forward pass, and checks the sets against the CPU's.

    bench/torch_sets.py [--device cuda] [--images 64] [--size 512] [--classes 4] [--channels 32] [--runs 20] [--adapt]

Prints the shortest time of both, in float32 (on a GPU also in bfloat16), and the sets' share of the forward pass. Values do not
change the times, so thresholds are random. Needs torch and numpy. If the package is not installed, the module comes from
python/kandinsky of this checkout, without the compiled part, which PredictionSets does not call.

--adapt: levels by image (method field, 24 drawn calibration images), on drawn outputs, because the time depends on how many
scores are close to their limits. Needs the installed package.
"""

import argparse
import importlib.util
import sys
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import torch
from torch import nn


class Uncompiled(ModuleType):
    """Replaces kandinsky._core: its names can be imported, but not called."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (Exception,), {})  # including the base classes of the package's errors


if importlib.util.find_spec("kandinsky") is None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
    sys.modules["kandinsky._core"] = Uncompiled("kandinsky._core")

from kandinsky import Calibrator  # noqa: E402
from kandinsky.torch import PredictionSets  # noqa: E402

SCORES = {"lac": {}, "near": {}, "margin": {}, "aps": {}, "raps": {"lambda": 0.1, "kreg": 1}, "saps": {"weight": 0.2}}


class Drawn(Calibrator):
    """What PredictionSets uses of a calibrator, with random thresholds."""

    meta_, guarantee_, fingerprint_, n_classes_, grid_ = {}, "", "", 0, (0, 0)

    def __init__(self, score, classes, size):
        self.meta_ = {"options": {"score": score, "score_options": SCORES[score], "condition": "class"}, "data": {}}
        self.n_classes_, self.grid_ = classes, (size, size)

    def _fitted(self):
        limits = np.random.default_rng(0).uniform(0.2, 0.9, (self.n_classes_, *self.grid_)).astype(np.float32)
        return SimpleNamespace(limits=lambda alpha: limits, adapted_tables=lambda stratum, alphas: None)


def moody(images, classes, size, seed):
    """Drawn outputs of images that differ in difficulty, and their labels."""
    random = np.random.default_rng(seed)
    coarse = random.integers(0, classes, (images, -(-size // 32), -(-size // 32)))
    labels = np.kron(coarse, np.ones((32, 32), int))[:, :size, :size]
    right = 1 - random.random((images, 1, 1)) * random.random(labels.shape)
    planes = [np.where(labels == c, right, (1 - right) * random.random(labels.shape)) for c in range(classes)]
    return np.stack(planes, 1).astype(np.float32), labels.astype(np.uint8)


def adapting(score, classes, size):
    """A calibrator with levels by image."""
    import kandinsky

    names = {f"{score}_{name}": value for name, value in SCORES[score].items()}
    cal = kandinsky.Calibrator("field", score_function=score, adapt="image", promise="none", **names)
    return cal.fit(*moody(24, classes, size, seed=1))


class UNet(nn.Module):
    """Two 3 x 3 convolutions with batch norm a level, maxima on the way down, transposed convolutions on the way up."""

    def __init__(self, classes, channels, depth=4):
        super().__init__()
        def block(into, out):
            return nn.Sequential(*(layer for n in (into, out) for layer in
                                   (nn.Conv2d(n, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU(inplace=True))))

        wide = [channels << level for level in range(depth + 1)]
        self.down = nn.ModuleList(block(i, o) for i, o in zip([3, *wide], wide))
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * n, n, 2, 2) for n in reversed(wide[:-1]))
        self.join = nn.ModuleList(block(2 * n, n) for n in reversed(wide[:-1]))
        self.last = nn.Conv2d(channels, classes, 1)

    def forward(self, x):
        skips = []
        for level, block in enumerate(self.down):
            x = block(x if level == 0 else nn.functional.max_pool2d(x, 2))
            skips.append(x)
        for up, join, skip in zip(self.up, self.join, reversed(skips[:-1])):
            x = join(torch.cat((up(x), skip), 1))
        return self.last(x).softmax(1)


def shortest(work, device, runs):
    times = []
    for _ in range(runs + 3):
        if device == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        if device == "cuda":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return min(times[3:]) * 1e3


@torch.inference_mode()
def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    for name, number in (("images", 64), ("size", 512), ("classes", 4), ("channels", 32), ("runs", 20)):
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--adapt", action="store_true")
    words = parser.parse_args()
    torch.manual_seed(0)
    where = torch.cuda.get_device_name() if words.device == "cuda" else "CPU"
    print(f"torch {torch.__version__}, {where}: {words.images} images of {words.size} x {words.size}, {words.classes} classes")
    for kind in (torch.float32, torch.bfloat16) if words.device == "cuda" else (torch.float32,):
        net = UNet(words.classes, words.channels).eval().to(words.device, kind)
        images = torch.randn(words.images, 3, words.size, words.size, device=words.device, dtype=kind)
        if words.device == "cuda":
            net, images = net.to(memory_format=torch.channels_last), images.to(memory_format=torch.channels_last)
        forward = shortest(lambda: net(images), words.device, words.runs)
        print(f"{kind}: the U-Net ({words.channels} channels) takes {forward:.2f} ms")
        probs = net(images)
        if words.adapt:
            probs = torch.from_numpy(moody(words.images, words.classes, words.size, seed=2)[0]).to(words.device, kind)
        some = (4 * torch.randn(2, words.classes, words.size, words.size, device=words.device)).softmax(1).to(kind)
        for score in SCORES:
            make = adapting if words.adapt else Drawn
            sets = PredictionSets(make(score, words.classes, words.size)).to(words.device, kind)
            taken = shortest(lambda: sets(probs), words.device, words.runs)
            same = torch.equal(sets(some).cpu(), sets.cpu()(some.cpu()))
            print(f"  {score:6} {taken:8.3f} ms, {100 * taken / forward:5.2f} % of it; the CPU's sets: {'the same' if same else 'OTHERS'}")


if __name__ == "__main__":
    main()
