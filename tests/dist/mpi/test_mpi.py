"""mpirun kandinsky: the bytes of one process on any number of ranks, and one clear error if a rank fails."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "cli"))
from support import Result, Room, command, run, snapshot, without_times

PLUGIN = Path(os.environ.get("KANDINSKY_COMMAND", ".")).resolve().parent / "libkandinsky_mpi.so"
pytestmark = pytest.mark.skipif(
    shutil.which("mpirun") is None or not PLUGIN.exists(),
    reason="skipped all of mpirun kandinsky: no mpirun, or kandinsky was built without MPI",
)
RANKS = [2, 3, 5]
# As root and with more ranks than processors, as in a container.
ENVIRONMENT = os.environ | {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl": "self,vader",
    "OMPI_MCA_plm_rsh_agent": "true",
    # If /etc/hosts lacks the machine's name, mpirun asks a name service; limit its waiting time.
    "RES_OPTIONS": "timeout:1 attempts:1",
}


def mpirun(ranks, *args):
    return ["mpirun", "-n", str(ranks), "--bind-to", "none", command(), *map(str, args)]


def on_ranks(ranks, *args, cwd, env=None):
    done = subprocess.run(mpirun(ranks, *args), cwd=cwd, timeout=120, check=False, capture_output=True,
                          stdin=subprocess.DEVNULL, env=ENVIRONMENT | (env or {}))
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def ours(result):
    """The program's lines on standard error, without those of mpirun."""
    return [line for line in result.err.splitlines() if line.startswith("kandinsky:")]


