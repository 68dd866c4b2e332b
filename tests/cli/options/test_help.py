"""The help is complete, and its examples work."""

import json
import re
import shlex

import numpy as np
import pytest
from support import default_methods, expect_refusal, help_text, run

SMALL = ["--images", "24", "--test-images", "12", "--size", "24x16"]


def commands():
    listed = help_text().split("Subcommands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in listed.splitlines() if re.match(r"  \S", line)]


def examples(text):
    """The command lines below 'Example', joined over backslashes."""
    below = text[text.index("Example") :].replace("\\\n", " ")
    return [shlex.split(line) for line in below.splitlines() if line.strip().startswith("kandinsky ")]


COMMANDS = commands()


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A folder in which the demo has run, as the help texts assume, and what it printed."""
    folder = tmp_path_factory.mktemp("help")
    result = run("demo", "-o", "demo", *SMALL, cwd=folder)
    assert result.code == 0 and result.complaints == [], result
    for name in ["probs", "labels"]:  # the folders of files that the help of collect assumes
        (folder / name).mkdir()
        for number, image in enumerate(np.load(folder / "demo" / f"test_{name}.npy")):
            np.save(folder / name / f"image{number}.npy", image)
    return folder, result.out


def test_the_commands_are_listed():
    assert {"calibrate", "predict", "evaluate", "compare", "inspect", "demo"} <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_names_the_command_its_options_and_an_example(name):
    text = help_text(name)
    assert f"Usage: kandinsky {name}" in text and "Options:" in text
    assert examples(text) and all(words[1] == name for words in examples(text))


# Networks need images and a plug-in: tests/model runs these; commands/test_nnunet.py has folders of nnU-Net.
WITH_IMAGES = {"train", "infer", "experiment", "nnunet"}


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in WITH_IMAGES])
def test_the_example_works(demo, name):
    folder, _ = demo
    for words in examples(help_text(name)):
        made = [words[at + 1] for at, word in enumerate(words) if word == "-o"]
        result = run(*words[1:], *(SMALL if name == "demo" else []), cwd=folder)
        if "built without reports" in result.err:
            pytest.skip("this program was built without reports")
        assert result.code == 0 and result.complaints == [], result
        assert all((folder / path).exists() for path in made), made
        if "--json" in words and words[words.index("--json") + 1 :][:1] == ["-"]:
            assert json.loads(result.out)["schema"] == 2


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_is_printed_for_either_flag(flag, tmp_path):
    result = run(flag, cwd=tmp_path)
    assert (result.code, result.err) == (0, "") and "kandinsky demo" in result.out


def test_the_version_is_a_version(tmp_path):
    result = run("--version", cwd=tmp_path)
    assert (result.code, result.err) == (0, "")
    assert re.fullmatch(r"kandinsky \d+\.\d+\.\d+\n", result.out)


def test_no_arguments_are_wrong_usage(tmp_path):
    expect_refusal(run(cwd=tmp_path), 2, "kandinsky --help")


def test_the_demo_prints_a_table_with_every_default_method(demo):
    _, printed = demo
    assert "24 calibration images" in printed and "12 test images" in printed and "16 x 24" in printed
    assert "mean CE" in printed and "class 1" in printed
    rows = [line.split()[0] for line in printed.splitlines() if re.match(r"  \w+ +\d+  ", line)]
    assert set(rows) == set(default_methods())
    assert rows[: len(default_methods())] == default_methods()


def test_the_demo_leaves_scenes_calibrators_and_results(demo):
    folder, _ = demo
    assert np.load(folder / "demo/cal_probs.npy").shape[0] == 24
    assert np.load(folder / "demo/cal_probs.npy").shape[2:] == (16, 24)
    assert np.load(folder / "demo/test_labels.npy").shape == (12, 16, 24)
    found = json.loads((folder / "demo/compare.json").read_text())
    assert {one["method"] for one in found["results"]} == set(default_methods())
    for method in default_methods():
        shown = run("inspect", f"demo/{method}.kcal", cwd=folder)
        assert shown.code == 0 and method in shown.out.splitlines()[0]
    assert not [path.name for path in (folder / "demo").iterdir() if path.name.startswith(".")]


def test_the_demo_names_a_next_command_that_works(demo):
    folder, printed = demo
    following = [shlex.split(line) for line in printed.splitlines() if line.strip().startswith("kandinsky ")]
    assert following
    for words in following:
        named = [word for word in words if word.startswith("demo/")]
        assert all((folder / word).exists() for word in named if word != words[words.index("-o") + 1])
        assert run(*words[1:], cwd=folder).code == 0
        assert (folder / words[words.index("-o") + 1]).exists()


def test_the_demo_recommends_a_method_with_a_low_coverage_error_and_small_sets(demo, tmp_path):
    medical = run("demo", "-o", "demo", "--preset", "medical", *SMALL, cwd=tmp_path)
    for folder, printed in (demo, (tmp_path, medical.out)):
        errors, price = dict.fromkeys(default_methods(), 0.0), {}
        for row in json.loads((folder / "demo/compare.json").read_text())["results"]:
            errors[row["method"]] += row["mean_ce"] if row["class"] > 0 and row["mean_ce"] is not None else 0
            price[row["method"]] = row["false_classes"]
        best = min((name for name in errors if errors[name] <= 1.1 * min(errors.values())), key=price.get)
        assert f"with {best}," in printed and f"predict demo/{best}.kcal" in printed, (errors, printed)


@pytest.mark.parametrize("preset", ["photo", "medical"])
def test_the_demo_makes_the_same_scenes_again_and_others_for_another_seed(preset, tmp_path):
    small = ["demo", "--preset", preset, "--images", "5", "--test-images", "4", "--size", "24x20", "-q"]
    for name, seed in (("a", "0"), ("b", "0"), ("c", "1")):
        result = run(*small, "--seed", seed, "-o", name, cwd=tmp_path)
        assert result.code == 0, result
    a, b, c = ((tmp_path / name / "cal_probs.npy").read_bytes() for name in "abc")
    assert a == b and a != c
