"""Writes golden_masks.json: polygons, and the pixels and packed run lengths that pycocotools gives for them.

python3 golden_masks.py > golden_masks.json    (needs numpy and pycocotools; 2.0.11 wrote the file that is here)
"""

import json
import random

from pycocotools import mask as coco


def cases():
    yield "square", 6, 7, [[1, 1, 5, 1, 5, 4, 1, 4]]
    yield "triangle", 9, 9, [[0.5, 0.5, 8.3, 2.1, 3.7, 8.9]]
    yield "bow tie", 10, 10, [[1, 1, 9, 9, 9, 1, 1, 9]]
    yield "star", 16, 16, [[8, 0, 12.7, 14.5, 0.4, 5.5, 15.6, 5.5, 3.3, 14.5]]
    yield "two parts", 8, 12, [[1, 1, 5, 1, 5, 6, 1, 6], [4, 3, 11, 3, 11, 7.5, 4, 7.5]]
    yield "larger than the image", 5, 5, [[-10, -10, 20, -10, 20, 20, -10, 20]]
    yield "over the lower edge", 6, 6, [[1.2, 2.2, 4.8, 2.2, 3, 30]]
    yield "line", 6, 6, [[1, 1, 5, 5, 1, 1]]
    yield "less than a pixel", 6, 6, [[2.1, 2.1, 2.4, 2.1, 2.4, 2.4]]
    yield "one pixel", 3, 3, [[1, 1, 2, 1, 2, 2, 1, 2]]
    yield "outside", 4, 4, [[-9, -9, -2, -9, -2, -2]]
    rng = random.Random(2017)
    for number in range(40):
        height, width = rng.randint(1, 12), rng.randint(1, 14)
        reach = rng.choice([0, 1, 5])
        parts = [
            [
                round(rng.uniform(-reach, (width, height)[axis] + reach), rng.choice([0, 1, 2, 12]))
                for _ in range(rng.randint(3, 8))
                for axis in (0, 1)
            ]
            for _ in range(rng.choice([1, 1, 2]))
        ]
        yield f"random {number}", height, width, parts


def main():
    lines = []
    for name, height, width, parts in cases():
        packed = coco.merge(coco.frPyObjects([list(map(float, p)) for p in parts], height, width))
        mask = coco.decode(packed)
        lines.append(
            json.dumps(
                {
                    "name": name,
                    "height": height,
                    "width": width,
                    "parts": parts,
                    "rows": ["".join(".#"[v] for v in row) for row in mask],
                    "text": packed["counts"].decode(),
                }
            )
        )
    print("[\n" + ",\n".join(lines) + "\n]")


main()
