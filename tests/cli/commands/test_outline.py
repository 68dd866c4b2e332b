"""Outlines against a few lines of numpy: thresholds, masks, evaluation, files, and refusals."""

import json

import numpy as np
from objects import discs, rank
from support import expect_refusal


def distance(mask, spacing=None):
    """Signed distance of every voxel from the nearest one on the other side of the mask's edge, found by comparing all pairs. For an
    empty mask: the diagonal of the image, which is one voxel deep."""
    if not mask.any():
        return np.full(mask.shape, np.sqrt((mask.ndim == 2) + (np.array(mask.shape) ** 2).sum()))
    spacing = np.ones(mask.ndim) if spacing is None else np.array(spacing)
    place = np.indices(mask.shape).reshape(mask.ndim, -1).T * spacing
    out, flat = np.empty(mask.size), mask.ravel()
    for inside in (False, True):
        others = place[flat != inside]
        for v in np.flatnonzero(flat == inside):
            out[v] = np.sqrt(((others - place[v]) ** 2).sum(1).min()) * (-1 if inside else 1)
    return out.reshape(mask.shape)


def thresholds(scores, objects, share, alpha):
    """Thresholds at which the outer and the inner mask hold together."""
    large, small = [], []
    for b, y in zip(scores, objects):
        misses = int(np.floor((1 - share) * y.sum() + 1e-6))
        large.append(np.sort(b[y])[y.sum() - misses - 1])
        small.append(np.sort(b[~y])[misses])
    m = rank(len(large), alpha / 2)
    return np.sort(large)[m - 1], np.sort(small)[len(small) - m]


def save_all(room, cal, new):
    for prefix, (probs, labels) in (("c", cal), ("n", new)):
        room.save(f"{prefix}p.npy", probs), room.save(f"{prefix}y.npy", labels)
        room.save(f"{prefix}m.npy", (probs[:, 1] > 0.5).astype(np.uint8))
    return ["--cal-probs", "cp.npy", "--cal-labels", "cy.npy"]


def test_masks_are_those_of_numpy(room):
    cal, new = discs(41), discs(7, 1)
    given = save_all(room, cal, new)
    for share in (1, 0.9):
        room.does("outline", *given, "--score", "distance", "--share", share, "--alpha", "0.2", "--probs", "np.npy", "-o", "o.npy",
                  "--json", "r.json", "--save", "rule.json")
        large, small = thresholds([distance(p[1] > 0.5) for p in cal[0]], cal[1] == 1, share, 0.2)
        rule = json.loads((room.folder / "r.json").read_text())["rule"]["classes"][0]
        assert abs(rule["outer"]["threshold"] - large) < 1e-5 and abs(rule["inner"]["threshold"] - small) < 1e-5
        d = np.array([distance(p[1] > 0.5) for p in new[0]])
        wanted = np.where(d > large + 1e-5, 0, np.where(d < small - 1e-5, 2, 1))
        np.testing.assert_array_equal(room.load("o.npy")[:, 0], wanted)
        # The stored rule gives the same masks; masks in place of probabilities give the same result.
        room.does("outline", "--rule", "rule.json", "--probs", "np.npy", "-o", "again.npy")
        assert (room.folder / "again.npy").read_bytes() == (room.folder / "o.npy").read_bytes()
        room.does("outline", "--cal-masks", "cm.npy", "--cal-labels", "cy.npy", "--score", "distance", "--share", share, "--alpha", "0.2",
                  "--masks", "nm.npy", "-o", "hard.npy")
        np.testing.assert_array_equal(room.load("hard.npy"), room.load("o.npy"))


