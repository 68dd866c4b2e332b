#!/usr/bin/env python3
"""Draws docs/figures/field.svg from two threshold maps; standard library only.

    kandinsky demo -o demo
    for m in pixel field; do
        kandinsky calibrate --probs demo/cal_probs.npy --labels demo/cal_labels.npy --method $m --score lac -o $m.kcal
        kandinsky predict $m.kcal --probs demo/test_probs.npy --alpha 0.1 -o sets.npy --thresholds $m.npy
    done
    python3 scripts/figures/field_figure.py pixel.npy field.npy > docs/figures/field.svg

Darker: the class enters the set at a lower probability. Red: the class is always in the set, because there are no data.
"""
import base64
import math
import re
import struct
import sys
import zlib

STEP = 2  # every second pixel is enough for a page
CLASS = 1


def thresholds(path):
    """(height, width, values) of the class in a float32 [C,H,W] file."""
    with open(path, "rb") as file:
        data = file.read()
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    header = data[:start].decode("latin-1")
    classes, height, width = map(int, re.search(r"\((\d+), (\d+), (\d+)\)", header).groups())
    values = struct.unpack_from(f"<{classes * height * width}f", data, start)
    return height, width, values[CLASS * height * width : (CLASS + 1) * height * width]


def png(height, width, values):
    rows = []
    for y in range(0, height, STEP):
        row = bytearray([0])
        for x in range(0, width, STEP):
            p = values[y * width + x]
            if math.isinf(p):
                row.append(0)
            else:
                row.append(1 + min(62, max(0, int(63 * p))))
        rows.append(bytes(row))
    palette = bytes([200, 60, 50]) + b"".join(bytes([30 + 225 * i // 62] * 3) for i in range(63))

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    size = struct.pack(">IIBBBBB", (width + STEP - 1) // STEP, (height + STEP - 1) // STEP, 8, 3, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", size)
        + chunk(b"PLTE", palette)
        + chunk(b"IDAT", zlib.compress(b"".join(rows), 9))
        + chunk(b"IEND", b"")
    )


def main():
    names = ["pixel: each on its own", "field: shared by degrees"]
    maps = [thresholds(path) for path in sys.argv[1:3]]
    height, width = maps[0][:2]
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * width + 20} {height + 24}" font-family="sans-serif">')
    for i, (name, one) in enumerate(zip(names, maps)):
        left = i * (width + 20)
        image = base64.b64encode(png(*one)).decode()
        print(f'<text x="{left}" y="15" font-size="14">{name}</text>')
        print(f'<image x="{left}" y="24" width="{width}" height="{height}" href="data:image/png;base64,{image}"/>')
    print("</svg>")


main()
