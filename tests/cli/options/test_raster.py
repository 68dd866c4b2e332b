"""Labels from PNG files and COCO annotations, and the commands of docs/files.md that read them."""

import json
import re
import shlex
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support import page_array, page_data, scene, without_search

DOCS = Path(__file__).parents[3] / "docs" / "files.md"


def write_png(path, array, palette=False):
    """An 8-bit or 16-bit grey PNG, or one with a palette of arbitrary colours."""

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = array.astype(">u2" if array.dtype == np.uint16 else np.uint8)
    data = b"".join(b"\0" + row.tobytes() for row in rows)
    header = struct.pack(">IIBBBBB", *array.shape[::-1], 8 * rows.itemsize, 3 if palette else 0, 0, 0, 0)
    colours = chunk(b"PLTE", bytes(range(255, -1, -1)) * 3) if palette else b""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + colours + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")
    )


def documented(topic):
    """The commands of docs/files.md below the comment <!-- commands: TOPIC -->, as lists of arguments."""
    text = re.search(rf"<!-- commands: {topic} -->\n\n((?:    .*\n)+)", DOCS.read_text())
    assert text, f"docs/files.md has no commands for {topic}"
    lines = text.group(1).splitlines()
    assert all(line.startswith("    kandinsky ") for line in lines)
    return [shlex.split(line)[1:] for line in lines]


def thresholds(room, calibrator, probs):
    room.save("probs_for_thresholds.npy", probs)
    room.does("predict", calibrator, "--probs", "probs_for_thresholds.npy", "--alpha", 0.2, "-o", "sets.npy", "--thresholds", "t.npy")
    return room.load("t.npy")


def same_calibrator(room, calibrator, probs, labels, *args):
    """Expects the thresholds of a calibrator made from the arrays. More than a fifth of them must be finite."""
    room.save("p.npy", probs)
    room.save("l.npy", labels)
    room.does("calibrate", "--probs", "p.npy", "--labels", "l.npy", "-o", "arrays.kcal", *args)
    expected = thresholds(room, "arrays.kcal", probs)
    assert np.isfinite(expected).mean() > 0.2
    np.testing.assert_array_equal(thresholds(room, calibrator, probs), expected)


@pytest.fixture
def pngs(room):
    """Folders probs (foreground), classes (one file per class) and labels (palette), 12 images."""
    probs, labels = scene(12, classes=2, grid=(9, 11))
    room.probs8 = np.round(probs * 255).astype(np.uint8)
    room.truth = labels
    for i in range(12):
        write_png(room.folder / "probs" / f"case{i:02}.png", room.probs8[i, 1])
        for c in range(2):
            write_png(room.folder / "classes" / f"case{i:02}_{c}.png", room.probs8[i, c])
        write_png(room.folder / "labels" / f"case{i:02}.png", labels[i], palette=True)
    return room


def test_the_documented_png_commands_work(pngs):
    for command in documented("png"):
        pngs.does(*command)
    same_calibrator(pngs, "foreground.kcal", pngs.probs8[:, 1:], pngs.truth)
    same_calibrator(pngs, "classes.kcal", pngs.probs8, pngs.truth)


def test_sixteen_bits_are_fractions_of_65535(pngs):
    wide = np.random.default_rng(1).integers(0, 65536, (12, 9, 11)).astype(np.uint16)
    for i in range(12):
        write_png(pngs.folder / "wide" / f"case{i:02}.png", wide[i])
    pngs.does("calibrate", "--probs", "wide", "--labels", "labels", "-o", "a.kcal", "--method", "pixel")
    same_calibrator(pngs, "a.kcal", (wide[:, None] / np.float32(65535)).astype(np.float32), pngs.truth, "--method", "pixel")


def test_a_damaged_png_is_named(pngs):
    path = pngs.folder / "labels" / "case03.png"
    path.write_bytes(path.read_bytes()[:-20])
    pngs.refuses(3, ["case03.png", "truncated"], "calibrate", "--probs", "probs", "--labels", "labels", "-o", "a.kcal")


def box(x, y, width, height):
    return [x, y, x + width, y, x + width, y + height, x, y + height]


