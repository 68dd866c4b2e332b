"""The same random options give equal bytes from arrays, from folders and from a C++ program; tests/python has Python's part."""

import json
import os
import subprocess
import zipfile

import numpy as np
import pytest
from random_options import call_of, words_of
from support import run

SEEDS = range(28)


def content(path):
    """A calibrator's meta.json, without the record of how images were read from files, and its other members."""
    with zipfile.ZipFile(path) as archive:
        members = {one: archive.read(one) for one in archive.namelist()}
    meta = json.loads(members.pop("meta.json"))
    meta.pop("input", None)
    return meta, members


def does(folder, *words):
    result = run(*words, cwd=folder)
    assert result.code == 0 and result.complaints == [], (words, result)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_random_options_give_equal_bytes_from_arrays_folders_and_cpp(tmp_path, seed):
    call = call_of(seed)
    for name, array in call.arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
    for name, array in [("P", call.arrays["probs"]), ("Y", call.arrays["labels"]), ("T", call.arrays["test"])]:
        (tmp_path / name).mkdir()
        for i, one in enumerate(array):
            np.save(tmp_path / name / f"image{i:02}.npy", one)
    beside = [word for name in ("groups", "mask") if name in call.arrays for word in (f"--{name}", f"{name}.npy")]
    for source, probs, labels, test in [("arrays", "probs.npy", "labels.npy", "test.npy"), ("folders", "P", "Y", "T")]:
        does(tmp_path, "calibrate", "--probs", probs, "--labels", labels, *beside, *call.words(), "-o", f"{source}.kcal")
        sets = "sets.npy" if source == "arrays" else "sets"
        does(tmp_path, "predict", f"{source}.kcal", "--probs", test, *words_of(call.predict), "-o", sets)
    assert content(tmp_path / "arrays.kcal") == content(tmp_path / "folders.kcal"), call.words()
    does(tmp_path, "predict", "arrays.kcal", "--probs", "test.npy", "--pvalues", "p.npy")
    for i, one in enumerate(np.load(tmp_path / "sets.npy")):
        np.testing.assert_array_equal(np.load(tmp_path / "sets" / f"image{i:02}.npy"), one)
    if "KANDINSKY_LIBRARY" not in os.environ:
        pytest.skip("the C++ program is not built")
    given = call.calibrate | {name: f"{name}.npy" for name in call.arrays} | call.predict
    words = [f"{name}={'' if value is True else value}" for name, value in given.items()]
    done = subprocess.run([os.environ["KANDINSKY_LIBRARY"], *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for ours, theirs in [("arrays.kcal", "library.kcal"), ("sets.npy", "library_sets.npy"), ("p.npy", "library_p.npy")]:
        assert (tmp_path / ours).read_bytes() == (tmp_path / theirs).read_bytes(), (ours, call.words())


def test_the_calls_use_every_method_score_and_rule():
    """A property test that never draws a value would not test it."""
    drawn = [call_of(seed) for seed in SEEDS]
    for name, values in {"method": 7, "score": 6, "promise": 3, "pooling": 2, "condition": 2, "logits": 2, "fallback": 2}.items():
        assert len({call.calibrate[name] for call in drawn if name in call.calibrate}) == values, name
    assert {"groups" in call.arrays for call in drawn} == {True, False}
