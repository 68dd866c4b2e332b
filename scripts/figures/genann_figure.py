#!/usr/bin/env python3
"""Draws docs/figures/genann.svg: curve values of synthetic pixels with the circles and the ellipses that genann found.

    genann_figure.py [OUT.svg] [--circle GEOMETRY.json] [--ellipse GEOMETRY.json]

The background is the synthetic input of bench/genann_bench.cpp (noise 0.1) at quantile 0.9, averaged over blocks of 5 x 5
pixels. Without geometry files the annuli are the best that the bench printed for it. Standard library only.
"""
import argparse
import json
import math
import random

HEIGHT, WIDTH, BLOCK = 240, 320, 5
CIRCLE = {"centre_px": [173.87, 129.01], "radii": [76.29, 106.91, 137.42], "axis_ratio": 1, "angle": 0}
ELLIPSE = {"centre_px": [173.93, 128.05], "radii": [76.39, 107.48, 135.29], "axis_ratio": 1.145, "angle": 3.057}
COLOURS = ["#f7fbff", "#e3eef9", "#cfe1f2", "#b5d4e9", "#93c3df", "#6daed5", "#4b97c9", "#2f7ebc", "#1864aa", "#0a4a90"]


def block_value(row, column, noise):
    total = 0.0
    for y in range(row, row + BLOCK):
        for x in range(column, column + BLOCK):
            dx, dy = x - 159.5 - 14, 119.5 - y + 9
            r = math.sqrt(dx * dx + 1.3 * dy * dy)
            level = 0.15 + 0.55 / (1 + math.exp((95 - r) / 22)) + 0.05 * math.sin(dx / 17) * math.cos(dy / 23)
            total += min(1.0, max(0.0, level * 1.15 + 0.1 * 1.25 * noise.gauss(0, 1)))
    return total / BLOCK**2


def background():
    noise = random.Random(11)
    parts = []
    for row in range(0, HEIGHT, BLOCK):
        shades = [min(9, int(block_value(row, column, noise) / 0.9 * 10)) for column in range(0, WIDTH, BLOCK)]
        start = 0
        for k in range(1, len(shades) + 1):  # one rectangle for a run of equal shades
            if k == len(shades) or shades[k] != shades[start]:
                parts.append(f'<rect x="{start * BLOCK}" y="{row}" width="{(k - start) * BLOCK}" height="{BLOCK}" fill="{COLOURS[shades[start]]}"/>')
                start = k
    return "".join(parts)


def annuli(geometry):
    x, y = geometry["centre_px"]
    stretch = math.sqrt(geometry["axis_ratio"])
    turn = -math.degrees(geometry["angle"])  # angles count counter-clockwise, SVG's clockwise
    shapes = [f'<ellipse rx="{r * stretch:.2f}" ry="{r / stretch:.2f}"/>' for r in geometry["radii"]]
    return (f'<g transform="translate({x + 0.5:.2f} {y + 0.5:.2f}) rotate({turn:.2f})" fill="none" stroke="#d6301d" stroke-width="1.6">'
            + "".join(shapes) + '</g>' + f'<circle cx="{x + 0.5:.2f}" cy="{y + 0.5:.2f}" r="2" fill="#d6301d"/>')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", default="docs/figures/genann.svg")
    parser.add_argument("--circle", help="geometry of a calibrator, as inspect --json prints it")
    parser.add_argument("--ellipse")
    arguments = parser.parse_args()
    panels = []
    for k, (title, path, standard) in enumerate((("circles", arguments.circle, CIRCLE), ("ellipses", arguments.ellipse, ELLIPSE))):
        geometry = json.load(open(path)) if path else standard
        panels.append(f'<g transform="translate({k * (WIDTH + 16)} 20)"><text x="0" y="-6">{title}</text>'
                      f'<g clip-path="url(#image)"><use href="#values"/>{annuli(geometry)}</g></g>')
    width, height = 2 * WIDTH + 16, HEIGHT + 20
    with open(arguments.out, "w") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">'
                   f'<defs><clipPath id="image"><rect width="{WIDTH}" height="{HEIGHT}"/></clipPath>'
                   f'<g id="values" shape-rendering="crispEdges">{background()}</g></defs>{"".join(panels)}</svg>\n')


if __name__ == "__main__":
    main()
