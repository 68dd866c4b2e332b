"""Objects as the unit of outlines, against numpy (and scipy if installed): thresholds, tables by size, connectivity, refusals."""

import json

import numpy as np
import pytest
from support import expect_refusal

SIDE = 20


def squares(images, seed):
    """Up to nine squares an image, some of which the model does not see; float32 [N,2,H,W] and labels."""
    random = np.random.default_rng(seed)
    probs, labels = np.full((images, SIDE, SIDE), 0.02), np.zeros((images, SIDE, SIDE), np.uint8)
    probs += random.uniform(0, 0.02, probs.shape)
    for p, y in zip(probs, labels):
        for cell in random.permutation(9)[: random.choice([1, 2, 9])]:
            size, top, left = random.integers(1, 5), 1 + cell // 3 * 6, 1 + cell % 3 * 6
            y[top : top + size, left : left + size] = 1
            p[top : top + size, left : left + size] = random.choice([0.05, 0.4, 0.9], p=[0.1, 0.2, 0.7]) + random.uniform(0, 0.05)
    p = probs.astype(np.float32)
    return np.stack([1 - p, p], 1), labels


def components(mask, corners=True):
    """The indices of each component's pixels, found by flood fill."""
    left, out = set(map(tuple, np.argwhere(mask))), []
    while left:
        open_, own = [left.pop()], []
        while open_:
            y, x = open_.pop()
            own.append((y, x))
            for dy in (-1, 0, 1):
                for dx in (-1, 0, 1):
                    if (corners or dy == 0 or dx == 0) and (y + dy, x + dx) in left:
                        left.remove((y + dy, x + dx))
                        open_.append((y + dy, x + dx))
        out.append(tuple(np.array(own).T))
    return out


def missed_share(scores, labels, share, corners=True):
    """For each image, the thresholds of its objects."""
    out = []
    for s, y in zip(scores, labels):
        own = []
        for place in components(y == 1, corners):
            values = np.sort(s[place])
            own.append(values[max(1, int(np.ceil(share * len(values) - 1e-6))) - 1])
        out.append(np.array(own))
    return out


def threshold(parts, alpha):
    candidates = np.unique(np.concatenate(parts))
    good = [t for t in candidates if (sum((own > t).mean() for own in parts) + 1) / (len(parts) + 1) <= alpha + 1e-12]
    return min(good) if good else np.inf


@pytest.fixture
def given(room):
    for prefix, (probs, labels) in (("c", squares(41, 0)), ("n", squares(15, 1))):
        room.save(f"{prefix}p.npy", probs), room.save(f"{prefix}y.npy", labels)
    return ["--cal-probs", "cp.npy", "--cal-labels", "cy.npy", "--unit", "object", "--score", "probability"]


def test_the_threshold_is_that_of_numpy_and_small_objects_are_told_apart(room, given):
    cal, new = squares(41, 0), squares(15, 1)
    for share, alpha in ((None, 0.1), (0.5, 0.2), (1, 0.3)):
        words = [] if share is None else ["--share", share]
        said = room.does("outline", *given, *words, "--alpha", alpha, "--probs", "np.npy", "--labels", "ny.npy", "--small", "4", "-o", "o.npy",
                         "--json", "r.json", "--save", "rule.json").out
        read = json.loads((room.folder / "r.json").read_text())
        t = threshold(missed_share(1 - cal[0][:, 1], cal[1], share or 0), alpha)
        assert abs(read["rule"]["classes"][0]["outer"]["threshold"] - t) < 1e-6
        assert read["rule"]["classes"][0]["objects"] == sum(len(components(y == 1)) for y in cal[1])
        np.testing.assert_array_equal(room.load("o.npy")[:, 0], 1 - new[0][:, 1] <= np.float32(t))
        # What is found in the new images, counted anew.
        parts = missed_share(1 - new[0][:, 1], new[1], share or 0)
        found, counts = np.mean([(own <= np.float32(t)).mean() for own in parts]), np.zeros((2, 3), int)
        for y, code in zip(new[1], room.load("o.npy")[:, 0]):
            for place in components(y == 1):
                held, size = (code[place] > 0).sum(), len(place[0])
                counts[int(size > 4)] += 1, held > 0, held >= max(1, np.ceil((share or 0) * size - 1e-6))
        assert abs(read["test"][0]["found"] - found) < 1e-9
        rows = read["test"][0]["objects"]
        assert [row["largest"] for row in rows] == [4, None] and read["test"][0]["size_unit"] == "pixels"
        assert [[row["objects"], row["touched"], row["covered"]] for row in rows] == counts.tolist()
        assert "guaranteed for a new image that has the class: on average the outer mask" in said and "up to 4 pixels" in said
        room.does("outline", "--rule", "rule.json", "--probs", "np.npy", "-o", "again.npy")
        assert (room.folder / "again.npy").read_bytes() == (room.folder / "o.npy").read_bytes()


