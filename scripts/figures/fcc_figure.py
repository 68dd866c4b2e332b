#!/usr/bin/env python3
"""Draws docs/figures/fcc.svg from a geometry JSON of method fcc; standard library only.

    build/bin/fcc_bench --geometry | python3 scripts/figures/fcc_figure.py > docs/figures/fcc.svg

The scene behind the curves is that of bench/fcc_bench.cpp (320 x 240). Its left half is drawn without noise.
"""
import base64
import json
import math
import random
import struct
import sys
import zlib

WIDTH, HEIGHT, STEP = 320, 240, 2


def level(column, row):
    x, y = column - (WIDTH - 1) / 2, row - (HEIGHT - 1) / 2
    theta = math.atan2(y, x)
    size = math.hypot(x, y) / (1 + 0.25 * math.cos(3 * theta) + 0.1 * math.sin(2 * theta))
    return 0.1 + sum(0.2 / (1 + math.exp(-(size - edge) / 3)) for edge in (35, 65, 95))


def field_png():
    """The scene as an 8-bit grey PNG, every STEP-th pixel."""
    noise = random.Random(1)
    rows = []
    for row in range(0, HEIGHT, STEP):
        line = bytearray([0])
        for column in range(0, WIDTH, STEP):
            value = level(column, row) + (noise.gauss(0, 0.05) if column >= WIDTH / 2 else 0)
            line.append(max(0, min(31, round(31 * (1 - value)))) * 8)
        rows.append(bytes(line))

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", WIDTH // STEP, HEIGHT // STEP, 8, 0, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"".join(rows), 9))
    return base64.b64encode(png + chunk(b"IEND", b"")).decode()


def curve_path(geometry, coefficients):
    """r(theta) = scale * (a0 + 2 sum_k (re_k cos(k theta) - im_k sin(k theta)))^2, as stated in the geometry."""
    column, row = geometry["centre_px"]
    points = []
    for i in range(240):
        theta = 2 * math.pi * i / 240
        g = coefficients[0]
        for k in range(1, (len(coefficients) + 1) // 2):
            re, im = coefficients[2 * k - 1], coefficients[2 * k]
            g += 2 * (re * math.cos(k * theta) - im * math.sin(k * theta))
        r = geometry["scale"] * g * g
        points.append(f"{column + r * math.cos(theta) + 0.5:.1f},{row + r * math.sin(theta) + 0.5:.1f}")
    return "M" + "L".join(points) + "Z"


def main():
    geometry = json.load(sys.stdin)
    paths = [curve_path(geometry, coefficients) for coefficients in geometry["coefficients"]]
    colours = ["#2b5c8a", "#6f9cc4", "#b9d0e6", "#eef3f8"]
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH + 20} {HEIGHT + 24}" '
           'font-family="sans-serif" font-size="11">',
           '<title>Fourier concentric clustering: scores and the regions found</title>',
           f'<image width="{WIDTH}" height="{HEIGHT}" preserveAspectRatio="none" '
           f'href="data:image/png;base64,{field_png()}"/>']
    out += [f'<path d="{path}" fill="none" stroke="#d1495b" stroke-width="1.5"/>' for path in paths]
    out.append(f'<g transform="translate({WIDTH + 20} 0)"><rect width="{WIDTH}" height="{HEIGHT}" fill="{colours[3]}"/>')
    for path, colour in reversed(list(zip(paths, colours))):
        out.append(f'<path d="{path}" fill="{colour}"/>')
    column, row = geometry["centre_px"]
    out.append(f'<circle cx="{column + 0.5}" cy="{row + 0.5}" r="2" fill="white"/></g>')
    out.append(f'<text x="0" y="{HEIGHT + 16}">curves over the scores; the right half with its noise</text>')
    out.append(f'<text x="{WIDTH + 20}" y="{HEIGHT + 16}">the four regions and the centre</text></svg>')
    print("\n".join(out))


if __name__ == "__main__":
    main()
