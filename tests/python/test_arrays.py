"""What arrays may be: any layout and type, tensors by DLPack, nothing copied without need, nothing on a GPU."""

import _thread
import signal
import sys
import threading
import time

import numpy as np
import pytest

import kandinsky
from kandinsky import Calibrator
from kandinsky._arrays import as_array


class Tensor:
    """An array of another library that supports only DLPack."""

    def __init__(self, array, device=1):
        self._array, self._device = array, device

    def __dlpack_device__(self):
        return self._device, 0

    def __dlpack__(self, **options):
        assert self._device == 1, "nobody may ask a GPU tensor for its memory"
        return self._array.__dlpack__()


def layouts(array):
    """The same values in other places."""
    yield "Fortran order", np.asfortranarray(array)
    yield "channels last", np.ascontiguousarray(np.moveaxis(array, 1, -1)).swapaxes(1, -1).swapaxes(2, -1)
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    wide[..., ::2] = array
    yield "every second", wide[..., ::2]
    yield "backwards", np.ascontiguousarray(array[::-1, ..., ::-1])[::-1, ..., ::-1]
    fixed = array.copy()
    fixed.flags.writeable = False
    yield "read-only", fixed
    yield "other byte order", array.astype(array.dtype.newbyteorder(">"))
    raw = np.zeros(array.nbytes + 1, np.uint8)
    raw[1:] = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
    yield "unaligned", raw[1:].view(array.dtype).reshape(array.shape)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_any_layout_gives_the_same_calibrator_and_sets(small, saved, dtype):
    probs, labels = small[0].astype(dtype), small[1]
    wanted = Calibrator("kmeans").fit(probs, labels)
    sets, p = wanted.predict_set(probs), wanted.predict_p(probs)
    for name, other in layouts(probs):
        np.testing.assert_array_equal(other, probs, err_msg=name)
        assert saved(Calibrator("kmeans").fit(other, labels)) == saved(wanted), name
        assert saved(Calibrator("kmeans").partial_fit(other, labels).calibrate()) == saved(wanted), name
        np.testing.assert_array_equal(wanted.predict_set(other), sets, err_msg=name)
        np.testing.assert_array_equal(wanted.predict_p(other), p, err_msg=name)


@pytest.mark.parametrize("no_empty", [False, True])
@pytest.mark.parametrize("packed", [False, True])
def test_halves_give_the_sets_of_the_floats_they_stand_for(small, packed, no_empty):
    halves = small[0].astype(np.float16)
    calibrator = Calibrator("kmeans").fit(*small)
    for alpha in (0.0, 0.1, 0.7):
        options = {"packed": packed, "no_empty": no_empty}
        wanted = calibrator.predict_set(halves.astype(np.float32), alpha, **options)
        np.testing.assert_array_equal(calibrator.predict_set(halves, alpha, **options), wanted)
        np.testing.assert_array_equal(calibrator.predict_set(halves[::-2], alpha, **options), wanted[::-2])
    halves[4, 2, 1, 0] = np.nan
    with pytest.raises(kandinsky.DataError, match="image 4, class 2, row 1, column 0"):
        calibrator.predict_set(halves, 0.1, packed=packed, no_empty=no_empty)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_labels_may_be_any_integers_in_any_layout(small, saved, dtype):
    probs, labels = small
    wanted = saved(Calibrator("image").fit(probs, labels))
    assert saved(Calibrator("image").fit(probs, labels.astype(dtype))) == wanted
    assert saved(Calibrator("image").fit(probs, np.asfortranarray(labels.astype(dtype)))) == wanted
    assert saved(Calibrator("image").fit(probs, labels.astype(dtype)[:, None])) == wanted


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_labels_may_be_floats_with_whole_numbers(small, saved, dtype):
    probs, labels = small
    wanted = saved(Calibrator("image").fit(probs, labels))
    assert saved(Calibrator("image").fit(probs, labels.astype(dtype))) == wanted
    assert saved(Calibrator("image").partial_fit(probs, labels.astype(dtype)[:, None]).calibrate()) == wanted


def test_masks_may_be_booleans(small, saved):
    probs, labels = small
    masks = labels[:, None] == np.arange(3)[:, None, None]
    assert saved(Calibrator("image").fit(probs, masks)) == saved(Calibrator("image").fit(probs, masks.astype(np.int32)))


def test_one_plane_means_foreground(small):
    probs, labels = small[0][:, 1:2], (small[1] == 1).astype(np.uint8)
    calibrator = Calibrator("image").fit(probs, labels)
    assert calibrator.n_classes_ == 2 and calibrator.predict_set(probs).shape == (30, 2, 5, 7)