def test_volumes_have_three_dimensions_and_a_spacing(room):
    probs, labels = discs(20 * 3, 2, 10)
    groups = np.repeat(np.arange(20), 3)
    room.save("p.npy", probs), room.save("y.npy", labels), room.save("g.npy", groups)
    given = ["--cal-probs", "p.npy", "--cal-labels", "y.npy", "--cal-groups", "g.npy", "--volumes", "--spacing", "2.5,0.5,1", "--alpha", "0.3",
             "--score", "distance"]
    room.does("outline", *given, "--save", "rule.json")
    scores = [distance(probs[groups == g, 1] > 0.5, (2.5, 0.5, 1)) for g in range(20)]
    large, small = thresholds(scores, [labels[groups == g] == 1 for g in range(20)], 1, 0.3)
    rule = json.loads((room.folder / "rule.json").read_text())
    assert rule["unit"] == "millimetre" and rule["volumes"]
    assert abs(rule["classes"][0]["outer"]["threshold"] - large) < 1e-5
    assert abs(rule["classes"][0]["inner"]["threshold"] - small) < 1e-5
    expect_refusal(room.run("outline", "--rule", "rule.json", "--probs", "p.npy", "-o", "o.npy"), 3, "in millimetres", "--spacing")
    expect_refusal(room.run("outline", "--rule", "rule.json", "--probs", "p.npy", "--spacing", "1,1", "-o", "o.npy"), 3, "for volumes")
    expect_refusal(room.run("outline", "--rule", "rule.json", "--probs", "p.npy", "--groups", "g.npy", "--volumes", "--spacing", "1,1", "-o", "o.npy"), 2,
                   "--spacing is 1,1, but volumes need three numbers")


def test_slices_of_volumes_of_several_depths_are_written_in_the_order_of_the_input(room):
    probs, labels = discs(30, 2, 10)
    groups = np.random.default_rng(0).permutation(np.repeat(np.arange(12), [1, 4] * 6))  # a volume's slices are not consecutive
    room.save("p.npy", probs), room.save("y.npy", labels), room.save("g.npy", groups)
    room.does("outline", "--cal-probs", "p.npy", "--cal-labels", "y.npy", "--cal-groups", "g.npy", "--volumes", "--alpha", "0.3", "--sides", "outer",
              "--score", "distance", "--probs", "p.npy", "--groups", "g.npy", "-o", "o.npy", "--json", "r.json")
    codes = room.load("o.npy")
    assert codes.shape == (30, 1, 10, 10)
    large = json.loads((room.folder / "r.json").read_text())["rule"]["classes"][0]["outer"]["threshold"]
    for g in range(12):
        own = groups == g
        np.testing.assert_array_equal(codes[own, 0], distance(probs[own, 1] > 0.5) <= large + 1e-5)


def test_images_without_the_class_and_classes_without_images_are_reported(room):
    """Results are defined without a prediction, without an object, without both, and for a class without images."""
    cal, new = discs(41, 20), discs(4, 21)
    new[0][0, 1], new[0][0, 0] = 0.01, 0.99  # nothing predicted
    new[1][1] = 0  # nothing true
    new[0][2, 1], new[0][2, 0], new[1][2] = 0.01, 0.99, 0  # neither
    given = save_all(room, cal, new)
    room.does("outline", *given, "--score", "distance", "--probs", "np.npy", "--labels", "ny.npy", "-o", "o.npy", "--json", "r.json")
    found, codes = json.loads((room.folder / "r.json").read_text())["test"][0], room.load("o.npy")[:, 0]
    assert (found["groups"], found["groups_without"]) == (2, 2)
    assert not codes[[0, 2]].any()  # farther from the class than any margin
    three = np.concatenate([cal[0], np.full_like(cal[0][:, :1], 1e-6)], 1)
    room.save("cp.npy", three), room.save("np.npy", np.concatenate([new[0], np.full_like(new[0][:, :1], 1e-6)], 1))
    done = room.run("outline", *given, "--probs", "np.npy", "-o", "o.npy", "--json", "r.json")
    assert done.code == 0 and "class 2: 0 calibration groups have it" in done.err
    assert (room.load("o.npy")[:, 1] == 1).all()
    room.save("ny.npy", np.zeros_like(new[1]))
    room.does("outline", *given, "--unit", "object", "--probs", "np.npy", "--labels", "ny.npy", "--json", "r.json")
    assert all(one["groups"] == 0 and one["objects"] == [] for one in json.loads((room.folder / "r.json").read_text())["test"])


