"""The scores against TorchCP's: its numbers stored in a file, its formulas in numpy, and TorchCP itself if it is installed."""

import json
from pathlib import Path

import numpy as np
import pytest

GOLDEN = json.loads((Path(__file__).parent / "torchcp_scores.json").read_text())
FLAGS = {
    "lac": ["--score", "lac"],
    "margin": ["--score", "margin"],
    "aps": ["--score", "aps"],
    "raps": ["--score", "raps", "--raps-lambda", "0.1", "--raps-kreg", "1"],
    "raps_2": ["--score", "raps", "--raps-lambda", "0.03", "--raps-kreg", "3"],
    "saps": ["--score", "saps", "--saps-weight", "0.2"],
}
RANDOMIZED = [name + "_randomized" for name in ("aps", "raps", "raps_2", "saps")]


def scores_of(room, probs, *flags):
    """The command's scores [pixels, classes] of flattened pixels. There is one image, and masks give every pixel
    every class, so the curve of a pixel is its only score."""
    pixels, classes = probs.shape
    room.save("flat.npy", np.ascontiguousarray(probs.T).reshape(1, classes, 1, pixels))
    room.save("all.npy", np.ones((1, classes, 1, pixels), np.uint8))
    room.calibrate("--method", "pixel", "--curves", "c.npy", *flags, probs="flat.npy", labels="all.npy", output="s.kcal")
    return room.load("c.npy")[49].reshape(classes, pixels).T  # level 0.5 of one score is that score


def formula(name, probs, u):
    """After TorchCP's definitions: sorted, summed, penalised by rank, and put back in place."""
    name, randomized = name.removesuffix("_randomized"), name.endswith("_randomized")
    u = u[:, None] if randomized else np.zeros((len(probs), 1))
    probs = probs.astype(np.float64)
    if name == "lac":
        return 1 - probs
    if name == "margin":
        best = np.sort(probs, axis=1)
        return np.where(probs == best[:, -1:], best[:, -2:-1], best[:, -1:]) - probs
    order = np.argsort(-probs, axis=1, kind="stable")
    ordered = np.take_along_axis(probs, order, axis=1)
    if name == "saps":
        ordered[:, 1:] = 0.2
    sums = np.cumsum(ordered, axis=1) - ordered * u
    ranks = np.arange(1, probs.shape[1] + 1)
    if name == "raps":
        sums += np.maximum(0.1 * (ranks - 1), 0)
    if name == "raps_2":
        sums += np.maximum(0.03 * (ranks - 3), 0)
    out = np.empty_like(sums)
    np.put_along_axis(out, order, sums, axis=1)
    return out


def random_shares(room, probs):
    """The random numbers that the command gives to these pixels, from how much they reduce aps."""
    plain, less = scores_of(room, probs, "--score", "aps"), scores_of(room, probs, "--score", "aps", "--randomized")
    best = probs.argmax(axis=1)[:, None]
    return (np.take_along_axis((plain - less), best, axis=1) / np.take_along_axis(probs, best, axis=1))[:, 0]


@pytest.mark.parametrize("case", range(len(GOLDEN["cases"])))
@pytest.mark.parametrize("name", [*FLAGS, *RANDOMIZED])
def test_the_formulas_give_the_numbers_that_torchcp_gave(case, name):
    kept = GOLDEN["cases"][case]
    ours = formula(name, np.array(kept["probabilities"]), np.array(kept["u"]))
    np.testing.assert_allclose(ours, np.array(kept["scores"][name]), atol=1e-6)


@pytest.mark.parametrize("case", range(len(GOLDEN["cases"])))
@pytest.mark.parametrize("name", FLAGS)
def test_the_command_gives_the_numbers_that_torchcp_gave(room, case, name):
    kept = GOLDEN["cases"][case]
    ours = scores_of(room, np.array(kept["probabilities"], np.float32), *FLAGS[name])
    np.testing.assert_allclose(ours, np.array(kept["scores"][name]), atol=1e-6)


