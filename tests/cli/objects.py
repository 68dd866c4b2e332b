"""Round objects for the tests of outlines and measures, and the rank that a guarantee needs."""

import numpy as np


def discs(images, seed=0, side=24):
    """Round objects and probabilities that misjudge their radius, float32 [N,2,H,W], and the labels."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[:side, :side]
    labels, probs = [], []
    for _ in range(images):
        r, cy, cx = random.uniform(1.5, side / 2 - 2), *random.uniform(side / 2 - 2, side / 2 + 2, 2)
        d = np.hypot(y - cy, x - cx) - r
        labels.append(d < 0)
        probs.append(1 / (1 + np.exp(np.clip(2 * (d + random.normal()) + 0.5 * random.normal(size=d.shape), -30, 30))))
    p = np.array(probs, np.float32)
    return np.stack([1 - p, p], 1), np.array(labels, np.uint8)


def rank(n, alpha):
    return int(np.ceil((1 - alpha) * (n + 1) - 1e-9))
