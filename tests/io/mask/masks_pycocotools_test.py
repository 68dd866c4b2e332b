"""Our polygons and run lengths against pycocotools, on thousands of random masks."""

import os
import random
import subprocess
import sys

import numpy as np
import pytest
from pycocotools import mask as coco

ECHO = os.environ["MASK_ECHO"]


def polygon_line(height, width, parts):
    numbers = " ".join(f"{len(p)} " + " ".join(repr(float(v)) for v in p) for p in parts)
    return f"polygon {height} {width} {len(parts)} {numbers}"


def ours(lines, sizes):
    done = subprocess.run([ECHO], input="\n".join(lines).encode(), stdout=subprocess.PIPE, check=True)
    data, at, masks = np.frombuffer(done.stdout, np.uint8), 0, []
    for height, width in sizes:
        masks.append(data[at : at + height * width].reshape(height, width))
        at += height * width
    assert at == data.size
    return masks


def theirs(parts, height, width):
    return coco.decode(coco.merge(coco.frPyObjects([list(map(float, p)) for p in parts], height, width)))


def compare(cases):
    """cases: (height, width, list of polygons)"""
    sizes = [(h, w) for h, w, _ in cases]
    wrong = []
    for case, mask in zip(cases, ours([polygon_line(*c) for c in cases], sizes)):
        height, width, parts = case
        if not np.array_equal(mask, theirs(parts, height, width)):
            wrong.append(case)
    assert not wrong, f"{len(wrong)} of {len(cases)} differ, the first: {wrong[0]}"
    return len(cases)


def corners(rng, count, draw):
    return [draw(rng, axis) for _ in range(count) for axis in (0, 1)]


def grid(rng):
    return rng.choice([1, 2, 3, 7, 16, 33, 60]), rng.choice([1, 2, 5, 8, 19, 40, 64])


KINDS = {
    "whole numbers": lambda rng, h, w: lambda r, axis: r.randint(0, (w, h)[axis]),
    "halves and fifths": lambda rng, h, w: lambda r, axis: r.randint(0, 10 * (w, h)[axis]) / 10,
    "two decimals as in COCO": lambda rng, h, w: lambda r, axis: round(r.uniform(0, (w, h)[axis]), 2),
    "any fraction": lambda rng, h, w: lambda r, axis: r.uniform(0, (w, h)[axis]),
    "on a line": lambda rng, h, w: lambda r, axis: r.choice([0, 1, (w, h)[axis] / 2]),
    "partly outside": lambda rng, h, w: lambda r, axis: r.uniform(-(w, h)[axis], 2 * (w, h)[axis]),
    "at the border": lambda rng, h, w: lambda r, axis: r.choice([0, (w, h)[axis]]) + r.uniform(-1.5, 1.5),
    "outside": lambda rng, h, w: lambda r, axis: r.uniform(-3 * (w, h)[axis], -0.1),
    "tiny": lambda rng, h, w: (lambda c: lambda r, axis: c[axis] + r.uniform(-0.6, 0.6))(
        (rng.uniform(0, w), rng.uniform(0, h))
    ),
    "huge": lambda rng, h, w: lambda r, axis: r.uniform(-20000, 20000),
    "one cell of the fine grid": lambda rng, h, w: lambda r, axis: r.randint(-5, 5 * (w, h)[axis] + 5) / 5 + 0.1,
}


@pytest.mark.parametrize("kind", KINDS)
def test_polygons_have_the_same_pixels(kind):
    rng = random.Random(kind)
    cases = []
    for _ in range(60 if kind == "huge" else 1500):
        height, width = grid(rng)
        draw = KINDS[kind](rng, height, width)
        parts = [corners(rng, rng.choice([3, 3, 4, 5, 6, 9, 30]), draw) for _ in range(rng.choice([1, 1, 1, 2, 4]))]
        cases.append((height, width, parts))
    print(kind, compare(cases), file=sys.stderr)


def test_outlines_of_objects_have_the_same_pixels():
    """Smooth closed curves at the size of photos, as annotators draw them."""
    rng = np.random.default_rng(5)
    cases = []
    for _ in range(300):
        height, width = 240, 320
        n = int(rng.integers(8, 200))
        angle = np.sort(rng.uniform(0, 2 * np.pi, n))
        radius = rng.uniform(3, 150) * (1 + 0.3 * rng.standard_normal(n))
        x = rng.uniform(0, width) + radius * np.cos(angle)
        y = rng.uniform(0, height) + radius * np.sin(angle)
        points = np.round(np.stack([x, y], 1), 2)
        if rng.random() < 0.5:
            points = points.clip(0, [width, height])
        if rng.random() < 0.3:
            points = points[::-1]
        cases.append((height, width, [points.ravel().tolist()]))
    compare(cases)


def test_repeated_corners_and_spikes_have_the_same_pixels():
    rng = random.Random(9)
    cases = []
    for _ in range(1000):
        height, width = grid(rng)
        points = [(rng.uniform(-2, width + 2), rng.uniform(-2, height + 2)) for _ in range(rng.randint(1, 4))]
        walk = [rng.choice(points) for _ in range(rng.randint(3, 10))]
        cases.append((height, width, [[v for p in walk for v in p]]))
    compare(cases)


def test_run_lengths_have_the_same_pixels():
    rng = np.random.default_rng(3)
    lines, sizes, expected = [], [], []
    for _ in range(2000):
        height, width = int(rng.integers(1, 70)), int(rng.integers(1, 70))
        mask = rng.random((height, width)) < rng.choice([0, 0.02, 0.5, 0.98, 1])
        if rng.random() < 0.5:
            mask = np.repeat(np.repeat(mask, 3, 0), 3, 1)
        packed = coco.encode(np.asfortranarray(mask.astype(np.uint8)))
        lines.append(f"runs {mask.shape[0]} {mask.shape[1]} {packed['counts'].decode()}")
        sizes.append(mask.shape)
        expected.append(mask)
    for mask, want in zip(ours(lines, sizes), expected):
        assert np.array_equal(mask, want)


def test_polygons_packed_by_pycocotools_come_back():
    rng = random.Random(4)
    lines, sizes, expected = [], [], []
    for _ in range(500):
        height, width = grid(rng)
        parts = [corners(rng, 6, lambda r, axis: r.uniform(-3, (width, height)[axis] + 3))]
        packed = coco.merge(coco.frPyObjects(parts, height, width))
        lines.append(f"runs {height} {width} {packed['counts'].decode()}")
        sizes.append((height, width))
        expected.append(coco.decode(packed))
    for mask, want in zip(ours(lines, sizes), expected):
        assert np.array_equal(mask, want)