def test_the_evaluation_counts_what_the_masks_do(room):
    cal, new = discs(60, 3), discs(30, 4)
    new[1][5] = 0
    given = save_all(room, cal, new)
    said = room.does("outline", *given, "--share", "0.95", "--probs", "np.npy", "--labels", "ny.npy", "-o", "o.npy", "--json", "r.json").out
    found = json.loads((room.folder / "r.json").read_text())["test"][0]
    codes, y = room.load("o.npy")[:, 0], new[1] == 1
    have = y.any((1, 2))
    misses = np.floor(0.05 * y.sum((1, 2)) + 1e-6)
    held = ((y & (codes == 0)).sum((1, 2)) <= misses) & ((~y & (codes == 2)).sum((1, 2)) <= misses)
    assert found["groups"] == have.sum() == 29 and found["groups_without"] == 1 and found["held"] == held[have].sum()
    assert abs(found["outer_share"] - (codes[have] > 0).mean()) < 1e-12
    assert abs(found["inner_share"] - (codes[have] == 2).mean()) < 1e-12
    assert "guaranteed for a new image that has the class, with probability at least 0.9" in said


def test_a_single_mask_is_closer_to_the_object(room):
    given = save_all(room, discs(60, 5), discs(9, 6))
    codes = {}
    for sides in ("both", "outer", "inner"):
        room.does("outline", *given, "--score", "relative", "--sides", sides, "--probs", "np.npy", "-o", "o.npy")
        codes[sides] = room.load("o.npy")
    assert (codes["outer"] > 0).sum() < (codes["both"] > 0).sum() and not (codes["outer"] == 2).any()
    assert (codes["inner"] == 2).sum() > (codes["both"] == 2).sum() and (codes["inner"] > 0).all()


def test_pictures_show_every_image(room):
    given = save_all(room, discs(30, 7), discs(3, 8))
    room.does("outline", *given, "--alpha", "0.3", "--probs", "np.npy", "--contours", "lines")
    pictures = sorted((room.folder / "lines").iterdir())
    assert [p.name for p in pictures] == [f"{i}_class1.png" for i in range(3)]
    assert all(p.read_bytes().startswith(b"\x89PNG") for p in pictures)


def test_values_of_a_calibrator_are_a_score(room):
    cal, new = discs(40, 9), discs(5, 10)
    given = save_all(room, cal, new)
    probs, labels = discs(15, 11)
    room.save("p.npy", probs), room.save("y.npy", labels)
    room.calibrate("--method", "image", "--score", "lac", probs="p.npy", labels="y.npy")
    room.does("predict", "cal.kcal", "--probs", "cp.npy", "--pvalues", "cv.npy")
    room.does("outline", *given, "--score", "field", "--calibrator", "cal.kcal", "--save", "rule.json", "--alpha", "0.4")
    large, _ = thresholds(1 - room.load("cv.npy")[:, 1].astype(np.float32), cal[1] == 1, 1, 0.4)
    assert abs(json.loads((room.folder / "rule.json").read_text())["classes"][0]["outer"]["threshold"] - large) < 1e-6
    expect_refusal(room.run("outline", "--rule", "rule.json", "--probs", "np.npy", "-o", "o.npy"), 2, "--calibrator")
    room.does("outline", "--rule", "rule.json", "--calibrator", "cal.kcal", "--probs", "np.npy", "-o", "o.npy")
    expect_refusal(room.run("outline", *given, "--score", "distance", "--calibrator", "cal.kcal"), 2, "--calibrator has no effect")
    room.does("outline", *given, "--score", "distance", "--save", "other.json", "--alpha", "0.4")
    expect_refusal(room.run("outline", "--rule", "other.json", "--calibrator", "cal.kcal", "--probs", "np.npy", "-o", "o.npy"), 2,
                   "--calibrator has no effect")