def test_randomized_scores_follow_the_formulas_with_one_number_for_each_pixel(room):
    probs = np.random.default_rng(1).dirichlet(np.full(4, 0.7), 300).astype(np.float32)
    u = random_shares(room, probs)
    assert u.min() > -1e-5 and u.max() < 1 and abs(u.mean() - 0.5) < 5 * 0.289 / np.sqrt(300)
    for name in RANDOMIZED:
        ours = scores_of(room, probs, *FLAGS[name.removesuffix("_randomized")], "--randomized")
        np.testing.assert_allclose(ours, formula(name, probs, u), atol=2e-5)
    other = scores_of(room, probs, "--score", "aps", "--randomized", "--seed", "1")
    assert np.abs(other - formula("aps_randomized", probs, u)).max() > 0.1


def test_torchcp_itself_gives_the_same_scores(room):
    pytest.importorskip("torchcp", reason="torchcp is not installed; its numbers kept in torchcp_scores.json were compared")
    import torch
    from torchcp.classification.score import APS, LAC, RAPS, SAPS, Margin

    probs = np.random.default_rng(2).dirichlet(np.full(7, 0.5), 500).astype(np.float32)
    u = random_shares(room, probs)
    theirs = {
        "lac": LAC("identity"),
        "margin": Margin("identity"),
        **{
            name + suffix: kind("identity", randomized=bool(suffix), **options)
            for suffix in ("", "_randomized")
            for name, kind, options in (
                ("aps", APS, {}),
                ("raps", RAPS, {"penalty": 0.1, "kreg": 1}),
                ("raps_2", RAPS, {"penalty": 0.03, "kreg": 3}),
                ("saps", SAPS, {"weight": 0.2}),
            )
        },
    }
    rand = torch.rand
    try:
        torch.rand = lambda shape, device=None: torch.tensor(u, dtype=torch.float32)[:, None].expand(*shape)
        for name, score in theirs.items():
            base = name.removesuffix("_randomized")
            ours = scores_of(room, probs, *FLAGS[base], *(["--randomized"] if base != name else []))
            np.testing.assert_allclose(ours, score(torch.tensor(probs)).numpy(), atol=2e-5, err_msg=name)
    finally:
        torch.rand = rand


ALL = ["lac", "aps", "raps", "saps", "margin"]


@pytest.mark.parametrize("score", ALL)
@pytest.mark.parametrize("condition", ["class", "none"])
def test_sets_p_values_and_thresholds_of_every_score_agree(room, score, condition):
    cal = room.calibrate("--method", "image", "--score", score, "--condition", condition)
    room.does("predict", cal, "--probs", "probs.npy", "--alpha", "0.3", "-o", "s.npy", "--pvalues", "p.npy", "--thresholds", "t.npy",
              "--empty", "keep")
    sets, p, thresholds = room.load("s.npy"), room.load("p.npy"), room.load("t.npy")
    np.testing.assert_array_equal(sets, p > 0.3)
    probs = np.moveaxis(room.probs, 1, -1).reshape(-1, 3)
    if score == "lac":  # on probabilities
        np.testing.assert_array_equal(sets, room.probs >= thresholds)
        return
    scores = np.moveaxis(formula(score, probs, np.zeros(len(probs))).reshape(4, 5, 7, 3), -1, 1)
    clear = np.abs(scores - thresholds) > 1e-6  # the formula has its own rounding
    np.testing.assert_array_equal(sets[clear], (scores <= thresholds)[clear])
    assert clear.mean() > 0.5  # aps of the last rank is 1, often the threshold itself


def test_a_single_foreground_plane_has_two_classes(room):
    foreground = room.probs[:, :1].copy()
    room.save("one.npy", foreground)
    room.save("two.npy", np.concatenate([1 - foreground, foreground], axis=1))
    room.save("half.npy", (room.labels > 0).astype(np.uint8))
    for score in ALL:
        one = room.calibrate("--method", "image", "--score", score, probs="one.npy", labels="half.npy", output="1.kcal")
        two = room.calibrate("--method", "image", "--score", score, probs="two.npy", labels="half.npy", output="2.kcal")
        for cal, probs, out in ((one, "one.npy", "s1.npy"), (two, "two.npy", "s2.npy")):
            room.does("predict", cal, "--probs", probs, "--alpha", "0.2", "-o", out)
        np.testing.assert_array_equal(room.load("s1.npy"), room.load("s2.npy"))


