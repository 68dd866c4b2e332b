#!/usr/bin/env python3
"""A small simulation of work on many ranks: fits the points that bench/ranks.py measured, then predicts the times of a cluster.

    bench/ranks.py --json points.json && bench/scale.py points.json [--images 1e8] [--nodes 1000]

In a run, every rank starts, reads its images in each pass, does the work that all ranks repeat, and communicates. Each kind
of work has three constants: the cost of a rank among others (start, messages, waiting), of the work that every rank repeats,
and of an image. They are fitted to its points by non-negative least squares, in CPU seconds, which other programs on the
machine do not change. The table of a cluster uses these constants, one rank on each node, the measured bytes, and the network
given on the command line."""

import argparse
import json
import math
from itertools import combinations
from pathlib import Path

import numpy as np


def features(ranks, images):
    """The factors of the three constants in the CPU seconds of all ranks together."""
    return [ranks * (ranks > 1), ranks, images]


def nonnegative_fit(matrix, target):
    """Non-negative least squares: the best solution over all subsets of constants."""
    best, least = np.zeros(matrix.shape[1]), float(np.sum(target**2))
    for count in range(1, matrix.shape[1] + 1):
        for columns in map(list, combinations(range(matrix.shape[1]), count)):
            found = np.linalg.lstsq(matrix[:, columns], target, rcond=None)[0]
            error = float(np.sum((matrix[:, columns] @ found - target) ** 2))
            if (found >= 0).all() and error < least:
                best, least = np.zeros(matrix.shape[1]), error
                best[columns] = found
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("points")
    parser.add_argument("--images", type=float, default=1e8)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--cores", type=int, default=32, help="of a node")
    parser.add_argument("--pixels", type=float, default=320 * 240, help="of an image")
    parser.add_argument("--measured-pixels", type=float, default=96 * 64)
    parser.add_argument("--bandwidth", type=float, default=1.25e9, help="bytes a second of a node's network")
    parser.add_argument("--latency", type=float, default=2e-5, help="seconds of a message between nodes")
    options = parser.parse_args()
    points = json.loads(Path(options.points).read_text())
    works = list(dict.fromkeys(point["work"] for point in points))
    larger = options.pixels / options.measured_pixels
    print("| work | a rank among others | common work | an image | simulation against measurement, by point |\n| --- | --- | --- | --- | --- |")
    constants = {}
    for work in works:
        own = [p for p in points if p["work"] == work]
        matrix = np.array([features(p["ranks"], p["images"]) for p in own])
        target = np.array([p["cpu"] for p in own])
        found = constants[work] = nonnegative_fit(matrix / target[:, None], np.ones(len(own)))
        errors = np.sort(abs(matrix @ found / target - 1))
        print(f"| {work} | {found[0] * 1e3:.0f} ms | {found[1] * 1e3:.0f} ms | {found[2] * 1e6:.0f} us | {errors[len(errors) // 2]:.0%} off, at most {errors[-1]:.0%} |")
    print(f"\n{options.images:.0e} images of {options.pixels:.0f} pixels on {options.nodes} nodes of {options.cores} cores:\n")
    print("| work | reading and counting | common work | network volume of a node | its time | first to saturate |\n| --- | --- | --- | --- | --- | --- |")
    for work in works:
        own = [p for p in points if p["work"] == work]
        most = max(own, key=lambda p: (p["images"], p["ranks"]))
        start, common, image = constants[work]
        reading = image * larger * options.images / options.nodes / options.cores
        together = common * larger
        # An allreduce sends and receives its bytes; its latency is that of a tree up and down.
        volume = 2 * most["bytes"] * larger
        network = volume / options.bandwidth + most["messages"] * 2 * math.log2(options.nodes) * options.latency
        parts = {"reading": reading, "common work": together, "network": network}
        print(f"| {work} | {reading:.0f} s | {together:.1f} s | {volume / 1e6:.0f} MB | {network:.1f} s | {max(parts, key=parts.get)} |")


if __name__ == "__main__":
    main()
