"""Files written by numpy, read and written again by npy_echo, have to come back exactly."""

import os
import subprocess
import zipfile

import numpy as np
import pytest

ECHO = os.environ.get("NPY_ECHO", "npy_echo")
TYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]
SEED = 20231120


def echo(*pairs):
    """Runs npy_echo over (source, target) pairs."""
    arguments = [str(path) for pair in pairs for path in pair]
    return subprocess.run([ECHO, *arguments], capture_output=True, text=True, check=False)


def echo_all(pairs):
    done = echo(*pairs)
    assert done.returncode == 0, done.stderr


def random_array(rng, dtype, shape):
    """Random bits, so that floats include NaNs with payloads, infinities and subnormals."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    if dtype.kind == "b":
        return rng.integers(0, 2, size=shape).astype(bool)
    return np.frombuffer(rng.bytes(count * dtype.itemsize), dtype=dtype).reshape(shape)


def random_case(rng):
    """A random array of any supported type, byte order, memory order, rank and stride."""
    dtype = np.dtype(str(rng.choice(TYPES))).newbyteorder(str(rng.choice(["<", ">", "="])))
    shape = tuple(int(n) for n in rng.integers(0 if rng.random() < 0.15 else 1, 7, size=rng.integers(0, 6)))
    array = random_array(rng, dtype, shape)
    change = rng.integers(0, 5)
    if change == 1:
        array = np.asfortranarray(array)
    elif change == 2 and array.ndim:
        array = array[tuple(slice(None, None, int(step)) for step in rng.choice([1, 2, -1], size=array.ndim))]
    elif change == 3:
        array = array.transpose(rng.permutation(array.ndim)) if array.ndim else array
    elif change == 4 and array.ndim:
        array = np.asfortranarray(array[::2])
    return array


def same(ours, original):
    """Exactly equal: shape, type up to byte order, every bit."""
    native = original.astype(original.dtype.newbyteorder("="), order="C")
    assert ours.dtype == native.dtype
    assert ours.shape == native.shape
    assert ours.flags.c_contiguous
    assert ours.tobytes() == native.tobytes()


def numpy_bytes(path, array):
    """What numpy.save writes for the C-order array in native byte order."""
    np.save(path, array.astype(array.dtype.newbyteorder("="), order="C"))
    return path.read_bytes()


def test_random_arrays_come_back_exactly_and_byte_for_byte_as_numpy_saves_them(tmp_path):
    rng = np.random.default_rng(SEED)
    cases = [random_case(rng) for _ in range(400)]
    pairs = []
    for number, array in enumerate(cases):
        version = [None, (1, 0), (2, 0), (3, 0)][number % 4]
        with open(tmp_path / f"in{number}.npy", "wb") as file:
            np.lib.format.write_array(file, array, version=version)
        pairs.append((tmp_path / f"in{number}.npy", tmp_path / f"out{number}.npy"))
    echo_all(pairs)
    for number, array in enumerate(cases):
        out = tmp_path / f"out{number}.npy"
        same(np.load(out), array)
        assert out.read_bytes() == numpy_bytes(tmp_path / "expected.npy", array), (array.dtype, array.shape)


def test_the_random_cases_cover_what_they_should():
    rng = np.random.default_rng(SEED)
    cases = [random_case(rng) for _ in range(400)]
    assert {case.dtype.newbyteorder("=").str for case in cases} == {np.dtype(text).str for text in TYPES}
    assert sum(case.ndim == 0 for case in cases) > 10
    assert sum(case.size == 0 for case in cases) > 10
    assert sum(not case.dtype.isnative for case in cases) > 50
    assert sum(case.flags.f_contiguous and not case.flags.c_contiguous for case in cases) > 30
    assert sum(not case.flags.f_contiguous and not case.flags.c_contiguous for case in cases) > 30


def test_headers_of_any_length_are_numpys(tmp_path):
    """Ranks up to numpy's limit, so that every remainder of the header's length is met."""
    shapes = [(0,), (3, 0, 2), (10**12, 0), (9,), (10,), (99999,)]
    shapes += [(extent,) + (1,) * rank for rank in range(32) for extent in (1, 10, 123)] + [()]
    for number, shape in enumerate(shapes):
        np.save(tmp_path / f"in{number}.npy", np.zeros(shape, dtype="f4"))
    echo_all([(tmp_path / f"in{number}.npy", tmp_path / f"out{number}.npy") for number in range(len(shapes))])
    for number, shape in enumerate(shapes):
        ours, numpys = [(tmp_path / f"{side}{number}.npy").read_bytes() for side in ("out", "in")]
        assert ours == numpys, shape


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_archives_of_numpy_are_read(tmp_path, save):
    rng = np.random.default_rng(SEED)
    arrays = {f"k{number}": random_case(rng) for number in range(60)}
    arrays["big"] = rng.integers(0, 5, size=(300, 70, 11)).astype("<i4")
    arrays["\u00e4"] = np.arange(5)
    save(tmp_path / "in.npz", **arrays)
    echo_all([(f"{tmp_path}/in.npz:{key}", tmp_path / f"{number}.npy") for number, key in enumerate(arrays)])
    for number, array in enumerate(arrays.values()):
        same(np.load(tmp_path / f"{number}.npy"), array)


def test_an_archive_written_to_a_stream_is_read(tmp_path):
    """zipfile writes sizes and CRC after the data if it cannot seek backwards."""

    class Stream:
        def __init__(self, path):
            self.file = open(path, "wb")

        def write(self, data):
            return self.file.write(data)

        def flush(self):
            self.file.flush()

    array = np.arange(1000, dtype="<u2").reshape(10, 100)
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        stream = Stream(tmp_path / "in.npz")
        with zipfile.ZipFile(stream, "w", compression) as archive:
            with archive.open("a.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array)
        stream.file.close()
        echo_all([(tmp_path / "in.npz", tmp_path / "out.npy")])
        same(np.load(tmp_path / "out.npy"), array)


def test_an_archive_with_more_members_than_plain_zip_can_count(tmp_path):
    with zipfile.ZipFile(tmp_path / "in.npz", "w") as archive:
        for number in range(66000):
            archive.writestr(f"{number}.txt", b"")
        with archive.open("a.npy", "w") as member:
            np.lib.format.write_array(member, np.arange(3))
    echo_all([(tmp_path / "in.npz", tmp_path / "out.npy")])
    same(np.load(tmp_path / "out.npy"), np.arange(3))


@pytest.mark.parametrize("suffix", ["", ":zip64"])
def test_our_archives_are_read_by_numpy_and_pass_zipfiles_checks(tmp_path, suffix):
    rng = np.random.default_rng(SEED)
    for _ in range(30):
        array = random_case(rng)
        np.save(tmp_path / "in.npy", array)
        echo_all([(tmp_path / "in.npy", f"{tmp_path}/out.npz{suffix}")])
        with np.load(tmp_path / "out.npz") as archive:
            assert sorted(archive.files) == ["array", "\u00e4"]
            same(archive["array"], array)
            same(archive["\u00e4"], array)
        with zipfile.ZipFile(tmp_path / "out.npz") as archive:
            assert archive.testzip() is None
            assert archive.comment.startswith(b"made by a test crc32=")
        echo_all([(f"{tmp_path}/out.npz:array", tmp_path / "back.npy")])
        same(np.load(tmp_path / "back.npy"), array)


@pytest.mark.parametrize(
    "array, reason",
    [
        (np.array([{}, None], dtype=object), "pickled objects are refused"),
        (np.zeros(3, dtype=[("a", "f4"), ("b", "i4", (2,))]), "structured"),
        (np.array(["a", "bc"]), "strings"),
        (np.array([b"a", b"bc"]), "strings"),
        (np.zeros(3, dtype="c16"), "complex"),
        (np.zeros(3, dtype="M8[s]"), "is not supported"),
        (np.zeros(3, dtype="V5"), "structured"),
    ],
)
def test_what_is_no_plain_number_is_refused_in_one_line(tmp_path, array, reason):
    np.save(tmp_path / "in.npy", array, allow_pickle=True)
    np.savez(tmp_path / "in.npz", array)
    for source in (tmp_path / "in.npy", tmp_path / "in.npz"):
        done = echo((source, tmp_path / "out.npy"))
        assert done.returncode == 3
        assert reason in done.stderr and str(source) in done.stderr
        assert done.stderr.count("\n") == 1
        assert not (tmp_path / "out.npy").exists()
