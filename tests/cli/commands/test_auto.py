"""The method auto chooses by cross-validation, prints and stores its choice. Also presets and numbers of regions."""

import json
import re

import numpy as np
import pytest
from support import Room, default_methods, help_text, scene


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    room = Room(tmp_path_factory.mktemp("auto"))
    probs, labels = scene(20, classes=2, grid=(8, 10), seed=5)
    room.save("probs.npy", probs)
    room.save("labels.npy", labels)
    return room


DATA = ["--probs", "probs.npy", "--labels", "labels.npy"]
AUTO = [*DATA, "-m", "auto"]
QUICK = ["--promise", "none"]  # what is chosen does not depend on it


def described(room, name="cal.kcal"):
    return json.loads(room.does("inspect", name, "--json").out)


def test_the_default_method_is_field_and_chooses_nothing(room):
    printed = room.does("calibrate", *DATA, "-o", "default.kcal").out
    assert "field on 20 images" in printed and "Chosen" not in printed
    assert described(room, "default.kcal")["method"] == "field"
    room.does("calibrate", *DATA, "-m", "field", "-o", "said.kcal")
    assert (room.folder / "default.kcal").read_bytes() == (room.folder / "said.kcal").read_bytes()


def test_auto_prints_what_it_found(room):
    printed = room.does("calibrate", *AUTO, *QUICK, "-o", "cal.kcal").out.splitlines()
    assert printed[0].split() == ["class", *default_methods()]
    for cls, line in enumerate(printed[1:3]):
        cells = line.split()
        assert cells[0] == str(cls) and len(cells) == 1 + len(default_methods())
        assert sum(cell.endswith("*") for cell in cells[1:]) == 1
    assert any(line.startswith("Chosen by cross-validation: ") for line in printed)
    assert any("auto on 20 images" in line for line in printed)
    assert "same images" in printed[-1]


def test_quiet_is_quiet(room):
    assert room.does("calibrate", *AUTO, *QUICK, "-o", "quiet.kcal", "-q").out == ""


def test_inspect_prints_the_losses_and_the_method_of_every_class(room):
    room.does("calibrate", *AUTO, *QUICK, "-o", "cal.kcal")
    meta = described(room)
    assert meta["method"] == "auto"
    text = room.does("inspect", "cal.kcal").out
    assert "Chosen by cross-validation" in text
    for stratum in meta["strata"]:
        choice = stratum["choice"]
        assert [one["method"] for one in choice["judged"]] == default_methods()
        losses = {one["method"]: one["loss"] for one in choice["judged"]}
        assert all(loss > 0 for loss in losses.values())
        assert losses[stratum["method"]] <= 1.02 * min(losses.values())
        assert choice["folds"] == 5 and choice["reason"]
        for loss in losses.values():
            assert f"{loss:.5f}" in text


def test_without_a_choice_the_file_records_none(room):
    room.does("calibrate", *DATA, "-m", "image", "-o", "plain.kcal")
    assert all("choice" not in stratum for stratum in described(room, "plain.kcal")["strata"])


def test_compare_and_evaluate_know_auto(room):
    files = [f"--{part}-{what}={what}.npy" for part in ("cal", "test") for what in ("probs", "labels")]
    found = json.loads(room.does("compare", *files, "--methods", "image,auto", "--json", "-").out)
    assert [one["method"] for one in found["results"]] == ["image", "auto"] * 2
    room.does("calibrate", *AUTO, *QUICK, "-o", "cal.kcal")
    judged = json.loads(room.does("evaluate", "cal.kcal", *DATA, "--json", "-").out)["results"]
    assert [one["chosen"] for one in judged] == [one["method"] for one in described(room)["strata"]]


def test_a_split_lets_the_choice_keep_a_promise(room):
    out = room.does("calibrate", *AUTO, "--split", "0.5", "-o", "split.kcal").out
    assert "at least 1 - alpha" in out and "No " not in out