def test_objects_are_connected_by_corners_or_by_faces(room, given):
    _, labels = squares(41, 0)
    labels[0, :4, :4] = np.eye(4)
    room.save("cy.npy", labels)
    for word, corners in (("corners", True), ("faces", False)):
        room.does("outline", *given, "--connectivity", word, "--save", "rule.json", "--alpha", "0.2")
        read = json.loads((room.folder / "rule.json").read_text())
        assert read["classes"][0]["objects"] == sum(len(components(y == 1, corners)) for y in labels) and read["connectivity"] == word
    ndimage = pytest.importorskip("scipy.ndimage")
    assert sum(ndimage.label(y == 1)[1] for y in labels) == read["classes"][0]["objects"]


def test_objects_of_volumes_are_sized_in_cubic_millimetres(room):
    probs, labels = squares(60, 2)
    groups = np.repeat(np.arange(20), 3)
    labels[0, 0, 0], labels[1, 1, 1], labels[2] = 1, 1, 0  # one object of two voxels over a corner of two slices
    room.save("p.npy", probs), room.save("y.npy", labels), room.save("g.npy", groups)
    room.does("outline", "--cal-probs", "p.npy", "--cal-labels", "y.npy", "--cal-groups", "g.npy", "--volumes", "--spacing", "2.5,0.5,1", "--alpha", "0.3",
              "--unit", "object", "--probs", "p.npy", "--labels", "y.npy", "--groups", "g.npy", "--small", "2.5", "--json", "r.json")
    found = json.loads((room.folder / "r.json").read_text())["test"][0]
    assert found["size_unit"] == "mm^3" and sum(row["objects"] for row in found["objects"]) > 20
    ndimage = pytest.importorskip("scipy.ndimage")
    sizes = []
    for volume in labels.reshape(20, 3, SIDE, SIDE):
        marks, count = ndimage.label(volume == 1, np.ones((3, 3, 3)))
        sizes += [1.25 * (marks == i + 1).sum() for i in range(count)]
    assert [row["objects"] for row in found["objects"]] == [sum(s <= 2.5 for s in sizes), sum(s > 2.5 for s in sizes)]


def test_options_without_effect_and_impossible_calls_are_refused(room, given):
    for words in (["--sides", "outer"], ["--confidence", "0.9"], ["--small", "3"], ["--share", "2"], ["--connectivity", "8"]):
        expect_refusal(room.run("outline", *given, "--save", "r.json", *words), 2)
    expect_refusal(room.run("outline", *given[:4], "--save", "r.json", "--unit", "lesion"), 2, "--unit is 'lesion', but must be group or object")
    expect_refusal(room.run("outline", *given[:4], "--save", "r.json", "--share", "0"), 2, "--share is 0")
    assert not (room.folder / "r.json").exists()


def test_a_mask_that_was_not_made_has_no_size_and_a_small_one_gives_a_warning(room):
    probs, labels = squares(40, 0)
    room.save("p.npy", probs), room.save("all.npy", np.ones_like(labels))
    done = room.run("outline", "--cal-probs", "p.npy", "--cal-labels", "all.npy", "--unit", "object", "--score", "probability", "--probs", "p.npy", "--labels", "all.npy")
    assert done.code == 0 and "one voxel of an object is enough" in done.err and "--share 0.5" in done.err
    rows = [line.split() for line in done.out.splitlines() if line.startswith("1 ")]
    assert rows[0][4] == "-" and rows[1][5] == "-"
    assert not any(line.endswith(" ") for line in done.out.splitlines())
