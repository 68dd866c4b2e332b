"""Damage to valid files: to their bytes, and to the arrays in them. Everything follows from the random generator."""

import io
import re

import numpy as np

SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 5e-324, 1e-45, 6e-8, 1.0, 1.0000001, 1 + 1e-12, -1e-7, -1e-300, 2.0, 0.0]
TYPES = ["<f2", "<f4", "<f8", ">f4", ">f8", "|u1", "|i1", "|b1", "<i2", ">i2", "<i4", "<i8", "<u8", "<c8", "|O", "<f16", "|S1"]


def truncate(random, data):
    return data[: random.integers(0, len(data))]


def cut_a_little(random, data):
    return data[: -int(random.integers(1, min(len(data), 9)))]


def append(random, data):
    return data + random.bytes(int(random.integers(1, 20)))


def flip_bits(random, data):
    out = bytearray(data)
    for _ in range(random.integers(1, 9)):
        out[random.integers(0, len(out))] ^= 1 << int(random.integers(0, 8))
    return bytes(out)


def flip_a_bit_of_the_head(random, data):
    out = bytearray(data)
    out[random.integers(0, min(len(out), 400))] ^= 1 << int(random.integers(0, 8))
    return bytes(out)


def overwrite(random, data):
    out = bytearray(data)
    at = int(random.integers(0, len(out)))
    length = int(random.integers(1, 9))
    out[at : at + length] = random.choice([b"\0", b"\xff", b"\x80", b"9"]) * len(out[at : at + length])
    return bytes(out)


def drop_a_piece(random, data):
    at = int(random.integers(0, len(data)))
    return data[:at] + data[at + int(random.integers(1, 33)) :]


def repeat_a_piece(random, data):
    at, length = int(random.integers(0, len(data))), int(random.integers(1, 33))
    return data[: at + length] + data[at : at + length] + data[at + length :]


def swap_pieces(random, data):
    a, b = sorted(int(i) for i in random.integers(0, len(data), 2))
    n = min(int(random.integers(1, 17)), b - a, len(data) - b)
    return data[:a] + data[b : b + n] + data[a + n : b] + data[a : a + n] + data[b + n :]


BYTES = [truncate, cut_a_little, append, flip_bits, flip_a_bit_of_the_head, overwrite, drop_a_piece, repeat_a_piece,
         swap_pieces]


def edit_header(random, data):
    """Another type, shape or order in the header of a .npy file, of the same length where possible."""
    end = data.index(b"\n") + 1
    head, body = data[:end].decode("latin1"), data[end:]
    if (kind := random.integers(0, 3)) == 0:
        new = re.sub(r"'descr': '[^']*'", f"'descr': '{random.choice(TYPES)}'", head)
    elif kind == 1:
        new = head.replace("'fortran_order': False", "'fortran_order': True")
    else:
        extents = [int(e) for e in re.search(r"\(([^)]*)\)", head).group(1).split(",") if e.strip()]
        edit = random.integers(0, 4)
        if edit == 0:
            random.shuffle(extents)
        elif edit == 1 and extents:
            extents[random.integers(0, len(extents))] = int(random.choice([0, 1, 2, 2**31, 2**62, 10**18]))
        elif edit == 2:
            extents.insert(int(random.integers(0, len(extents) + 1)), 1)
        elif extents:
            extents = [*extents[:-2], int(np.prod(extents[-2:]))]
        new = re.sub(r"\([^)]*\)", "(" + "".join(f"{e}, " for e in extents) + ")", head)
    new = new.rstrip("\n ")
    new = new + " " * max(0, len(head) - 1 - len(new)) + "\n"
    content = bytearray(new.encode("latin1"))
    content[8:10] = (len(content) - 10).to_bytes(2, "little")
    return bytes(content) + body


def edit_array(random, array, integers):
    """Other values, another type or another shape, in a valid array."""
    array = array.copy()
    kind = random.integers(0, 6)
    places = random.integers(0, max(array.size, 1), random.integers(1, 4))
    if kind <= 2 and array.size:
        for place in places:
            if integers:
                array.flat[place] = random.choice([0, 1, 2, 3, 7, 100, 127])
            elif array.dtype.kind == "f":
                with np.errstate(over="ignore"):
                    array.flat[place] = random.choice(SPECIAL)
            else:
                array.flat[place] = random.integers(0, 255)
    elif kind == 3:
        to = random.choice(["u1", "i1", "i2", "u2", "i4", "u8", "i8", "?"] if integers else ["f2", "f4", "f8", ">f4", "u1"])
        with np.errstate(invalid="ignore", over="ignore"):
            array = (array * 255 if to == "u1" and not integers else array).astype(to)
    elif kind == 4 and array.ndim:
        axis = int(random.integers(0, array.ndim))
        array = array.take(range(array.shape[axis] - 1), axis) if random.integers(0, 2) else np.repeat(array, 2, axis)
    elif array.ndim:
        array = [array.T, array[None], array[0], array[..., ::-1], np.asfortranarray(array), array[:0]][random.integers(0, 6)]
    return array


def as_npy(array):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, allow_pickle=False)
    return file.getvalue()