def test_randomized_sets_do_not_depend_on_the_order_of_images(room):
    cal = room.calibrate("--method", "image", "--score", "aps", "--randomized")
    room.save("turned.npy", room.probs[::-1].copy())
    room.does("predict", cal, "--probs", "probs.npy", "-o", "s.npy", "--alpha", "0.4")
    room.does("predict", cal, "--probs", "turned.npy", "-o", "t.npy", "--alpha", "0.4", "--threads", "1")
    np.testing.assert_array_equal(room.load("s.npy"), room.load("t.npy")[::-1])


def test_inspect_shows_the_score_and_its_options(room):
    cal = room.calibrate("--score", "raps", "--raps-lambda", "0.25", "--raps-kreg", "2", "--randomized", "--seed", "9", "--method", "image")
    assert "score raps (lambda 0.25, kreg 2, randomized, seed 9)" in room.does("inspect", cal).out
    options = json.loads(room.does("inspect", cal, "--json").out)["options"]
    assert options["score"] == "raps"
    assert options["score_options"] == {"lambda": 0.25, "kreg": 2, "randomized": True, "seed": 9}
    assert "score_options" not in json.loads(room.does("inspect", room.calibrate("--method", "image"), "--json").out)["options"]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--score", "apples"], "choose near, lac, aps, raps, saps or margin"),
        (["--score", "margin", "--randomized"], "--randomized is for the scores aps, raps and saps"),
        (["--score", "raps", "--raps-lambda", "-1"], "--raps-lambda is -1"),
        (["--score", "saps", "--saps-weight", "0"], "--saps-weight is 0"),
        (["--score", "aps", "--compat", "released"], "--compat released has the score lac only"),
    ],
)
def test_invalid_scores_are_refused(room, flags, said):
    room.refuses(2, [said], "calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "-o", "x.kcal", *flags)


def test_empty_sets_are_filled_unless_they_are_kept(room):
    cal = room.calibrate("--method", "image")
    how = ["predict", cal, "--probs", "probs.npy", "--alpha", "0.7"]
    kept = room.does(*how, "-o", "plain.npy", "--empty", "keep").out
    said = room.does(*how, "-o", "full.npy").out
    for flags in (["--no-empty"], ["--empty", "fill"], ["--empty", "fill", "--no-empty"]):
        room.does(*how, "-o", "same.npy", *flags)
        np.testing.assert_array_equal(room.load("same.npy"), room.load("full.npy"))
    room.refuses(2, ["--no-empty", "--empty"], *how, "-o", "x.npy", "--no-empty", "--empty", "keep")
    room.refuses(2, ["--empty is 'drop'", "auto, fill or keep"], *how, "-o", "x.npy", "--empty", "drop")
    for flags in (["--no-empty"], ["--empty", "keep"]):
        room.refuses(2, [f"{flags[0]} has no effect", "no sets"], *how[:4], "--pvalues", "p.npy", *flags)
    plain, full = room.load("plain.npy"), room.load("full.npy")
    empty = plain.sum(axis=1) == 0
    assert empty.any() and not empty.all()
    expected = plain.copy()
    best = room.probs.argmax(axis=1)
    for image, row, column in np.argwhere(empty):
        expected[image, best[image, row, column], row, column] = 1
    np.testing.assert_array_equal(full, expected)
    assert f"{100 * empty.mean():.2f} % empty (filled)" in said and f"{100 * empty.mean():.2f} % empty," in kept
    inputs = ["--probs", "probs.npy", "--labels", "labels.npy", "--alpha", "0.7"]
    before = json.loads(room.does("evaluate", cal, *inputs, "--json", "-", "--empty", "keep").out)
    after = json.loads(room.does("evaluate", cal, *inputs, "--json", "-").out)
    # Coverage is measured before filling. Set size and false classes are measured on the filled sets that predict writes.
    assert after["coverage_at_alpha"] == before["coverage_at_alpha"]
    hit = np.take_along_axis(full, room.labels[:, None].astype(int), axis=1)
    row, plain_row = after["results"][0], before["results"][0]
    assert row["filled_coverage"] == pytest.approx(hit.mean())
    assert row["filled_share"] == pytest.approx(empty.mean()) and plain_row["filled_share"] == 0
    assert row["empty_share"] == plain_row["empty_share"] == row["filled_share"]
    assert row["set_size"] == pytest.approx(full.sum(axis=1).mean())
    for name in ("set_size", "false_classes", "single_share", "single_right"):
        assert row["without_filling"][name] == plain_row[name]
    assert row["mean_ce"] == plain_row["mean_ce"]
    assert "after filling, sets cover" in room.does("evaluate", cal, *inputs).out


def test_predict_prints_a_summary_of_the_sets_and_warns_if_they_are_full(room):
    cal = room.calibrate("--method", "image")
    for alpha, flags in (("0.4", []), ("0.4", ["--packed"]), ("0.01", [])):
        found = room.does("predict", cal, "--probs", "probs.npy", "--alpha", alpha, "-o", "s.npy", *flags)
        sets = room.load("s.npy")
        if flags:
            sets = np.unpackbits(sets, axis=-1, count=room.probs.shape[-1])
        size = sets.sum(axis=1)
        line = found.out.splitlines()[-1]
        assert line.startswith(f"sets: {size.mean():.2f} classes on average, {100 * (size == 1).mean():.1f} % of one class")
        assert line.endswith(f"{100 * (size == sets.shape[1]).mean():.1f} % full")
        assert ("is too small for" in found.err) == (alpha == "0.01")
    quiet = room.does("predict", cal, "--probs", "probs.npy", "--alpha", "0.01", "-o", "s.npy", "--quiet")
    assert quiet.out == quiet.err == ""


def test_calibrate_warns_about_rare_classes(room):
    labels = np.concatenate([room.labels] * 5)
    labels[labels == 2] = 0
    labels[:3, 0, 0] = 2
    room.save("rare.npy", labels)
    room.save("many.npy", np.concatenate([room.probs] * 5))
    said = room.does("calibrate", "--probs", "many.npy", "--labels", "rare.npy", "--method", "image", "-o", "r.kcal").err
    assert "class 2 has few calibration images" in said and "below alpha = 0.25" in said and "class 1" not in said


def test_more_and_bootstrap_show_in_tables_and_json(room):
    cal = room.calibrate("--method", "image")
    inputs = ["--probs", "probs.npy", "--labels", "labels.npy"]
    plain = room.does("evaluate", cal, *inputs, "--bootstrap", "0").out
    assert "90 %" not in plain and "weighted" not in plain
    table = room.does("evaluate", cal, *inputs, "--more").out
    for part in ("90 % intervals, 200 resamples of 4 images", "weighted", "coverage by set size", "smECE"):
        assert part in table
    row = json.loads(room.does("evaluate", cal, *inputs, "--json", "-").out)["results"][0]
    low, high = row["bootstrap"]["coverage_at_alpha"]
    assert row["bootstrap"]["resamples"] == 200 and low <= row["coverage_at_alpha"] <= high
    both = ["--cal-probs", "probs.npy", "--cal-labels", "labels.npy", "--test-probs", "probs.npy", "--test-labels", "labels.npy", "--methods", "image,pixel"]
    assert "90 %" not in room.does("compare", *both, "--more").out
    assert "90 % intervals, 30 resamples" in room.does("compare", *both, "--more", "--bootstrap", "30").out
    row = json.loads(room.does("compare", *both, "--json", "-", "--bootstrap", "30").out)["results"][1]
    assert {"weighted_ce", "ce_30", "pixels_30", "worst_block_coverage", "images_below", "smooth_ece", "bootstrap"} <= set(row)
    room.refuses(2, ["--bootstrap is for one draw"], "compare", *both, "--more", "--bootstrap", "9", "--sample", "3", "--draws", "2")
