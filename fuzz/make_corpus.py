#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets into fuzz/corpus: fuzz/make_corpus.py build/bin/kandinsky

Small files of every kind that the readers support, made with numpy, nibabel, Pillow and the command. This script does not write
found-* (findings of the fuzzers), learned-* (inputs that they kept) and the folder monitor.
"""

import gzip
import io
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import nibabel
import numpy
from PIL import Image

CORPUS = Path(__file__).resolve().parent / "corpus"


def put(target, name, content):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


def saved(writer, *args, **kwargs):
    buffer = io.BytesIO()
    writer(buffer, *args, **kwargs)
    return buffer.getvalue()


def npy():
    probs = numpy.linspace(0, 1, 24, dtype="float32").reshape(1, 2, 3, 4)
    for dtype in ["<f2", "<f4", ">f8", "|u1", "<i4", ">i8", "|b1"]:
        put("npy", f"probs-{dtype[1:]}", saved(numpy.save, probs.astype(dtype)))
    put("npy", "fortran", saved(numpy.save, numpy.asfortranarray(probs)))
    put("npy", "scalar", saved(numpy.save, numpy.float64(0.5)))
    put("npy", "empty", saved(numpy.save, numpy.zeros((0, 3), "uint16")))
    put("npy", "version-2", saved(numpy.lib.format.write_array, probs, version=(2, 0)))
    put("npy", "objects", saved(numpy.save, numpy.array([None], dtype=object)))
    put("npy", "fields", saved(numpy.save, numpy.zeros(2, dtype=[("a", "<i2"), ("b", "<f4")])))


def npz():
    arrays = {"a": numpy.arange(6, dtype="int32").reshape(2, 3), "b": numpy.ones(3, "float16")}
    put("npz", "stored", saved(numpy.savez, **arrays))
    put("npz", "deflated", saved(numpy.savez_compressed, **arrays))
    put("npz", "one", saved(numpy.savez, arrays["a"]))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.comment = b"a comment"
        with archive.open(zipfile.ZipInfo("../b.npy"), "w", force_zip64=True) as member:
            member.write(saved(numpy.save, arrays["b"]))
        archive.writestr(zipfile.ZipInfo("notes.txt"), "no array")
    put("npz", "zip64", buffer.getvalue())
    put("npz", "nothing", saved(lambda file: zipfile.ZipFile(file, "w").close()))


def kcal(command):
    generator = numpy.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        numpy.save(folder / "probs.npy", generator.random((4, 2, 2, 3), dtype="float32"))
        numpy.save(folder / "labels.npy", generator.integers(0, 2, (4, 2, 3)).astype("uint8"))
        for name, options in {
            "pixel": [],
            "image": ["--fallback", "image", "--min-count", "3", "--pooling", "pixels"],
            "kmeans": ["--kmeans-clusters", "2", "--score", "raps", "--randomized", "--condition", "none"],
            "fcc": ["--compat", "released"],
            "field": ["--split", "0.5"],
            "smooth": ["--pooling", "pixels"],
        }.items():
            output = folder / f"{name}.kcal"
            subprocess.run([command, "calibrate", "--probs", folder / "probs.npy", "--labels", folder / "labels.npy",
                            "--method", "field" if name == "smooth" else name, "-q", "-o", output, "--rungs", "3", *options], check=True)
            put("kcal", name, output.read_bytes())


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def field(number, content):
    """A field of a protobuf message: a number, a text or a message."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def onnx(command):
    def tensor(name, kind=1, shape=("N", 2, 3, 4)):
        dims = b"".join(field(1, field(1, one) if isinstance(one, int) else field(2, one)) for one in shape)
        return field(1, name) + field(2, field(1, field(1, kind) + field(2, dims)))

    def model(*outputs, version=17, more=b""):
        node = field(1, "image") + field(2, "probs") + field(4, "Softmax") + field(5, field(1, "axis") + field(3, 1) + field(20, 2))
        graph = field(1, node) + field(2, "net") + field(11, tensor("image")) + b"".join(field(12, one) for one in outputs) + more
        return field(1, 8) + field(2, "someone") + field(7, graph) + field(8, field(1, "") + field(2, version))

    outside = field(5, field(1, 2) + field(2, 1) + field(8, "w") + field(13, field(1, "location") + field(2, "w.bin")) + field(14, 1))
    put("onnx", "model", model(tensor("probs")))
    put("onnx", "two-outputs", model(tensor("features"), tensor("probs", 10)))
    put("onnx", "no-shape", model(field(1, "probs") + field(2, field(1, field(1, 1)))))
    put("onnx", "old", model(tensor("probs"), version=12))
    put("onnx", "weights-outside", model(tensor("probs"), more=outside))
    put("onnx", "two-graphs", model(tensor("probs")) + model(tensor("again")))
    put("onnx", "cut", model(tensor("probs"))[:-9])
    put("onnx", "empty", b"")
    with tempfile.TemporaryDirectory() as folder:
        for name in ["pixel", "smooth"]:
            output = Path(folder) / "sets.onnx"
            subprocess.run([command, "export", CORPUS / "kcal" / name, "-q", "-o", output], check=True)
            put("onnx", f"sets-{name}", output.read_bytes())


