"""Runs the command, also in a room: a folder of small inputs for tests."""

import base64
import hashlib
import json
import os
import re
import subprocess
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

WARNING = "kandinsky: warning: "


@dataclass
class Result:
    code: int
    out: str
    err: str

    @property
    def warnings(self):
        return [line for line in self.err.splitlines() if line.startswith(WARNING)]

    @property
    def complaints(self):
        """Standard error without warnings."""
        return [line for line in self.err.splitlines() if not line.startswith(WARNING)]


# Sanitizers are slow: their presets state how much more time a command gets.
PATIENCE = float(os.environ.get("KANDINSKY_PATIENCE", "1"))
# With sanitizers, searches for regions end early, for tests that do not ask whether the regions are good.
SHORT = ["--genann-generations", "10", "--fcc-starts", "1", "--fcc-iterations", "10"] if PATIENCE > 1 else []


def short_for(method):
    """The options of SHORT that a method has."""
    pairs = zip(SHORT[::2], SHORT[1::2])
    return [word for pair in pairs if method == "auto" or pair[0].startswith(f"--{method}-") for word in pair]


def command():
    path = os.environ.get("KANDINSKY_COMMAND", "")
    assert path, "set KANDINSKY_COMMAND to the kandinsky program"
    return path


def run(*args, cwd, **options):
    """Runs the command; `options` go to subprocess.run, for example another stdout."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL} | options
    done = subprocess.run([command(), *map(str, args)], cwd=cwd, timeout=120 * PATIENCE, check=False, **options)
    return Result(done.returncode, (done.stdout or b"").decode(), (done.stderr or b"").decode())


def without_times(text):
    """The results of compare or evaluate as JSON without times."""
    found = json.loads(text)
    for one in found["results"]:
        del one["seconds"]
    return found


def expect_refusal(result, code, *parts):
    """One line that says what is wrong, the exit code of its kind, and nothing on standard output."""
    assert result.code == code, result
    assert len(result.complaints) == 1, result
    line = result.complaints[0]
    assert line.startswith("kandinsky: ") and result.err.endswith("\n"), result
    assert result.out == "", result
    for part in parts:
        assert str(part) in line, f"{part!r} is not said: {line}"


def snapshot(folder):
    """Every file below the folder, hidden ones too, with its content."""
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() if p.is_file() else "folder"
        for p in sorted(Path(folder).rglob("*"))
    }


def without_search(words):
    """Adds --method pixel to calibrate if no method is given. This suits tests of reading, because each label moves its pixel's
    threshold, and large grids are fast."""
    return [*words, "--method", "pixel"] if words[0] == "calibrate" and not {"--method", "-m"} & set(words) else words


def softmax(values, axis=1):
    values = np.exp(values - values.max(axis=axis, keepdims=True))
    return values / values.sum(axis=axis, keepdims=True)


def scene(images, classes=3, grid=(5, 7), seed=0):
    """Probabilities that agree with their labels in part, float32 [N,C,H,W], and the labels, uint8 [N,H,W]."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, classes, (images, *grid)).astype(np.uint8)
    logits = random.normal(size=(images, classes, *grid))
    np.put_along_axis(logits, labels[:, None].astype(np.int64), random.normal(1.0, 1.0, (images, 1, *grid)), axis=1)
    return softmax(logits).astype(np.float32), labels


class Room:
    """A folder with probs.npy and labels.npy (4 images, 3 classes, 5 x 7) that belong together."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.probs, self.labels = scene(4)
        self.save("probs.npy", self.probs)
        self.save("labels.npy", self.labels)

    def save(self, name, array):
        np.save(self.folder / name, array)
        return name

    def load(self, name):
        return np.load(self.folder / name)

    def run(self, *args, **options):
        return run(*args, cwd=self.folder, **options)

    def does(self, *args, **options):
        """Runs a command that is expected to succeed."""
        result = self.run(*args, **options)
        assert result.code == 0 and result.complaints == [], result
        return result

    def refuses(self, code, parts, *args, **options):
        """Runs a command that is expected to fail and to leave the folder as it was."""
        before = snapshot(self.folder)
        result = self.run(*args, **options)
        expect_refusal(result, code, *parts)
        assert snapshot(self.folder) == before
        return result

    def calibrate(self, *args, output="cal.kcal", probs="probs.npy", labels="labels.npy"):
        """Calibrates with the score lac and without a promise, as the reference does, unless the arguments name others."""
        named = {"--score", "--promise", "--split", "--preset"} & set(args)
        score = [] if named & {"--score", "--preset"} else ["--score", "lac"]
        learns = not {"image", "pixel", "mask"} & {args[i + 1] for i, word in enumerate(args) if word in ("-m", "--method")}
        promise = [] if named & {"--promise", "--split", "--preset"} or not learns else ["--promise", "none"]
        self.does("calibrate", "--probs", probs, "--labels", labels, "-o", output, *score, *promise, *args)
        return output


def moody(images, seed, grid=(9, 8)):
    """Images of two classes that differ in difficulty; their probabilities show how hard they are."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, (images, *grid)).astype(np.uint8)
    right = 1 - rng.random((images, 1, 1)) * rng.random((images, *grid))
    front = np.where(labels == 1, right, 1 - right)
    return np.stack([1 - front, front], 1).astype(np.float32), labels


def page_data(path):
    """What a report's page shows."""
    text = Path(path).read_text(encoding="utf-8")
    found = re.findall(r'<script type="application/json" id="kandinsky-data">(.*?)</script>', text, re.DOTALL)
    assert len(found) == 1
    return json.loads(found[0])


def page_array(of):
    """An array of the page. Its bytes are stored as differences from the byte `lag` places before, and deflated."""
    values = np.frombuffer(zlib.decompress(base64.b64decode(of["data"])), np.uint8).copy()
    if of["lag"] > 0:
        for start in range(of["lag"]):
            values[start :: of["lag"]] = np.cumsum(values[start :: of["lag"]], dtype=np.uint8)
    return values.reshape(of["shape"])


def help_text(*args):
    result = run(*args, "--help", cwd="/")
    assert result.code == 0 and result.err == "", result
    return result.out


def methods():
    """The calibration methods that `kandinsky calibrate --help` lists."""
    listed = re.search(r"share their scores:\s*([a-z_0-9]+(?:,\s+[a-z_0-9]+)*)", help_text("calibrate"))
    assert listed, "calibrate --help lists no methods"
    return re.split(r",\s+", listed.group(1))


def default_methods():
    """The methods that compare uses: all except `auto` and those whose help names a file."""
    needing = re.findall(r"Method (\w+):\n(?:  .*\n)*?  --\S+ FILE", help_text("calibrate"))
    return [name for name in methods() if name not in [*needing, "auto"]]
