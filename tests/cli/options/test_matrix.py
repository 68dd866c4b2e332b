"""Every option of every command, from arrays and from folders: it changes the result or it is refused.

The options come from the program's help. A new option fails here until a table below describes its effect."""

import io
import itertools
import json
import os
import re
import shutil
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from support import command, page_data, run, scene

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))

from command_help import program_help  # noqa: E402

COMMANDS = {one.name: one for one in program_help(command())[1]}
SAME = "same"  # accepted; the result need not change
UNCHANGED = "unchanged"  # accepted; the result must not change
REFUSED = "refused"
RECORDED = "recorded"  # an effort or a tolerance, which the calibrator records; the optimum may be the same

# The value with which every command that has the option is tried ("" for a flag); BESIDE has the options given with it.
VALUES = {
    "--adapt": "image", "--alpha": "0.7", "--batch": "3", "--bootstrap": "30", "--categories": "cat", "--ce-map": "ce.npy", "--checkpoint": "state",
    "--checkpoint-every": "5", "--class-files": "", "--class-names": "a,b,c", "--classes": "1", "--coding": "bits", "--compat": "released",
    "--condition": "none", "--confidence": "0.5", "--crowd": "ignore", "--curves": "more.npy", "--device": "cpu", "--draws": "2", "--ece-map": "ece.npy",
    "--empty": "keep", "--fallback": "image", "--figures": "pictures", "--grid": "6x5", "--group-by": "^(s[0-9]+)", "--ignore": "0",
    "--images": "photos.npy", "--intensity": "none", "--json": "other.json", "--letterbox": "8x8", "--logits": "sigmoid", "--map": "",
    "--memory": "2M", "--method": "image", "--methods": "image,pixel", "--min-count": "3", "--mixed": "", "--model": "net.pt", "--more": "",
    "--multiple": "8", "--no-empty": "", "--only-annotated": "", "--orient": "stored", "--axis": "coronal", "--output": "another.kcal",
    "--outputs": "sigmoid", "--overlap": "masks", "--packed": "", "--padding": "background", "--photos": "photos.npy", "--pooling": "pixels",
    "--preset": "paper", "--promise": "split", "--pvalues": "p_values.npy", "--quantiles": "0.5", "--quiet": "", "--randomized": "",
    "--raps-kreg": "2", "--raps-lambda": "0.3", "--regions": "regions.npy", "--resize": "5x6", "--risk": "precision", "--rungs": "4", "--sample": "5",
    "--saps-weight": "0.7", "--score": "lac", "--seed": "7", "--skip-bad": "", "--split": "0.3", "--sketch": "0.01", "--threads": "1",
    "--thresholds": "thresholds.npy", "--title": "A title", "--report": "page.html", "--outline": "outline.json",
    "--max-weight": "1.1", "--shift-to": "probs2.npy", "--weights": "weights.npy",
    # monitor
    "--change-map": "map.npy", "--complete": "", "--delta": "0.3", "--fail-on-alarm": "", "--prometheus": "metrics.prom", "--skip-seen": "",
    "--state": "stream.state",
    # methods
    "--kmeans-clusters": "2", "--kmeans-restarts": "2", "--genann-shape": "circle", "--genann-radii": "2", "--genann-metric": "manhattan",
    "--genann-bounds": "coco", "--genann-population": "20", "--genann-generations": "3", "--genann-weights": "counts", "--fcc-curves": "2",
    "--fcc-order": "2", "--fcc-limit": "circle", "--fcc-centre": "middle", "--fcc-variance": "mean", "--fcc-penalty": "10", "--fcc-angles": "40",
    "--fcc-nodes": "4", "--fcc-starts": "1", "--fcc-iterations": "2", "--field-folds": "3", "--field-fold-order": "contiguous",
    "--place": "0.2", "--field-support": "off", "--field-rings": "off", "--field-mirror": "off", "--field-bandwidths": "2",
    "--field-bins": "16", "--mask": "regions_in2.npy",
}  # fmt: skip
BESIDE = {
    "--randomized": {"--score": "aps"}, "--raps-kreg": {"--score": "raps"}, "--raps-lambda": {"--score": "raps"},
    "--saps-weight": {"--score": "saps"}, "--quantiles": {"--method": "kmeans"}, "--regions": {"--method": "kmeans"},
    "--fallback": {"--method": "pixel"}, "--min-count": {"--method": "pixel", "--pooling": "pixels"}, "--draws": {"--sample": "5"},
    "--field-fold-order": {"--promise": "none"}, "--padding": {"--grid": "12x12"}, "--empty": {"--alpha": "0.6"},
    "--field-folds": {"--promise": "none"}, "--title": {"--report": "page.html"}, "--class-names": {"--report": "page.html"},
    "--photos": {"--report": "page.html"}, "--outline": {"--report": "page.html"}, "--adapt": {"--method": "field"},
    "--risk": {"--confidence": "0.5"},
    "--max-weight": {"--weights": "@weights.npy"}, "--shift-groups": {"--shift-to": "@probs2.npy", "--groups": "@alone.npy"},
}  # fmt: skip
# Searches that end early.
SHORT = {"genann": {"--genann-generations": "4", "--genann-population": "30", "--genann-radii": "3"},
         "fcc": {"--fcc-starts": "2", "--fcc-iterations": "4", "--fcc-curves": "3"}, "kmeans": {"--kmeans-clusters": "3"}}  # fmt: skip