def nifti():
    volume = numpy.arange(24).reshape(2, 3, 4)
    turned = numpy.array([[0, -2, 0, 1], [1, 0, 0, 2], [0, 0, 3, 3], [0, 0, 0, 1.0]])

    def image(kind, values, affine):
        return kind(values, affine).to_bytes()

    put("nifti", "labels", image(nibabel.Nifti1Image, volume.astype("uint8"), numpy.eye(4)))
    put("nifti", "labels.gz", gzip.compress(image(nibabel.Nifti1Image, volume.astype("int16"), turned), mtime=0))
    probs = (volume[..., None] * [0.01, 0.02]).astype("float32")
    put("nifti", "probs", image(nibabel.Nifti1Image, probs, turned))
    put("nifti", "probs-2", image(nibabel.Nifti2Image, probs.astype("float64"), turned))
    scaled = nibabel.Nifti1Image(volume.astype("int16"), turned)
    scaled.header.set_slope_inter(0.25, -1)
    scaled.set_sform(None)
    put("nifti", "scaled", scaled.to_bytes())
    swapped = nibabel.Nifti1Image(volume.astype(">i4"), numpy.eye(4), nibabel.Nifti1Header(endianness=">"))
    put("nifti", "swapped", swapped.to_bytes())


def png():
    grey = (numpy.arange(20).reshape(4, 5) * 12).astype("uint8")
    for mode in ["1", "L", "P", "LA", "RGB", "RGBA"]:
        put("png", mode, saved(Image.fromarray(grey).convert(mode).save, "png"))
    put("png", "16", saved(Image.fromarray(grey.astype("uint16") * 256).save, "png"))
    palette = Image.fromarray(grey % 4, "P")
    palette.putpalette([0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255])
    put("png", "palette-2-bits", saved(palette.save, "png", bits=2, transparency=1))


def coco():
    categories = [{"id": 1, "name": "dog"}, {"id": 7, "name": "cat"}]
    images = [{"id": 3, "height": 5, "width": 4, "file_name": "a/b.jpg"},
              {"id": 4, "height": 2, "width": 2, "file_name": "c.png"}]
    outlines = [[[0, 0, 3.5, 0, 3.5, 4, 0, 4]], {"size": [5, 4], "counts": [3, 4, 13]},
                {"size": [5, 4], "counts": "34=0"}, [[1, 1, 2, 1, 2, 2], [-5, -5, 9e3, 0, 0, 9]]]
    annotations = [{"id": i, "image_id": 3, "category_id": 1 if i % 2 else 7, "iscrowd": i // 2,
                    "segmentation": outline} for i, outline in enumerate(outlines)]
    text = json.dumps({"info": {"x": ["\"", {}]}, "images": images, "categories": categories,
                       "annotations": annotations}).encode()
    for choice in [1, 3, 7, 10]:
        put("coco", f"options-{choice}", bytes([choice]) + text)
    put("coco", "backwards", b"\x03" + json.dumps({"annotations": annotations[:1], "categories": categories,
                                                   "images": images}, indent=1).encode())
    put("coco", "outside", b"\x01" + text.replace(b"a/b.jpg", b"../b.jpg"))
    put("coco", "nothing", b'\x01{"images": [], "categories": [{"id": 1, "name": "x"}], "annotations": []}')


def rle():
    put("rle", "runs", bytes([4, 3, 0]) + b"34=0")
    put("rle", "long", bytes([63, 63, 0]) + b"0PP4")
    put("rle", "whole", bytes([1, 1, 0]) + b"4")
    corners = numpy.array([0, 0, 35, 0, 35, 40, 0, 40, -90, 700], "<i2")
    put("rle", "polygon", bytes([4, 3, 2]) + corners.tobytes())
    put("rle", "polygon-far", bytes([9, 9, 1]) + numpy.array([0, 0, 1e8, 3, 0.5, -1e8], "<f8").tobytes())


def options():
    lines = {
        0: "--probs\np.npy\n--labels=y.npy\n-o\nc.kcal\n--method\nkmeans\n--kmeans-clusters=3\n--memory\n2G",
        1: "c.kcal\n--probs\np.npy\n--alpha\n0.1\n-o\ns.npy\n--packed",
        2: "c.kcal\n--probs\np.npy\n--labels\ny.npy\n--json\n-",
        3: "--cal-probs\np\n--cal-labels\ny\n--test-probs\np\n--test-labels\ny\n--methods\npixel,fcc\n--sample\n100",
        4: "c.kcal\n--json",
        5: "--help",
        9: "-o\ndemo\n--threads\n-1",
        11: "c.kcal\n--probs\np.npy\n--labels\ny.npy\n-o\nd.kcal",
        12: "c.kcal\n--onto\nm.onnx\n--alpha\n0.1,0.2\n-o\ns.onnx",
        13: "--cal-probs\np\n--cal-labels\ny\n--unit\nobject\n--share=0.5\n--save\nr.json",
        14: "--cal-probs\np\n--cal-labels\ny\n--by\nsoft\n--csv\nm.csv",
        15: "results\n--predict\ntest\n--alpha=0.2",
        16: "c.kcal\n--probs\np.npy\n--delta\n0.05\n--fail-on-alarm",
        17: "--quantiles\n0.1,0.9\n--memory=12M\n--grid\n4x5\n--group-by\n(a+)_\n--mask\ninput.npz:a\n--split\n1e-3",
        18: "1,2,-3\n0.5,1e9\n16G\n99999999999999999999",
    }
    for which, text in lines.items():
        put("options", f"command-{which}", bytes([which]) + text.encode())


def flow():
    generator = numpy.random.default_rng(2)
    for number, method in enumerate([*range(4), *range(248, 256)]):  # see read_method()
        head = [7, number % 4, 3, 2, number % 4, number % 3, number % 2, number % 3, method, *generator.integers(0, 256, 12)]
        put("flow", f"method-{number}", bytes(int(x) for x in head) + generator.bytes(40 + 10 * number))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for make in [npy, npz, nifti, png, coco, rle, options, flow]:
        make()
    kcal(sys.argv[1])
    onnx(sys.argv[1])
