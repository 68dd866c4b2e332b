"""partial_fit and merge: exact, in any order, in bounded memory."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import methods, scene

import kandinsky
from kandinsky import Calibrator

# Searches end early: leave-one-out repeats them for every group.
OWN = {"mask": {"mask": (np.arange(35) % 3).reshape(5, 7)}, "genann": {"genann_generations": 5},
       "fcc": {"fcc_starts": 1, "fcc_iterations": 5}}
OWN["auto"] = {**OWN["genann"], **OWN["fcc"]}


@pytest.mark.parametrize("method", methods())
def test_batches_in_any_order_give_the_bytes_of_all_at_once(small, saved, method):
    probs, labels = small
    groups = np.arange(30) // 2
    options = OWN.get(method, {})
    wanted = saved(Calibrator(method, **options).fit(probs, labels, groups))
    order = np.random.default_rng(0).permutation(30)
    calibrator = Calibrator(method, **options)
    for part in np.array_split(order, 7):
        calibrator.partial_fit(probs[part], labels[part], groups[part])
    assert calibrator.n_images_seen_ == 30
    assert saved(calibrator.calibrate()) == wanted


@pytest.mark.parametrize("method", methods())
def test_merged_shards_in_any_order_give_the_bytes_of_all_at_once(small, saved, method):
    probs, labels = small
    options = OWN.get(method, {})
    wanted = saved(Calibrator(method, **options).fit(probs, labels))
    shards = [Calibrator(method, **options).partial_fit(probs[p], labels[p]) for p in np.array_split(np.arange(30), 4)]
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        total = Calibrator(method, **options)
        for i in order:
            total.merge(shards[i])
        assert saved(total.calibrate()) == wanted
    assert [one.n_images_seen_ for one in shards] == [8, 8, 7, 7]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_thresholds_do_not_depend_on_the_division_of_images_among_ranks(sizes, random):
    probs, labels = scene(sum(sizes), seed=sum(sizes))
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kandinsky.CalibrationWarning)
        wanted = Calibrator("image").fit(probs, labels)
        order = list(range(sum(sizes)))
        random.shuffle(order)
        parts, first = [], 0
        for size in sizes:
            own = order[first : first + size]
            parts.append(Calibrator("image").partial_fit(probs[own], labels[own]))
            first += size
        total = parts[0]
        for other in parts[1:]:
            total.merge(other)
        total.calibrate()
    assert total.meta_ == wanted.meta_
    np.testing.assert_array_equal(total.curves(), wanted.curves())


def test_batches_of_different_types_lose_nothing(saved):
    probs, labels = scene(24, seed=6)
    halves = probs.astype(np.float16).astype(np.float32)
    bytes_ = (probs * 255).astype(np.uint8)
    halves[16:] = bytes_[16:].astype(np.float32) / np.float32(255)
    halves[:8] = probs[:8]
    wanted = saved(Calibrator("kmeans").fit(halves, labels))
    batches = [(probs[:8].astype(np.float64), labels[:8].astype(np.int16)),
               (halves[8:16].astype(np.float16), labels[8:16]), (bytes_[16:], labels[16:].astype(np.uint64))]
    for order in ([0, 1, 2], [1, 0, 2], [2, 1, 0], [1, 2, 0]):
        calibrator = Calibrator("kmeans")
        for i in order:
            calibrator.partial_fit(*batches[i])
        assert saved(calibrator.calibrate()) == wanted


def test_more_data_may_come_after_calibration(small, saved):
    probs, labels = small
    calibrator = Calibrator("kmeans").partial_fit(probs[:20], labels[:20]).calibrate()
    assert saved(calibrator) == saved(Calibrator("kmeans").fit(probs[:20], labels[:20]))
    calibrator.partial_fit(probs[20:], labels[20:])
    with pytest.raises(kandinsky.NotFittedError):
        calibrator.thresholds()
    assert saved(calibrator.calibrate()) == saved(Calibrator("kmeans").fit(probs, labels))


def test_calibrated_ones_that_hold_their_data_merge(small, saved):
    probs, labels = small
    one = Calibrator("kmeans").partial_fit(probs[:20], labels[:20]).calibrate()
    other = Calibrator("kmeans").partial_fit(probs[20:], labels[20:]).calibrate()
    assert saved(one.merge(other)) == saved(Calibrator("kmeans").fit(probs, labels))


def test_a_calibrator_merged_with_itself_counts_twice(small):
    calibrator = Calibrator("image").partial_fit(*small)
    assert calibrator.merge(calibrator).calibrate().n_images_ == 60


@pytest.mark.parametrize("without", [
    lambda c, f: Calibrator("image").fit(*c), lambda c, f: Calibrator("image").partial_fit(*c).calibrate().discard_data(),
    lambda c, f: pickle.loads(pickle.dumps(Calibrator("image").fit(*c))),
    lambda c, f: (Calibrator("image").fit(*c).save(f / "x.kcal"), kandinsky.load(f / "x.kcal"))[1],
])
def test_merging_and_adding_without_data_are_refused(small, tmp_path, without):
    empty, full = without(small, tmp_path), Calibrator("image").partial_fit(*small)
    with pytest.raises(kandinsky.UsageError, match="this calibrator does not store its data"):
        empty.merge(full)
    with pytest.raises(kandinsky.UsageError, match="the other calibrator does not store its data"):
        full.merge(empty)
    with pytest.raises(kandinsky.UsageError, match="does not store its data"):
        empty.partial_fit(*small)
    assert empty.reset().partial_fit(*small).n_images_seen_ == 30


def test_what_does_not_fit_is_refused_and_leaves_the_rest(small, saved):
    probs, labels = small
    calibrator = Calibrator("image").partial_fit(probs, labels)
    with pytest.raises(kandinsky.DataError, match=r"\[3, 5, 6\].*\[3, 5, 7\]"):
        calibrator.partial_fit(probs[..., :6], labels[..., :6])
    with pytest.raises(kandinsky.DataError, match=r"\[2, 5, 7\].*\[3, 5, 7\]"):
        calibrator.partial_fit(probs[:, :2], np.minimum(labels, 1))
    with pytest.raises(kandinsky.UsageError, match="with every batch or with none"):
        calibrator.partial_fit(probs, labels, np.arange(30))
    with pytest.raises(kandinsky.DataError, match="masks|shape"):
        calibrator.partial_fit(probs, labels[:, None] == np.arange(3)[:, None, None])
    with pytest.raises(kandinsky.UsageError, match="differently"):
        calibrator.merge(Calibrator("image", ignore=None).partial_fit(probs, labels))
    with pytest.raises(kandinsky.UsageError, match="a Calibrator is needed"):
        calibrator.merge(3)
    assert saved(calibrator.calibrate()) == saved(Calibrator("image").fit(probs, labels))


@pytest.mark.parametrize("chunk", [1, 32 << 20])
@pytest.mark.parametrize("wider", ["neither", "probs", "labels"])
def test_a_batch_that_cannot_be_written_changes_nothing(small, saved, small_files, monkeypatch, wider, chunk):
    """Of 30 images, int64 labels have 8400 bytes and float32 probabilities 12600, but uint8 probabilities 3150."""
    monkeypatch.setattr("kandinsky._store._CHUNK", chunk)
    probs, labels = (small[0] * 255).astype(np.uint8), small[1].astype(np.int64)
    exact = probs.astype(np.float32) / np.float32(255) if wider == "probs" else probs
    first = probs[:10], labels[:10].astype(np.uint8 if wider == "labels" else np.int64)
    calibrator = Calibrator("image").partial_fit(*first)
    for _ in range(2):
        with small_files(5000), pytest.raises(kandinsky.FileError, match="cannot store temporary data"):
            calibrator.partial_fit(exact[10:], labels[10:])
        assert calibrator.n_images_seen_ == 10
    assert saved(calibrator.calibrate()) == saved(Calibrator("image").fit(*first))
    calibrator.partial_fit(exact[10:], labels[10:])
    assert saved(calibrator.calibrate()) == saved(Calibrator("image").fit(exact, labels))


def test_nothing_to_calibrate_on_is_refused():
    with pytest.raises(kandinsky.UsageError, match="no images to calibrate on"):
        Calibrator().calibrate()


def test_a_pickle_of_an_unfinished_calibrator_carries_its_data(small, saved):
    calibrator = Calibrator("kmeans").partial_fit(*small, groups=np.arange(30) // 2)
    twin = pickle.loads(pickle.dumps(calibrator))
    assert twin.n_images_seen_ == 30
    assert saved(twin.calibrate()) == saved(calibrator.calibrate())


def test_batches_are_stored_in_the_given_folder(small, tmp_path):
    Calibrator("image", scratch=tmp_path).partial_fit(*small).calibrate()
    assert list(tmp_path.iterdir()) == []
    missing = str(tmp_path / "nowhere")
    with pytest.raises(kandinsky.FileError, match="nowhere"):
        Calibrator("image", scratch=missing).partial_fit(*small)


# Growth of the peak memory after the first of 64 batches of 16 images, 4 classes, 64 x 64, float32: 4 MiB each.
LOOP = """
import resource, sys, numpy as np, kandinsky
random = np.random.default_rng(0)
probs = random.random((16, 4, 64, 64), dtype=np.float32)
labels = random.integers(0, 4, (16, 64, 64)).astype(np.uint8)
cal = kandinsky.Calibrator("image", memory="16M", threads=2, scratch=sys.argv[1])
cal.partial_fit(probs, labels)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for i in range(63):
    cal.partial_fit(np.roll(probs, i, axis=-1), labels)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, cal.n_images_seen_)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux only")
def test_a_data_loader_loop_needs_the_memory_of_a_batch(tmp_path):
    done = subprocess.run([sys.executable, "-c", LOOP, str(tmp_path)], capture_output=True, text=True, check=True)
    grown, images = map(int, done.stdout.split())
    assert images == 1024
    assert grown < 64 * 1024, f"{grown} KiB for 256 MiB of data"
