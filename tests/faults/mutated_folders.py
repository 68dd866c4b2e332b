"""Families whose inputs are folders of files. Independent readers (nibabel, a PNG reader, json) give the expected values."""

import json
import re
import struct
import warnings
import zlib

import numpy as np
from mutated_families import Family, Unusable, curves_differ, probabilities, truth
from support import run, scene

try:
    import nibabel as nib
except ImportError:  # python3-nibabel is missing: volumes are left out with a warning
    nib = None

CALIBRATE = ["calibrate", "--probs", "probs", "--method", "image", "--score", "lac", "-q", "-o", "out.kcal", "--curves", "curves.npy"]


class Folders(Family):
    def targets(self):
        return [str(path.relative_to(self.folder)) for path in sorted(self.valid) if path.suffix != ".py"]

    def args(self):
        return [*CALIBRATE, "--labels", "labels"]

    def cases(self, kind):
        return sorted((self.folder / kind).iterdir())

    def compare(self, _):
        probs, labels, groups = self.read()
        probs = probabilities(probs)
        return curves_differ(self.folder, probs, truth(labels, probs)[0], "groups", groups, False)


def plain(path):
    """A .gz file inflated beside its folder. Bytes after its last member are ignored, as gzip does."""
    if path.suffix != ".gz":
        return path
    rest, out = path.read_bytes(), b""
    while rest[:2] == b"\x1f\x8b":
        member = zlib.decompressobj(31)
        out += member.decompress(rest) + member.flush()
        if not member.eof:
            raise ValueError("cut short")
        rest = member.unused_data
    inflated = path.parents[1] / path.stem
    inflated.write_bytes(out)
    return inflated


def volume(path):
    """The values of a NIfTI file, axes along x, y, z."""
    try:
        path = plain(path)
        content = bytearray(path.read_bytes())
        if content[344:347] == b"n+1" and struct.unpack_from("<f", content, 108)[0] == 0:
            # Values cannot begin at byte 0 of a single file. As in the format's own library, such values follow the header.
            struct.pack_into("<f", content, 108, 352)
            path.write_bytes(content)
        image = nib.load(path)
        if image.header["sform_code"] <= 0 and image.header["qform_code"] <= 0:
            return image.get_fdata()  # axes as stored (method 1 of the standard); nibabel would reverse the first axis
        return nib.as_closest_canonical(image).get_fdata()
    except Exception as problem:
        raise Unusable(f"{path.name}: {problem}") from None


def whole(values):
    if not (values == np.floor(values)).all():
        raise Unusable("labels that are no integers")
    return values.astype(np.int64)


class Volumes(Folders):
    """Two cases of NIfTI probabilities and labels."""

    ending = ".nii"

    def make(self, seed):
        self.name = f"calibrate on {self.ending} files"
        for folder in ("probs", "labels"):
            (self.folder / folder).mkdir()
        for case in range(2):
            probs, labels = scene(3, 2, (2, 4), seed + case)  # slices along z
            affine = np.diag([1, 1, 2, 1])
            self.save_probs(case, probs, affine)
            nib.save(nib.Nifti1Image(labels.transpose(2, 1, 0), affine), self.folder / "labels" / f"c{case}.nii")

    def save_probs(self, case, probs, affine):
        nib.save(nib.Nifti1Image(probs.transpose(3, 2, 0, 1), affine), self.folder / "probs" / f"c{case}{self.ending}")

    def probs_of(self, path):
        values = volume(path)
        if values.ndim != 4:
            raise Unusable(f"{path.name} has {values.ndim} axes")
        return values.transpose(2, 3, 1, 0)

    def read(self):
        probs, labels, groups = [], [], []
        for group, (p, y) in enumerate(zip(self.cases("probs"), self.cases("labels"))):
            probs.append(self.probs_of(p))
            label = volume(y)
            if label.ndim != 3:
                raise Unusable(f"{y.name} has {label.ndim} axes")
            labels.append(whole(label.transpose(2, 1, 0)))
            if len(labels[-1]) != len(probs[-1]):
                raise Unusable("other slices")
            groups += [group] * len(probs[-1])
        if len({one.shape[1:] for one in probs} | {(probs[0].shape[1], *one.shape[1:]) for one in labels}) > 1:
            raise Unusable("other grids")
        return np.concatenate(probs), np.concatenate(labels), np.array(groups)


