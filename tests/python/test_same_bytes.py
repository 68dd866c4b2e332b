"""The same random options give equal bytes from Python and from the command; tests/cli/options has folders and C++."""

import numpy as np
import pytest
from random_options import call_of, words_of

import kandinsky

NUMBERS = {"seed": int, "rungs": int, "min_count": int, "split": float, "alpha": float}


def keywords(options):
    """The command's options as Python's."""
    out = {}
    for flag, value in options.items():
        name = {"score": "score_function"}.get(flag, flag.replace("-", "_"))
        if name == "ignore":
            value = [int(one) for one in value.split(",")]
        elif name == "quantiles":
            value = [float(one) for one in value.split(",")]
        elif name in NUMBERS:
            value = NUMBERS[name](value)
        elif name.startswith(("kmeans_", "genann_", "fcc_", "field_", "raps_", "saps_", "place")):
            value = float(value) if "." in value else int(value) if value.isdigit() else value
        out[name] = value
    return out


@pytest.mark.filterwarnings("ignore::kandinsky.CalibrationWarning")
@pytest.mark.parametrize("seed", range(28))
def test_the_same_random_options_give_equal_bytes_from_python_and_the_command(room, saved, seed):
    call = call_of(seed)
    for name, array in call.arrays.items():
        room.save(f"{name}.npy", array)
    beside = [word for name in ("groups", "mask") if name in call.arrays for word in (f"--{name}", f"{name}.npy")]
    room.does("calibrate", "--probs", "probs.npy", "--labels", "labels.npy", *beside, *call.words(), "-o", "a.kcal")
    room.does("predict", "a.kcal", "--probs", "test.npy", *words_of(call.predict), "-o", "sets.npy")
    room.does("predict", "a.kcal", "--probs", "test.npy", "--pvalues", "p.npy")
    options = keywords(call.calibrate) | {name: call.arrays[name] for name in ("mask",) if name in call.arrays}
    calibrator = kandinsky.Calibrator(**options).fit(call.arrays["probs"], call.arrays["labels"], call.arrays.get("groups"))
    assert saved(calibrator) == (room.folder / "a.kcal").read_bytes(), call.words()
    sets = calibrator.predict_set(call.arrays["test"], **keywords(call.predict))
    np.testing.assert_array_equal(sets, room.load("sets.npy"))
    np.testing.assert_array_equal(calibrator.predict_p(call.arrays["test"]), room.load("p.npy"))