@pytest.fixture
def coco(room):
    """A miniature COCO: 12 photos of 48 x 64 with rectangular persons, dogs and crowds. Three folders hold
    probabilities: of the person, of both categories, and of the person at 320 x 240."""
    random = np.random.default_rng(7)
    images, annotations = [], []
    persons, dogs, crowds = (np.zeros((12, 48, 64), bool) for _ in range(3))
    for i in range(12):
        images.append({"id": 100 + i, "file_name": f"val/{i:012}.jpg", "height": 48, "width": 64})
        for category, plane, crowd in [(1, persons, 0), (1, persons, 0), (18, dogs, 0), (1, crowds, 1)]:
            x, y = int(random.integers(0, 50)), int(random.integers(0, 36))
            w, h = int(random.integers(1, 64 - x)), int(random.integers(1, 48 - y))
            plane[i, y : y + h, x : x + w] = True
            outline = [box(x, y, w, h)]
            if crowd:
                mask = np.zeros((48, 64), np.uint8)
                mask[y : y + h, x : x + w] = 1
                flat = mask.ravel(order="F")
                edges = np.flatnonzero(np.diff(np.concatenate([[0], flat, [1 - flat[-1]]])))
                runs = np.diff(np.concatenate([[0], edges])).tolist()
                outline = {"counts": runs, "size": [48, 64]}
            annotations.append(
                {
                    "segmentation": outline,
                    "iscrowd": crowd,
                    "image_id": 100 + i,
                    "category_id": category,
                    "id": len(annotations) + 1,
                }
            )
    images.append({"id": 5, "file_name": "val/unused.jpg", "height": 7, "width": 9})
    room.coco = {
        "info": {},
        "images": images,
        "annotations": annotations,
        "categories": [{"id": 18, "name": "dog"}, {"id": 1, "name": "person"}],
    }
    room.write_coco = lambda: (room.folder / "annotations.json").write_text(json.dumps(room.coco))
    room.write_coco()
    room.persons, room.dogs, room.crowds = persons, dogs, crowds
    room.p2 = random.random((12, 2, 48, 64)).astype(np.float32)
    room.p3 = random.random((12, 3, 48, 64)).astype(np.float32)
    room.p320 = random.random((12, 2, 240, 320)).astype(np.float32)
    for folder, probs in [("probs", room.p2), ("probs-both", room.p3), ("probs-320", room.p320)]:
        (room.folder / folder).mkdir()
        for i in range(12):
            np.save(room.folder / folder / f"{i:012}.npy", probs[i])
    return room


def test_the_documented_coco_commands_work(coco):
    for command in documented("coco"):
        coco.does(*without_search(command))
    person = coco.persons | coco.crowds
    same_calibrator(coco, "person.kcal", coco.p2, person.astype(np.uint8), "--method", "pixel")

    labels = coco.persons + 2 * coco.dogs.astype(np.uint8)
    labels[coco.persons & coco.dogs] = 255
    labels[coco.crowds & (labels == 0)] = 255
    same_calibrator(coco, "both.kcal", coco.p3, labels.astype(np.uint8), "--method", "pixel")

    masks = np.stack([~(person | coco.dogs), person, coco.dogs], axis=1)
    same_calibrator(coco, "masks.kcal", coco.p3, masks.astype(np.uint8), "--method", "pixel")

    # 48 x 64 has the proportions of 240 x 320: every pixel becomes five by five.
    large = person.repeat(5, axis=1).repeat(5, axis=2)
    same_calibrator(coco, "small.kcal", coco.p320, large.astype(np.uint8), "--method", "pixel")


CALIBRATE = ["calibrate", "--probs", "probs", "--labels", "annotations.json", "-o", "a.kcal"]


def test_what_makes_no_sense_is_refused(coco):
    coco.refuses(2, ["annotations.json", "--categories"], *CALIBRATE)
    coco.refuses(2, ["no category 'cat'", "dog, person"], *CALIBRATE, "--categories", "cat")
    coco.refuses(2, ["--crowd"], *CALIBRATE, "--categories", "person", "--crowd", "maybe")
    coco.refuses(2, ["--letterbox"], *CALIBRATE, "--categories", "person", "--letterbox", "320")
    coco.refuses(2, ["--categories"], "calibrate", "--probs", "probs", "--labels", "probs", "-o", "a.kcal", "--categories", "person")
    coco.refuses(3, ["annotations.json"], *CALIBRATE, "--categories", "person", "--letterbox", "9x7")