def test_arrays_are_read_in_place(tmp_path):
    for array in (np.zeros((2, 3)), np.zeros((2, 3), order="F")[:, ::-1], np.zeros((2, 3), np.float16)):
        assert as_array(array, "a") is array
        assert np.shares_memory(as_array(Tensor(array), "a"), array)
    np.save(tmp_path / "a.npy", np.zeros((2, 3)))
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    assert as_array(mapped, "a") is mapped
    array = np.zeros(3)
    assert np.shares_memory(as_array(memoryview(array), "a"), array)


def test_lists_work_too(small):
    calibrator = Calibrator("image").fit(*small)
    np.testing.assert_array_equal(calibrator.predict_set(small[0].tolist()), calibrator.predict_set(small[0].astype(float)))


def test_tensors_come_by_dlpack(small, saved):
    probs, labels = small
    groups = np.arange(30)
    wanted = Calibrator("kmeans").fit(probs, labels, groups)
    assert saved(Calibrator("kmeans").fit(Tensor(probs), Tensor(labels), Tensor(groups))) == saved(wanted)
    np.testing.assert_array_equal(wanted.predict_set(Tensor(probs)), wanted.predict_set(probs))


def test_a_tensor_on_a_gpu_is_refused_with_advice(small):
    calibrator = Calibrator("image").fit(*small)
    for use in (calibrator.predict_set, calibrator.predict_p, lambda t: calibrator.evaluate(t, small[1]),
                lambda t: Calibrator().partial_fit(t, small[1])):
        with pytest.raises(kandinsky.UsageError, match=r"thresholds\(alpha\).*probs >= t"):
            use(Tensor(small[0], device=2))


def test_a_tensor_that_will_not_be_shared_is_named(small):
    class Stubborn(Tensor):
        def __dlpack__(self, **options):
            raise BufferError("requires gradient")

    with pytest.raises(kandinsky.DataError, match=r"probs.*requires gradient.*detach"):
        Calibrator("image").fit(Stubborn(small[0]), small[1])


@pytest.mark.parametrize("value,words", [
    (np.zeros((2, 3, 5, 7), complex), "probs: elements are complex128"),
    (np.zeros((2, 3, 5, 7), object), "probs: elements are object"),
    (np.zeros((2, 3, 5, 7), np.int32), "probs: probabilities are int32"),
    (np.zeros((5, 7)), r"probs: probabilities have shape \[5, 7\]"),
    (np.zeros((0, 3, 5, 7)), "no image"),
    (np.full((2, 3, 5, 7), np.nan), "probs: probability nan at image 0, class 0, row 0, column 0"),
])
def test_bad_probabilities_are_refused_by_name_and_place(value, words):
    with pytest.raises(kandinsky.DataError, match=words):
        Calibrator("image").fit(value, np.zeros((2, 5, 7), np.uint8))


def test_bad_labels_and_groups_are_refused_by_name_and_place(small):
    probs, labels = small
    bad = labels.copy()
    bad[4, 2, 6] = 9
    for use in (Calibrator("image").fit, Calibrator("image").partial_fit):
        with pytest.raises(kandinsky.DataError, match="labels: label 9 at image 4, row 2, column 6"):
            use(probs, bad)
    with pytest.raises(kandinsky.DataError, match="labels has 29 images, but probs has 30"):
        Calibrator().fit(probs, labels[1:])
    for wrong in (0.5, np.nan):
        halves = labels.astype(float)
        halves[4, 2, 6] = wrong
        with pytest.raises(kandinsky.DataError, match=rf"labels: label {wrong} at \[4, 2, 6\] is not a whole number"):
            Calibrator().fit(probs, halves)
    with pytest.raises(kandinsky.DataError, match="groups has 3 groups, but probs has 30"):
        Calibrator().fit(probs, labels, [1, 2, 3])
    with pytest.raises(kandinsky.DataError, match="cal_probs"):
        kandinsky.compare(probs[0], labels, probs, labels)
    with pytest.raises(kandinsky.UsageError, match="labels are needed"):
        Calibrator().fit(probs, None)


def test_an_image_of_another_size_is_refused(small):
    for method in ("kmeans", "field"):
        calibrator = Calibrator(method).fit(*small)
        with pytest.raises(kandinsky.DataError, match="5 x 6"):
            calibrator.predict_set(small[0][..., :6])