class PackedVolumes(Volumes):
    ending = ".nii.gz"


class Networks(Volumes):
    """nnU-Net's archives of probabilities beside labels in NIfTI files."""

    ending = ".npz"

    def save_probs(self, case, probs, affine):
        np.savez_compressed(self.folder / "probs" / f"c{case}.npz", probabilities=probs.transpose(1, 0, 2, 3))

    def probs_of(self, path):
        try:
            with np.load(path, allow_pickle=False) as archive:
                stored = archive["probabilities" if "probabilities" in archive else archive.files[0]]
        except Exception as problem:
            raise Unusable(f"{path.name}: {problem}") from None
        if stored.ndim != 4:
            raise Unusable(f"{path.name} has {stored.ndim} axes")
        return stored.transpose(1, 0, 2, 3)


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def as_png(array):
    rows = b"".join(b"\0" + row.tobytes() for row in array)
    header = struct.pack(">IIBBBBB", *array.shape[::-1], 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def unfiltered(kind, row, above):
    """A row of a PNG before its filter was applied."""
    out = bytearray(row)
    for i in range(len(out)):
        left, up, corner = (out[i - 1], above[i], above[i - 1]) if i else (0, above[i], 0)
        guess = left + up - corner
        paeth = min((left, up, corner), key=lambda value: abs(guess - value))
        out[i] = (out[i] + [0, left, up, (left + up) // 2, paeth][kind]) % 256
    return bytes(out)


def read_png(path):
    """An 8-bit grey picture, as as_png() writes it."""
    data = path.read_bytes()
    at, packed, shape = 8, b"", None
    try:
        if data[:8] != b"\x89PNG\r\n\x1a\n":
            raise ValueError("no PNG")
        while True:
            length, kind = struct.unpack(">I4s", data[at : at + 8])
            body = data[at + 8 : at + 8 + length]
            if kind == b"IHDR":
                width, height, *how = struct.unpack(">IIBBBBB", body)
                if how != [8, 0, 0, 0, 0]:
                    raise ValueError(f"another kind of picture: {how}")
                shape = height, width
            elif kind == b"IDAT":
                packed += body
            elif kind == b"IEND":
                break
            at += length + 12
        rows = zlib.decompress(packed)
        out, above = [], bytes(shape[1])
        for r in range(shape[0]):
            row = rows[r * (shape[1] + 1) : (r + 1) * (shape[1] + 1)]
            above = unfiltered(row[0], row[1:], above)
            out.append(np.frombuffer(above, np.uint8))
        return np.stack(out)
    except Exception as problem:
        raise Unusable(f"{path.name}: {problem}") from None


class Pictures(Folders):
    """Foreground probabilities and labels as grey PNG files."""

    name = "calibrate on PNG files"

    def make(self, seed):
        probs, labels = scene(4, 2, (3, 4), seed)
        for folder, arrays in [("probs", np.round(probs[:, 1] * 255)), ("labels", labels)]:
            (self.folder / folder).mkdir()
            for i, array in enumerate(arrays):
                (self.folder / folder / f"c{i}.png").write_bytes(as_png(array.astype(np.uint8)))

    def special(self, path):
        def redrawn(random, data):
            """Other values, or another size, in a picture that is sound."""
            array = read_png(path).copy()
            array.flat[random.integers(0, array.size)] = random.choice([0, 1, 2, 128, 254, 255])
            return as_png([array, array, array.T, array[:-1], array[:, ::-1]][random.integers(0, 5)])

        def mended(random, data):
            """A flipped bit under a correct checksum."""
            out, at = bytearray(data), 8
            spots = []
            while at < len(out):
                length = int.from_bytes(out[at : at + 4], "big")
                spots.append((at, length))
                at += length + 12
            at, length = spots[random.integers(0, len(spots))]
            out[at + 4 + random.integers(0, length + 4)] ^= 1 << int(random.integers(0, 8))
            out[at + 8 + length : at + 12 + length] = zlib.crc32(out[at + 4 : at + 8 + length]).to_bytes(4, "big")
            return bytes(out)

        return [redrawn] * 4 + [mended] * 4

    def read(self):
        probs = [read_png(path) for path in self.cases("probs")]
        labels = [read_png(path) for path in self.cases("labels")]
        if len({one.shape for one in [*probs, *labels]}) > 1:
            raise Unusable("other grids")
        return np.stack(probs)[:, None], np.stack(labels), None


class Annotations(Folders):
    """COCO annotations by run lengths beside probabilities of one category."""

    name = "calibrate on COCO annotations"
    grid = (3, 4)

    def make(self, seed):
        random = np.random.default_rng(seed)
        probs, _ = scene(4, 2, self.grid, seed)
        (self.folder / "probs").mkdir()
        images, annotations = [], []
        for i in range(4):
            np.save(self.folder / "probs" / f"c{i}.npy", probs[i])
            images.append({"id": 10 + i, "file_name": f"c{i}.jpg", "height": self.grid[0], "width": self.grid[1]})
            for category in (1, 18):
                flat = random.integers(0, 2, self.grid).ravel(order="F")
                edges = np.flatnonzero(np.diff(np.concatenate([[0], flat, [1 - flat[-1]]])))
                runs = np.diff(np.concatenate([[0], edges])).tolist()
                annotations.append({"segmentation": {"counts": runs, "size": list(self.grid)}, "iscrowd": 0,
                                    "image_id": 10 + i, "category_id": category, "id": len(annotations) + 1})
        whole_file = {"images": images, "annotations": annotations,
                      "categories": [{"id": 18, "name": "dog"}, {"id": 1, "name": "person"}]}
        (self.folder / "annotations.json").write_text(json.dumps(whole_file))

    def targets(self):
        return ["annotations.json"] * 3 + ["probs/c1.npy"]

    def args(self):
        return [*CALIBRATE, "--labels", "annotations.json", "--categories", "person"]

    def read(self):
        try:
            content = json.loads(without_broken_dogs((self.folder / "annotations.json").read_text()))
            labels, probs = [], []
            for i in range(4):
                probs.append(probabilities(np.load(self.folder / "probs" / f"c{i}.npy")[None])[0])
                image = next(one for one in content["images"] if one["file_name"] == f"c{i}.jpg")
                shape = image["height"], image["width"]
                mask = np.zeros(shape, np.uint8)
                wanted = next(one["id"] for one in content["categories"] if one["name"] == "person")
                for one in content["annotations"]:
                    if one["image_id"] == image["id"] and one["category_id"] == wanted:
                        runs = one["segmentation"]["counts"]
                        if tuple(one["segmentation"]["size"]) != shape or sum(runs) != mask.size or min(runs) < 0:
                            raise Unusable(f"runs that do not fit: {one}")
                        mask |= np.repeat(np.arange(len(runs)) % 2, runs).reshape(shape, order="F").astype(np.uint8)
                labels.append(mask)
            if len({one.shape[-2:] for one in [*probs, *labels]}) > 1:
                raise Unusable("other grids")
            return np.stack(probs), np.stack(labels), None
        except Unusable:
            raise
        except Exception as problem:
            raise Unusable(f"annotations: {problem!r}") from None


def without_broken_dogs(text):
    """The command does not read masks of a category that was not requested, so broken text in them is no error."""
    for piece in re.findall(r'\{"segmentation".*?"id": \d+\}', text):
        try:
            json.loads(piece)
        except ValueError:
            if '"category_id": 18,' in piece:
                text = text.replace(piece, '{"image_id": 0, "category_id": 18}')
    return text


def can_read(folder, name):
    """Whether the command was built with the format's library."""
    (folder / "probe").mkdir(exist_ok=True)
    probe = folder / "probe" / name
    probe.write_bytes(b"x")
    said = run("collect", "--labels", probe.parent if probe.suffix != ".json" else probe, "-o", "out", cwd=folder).err
    probe.unlink()
    return "this build" not in said


def folder_families(folder):
    kinds = [Networks, Volumes, PackedVolumes] if nib is not None and can_read(folder, "a.nii") else []
    kinds += [Pictures] if can_read(folder, "a.png") else []
    kinds += [Annotations] if can_read(folder, "a.json") else []
    if len(kinds) < 5:
        names = ", ".join(kind.__name__ for kind in kinds)
        warnings.warn(f"a library is missing: of the folder families only {names or 'none'} are damaged", stacklevel=2)
    return [kind(folder / kind.__name__) for kind in kinds]