def test_how_coco_labels_were_read_is_recorded_repeated_and_refused_when_contradicted(coco):
    (coco.folder / "boxed").mkdir()
    for i, one in enumerate(np.random.default_rng(2).random((12, 2, 40, 40)).astype(np.float32)):
        np.save(coco.folder / "boxed" / f"{i:012}.npy", one)
    box = ["--probs", "boxed", "--labels", "annotations.json"]
    reading = ["--categories", "person", "--letterbox", "40x40", "--crowd", "ignore"]
    coco.does("calibrate", *box, *reading, "--padding", "ignore", "-m", "image", "-o", "a.kcal")
    recorded = json.loads(coco.does("inspect", "a.kcal", "--json").out)["input"]["coco"]
    assert recorded == {"categories": ["person"], "crowd": "ignore", "overlap": "ignore", "letterbox": [40, 40], "ignore_padding": True}
    evaluate = ["evaluate", "a.kcal", *box]
    repeated = coco.does(*evaluate).out
    assert coco.does(*evaluate, *reading, "--padding", "ignore").out == repeated
    # A photo of 48 x 64 has 30 of the 40 rows; the rest is padding, which was ignored.
    judged = sum(row["samples"] for row in json.loads(coco.does(*evaluate, "--json", "-").out)["results"])
    assert 0 < judged <= 12 * 30 * 40
    for words in [["--letterbox", "40x48"], ["--categories", "dog"], ["--crowd", "object"], ["--overlap", "masks"],
                  ["--letterbox", "40x40", "--padding", "background"]]:  # fmt: skip
        coco.refuses(2, [f"{words[-2]} contradicts the calibrator"], *evaluate, *words)
    coco.does("calibrate", *box, "--categories", "person", "--letterbox", "40x40", "--padding", "background", "-m", "image", "-o", "b.kcal")
    found = json.loads(coco.does("evaluate", "b.kcal", *box, "--letterbox", "40x40", "--padding", "background", "--json", "-").out)
    assert sum(row["samples"] for row in found["results"]) == 12 * 40 * 40


def test_photos_of_a_report_are_letterboxed_as_the_calibrator_records(coco):
    (coco.folder / "photos").mkdir()
    (coco.folder / "boxed").mkdir()
    for i in range(12):
        Image.fromarray(np.full((48, 64, 3), 255, np.uint8)).save(coco.folder / "photos" / f"{i:012}.png")
        np.save(coco.folder / "boxed" / f"{i:012}.npy", np.full((2, 40, 40), 0.5, np.float32))
    box = ["--probs", "boxed", "--labels", "annotations.json"]
    coco.does("calibrate", *box, "--categories", "person", "--letterbox", "40x40", "-m", "image", "-o", "a.kcal")
    result = coco.run("report", "a.kcal", *box, "--photos", "photos", "-o", "r.html")
    if "built without reports" in result.err:
        pytest.skip("this program was built without reports")
    assert result.code == 0, result
    for example in page_data(coco.folder / "r.html")["examples"]:
        photo = page_array(example["photo"])
        assert photo[:4].max() == 0 and photo[-4:].max() == 0 and photo[8:32].min() == 255


def test_damage_names_file_image_and_annotation(coco):
    coco.coco["annotations"][4]["segmentation"] = [[1, 2, 3]]
    coco.write_coco()
    coco.refuses(3, ["annotations.json", "000000000001.jpg", "annotation 5", "3 numbers"], *CALIBRATE, "--categories", "person")
    del coco.coco["annotations"][4]["image_id"]
    coco.write_coco()
    coco.refuses(3, ["annotations.json", "annotation 5", "image_id"], *CALIBRATE, "--categories", "person")
    text = (coco.folder / "annotations.json").read_text()
    (coco.folder / "annotations.json").write_text(text[:-30])
    coco.refuses(3, ["annotations.json", "truncated"], *CALIBRATE, "--categories", "person")


def test_probabilities_without_an_image_are_refused(coco):
    np.save(coco.folder / "probs" / "other.npy", coco.p2[0])
    coco.refuses(3, ["other.npy"], *CALIBRATE, "--categories", "person")