class Scenes(Room):
    def __init__(self, folder):
        self.folder = folder
        assert run("demo", "-o", "demo", "--images", "26", "--test-images", "21", "--size", "24x20", "-q", cwd=folder).code == 0
        self.save("groups.npy", np.arange(26) // 3 * 5 - 7)
        self.save("test_groups.npy", np.arange(21) // 2)
        self.alone = {}

    cal = ["--probs", "demo/cal_probs.npy", "--labels", "demo/cal_labels.npy"]
    test = ["--probs", "demo/test_probs.npy", "--labels", "demo/test_labels.npy"]

    def same(self, ranks, output, *args):
        """Runs a command that writes `output` alone and on ranks; both must write the same."""
        key = tuple(args)
        if key not in self.alone:
            self.does(*args)
            self.alone[key] = (self.folder / output).read_bytes()
            (self.folder / output).unlink()
        done = on_ranks(ranks, *args, cwd=self.folder)
        assert done.code == 0 and ours(done) == [], done
        made = (self.folder / output).read_bytes()
        (self.folder / output).unlink()
        if output.endswith(".json"):
            assert without_times(made) == without_times(self.alone[key])
        else:
            assert made == self.alone[key]


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    return Scenes(tmp_path_factory.mktemp("scenes"))


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("method", ["pixel", "kmeans", "genann", "auto"])
def test_a_calibrator_has_the_bytes_of_one_process(scenes, ranks, method):
    # Searches end early: leave-one-out repeats them for every group.
    short = {"genann": ["--genann-generations", "30"],
             "auto": ["--genann-generations", "5", "--fcc-starts", "1", "--fcc-iterations", "5"]}
    words = ["--groups", "groups.npy", "-m", method, *short.get(method, [])]
    scenes.same(ranks, "c.kcal", "calibrate", *scenes.cal, *words, "-o", "c.kcal", "-q")


@pytest.mark.parametrize("ranks", RANKS)
def test_pooled_pixels_without_groups_and_little_memory(scenes, ranks):
    scenes.same(ranks, "c.kcal", "calibrate", *scenes.cal, "--pooling", "pixels", "--memory", "1M", "-m", "fcc", "-o", "c.kcal", "-q")


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("groups", [[], ["--groups", "test_groups.npy"]], ids=["images", "groups"])
def test_an_evaluation_is_the_same(scenes, ranks, groups):
    scenes.does("calibrate", *scenes.cal, "-m", "kmeans", "-o", "judged.kcal", "-q")
    scenes.same(ranks, "e.json", "evaluate", "judged.kcal", *scenes.test, *groups, "--bootstrap", "20", "--json", "e.json", "-q")


@pytest.mark.parametrize("ranks", RANKS)
def test_a_comparison_is_the_same(scenes, ranks):
    data = [f"--{part}-{what}=demo/{part}_{what}.npy" for part in ("cal", "test") for what in ("probs", "labels")]
    sample = ["--methods", "image,kmeans,field", "--sample", "12", "--draws", "2"]
    scenes.same(ranks, "r.json", "compare", *data, *sample, "--json", "r.json", "-q")


@pytest.mark.parametrize("groups", [[], ["--group-by", "(case[0-9]+)"]], ids=["images", "groups"])
def test_files_of_a_folder_are_divided_among_ranks_and_a_bad_one_ends_all(tmp_path, scenes, groups):
    room = Scenes.__new__(Scenes)
    room.folder, room.alone = tmp_path, {}
    for kind in ("probs", "labels"):
        (tmp_path / kind).mkdir()
        for i, image in enumerate(scenes.load(f"demo/cal_{kind}.npy")):
            room.save(f"{kind}/case{i // 2:02d}_{i % 2}.npy", image)
    words = ["calibrate", "--probs", "probs", "--labels", "labels", *groups, "-m", "kmeans", "-o", "c.kcal", "-q"]
    room.same(3, "c.kcal", *words)
    # Only images with annotations, folds in the files' order.
    for i in range(0, 26, 5):
        room.save(f"labels/case{i // 2:02d}_{i % 2}.npy", np.zeros((20, 24), np.uint8))
    some = ["--only-annotated", "-m", "field", "--field-fold-order", "contiguous", "--promise", "split"]
    room.same(3, "d.kcal", *words[:-5], *some, "-o", "d.kcal", "-q")
    (tmp_path / "probs" / "case09_1.npy").write_bytes(b"")
    expect_one_end(room, 3, ["case09_1.npy"], 3, *words)


def test_a_summary_is_printed_once(scenes):
    done = on_ranks(3, "calibrate", *scenes.cal, "-m", "image", "-o", "once.kcal", cwd=scenes.folder)
    assert done.code == 0 and done.out.count("once.kcal") == 1, done
    assert "26 images" in done.out


# ---- faults ------------------------------------------------------------------------------------
def expect_one_end(scenes, code, parts, ranks, *args, env=None):
    before = snapshot(scenes.folder)
    done = on_ranks(ranks, *args, cwd=scenes.folder, env=env)
    assert done.code == code, done
    assert len(ours(done)) == 1, done
    for part in parts:
        assert part in ours(done)[0], done
    assert done.out.replace("-" * 74, "").find("images") < 0, done
    assert snapshot(scenes.folder) == before


@pytest.mark.parametrize("image", [0, 13, 25])
def test_a_bad_value_on_one_rank_ends_all(scenes, image):
    probs = scenes.load("demo/cal_probs.npy").astype(np.float32)
    probs[image, 0, 3, 4] = np.nan
    scenes.save("bad.npy", probs)
    expect_one_end(scenes, 3, ["bad.npy", f"image {image}", "row 3, column 4"], 3,
                   "calibrate", "--probs", "bad.npy", "--labels", "demo/cal_labels.npy", "-m", "kmeans", "-o", "c.kcal")


def test_bad_values_on_all_ranks_are_reported_once(scenes):
    scenes.save("all_bad.npy", np.full((26, 2, 20, 24), 7.0, np.float32))
    expect_one_end(scenes, 3, ["all_bad.npy", "image 0"], 3,
                   "calibrate", "--probs", "all_bad.npy", "--labels", "demo/cal_labels.npy", "-o", "c.kcal")


def test_a_full_disk_at_the_writer_ends_all(scenes):
    expect_one_end(scenes, 4, ["/dev/full", "No space left"], 3, "calibrate", *scenes.cal, "-m", "image", "-o", "/dev/full", "-q")


@pytest.mark.parametrize(
    "args, parts",
    [
        (["predict", "c.kcal", "--probs", "demo/test_probs.npy", "-o", "s.npy"], ["kandinsky predict", "one rank"]),
        (["calibrate", "--no-such"], ["calibrate --help"]),
        (["no-such"], ["there is no command"]),
        (["calibrate", *Scenes.cal, "-m", "no-such", "-o", "c.kcal"], ["no-such"]),
    ],
)
def test_wrong_usage_is_reported_once(scenes, args, parts):
    expect_one_end(scenes, 2, parts, 3, *args)


def test_without_the_plugin_one_line_says_how_to_get_it(scenes):
    missing = {"KANDINSKY_MPI": "/no/such/file"}
    expect_one_end(scenes, 2, ["libopenmpi-dev", "KANDINSKY_MPI"], 2, "calibrate", *scenes.cal, "-o", "c.kcal", env=missing)


def sparse(folder, images):
    """Inputs that take a while to read: sparse files of zeros, which take no space on the disk."""
    shape = (images, 2, 240, 320)
    for name, dtype, size in (("probs.npy", np.float16, shape), ("labels.npy", np.uint8, (images, 240, 320))):
        with open(folder / name, "wb") as file:
            header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": size}
            np.lib.format.write_array_header_1_0(file, header)
            file.truncate(file.tell() + int(np.prod(size)) * np.dtype(dtype).itemsize)


def children(pid):
    out = subprocess.run(["ps", "--ppid", str(pid), "-o", "pid="], capture_output=True, check=False).stdout
    return [int(word) for word in out.split()]


def rank_of(pid):
    try:
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    return next((int(v.split(b"=")[1]) for v in variables if v.startswith(b"OMPI_COMM_WORLD_RANK=")), None)


@pytest.mark.parametrize("victim", [0, 2])
def test_a_killed_rank_ends_all_and_leaves_nothing(tmp_path, victim):
    sparse(tmp_path, 4000)
    before = {p.name for p in tmp_path.iterdir()}
    args = ["calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "-m", "pixel", "-o", "c.kcal"]
    process = subprocess.Popen(mpirun(3, *args), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               stdin=subprocess.DEVNULL, env=ENVIRONMENT)
    found = {}
    while len(found) < 3 and process.poll() is None:
        found = {rank_of(pid): pid for pid in children(process.pid) if rank_of(pid) is not None}
        time.sleep(0.05)
    time.sleep(0.7)
    assert process.poll() is None, process.communicate()
    os.kill(found[victim], signal.SIGKILL)
    out, err = process.communicate(timeout=60)
    assert process.returncode != 0 and b"kill" in err.lower(), err
    assert err.count(b"\nkandinsky:") <= 1, err
    for _ in range(100):  # a killed process needs a moment to give its memory back
        left = [pid for pid in found.values() if Path(f"/proc/{pid}/exe").exists()]
        if not left:
            break
        time.sleep(0.05)
    assert not left
    assert {p.name for p in tmp_path.iterdir()} == before
