"""Tensors in, tensors out on the same device; volumes in, volumes out. A stand-in replaces torch."""

import sys
import types

import numpy as np
import pytest
from support import scene

import kandinsky
from kandinsky import Calibrator


class FakeTensor:
    """As much of torch.Tensor as the package uses."""

    __module__ = "faketorch"

    def __init__(self, array, device="cpu", grad=False):
        self.array, self.device, self.grad = array, device, grad

    def __dlpack_device__(self):
        return (1 if self.device == "cpu" else 2), 0

    def __dlpack__(self, **options):
        assert self.device == "cpu", "nobody may ask a GPU tensor for its memory"
        if self.grad:
            raise BufferError("requires gradient")
        return self.array.__dlpack__()

    def detach(self):
        return FakeTensor(self.array, self.device)

    def cpu(self):
        return FakeTensor(self.array, "cpu", self.grad)


@pytest.fixture
def torch(monkeypatch):
    module = types.ModuleType("faketorch")
    module.as_tensor = lambda array, device: FakeTensor(np.asarray(array), device)
    monkeypatch.setitem(sys.modules, "faketorch", module)
    return module


@pytest.mark.parametrize("device", ["cpu", "cuda:1"])
def test_a_tensor_gives_a_tensor_on_its_device(torch, small, saved, device):
    probs, labels = small
    calibrator = Calibrator("kmeans").fit(FakeTensor(probs, device, grad=True), FakeTensor(labels, device))
    assert saved(calibrator) == saved(Calibrator("kmeans").fit(probs, labels))
    tensor = FakeTensor(probs, device)
    for result, wanted in [
        (calibrator.predict_set(tensor), calibrator.predict_set(probs)),
        (calibrator.predict_set(tensor, [0.1, 0.5]), calibrator.predict_set(probs, [0.1, 0.5])),
        (calibrator.predict_set(FakeTensor(probs[0], device), packed=True), calibrator.predict_set(probs[0], packed=True)),
        (calibrator.predict_p(tensor), calibrator.predict_p(probs)),
    ]:
        assert isinstance(result, FakeTensor) and result.device == device
        np.testing.assert_array_equal(result.array, wanted)
    assert isinstance(calibrator.predict_set(probs), np.ndarray)
    assert isinstance(calibrator.predict_set(probs.tolist()), np.ndarray)
    evaluator = kandinsky.Evaluator(calibrator).update(tensor, FakeTensor(labels, device))
    assert evaluator.compute().set_size == calibrator.evaluate(tensor, FakeTensor(labels, device)).set_size


def test_an_array_of_the_array_api_gives_one_of_its_library(small):
    class Foreign(FakeTensor):
        __module__ = "elsewhere"

        def __array_namespace__(self):
            return types.SimpleNamespace(asarray=lambda array: Foreign(array))

    calibrator = Calibrator("image").fit(*small)
    sets = calibrator.predict_set(Foreign(small[0]))
    assert isinstance(sets, Foreign)
    np.testing.assert_array_equal(sets.array, calibrator.predict_set(small[0]))


def volumes():
    """Four volumes of five slices."""
    probs, labels = scene(20, seed=2)
    return np.ascontiguousarray(np.moveaxis(probs.reshape(4, 5, 3, 5, 7), 1, 2)), labels.reshape(4, 5, 5, 7), probs, labels


@pytest.mark.filterwarnings("ignore::kandinsky.CalibrationWarning")
def test_volumes_are_slices_of_one_group(saved):
    volume, truth, probs, labels = volumes()
    groups = np.repeat([7, 3, 9, 1], 5)
    wanted = Calibrator("kmeans").fit(probs, labels, groups)
    assert saved(Calibrator("kmeans").fit(volume, truth, [7, 3, 9, 1])) == saved(wanted)
    masks = np.stack([truth == c for c in range(3)], axis=1)
    assert saved(Calibrator("kmeans").fit(volume, truth[:, None], [7, 3, 9, 1])) == saved(wanted)
    of_masks = Calibrator("kmeans").fit(probs, labels[:, None] == np.arange(3)[:, None, None], groups)
    assert saved(Calibrator("kmeans").fit(volume, masks, [7, 3, 9, 1])) == saved(of_masks)
    alone = Calibrator("kmeans").fit(volume, truth)
    assert alone.n_groups_ == 4 and alone.n_images_ == 20
    batches = Calibrator("kmeans").partial_fit(volume[2:], truth[2:]).partial_fit(volume[:2], truth[:2])
    assert saved(batches.calibrate()) == saved(alone)


@pytest.mark.filterwarnings("ignore::kandinsky.CalibrationWarning")
def test_the_sets_of_volumes_have_their_shape(torch):
    volume, truth, probs, labels = volumes()
    calibrator = Calibrator("kmeans").fit(volume, truth)
    sets, p = calibrator.predict_set(volume, 0.2), calibrator.predict_p(volume)
    assert sets.shape == p.shape == volume.shape
    for i in range(4):
        for z in range(5):
            np.testing.assert_array_equal(sets[i, :, z], calibrator.predict_set(probs[5 * i + z], 0.2))
            np.testing.assert_array_equal(p[i, :, z], calibrator.predict_p(probs[5 * i + z]))
    assert calibrator.predict_set(volume, [0.2, 0.3]).shape == (2, *volume.shape)
    assert calibrator.predict_set(volume, packed=True).shape == (4, 3, 5, 5, 1)
    assert calibrator.predict_set(FakeTensor(volume)).array.shape == volume.shape
    np.testing.assert_array_equal(calibrator.evaluate(volume, truth).mean_ce, calibrator.evaluate(probs, labels).mean_ce)
    found = kandinsky.Evaluator(calibrator).update(volume, truth).compute()
    assert found.groups == 4 and found.images == 20
    with pytest.raises(kandinsky.UsageError, match="leave it out for volumes"):
        calibrator.predict_set(volume, out=np.empty(volume.shape, bool))
    with pytest.raises(kandinsky.DataError, match="labels have shape"):
        Calibrator("kmeans").fit(volume, labels)
    with pytest.raises(kandinsky.DataError, match="groups has 20 groups, but probs has 4 volumes"):
        Calibrator("kmeans").fit(volume, truth, np.arange(20))
