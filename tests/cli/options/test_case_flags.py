"""With arrays as input, every option of outline and measure changes the result, is refused or is accepted, as the tables below say.
An option that is in no table makes a test fail."""

import sys
from pathlib import Path

import numpy as np
import pytest
from objects import discs
from support import command, run

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))

from command_help import program_help  # noqa: E402

OPTIONS = {one.name: [o.long for o in one.options() if o.long not in {"--help", "--version"}] for one in program_help(command())[1]}
BASE = {"--cal-probs": "cp.npy", "--cal-labels": "cy.npy", "--cal-groups": "cg.npy", "--probs": "np.npy", "--labels": "ny.npy",
        "--groups": "ng.npy", "--alpha": "0.3", "--json": "out.json"}  # fmt: skip
HARD = {"--cal-masks": "cy2.npy", "--cal-labels": "cy.npy", "--masks": "ny2.npy", "--alpha": "0.3", "--json": "out.json"}
# Option: the value that changes the result of the call above; None: it changes if the option is left out.
CHANGES = {
    "--cal-probs": "cp2.npy", "--cal-labels": "cy2.npy", "--cal-groups": None, "--probs": "np2.npy", "--labels": "ny2.npy", "--groups": None,
    "--volumes": "", "--spacing": "2,3", "--ignore": "1", "--logits": "sigmoid", "--alpha": "0.5", "--confidence": "0.7", "--json": None, "--save": "rule.json",
}  # fmt: skip
OWN = {
    "outline": {"--unit": "object", "--connectivity": "faces", "--small": "20", "--share": "0.8", "--sides": "outer", "--score": "distance", "--classes": "0", "--output": "masks.npy", "--contours": "lines"},
    "measure": {"--by": "soft", "--classes": "0", "--csv": "v.csv"},
}  # fmt: skip
SAME = {"--threads": "1", "--quiet": ""}  # the files are the same
ACCEPTED = {"--seed": "3"}  # it draws the groups that choose, so it may change nothing
REFUSED = {"--class-files": "", "--group-by": "a"}
ELSEWHERE = {"outline": {"--cal-masks", "--masks", "--rule", "--calibrator"}, "measure": {"--cal-masks", "--masks", "--rule"}}  # their own tests


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    for prefix, seed, images in [("c", 0, 60), ("n", 1, 12)]:
        probs, labels = discs(images, seed, 10)
        np.save(folder / f"{prefix}p.npy", probs), np.save(folder / f"{prefix}p2.npy", np.roll(probs, 1, 3))
        np.save(folder / f"{prefix}y.npy", labels), np.save(folder / f"{prefix}y2.npy", np.roll(labels, 2, 2))
        np.save(folder / f"{prefix}g.npy", np.arange(images) // 2)
    return folder


def call(name, inputs, folder, options):
    """(result, what was written) of a call."""
    folder.mkdir()
    words = [name]
    for option, value in options.items():
        value = str(inputs / value) if value and (inputs / value).exists() else value
        words += [option, value] if value else [option]
    result = run(*words, cwd=folder)
    return result, {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.mark.parametrize("name", ["outline", "measure"])
def test_every_option_changes_the_result_or_is_refused(name, inputs, tmp_path):
    changes = CHANGES | OWN[name]
    listed = {*changes, *SAME, *ACCEPTED, *REFUSED, *ELSEWHERE[name]}
    assert set(OPTIONS[name]) == listed, f"new or gone: {set(OPTIONS[name]) ^ listed}"
    plain = call(name, inputs, tmp_path / "plain", BASE | ({"--by": "auto"} if name == "measure" else {}))
    assert plain[0].code == 0, plain[0]
    for number, (option, value) in enumerate({**changes, **SAME, **ACCEPTED, **REFUSED}.items()):
        given = {**BASE, **({"--by": "auto"} if name == "measure" else {}), option: value}
        if value is None:
            given.pop(option)
        result, files = call(name, inputs, tmp_path / str(number), given)
        if option in REFUSED:
            assert result.code == 2 and "has no effect" in result.err and not files, (option, result)
            continue
        assert result.code == 0, (option, result)
        if option in changes:
            assert (result.out, files) != (plain[0].out, plain[1]), f"{option} changes nothing"
        if option in SAME:
            assert files == plain[1] and result.out == ("" if option == "--quiet" else plain[0].out), f"{option} changes the result"


@pytest.mark.parametrize("name", ["outline", "measure"])
def test_options_without_effect_are_refused(name, inputs, tmp_path):
    rule = {"--cal-probs": "cp.npy", "--cal-labels": "cy.npy", "--save": "rule.json", "--alpha": "0.3"}
    assert call(name, inputs, tmp_path / "rule", rule)[0].code == 0
    applied = {"--rule": str(tmp_path / "rule" / "rule.json"), "--probs": "np.npy", "--json": "out.json"}
    cases = [(applied, option, value) for option, value in
             [("--alpha", "0.2"), ("--confidence", "0.5"), ("--classes", "1"), ("--seed", "1"), ("--save", "r.json"), ("--ignore", "3"), ("--cal-labels", "cy.npy"),
              *([("--share", "0.5"), ("--sides", "outer"), ("--score", "distance")] if name == "outline" else [("--by", "soft")])]]
    cases += [(HARD, "--logits", "sigmoid"), (rule, "--labels", "ny.npy"), (rule, "--groups", "ng.npy")]
    cases += [(rule, "--output" if name == "outline" else "--csv", "o.npy")]
    cases += [({**BASE, "--score" if name == "outline" else "--by": "relative"}, "--seed", "2")]
    for number, (base, option, value) in enumerate(cases):
        result, files = call(name, inputs, tmp_path / f"r{number}", {**base, option: value})
        assert result.code == 2 and "has no effect" in result.err and not files, (option, result)


@pytest.mark.parametrize("name", ["outline", "measure"])
def test_masks_replace_probabilities(name, inputs, tmp_path):
    result, files = call(name, inputs, tmp_path / "hard", HARD)
    assert result.code == 0 and set(files) == {"out.json"}, result
