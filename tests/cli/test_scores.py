"""The scores against TorchCP's: its numbers kept in a file, its formulas in numpy, and itself where it is installed."""

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
    """Scores [pixels, classes] of flattened pixels as the command computes them: with one image, on which every
    class is everywhere, the curve of a pixel is its one score."""
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
    """The random numbers that the command gives to these pixels, from what they take away from aps."""
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
