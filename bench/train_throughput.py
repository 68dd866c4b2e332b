#!/ usr / bin / env python3
""
    "Training throughput of `kandinsky train` against the same U-Net in Python's PyTorch, in one run.

    bench /
    train_throughput.py build / bin /
    kandinsky[--size 64][--batch 32][--images 512][--epochs 4]

    Both sides read the same images from memory,
    train the paper's 53.5 M network on the same device with AdamW, the loss of the hardest 10 %
        of the values,
    bfloat16 and channels - last on a GPU,
    and copy every batch to the device.kandinsky also augments and converts each image; the Python side only copies it, which favours Python. The first epoch is a warm-up.
"""

import argparse
import json
import os
import re
import subprocess
import tempfile
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class DoubleConvolution(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        self.second = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)

    def forward(self, x):
        x = F.relu_(F.instance_norm(self.first(x)))
        return F.relu_(F.instance_norm(self.second(x)))


class UNet(nn.Module):
    def __init__(self, inputs, outputs, width=128, depth=4):
        super().__init__()
        channels = [width << min(level, depth - 1) for level in range(depth + 1)]
        self.down = nn.ModuleList(
            DoubleConvolution(inputs if i == 0 else channels[i - 1], c) for i, c in enumerate(channels)
        )
        self.up, current = nn.ModuleList(), channels[-1]
        for level in reversed(range(depth)):
            out = channels[level - 1] if level > 0 else width
            self.up.append(DoubleConvolution(current + channels[level], out))
            current = out
        self.last = nn.Conv2d(current, outputs, 1)

    def forward(self, x):
        levels = []
        for i, block in enumerate(self.down):
            x = block(F.max_pool2d(x, 2) if i else x)
            levels.append(x)
        levels.pop()
        for block in self.up:
            x = F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
            x = block(torch.cat([levels.pop(), x], 1))
        return self.last(x)


def top_loss(logits, targets, share):
    loss = F.binary_cross_entropy_with_logits(logits.float(), targets, reduction="none").flatten(1)
    return torch.topk(loss, max(1, round(share * loss.shape[1])), 1, sorted=False)[0].mean()


def python_rate(images, targets, options, device):
    torch.backends.cudnn.benchmark = True
    net = UNet(images.shape[1], targets.shape[1], options.width).to(device)
    if device == "cuda":
        net = net.to(memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4, weight_decay=1e-4)
    steps = len(images) // options.batch
    best = 0.0
    for epoch in range(options.epochs):
        start = time.perf_counter()
        for k in range(steps):
            part = slice(k * options.batch, (k + 1) * options.batch)
            x = torch.from_numpy(images[part]).to(device).float().div_(255)
            y = torch.from_numpy(targets[part]).to(device).float()
            if device == "cuda":
                x = x.contiguous(memory_format=torch.channels_last)
            with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
                logits = net(x)
            loss = top_loss(logits, y, 0.1)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            loss.item()
        if epoch > 0:
            best = max(best, steps * options.batch / (time.perf_counter() - start))
    return best, sum(p.numel() for p in net.parameters())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kandinsky")
    for name, value in {"size": 64, "batch": 32, "images": 512, "epochs": 4, "width": 128}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    random = np.random.default_rng(0)
    images = random.integers(0, 256, (options.images, 1, options.size, options.size), dtype=np.uint8)
    labels = random.integers(0, 3, (options.images, options.size, options.size), dtype=np.uint8)
    targets = np.stack([labels == c for c in range(3)], 1).astype(np.uint8)

    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/images.npy", images)
        np.save(f"{folder}/labels.npy", labels)
        text = subprocess.run(
            [options.kandinsky, "train", "--images", "images.npy", "--labels", "labels.npy", "-o", "unet.pt",
             "--epochs", str(options.epochs), "--batch", str(options.batch), "--width", str(options.width),
             "--checkpoint", "none", "--device", device, "--mixed"],
            cwd=folder, check=True, capture_output=True, text=True, env=os.environ,
        ).stdout  # fmt: skip
    rates = [float(rate) for rate in re.findall(r"epoch .* ([0-9.]+) images/s", text)]
    ours = max(rates[1:])
    theirs, weights = python_rate(images, targets, options, device)
    name = torch.cuda.get_device_name() if device == "cuda" else "cpu"
    print(text, end="")
    print(json.dumps({"device": name, "torch": torch.__version__, "weights": weights, "size": options.size,
                      "batch": options.batch, "kandinsky": round(ours, 1), "pytorch": round(theirs, 1),
                      "ratio": round(ours / theirs, 3)}))  # fmt: skip


if __name__ == "__main__":
    main()