# These may change nothing on so few images: searches, and adaptation, which cross-validation may reject.
EFFORT = {"--kmeans-restarts", "--fcc-starts", "--field-rings", "--adapt"}
NO_EFFECT = {"--threads", "--memory", "--quiet", "--skip-bad", "--checkpoint", "--no-empty", "--skip-seen", "--fail-on-alarm"}  # on these inputs
NETWORK = {"--model", "--images", "--outputs", "--multiple", "--batch", "--device", "--mixed", "--intensity"}
FOLDERS = {"--grid", "--resize", "--class-files", "--skip-bad", "--padding", "--only-annotated", "--group-by", "--axis", "--orient"}
COCO = {"--categories", "--crowd", "--overlap", "--letterbox"}
METHOD_OPTIONS = {one.long for title, options in COMMANDS["calibrate"].sections.items() if title.startswith("Method ") for one in options}


def expected(name, option, source):
    """What an option must do in a command."""
    if option == "--seed":
        return SAME
    if option in NO_EFFECT and not (source == "arrays" and option in FOLDERS):
        return UNCHANGED
    if option in COCO or option in {"--axis", "--orient", "--sketch", "--checkpoint-every"}:
        return REFUSED
    if (option in NETWORK and name == "calibrate") or (source == "arrays" and option in FOLDERS):
        return REFUSED
    recorded = {"--ignore", "--logits", "--grid", "--resize", "--class-files", "--only-annotated", "--padding"}  # by the calibrator
    if name in {"evaluate", "report", "predict", "recalibrate", "monitor"} and option in recorded:
        return REFUSED
    if name == "monitor" and option in {"--groups", "--group-by", "--complete"}:
        return REFUSED  # the calibration images had no groups: commands/test_monitor.py
    if option in {"--packed" if source == "folders" else "--coding", "--class-names"} and name == "predict":
        return REFUSED  # only volumes store names: commands/test_nnunet.py
    if name == "report" and option in {"--group-by", "--groups"}:
        return SAME  # the page names them; figures are the same
    if option == "--risk":
        return REFUSED  # refused with --curves and in comparisons; commands/test_confidence.py tests its effect
    if option in EFFORT:
        return RECORDED if name == "calibrate" else SAME
    return None


def options_of(name):
    return [one.long for one in COMMANDS[name].options() if one.long not in {"--help", "--version"}]