def test_the_number_of_regions_can_be_chosen_too(room):
    out = room.does("calibrate", *QUICK, *DATA, "-m", "kmeans", "-o", "k.kcal").out
    assert re.match(r"class +kmeans 4 +kmeans 16 +kmeans 64\n", out)
    room.does("calibrate", *QUICK, *DATA, "-m", "kmeans", "--kmeans-clusters", "auto", "-o", "said.kcal")
    for stratum in described(room, "k.kcal")["strata"]:
        assert stratum["method"] == "kmeans"
        assert stratum["choice"]["options"]["kmeans-clusters"] in ("4", "16", "64")
        assert stratum["regions"] == stratum["geometry"]["clusters"]
    assert described(room, "said.kcal")["strata"] == described(room, "k.kcal")["strata"]


@pytest.mark.parametrize("method, flag", [("genann", "genann-radii"), ("fcc", "fcc-curves")])
def test_shapes_choose_their_number_too(room, method, flag):
    out = room.does("calibrate", *QUICK, *DATA, "-m", method, "-o", "s.kcal").out
    assert re.match(rf"class +{method} 3 +{method} 6 +{method} 12\n", out)
    for stratum in described(room, "s.kcal")["strata"]:
        own = stratum["choice"]["options"][flag]
        assert own in ("3", "6", "12")
        # A region in which no pixel has data is merged with a neighbour.
        assert 1 <= stratum["regions"] <= int(own) + 1


def test_among_methods_the_number_of_regions_is_the_papers_unless_auto_is_given(room):
    out = room.does("calibrate", *QUICK, *AUTO, "--fcc-curves", "auto", "-o", "all.kcal").out.splitlines()
    assert re.fullmatch(r"class +pixel +image +kmeans +genann +fcc 3 +fcc 6 +fcc 12 +field *", out[0])


def test_the_papers_preset_is_one_flag_and_other_options_still_count(room):
    room.does("calibrate", *DATA, "--preset", "paper", "-m", "fcc", "-o", "p.kcal")
    options = described(room, "p.kcal")["options"]
    assert options["pooling"] == "pixels" and options["fallback"] == "none"
    paper = {"fcc-limit": "circle", "fcc-centre": "middle", "fcc-variance": "mean", "fcc-curves": "3", "fcc-penalty": "1e-3"}
    assert paper.items() <= options["method_options"].items()
    assert options["method_options"]["genann-shape"] == "circle" and options["method_options"]["kmeans-clusters"] == "4"
    room.does("calibrate", *DATA, "--preset", "paper", "-m", "fcc", "--fcc-variance", "area", "--pooling", "groups", "-o", "p.kcal")
    options = described(room, "p.kcal")["options"]
    assert options["pooling"] == "groups" and options["method_options"]["fcc-variance"] == "area"
    room.does("calibrate", *DATA, "--preset", "paper", "-o", "p.kcal")
    assert described(room, "p.kcal")["method"] == "kmeans"
    files = [f"--{part}-{what}={what}.npy" for part in ("cal", "test") for what in ("probs", "labels")]
    found = json.loads(room.does("compare", *files, "--preset", "paper", "--classes", "1", "--json", "-").out)
    assert [one["method"] for one in found["results"]] == ["pixel", "image", "kmeans", "genann", "fcc"]


def test_unknown_presets_and_methods_are_refused_with_the_known_ones(room):
    room.refuses(2, ["--preset", "books", "paper"], "calibrate", *DATA, "--preset", "books", "-o", "x.kcal")
    room.refuses(2, ["spiral", "pixel", "auto"], "calibrate", *DATA, "-m", "spiral", "-o", "x.kcal")


def test_help_names_it_everywhere():
    assert "fcc, field, mask, auto" in help_text("calibrate")
    assert "all methods except auto" in help_text("compare")
    assert "--preset" in help_text("compare")


def test_one_image_is_too_few_for_cross_validation(tmp_path):
    few = Room(tmp_path)
    probs, labels = scene(1, classes=2, grid=(8, 10))
    few.save("probs.npy", probs)
    few.save("labels.npy", np.where(labels == 1, 255, labels))
    out = few.run("calibrate", *AUTO, "-o", "one.kcal").out
    assert "too few images" in out