@pytest.mark.parametrize("score", ["near", "lac", "aps"])
def test_a_whole_image_method_predicts_any_size(small, score):
    """One threshold for each class: an image cut in two has the sets of its parts."""
    calibrator = Calibrator("image", score_function=score).fit(*small)
    part = np.ascontiguousarray(small[0][..., :4, :6])
    sets, p = calibrator.predict_set(part, 0.2), calibrator.predict_p(part)
    assert sets.shape == p.shape == (30, 3, 4, 6)
    if score != "near":  # near looks at the surroundings
        np.testing.assert_array_equal(sets, calibrator.predict_set(small[0], 0.2)[..., :4, :6])
        np.testing.assert_array_equal(p, calibrator.predict_p(small[0])[..., :4, :6])
    assert calibrator.evaluate(part, small[1][..., :4, :6]).grid == (4, 6)
    assert calibrator.grid_ == (5, 7)


def test_groups_may_have_names(small, saved):
    names = [f"patient {i // 3}" for i in range(30)]
    calibrator = Calibrator("image").fit(*small, groups=names)
    assert calibrator.n_groups_ == 10
    assert saved(Calibrator("image").fit(*small, groups=np.array(names, object))) == saved(calibrator)


def test_two_threads_predict_with_one_calibrator():
    scenes = kandinsky.make_scenes(images=60, grid=(48, 64))
    calibrator = Calibrator("kmeans").fit(scenes.probs, scenes.labels)
    wanted = calibrator.predict_set(scenes.probs, 0.1), calibrator.predict_p(scenes.probs)
    found = [None] * 8

    def work(number):
        found[number] = [(calibrator.predict_set(scenes.probs, 0.1), calibrator.predict_p(scenes.probs))
                         for _ in range(3)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(found))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for results in found:
        for sets, p in results:
            np.testing.assert_array_equal(sets, wanted[0])
            np.testing.assert_array_equal(p, wanted[1])


def test_other_threads_run_while_the_library_works():
    """No thread is forced to yield here, so the other thread runs only while the library has released the lock."""
    scenes = kandinsky.make_scenes(images=60, grid=(48, 64))
    calibrator = Calibrator("kmeans").fit(scenes.probs, scenes.labels)
    steps, done, interval = [0], threading.Event(), sys.getswitchinterval()

    def bystander():
        while not done.is_set():
            steps[0] += 1
            time.sleep(0)

    def moves_during_a_call():
        before = steps[0]
        calibrator.predict_p(scenes.probs)
        return steps[0] > before

    thread = threading.Thread(target=bystander)
    try:
        thread.start()
        sys.setswitchinterval(1000)
        assert any(moves_during_a_call() for _ in range(100))
    finally:
        sys.setswitchinterval(interval)
        done.set()
        thread.join()


def test_an_exception_of_a_progress_callback_is_raised():
    scenes = kandinsky.make_scenes(images=30, grid=(24, 32))

    def refuse(stage, done, total):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        Calibrator("genann", progress=refuse).fit(scenes.probs, scenes.labels)


def test_progress_is_reported_in_stages():
    scenes = kandinsky.make_scenes(images=30, grid=(24, 32))
    told = []
    Calibrator("kmeans", progress=lambda *what: told.append(what)).fit(scenes.probs, scenes.labels)
    assert told and all(isinstance(stage, str) and 0 <= done <= total for stage, done, total in told)
    Calibrator("kmeans", progress=True).fit(scenes.probs, scenes.labels)


def test_work_can_be_interrupted():
    """Ctrl-C arrives as KeyboardInterrupt in the middle of the work: what comes later is never begun."""
    scenes = kandinsky.make_scenes(images=40, grid=(60, 80))
    whole, told = [], []
    Calibrator("genann", progress=lambda *what: whole.append(what)).fit(scenes.probs, scenes.labels)

    def watch(*what):
        told.append(what)
        if len(told) == 1:
            # The thread is joined, so that the signal arrives while most of the work is still to be done.
            signaller = threading.Thread(target=_thread.interrupt_main)
            signaller.start()
            signaller.join()

    # A shell starts background jobs with the signal ignored, and Python keeps it so.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            Calibrator("genann", progress=watch).fit(scenes.probs, scenes.labels)
    finally:
        signal.signal(signal.SIGINT, before)
    assert told[-1] != whole[-1], "all of it was done"


def test_images_of_different_sizes_are_explained_with_the_remedy():
    probs = [np.full((3, 5, 7), 0.5, np.float32), np.full((3, 6, 7), 0.5, np.float32)]
    labels = [np.zeros((5, 7), int), np.zeros((6, 7), int)]
    with pytest.raises(kandinsky.DataError, match=r"probs has images of different sizes, such as \[3, 5, 7\] and \[3, 6, 7\]; resize or pad"):
        kandinsky.Calibrator("image").fit(probs, labels)
    with pytest.raises(kandinsky.DataError, match="labels has images of different sizes"):
        kandinsky.Calibrator("image").fit(np.stack([probs[0], probs[0]]), labels)