def method_of(option):
    return next(title.split()[1] for title, all_of in COMMANDS["calibrate"].sections.items()
                if title.startswith("Method ") and option in [one.long for one in all_of])  # fmt: skip


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Arrays, folders of the same images, and calibrators of both."""
    folder = tmp_path_factory.mktemp("inputs")
    for prefix, images, seed in [("", 12, 1), ("t", 8, 2)]:
        probs, labels = scene(images, grid=(8, 9), seed=seed)
        labels[0] = 0
        labels[1] %= 2
        labels[:, :2, :2] = np.where(labels[:, :2, :2] == 2, 0, labels[:, :2, :2])  # pixels that never have class 2
        names = [f"s{i // 2:02}_{'ab'[i % 2]}" for i in range(images)]
        np.save(folder / f"{prefix}probs.npy", probs)
        np.save(folder / f"{prefix}probs2.npy", probs[:, ::-1])
        np.save(folder / f"{prefix}labels.npy", labels)
        np.save(folder / f"{prefix}labels2.npy", np.roll(labels, 1, 1))
        np.save(folder / f"{prefix}groups.npy", np.array([name[:3] for name in names]))
        for kind in ["P", "P2", "Y", "Y2", "PC"]:
            (folder / (prefix + kind)).mkdir()
        for i, name in enumerate(names):
            np.save(folder / (prefix + "P") / f"{name}.npy", probs[i])
            np.save(folder / (prefix + "P2") / f"{name}.npy", probs[i, ::-1])
            np.save(folder / (prefix + "Y") / f"{name}.npy", labels[i])
            np.save(folder / (prefix + "Y2") / f"{name}.npy", np.roll(labels[i], 1, 0))
            for c in range(3):
                np.save(folder / (prefix + "PC") / f"{name}_{c}.npy", probs[i, c])
    np.save(folder / "weights.npy", 1 + np.arange(12) % 3 / 4)
    np.save(folder / "alone.npy", np.arange(12))  # each image is a group
    np.save(folder / "regions_in.npy", np.arange(72).reshape(8, 9) // 20)
    np.save(folder / "regions_in2.npy", np.arange(72).reshape(8, 9) % 3)
    np.save(folder / "photos.npy", np.zeros((8, 3, 8, 9), np.uint8))
    for name, probs, labels in [("arrays", "probs.npy", "labels.npy"), ("folders", "P", "Y")]:
        for more, groups in [("", []), ("_grouped", ["--groups", "groups.npy"])]:
            done = run("calibrate", "--probs", probs, "--labels", labels, *groups, "-m", "kmeans", "-o", f"{name}{more}.kcal", cwd=folder)
            assert done.code == 0, done
    done = run("outline", "--cal-probs", "probs.npy", "--cal-labels", "labels.npy", "--alpha", "0.4", "--save", "outline.json", cwd=folder)
    assert done.code == 0, done
    return folder


INPUTS = {
    "arrays": {"probs": "probs.npy", "labels": "labels.npy"},
    "folders": {"probs": "P", "labels": "Y"},
}
SECOND = {"probs.npy": "probs2.npy", "labels.npy": "labels2.npy", "P": "P2", "Y": "Y2", "groups.npy": "groups.npy"}


def base_of(name, source):
    """(positionals, options) of a plain call; paths of inputs begin with @."""
    files = INPUTS[source]
    probs, labels = "@" + files["probs"], "@" + files["labels"]
    test = {"--probs": "@t" + files["probs"], "--labels": "@t" + files["labels"]}
    if name == "calibrate":
        return [], {"--probs": probs, "--labels": labels, "--output": "out.kcal", "--curves": "curves.npy"}
    if name == "evaluate":
        return [f"@{source}.kcal"], {**test, "--json": "out.json"}
    if name == "recalibrate":
        return [f"@{source}.kcal"], {**test, "--output": "out.kcal"}
    if name == "monitor":
        return [f"@{source}.kcal"], {**test, "--json": "out.json", "--alpha": "0.4"}
    if name == "predict":
        return [f"@{source}.kcal"], {"--probs": test["--probs"], "--output": "sets.npy" if source == "arrays" else "sets",
                                        "--alpha": "0.4"}
    if name == "compare":
        return [], {"--cal-probs": probs, "--cal-labels": labels, "--test-probs": test["--probs"], "--test-labels": test["--labels"],
                    "--methods": "image,kmeans", "--json": "out.json"}  # fmt: skip
    if name == "report":
        return [f"@{source}.kcal"], {**test, "--figures": "figures"}
    if name == "collect":
        return [], {"--probs": probs, "--labels": labels, "--output": "arrays"}
    if name == "inspect":
        return [f"@{source}.kcal"], {}
    raise KeyError(name)


def timeless(value):
    """JSON without times."""
    if isinstance(value, dict):
        return {key: timeless(one) for key, one in value.items() if key != "seconds"}
    return [timeless(one) for one in value] if isinstance(value, list) else value


def content(path, strict):
    """A file's content. If `strict`, a calibrator's record of its options is left out."""
    data = path.read_bytes()
    if path.suffix == ".kcal" and zipfile.is_zipfile(path):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {one: archive.read(one) for one in archive.namelist() if one != "meta.json" or not strict}
    if path.suffix == ".html":
        page = page_data(path)
        page.get("provenance", {}).pop("command", None)  # it names every option, even one without effect
        return timeless(page)
    return timeless(json.loads(data)) if path.suffix == ".json" else data


class Calls:
    """Calls of the command, each in a folder of its own; equal ones are made once."""

    def __init__(self, inputs, folder):
        self.inputs, self.folder, self.done, self.numbers = inputs, folder, {}, itertools.count()

    def __call__(self, words, strict):
        key = (tuple(words), strict)
        if key not in self.done:
            here = self.folder / f"call{next(self.numbers)}"
            here.mkdir()
            given = [str(self.inputs / word[1:]) if word.startswith("@") else word for word in words]
            result = run(*given, cwd=here)
            clock = r"[0-9.]+ s\b| [0-9]+\.[0-9]{2}$"  # of calibrate; the last column of compare
            text = re.sub(clock, "", result.out, flags=re.MULTILINE).replace(str(self.inputs), "")
            files = {str(one.relative_to(here)): content(one, strict) for one in sorted(here.rglob("*")) if one.is_file()}
            self.done[key] = (result, text, files)
            shutil.rmtree(here, ignore_errors=True)
        return self.done[key]


def words_of(name, positionals, options):
    out = [name, *positionals]
    for option, value in options.items():
        out += [option, value] if value else [option]
    return out


def judge(name, option, source, calls):
    """What is wrong with an option; nothing if it has the required effect."""
    positionals, base = base_of(name, source)
    beside = dict(BESIDE.get(option, {}))
    if option in METHOD_OPTIONS:
        beside["--methods" if name == "compare" else "--method"] = method_of(option)
        beside |= {"--mask": "@regions_in.npy"} if method_of(option) == "mask" else {"--promise": "none"}
        beside |= SHORT.get(method_of(option), {})
    declared = set(options_of(name))
    if name == "compare" and "--method" in beside:
        beside["--methods"] = beside.pop("--method")
    beside = {key: value for key, value in beside.items() if key in declared or key == "--report"}
    if option in base:
        value = base[option]
        value = "@" + SECOND.get(value[1:], "t" + SECOND.get(value[2:], "")) if value.startswith("@") else VALUES[option]
        value = "image,pixel" if option == "--methods" else value
    elif name == "report" and option.startswith("--cal-"):
        return judge_calibration_images(option, source, calls)
    elif option == "--shift-groups":
        value = "@alone.npy"
    elif option.endswith("groups"):
        value = "@tgroups.npy" if name in {"evaluate", "report", "recalibrate", "monitor"} or option == "--test-groups" else "@groups.npy"
        beside |= {"--bootstrap": "30"} if "--bootstrap" in declared else {}
    elif option not in VALUES:
        return f"{name} {option}: new here; say in VALUES how it changes the result"
    else:
        value = VALUES[option]
        value = "@" + value if value in {"regions_in2.npy", "photos.npy", "outline.json", "probs2.npy", "weights.npy"} else value
        value = "" if (name, option) == ("inspect", "--json") else value
    if option == "--class-files" and source == "folders":
        classes = {"--probs": "@PC", "--cal-probs": "@PC", "--test-probs": "@tPC"}
        beside = {key: value for key, value in classes.items() if key in base and name in {"calibrate", "collect", "compare"}}
    if (name, option) == ("collect", "--ignore"):
        beside, value = {"--only-annotated": ""}, "1"
    if name == "report" and "--report" in beside:
        beside["--output"] = beside.pop("--report")
    before, variant = base | beside, base | beside | {option: value}
    if option == "--class-files" and source == "folders":
        before = base
    want = expected(name, option, source)
    strict = want != RECORDED
    result, text, files = calls(words_of(name, positionals, variant), strict)
    where = f"{name} {option} from {source}"
    if want == REFUSED:
        fine = result.code == 2 and len(result.complaints) == 1 and result.out == ""
        return None if fine else f"{where}: must be refused, but {result}"
    if result.code != 0:
        if "built without reports" in result.err:
            return None
        return f"{where}: {result}"
    if want == SAME:
        return None
    if option == "--class-files":  # the files of the classes have the same numbers
        return None
    old = calls(words_of(name, positionals, before), strict)
    if old[0].code != 0:
        needed = option == "--shift-groups" and old[0].code == 2  # with --groups it is required
        return None if needed else f"{where}: without it {old[0]}"
    if want == UNCHANGED:
        same = files == old[2] and text == ("" if option == "--quiet" else old[1])
        return None if same else f"{where}: the result changes"
    return f"{where}: nothing changes" if (text, files) == old[1:] else None


def judge_calibration_images(option, source, calls):
    """In report, probabilities need labels, both add curves to the page, and groups must be those of the calibrator."""
    files = INPUTS[source]
    _, base = base_of("report", source)
    page = {**{key: value for key, value in base.items() if key != "--figures"}, "--output": "page.html"}
    both = {"--cal-probs": "@" + files["probs"], "--cal-labels": "@" + files["labels"]}
    grouped = both | {"--cal-groups": "@groups.npy"}
    plain, beside = ([f"@{source}.kcal"], both) if option != "--cal-groups" else ([f"@{source}_grouped.kcal"], grouped)
    with_it = calls(words_of("report", plain, page | beside), True)
    if "built without reports" in with_it[0].err:
        return None
    without = {key: value for key, value in beside.items() if key != option}
    alone = calls(words_of("report", plain, page | without), True)
    if with_it[0].code != 0 or alone[0].code not in (2, 3) or len(alone[0].complaints) != 1:
        return f"report {option} from {source}: {with_it[0]}; without it {alone[0]}"
    nothing = calls(words_of("report", plain, page), True)
    return f"report {option} from {source}: nothing changes" if nothing[2] == with_it[2] else None


ARRAY_COMMANDS = ["calibrate", "recalibrate", "evaluate", "predict", "compare", "report", "inspect", "monitor"]


@pytest.mark.parametrize("source", ["arrays", "folders"])
def test_every_option_changes_the_result_or_is_refused(inputs, tmp_path, source):
    calls = Calls(inputs, tmp_path)
    names = [*ARRAY_COMMANDS, *(["collect"] if source == "folders" else [])]
    # A folder is read into the same arrays, so options that act after reading are tried once, from arrays.
    later = METHOD_OPTIONS if source == "folders" else set()
    cases = [(name, option) for name in names for option in options_of(name) if option not in later or name == "calibrate"]
    with ThreadPoolExecutor(min(4, (os.cpu_count() or 1) + 1)) as pool:
        wrong = [one for one in pool.map(lambda case: judge(*case, source, calls), cases) if one]
    assert not wrong, "\n".join(wrong)


def test_an_option_that_no_table_knows_fails(inputs, tmp_path, monkeypatch):
    monkeypatch.delitem(VALUES, "--rungs")
    assert "new here" in judge("calibrate", "--rungs", "arrays", Calls(inputs, tmp_path))


# The effects of network options are tested where networks run (tests/model/test_options.py). Here they are refused where they have none.
TRAIN = ["train", "--images", "@photos.npy", "--labels", "@labels.npy", "-o", "net.pt"]
INFER = ["infer", "--images", "@photos.npy", "--model", "net.pt", "-o", "probs"]
EXPERIMENT = ["experiment", "none.json", "--data", "@P", "-o", "run"]
IMAGE_FOLDERS = FOLDERS - {"--class-files", "--skip-bad"}
WITHOUT_EFFECT = {
    "train": {"--val-labels": ["@labels.npy"], "--growth": ["3"], "--anneal": ["0.5", "--share", "1"], "--fresh": ["--checkpoint", "none"],
              "--checkpoint-every": ["3", "--checkpoint", "none"], "--mixed": ["--device", "cpu"],
              "--groups": ["@groups.npy"], **{option: [VALUES[option]] for option in IMAGE_FOLDERS | COCO}},
    "infer": {"--groups": ["@groups.npy"], "--mixed": ["--device", "cpu"],
              **{option: [VALUES[option]] for option in IMAGE_FOLDERS - {"--padding", "--only-annotated", "--group-by"}}},
    "experiment": {"--epochs": ["3", "--model", "net.pt"], "--mixed": ["--device", "cpu"]},
}  # fmt: skip
COUNT_ALWAYS = {
    "train": {"--images", "--labels", "--ignore", "--intensity", "--val-images", "--output", "--log", "--classes", "--width",
              "--depth", "--epochs", "--batch", "--rate", "--last-rate", "--warm-up", "--cycle", "--share", "--optimizer", "--decay",
              "--no-augment", "--checkpoint", "--seed", "--device", "--threads", "--quiet"},
    "infer": {"--model", "--outputs", "--multiple", "--batch", "--device", "--images", "--intensity", "--output", "--dtype", "--threads",
              "--quiet"},
    "experiment": {"--data", "--output", "--model", "--batch", "--device", "--threads", "--quiet"},
}  # fmt: skip


@pytest.mark.parametrize("name,base", [("train", TRAIN), ("infer", INFER), ("experiment", EXPERIMENT)])
def test_options_of_networks_are_refused_where_they_have_no_effect(inputs, tmp_path, name, base):
    listed = set(WITHOUT_EFFECT[name]) | COUNT_ALWAYS[name]
    assert set(options_of(name)) == listed, f"new or gone: {set(options_of(name)) ^ listed}"
    for option, words in WITHOUT_EFFECT[name].items():
        given = [str(inputs / word[1:]) if word.startswith("@") else word for word in [*base, option, *words] if word]
        result = run(*given, cwd=tmp_path)
        assert result.code == 2 and f"{option} has no effect" in result.err, (option, result)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("model, words, reason", [
    ("net.onnx", ["--device", "cuda"], "ONNX"), ("net.onnx", ["--mixed"], "kandinsky train"), ("net.pt", ["--mixed"], "kandinsky train"),
])  # fmt: skip
def test_options_of_the_device_are_refused_for_models_that_ignore_them(inputs, tmp_path, model, words, reason):
    (tmp_path / model).write_bytes(b"refused before it is opened")
    result = run("infer", "--images", inputs / "photos.npy", "--model", model, "--outputs", "sigmoid", "-o", "p.npy", *words, cwd=tmp_path)
    assert result.code == 2 and len(result.complaints) == 1, result
    assert f"{words[0]}" in result.err and "has no effect" in result.err and reason in result.err and model in result.err, result


def test_every_command_is_listed_somewhere():
    assert set(COMMANDS) == {*ARRAY_COMMANDS, "collect", "export", "nnunet", "outline", "measure", "demo", *COUNT_ALWAYS}


def test_options_of_export_change_the_graph_or_are_refused(inputs, tmp_path):
    changing = {"--alpha": ["0.3"], "--empty": ["keep"], "--logits": ["sigmoid"]}
    same = {"--no-empty": [], "--threads": ["1"], "--quiet": [], "--output": ["s.onnx"]}
    refused = {"--output-name": ["probs"], "--foreground": [], "--onto": ["none.onnx"]}
    listed = {*changing, *same, *refused}
    assert {one for one in options_of("export") if one.startswith("--")} == listed, set(options_of("export")) ^ listed

    def graph(*words):
        (tmp_path / "s.onnx").unlink(missing_ok=True)
        output = [] if "--output" in words else ["-o", "s.onnx"]
        result = run("export", inputs / "arrays.kcal", *output, *words, cwd=tmp_path)
        return result.code, (tmp_path / "s.onnx").read_bytes() if result.code == 0 else len(result.complaints)

    plain = graph()
    assert plain[0] == 0
    for option, words in changing.items():
        assert graph(option, *words)[0] == 0 and graph(option, *words) != plain, option
    for option, words in same.items():
        assert graph(option, *words) == plain, option
    for option, words in refused.items():
        code, complaints = graph(option, *words)
        assert code in (2, 4) and complaints == 1, option


def test_options_of_nnunet_are_those_of_calibrate_and_a_few_of_its_own():
    """commands/test_nnunet.py tests the effects of its own options. Those of calibrate are declared and read by the same code."""
    own = {"--labels", "--folds", "--predict", "--sets", "--alpha", "--coding", "--empty", "--no-empty"}
    elsewhere = NETWORK | COCO | {"--probs", "--groups", "--logits", "--class-files", "--curves", "--regions", "--sketch", "--checkpoint",
                                  "--checkpoint-every", "--weights", "--shift-to", "--shift-groups", "--max-weight"}
    assert set(options_of("nnunet")) == (set(options_of("calibrate")) - elsewhere) | own


def test_options_of_the_demo_change_its_scenes_or_its_page(tmp_path):
    changing = {"--preset": ["medical"], "--images": ["4"], "--test-images": ["3"], "--size": ["9x8"], "--seed": ["3"],
                "--figures": ["figures"], "--output": ["elsewhere"], "--report": ["page.html"], "--class-names": ["a,b"],
                "--title": ["A title"]}  # fmt: skip
    same = {"--threads": ["1"], "--quiet": []}
    assert set(options_of("demo")) == set(changing) | set(same), "new or gone"
    numbers = itertools.count()

    def made(words):
        here = tmp_path / f"d{next(numbers)}"
        here.mkdir()
        base = {"--images": "3", "--test-images": "2", "--size": "8x8", "--output": "demo"}
        result = run(*words_of("demo", [], base | words), cwd=here)
        if "built without reports" in result.err:
            return None
        assert result.code == 0, result
        return {str(one.relative_to(here)): content(one, False) for one in here.rglob("*") if one.is_file()}

    cases = [{}, *({option: " ".join(words)} for option, words in (changing | same).items())]
    with ThreadPoolExecutor(min(4, (os.cpu_count() or 1) + 1)) as pool:
        plain, *others = pool.map(made, cases)
    for option, found in zip(changing | same, others):
        assert found is None or (found == plain) == (option in same), option