def test_too_few_groups_give_a_warning(room):
    given = save_all(room, discs(12, 12), discs(2, 13))
    done = room.run("outline", *given, "--probs", "np.npy", "-o", "o.npy")
    assert done.code == 0 and "12 calibration groups have it, but alpha 0.1 for both masks needs 19" in done.err
    assert (room.load("o.npy") == 1).all()


def test_a_useless_outer_mask_gives_a_warning_with_a_remedy(room):
    probs, labels = discs(41)
    given = save_all(room, (probs, labels), discs(3, 1))
    assert "nearly the whole image" not in room.run("outline", *given, "--save", "a.json").err
    probs[:9, 1], probs[:9, 0] = 0.01, 0.99  # images in which the class is not predicted at all
    room.save("cp.npy", probs)
    told = room.run("outline", *given, "--score", "distance", "--save", "b.json").err
    assert "class 1: the outer mask is nearly the whole image" in told and "--share 0.95" in told


def test_a_confidence_takes_a_higher_rank(room):
    cal = discs(80, 16)
    given = save_all(room, cal, discs(2, 17))
    room.does("outline", *given, "--score", "distance", "--sides", "outer", "--alpha", "0.2", "--confidence", "0.9", "--save", "r.json")
    found = json.loads((room.folder / "r.json").read_text())
    large = np.sort([distance(p[1] > 0.5)[y == 1].max() for p, y in zip(*cal)])
    # The smallest r with P(Binomial(80, 0.8) <= r - 1) >= 0.9.
    law, total = 0.2**80, 0.0
    for r in range(1, 82):
        total += law
        law *= (80 - r + 1) / r * 4
        if total >= 0.9:
            break
    assert r == 70 and abs(found["classes"][0]["outer"]["threshold"] - large[r - 1]) < 1e-5
    assert "in at least 90 % of the draws of calibration data" in found["guarantee"]
    done = room.run("outline", *given, "--confidence", "0.99", "--save", "r.json")
    assert done.code == 0 and "80 calibration groups have it" in done.err


def test_invalid_options_are_refused(room):
    given = save_all(room, discs(12, 14), discs(2, 15))

    def refuse(*words):
        expect_refusal(room.run("outline", *words), 2)

    refuse()
    refuse(*given)
    refuse("--cal-probs", "cp.npy", "--save", "r.json")
    refuse(*given, "--save", "r.json", "--score", "near")
    refuse(*given, "--save", "r.json", "--share", "0")
    for unit in ("group", "object"):
        expect_refusal(room.run("outline", *given, "--save", "r.json", "--unit", unit, "--share", "-0.5"), 2, "share", "-0.5")
    refuse(*given, "--save", "r.json", "--alpha", "1")
    refuse(*given, "--save", "r.json", "--confidence", "1")
    refuse(*given, "--save", "r.json", "--classes", "7")
    refuse(*given, "--save", "r.json", "--score", "field")
    refuse(*given, "--save", "r.json", "--volumes")
    for step in ("0", "inf", "nan"):
        refused = room.run("outline", *given, "--save", "r.json", "--spacing", f"1,{step}")
        expect_refusal(refused, 2, f"--spacing has {step}", "a finite number above 0")
    refuse(*given, "--save", "r.json", "--spacing", "1,1,1")
    refuse(*given, "--masks", "nm.npy", "-o", "o.npy")
    refuse("--cal-masks", "cm.npy", "--cal-labels", "cy.npy", "--score", "probability", "--save", "r.json")
    (room.folder / "bad.json").write_text("{}")
    expect_refusal(room.run("outline", "--rule", "bad.json", "--probs", "np.npy", "-o", "o.npy"), 3, "bad.json is not a rule of 'kandinsky outline'")
    assert not (room.folder / "r.json").exists() and not (room.folder / "o.npy").exists()
