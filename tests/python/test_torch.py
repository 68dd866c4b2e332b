"""Sets inside a torch model against predict_set. Skipped where torch is not installed: `make test-integrations` installs it."""

import io
import subprocess
import sys

import numpy as np
import pytest

import kandinsky

torch = pytest.importorskip("torch", reason="torch is not installed: make test-integrations")
from kandinsky.torch import CalibrationMetric, PredictionSets  # noqa: E402

SCORES = {
    "lac": {},
    "near": {},
    "margin": {},
    "aps": {},
    "raps": {"raps_lambda": 0.03, "raps_kreg": 2},
    "saps": {},
}
GRIDS = [(5, 7), (3, 800), (120, 131), (2, 1800)]  # cells of 1, 3, 1 and 7 pixels
pytestmark = pytest.mark.filterwarnings("ignore::kandinsky.CalibrationWarning")
DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])


def outputs(images, classes, grid, seed=0):
    """Blobs with ties, exact zeros and ones, and their labels."""
    random = np.random.default_rng(seed)
    coarse = random.normal(size=(images, classes, grid[0] // 8 + 2, grid[1] // 8 + 2)) * 6
    logits = np.kron(coarse, np.ones((8, 8)))[:, :, : grid[0], : grid[1]] + random.normal(size=(images, classes, *grid))
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = (p / p.sum(axis=1, keepdims=True)).astype(np.float32)
    labels = (p.cumsum(axis=1) < random.random((images, 1, *grid))).sum(axis=1).clip(0, classes - 1).astype(np.uint8)
    p[:, :, ::5, ::3] = np.round(p[:, :, ::5, ::3], 1)
    return p.clip(0, 1), labels


def calibrator(score="near", classes=4, grid=(24, 32), **more):
    """Every pixel's threshold is the score of one of the images there: the last bit of a score decides."""
    probs, labels = outputs(12, classes, grid)
    more = {"condition": "none", **SCORES[score], **more}
    return kandinsky.Calibrator("pixel", score_function=score, **more).fit(probs, labels), probs


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("grid", GRIDS, ids=str)
@pytest.mark.parametrize("score", SCORES)
def test_the_module_makes_the_sets_of_predict_set(score, grid, device):
    cal, probs = calibrator(score, grid=grid)
    for alpha in (0.1, [0.05, 0.4]):
        found = PredictionSets(cal, alpha).to(device)(torch.from_numpy(probs).to(device))
        assert found.dtype == torch.bool and found.device.type == device
        np.testing.assert_array_equal(found.cpu().numpy(), cal.predict_set(probs, alpha))


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("empty", ["keep", "fill"])
def test_one_plane_and_empty_sets(score, empty):
    probs, labels = outputs(9, 2, (16, 20), seed=2)
    cal = kandinsky.Calibrator("image", score_function=score, condition="none", **SCORES[score]).fit(probs[:, 1:], labels)
    found = PredictionSets(cal, 0.6, empty=empty)(torch.from_numpy(probs[:, 1:]))
    np.testing.assert_array_equal(found.numpy(), cal.predict_set(probs[:, 1:], 0.6, empty=empty))


def moody(images, classes, grid, seed):
    """Images that differ in difficulty; their probabilities show how hard they are."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, classes, (images, *grid)).astype(np.uint8)
    right = 1 - random.random((images, 1, 1)) * random.random(labels.shape)
    probs = np.stack([np.where(labels == c, right, (1 - right) * random.random(labels.shape)) for c in range(classes)], 1)
    return probs.astype(np.float32), labels


def adapting(score="near", method="field", grid=(24, 32), seed=1, **more):
    """A calibrator whose levels follow the image, and new images."""
    more = {"promise": "none", **SCORES[score], **more}
    cal = kandinsky.Calibrator(method, score_function=score, adapt="image", **more).fit(*moody(40, 3, grid, seed))
    probs, _ = moody(12, 3, grid, seed=2)
    return cal, np.concatenate([probs, np.zeros_like(probs[:1]), np.ones_like(probs[:1])])


ADAPTING = [{"score": score} for score in SCORES] + [{"method": method} for method in ("image", "kmeans", "pixel")]
ADAPTING += [{"condition": "none"}, {"promise": "loo"}, {"grid": (70, 90)}]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("how", ADAPTING, ids=str)
def test_levels_follow_the_image_in_the_module_too(how, device):
    cal, probs = adapting(**how)
    module = PredictionSets(cal, [0.1, 0.4, 0.001]).to(device)
    assert len(module.adapted) > 0, "no class adapts"
    found = module(torch.from_numpy(probs).to(device)).cpu().numpy()
    for alpha, sets in zip([0.1, 0.4, 0.001], found):
        np.testing.assert_array_equal(sets, cal.predict_set(probs, alpha))
    half = module.half()(torch.from_numpy(probs).half().to(device))  # the tables keep their precision
    np.testing.assert_array_equal(half[0].cpu().numpy(), cal.predict_set(probs.astype(np.float16).astype(np.float32), 0.1))


@pytest.mark.parametrize("how", [{"method": "field"}, {"method": "kmeans", "score": "aps"}], ids=str)
def test_levels_follow_the_image_in_what_torch_exports(how, tmp_path):
    cal, probs = adapting(**how)
    module, given = PredictionSets(cal).eval(), torch.from_numpy(probs)
    batch = torch.export.Dim("batch", min=1, max=64)
    program = torch.export.export(module, (given[:3],), dynamic_shapes=({0: batch},)).module()
    for n in (1, 5, len(probs)):
        assert torch.equal(program(given[:n]), module(given[:n]))
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    pytest.importorskip("onnxscript", reason="onnxscript is not installed: torch needs it to export")
    torch.onnx.export(module, (given[:3],), str(tmp_path / "m.onnx"), dynamo=True, input_names=["probs"],
                      dynamic_shapes=({0: batch},))
    session = runtime.InferenceSession(str(tmp_path / "m.onnx"), providers=["CPUExecutionProvider"])
    np.testing.assert_array_equal(session.run(None, {"probs": probs})[0], cal.predict_set(probs))


def test_levels_that_follow_the_image_are_part_of_the_state():
    cal, probs = adapting()
    other, _ = adapting(promise="loo")  # more fits, other columns
    module, target = PredictionSets(cal, [0.1, 0.3]), PredictionSets(other, [0.1, 0.3])
    file = io.BytesIO()
    torch.save(module.state_dict(), file)
    file.seek(0)
    assert not torch.equal(target(torch.from_numpy(probs)), module(torch.from_numpy(probs)))
    target.load_state_dict(torch.load(file))
    assert torch.equal(target(torch.from_numpy(probs)), module(torch.from_numpy(probs)))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("score", SCORES)
def test_half_precision_is_compared_in_float32(score, dtype, device):
    cal, probs = calibrator(score)
    module = PredictionSets(cal).to(dtype).to(device)
    assert module.thresholds.dtype == torch.float32
    given = torch.from_numpy(probs).to(dtype).to(device)
    np.testing.assert_array_equal(module(given).cpu().numpy(), cal.predict_set(given.float().cpu().numpy()))


@pytest.mark.parametrize("kind", ["sigmoid", "softmax"])
def test_logits_become_probabilities_as_the_calibrator_records(kind):
    random = np.random.default_rng(3)
    logits = random.normal(size=(30, 3, 16, 20)).astype(np.float32) * 3
    cal = kandinsky.Calibrator("image", score_function="lac", logits=kind).fit(logits, logits.argmax(1).astype(np.uint8))
    found = PredictionSets(cal)(torch.from_numpy(logits)).numpy()
    assert (found != cal.predict_set(logits)).mean() < 1e-3  # exp() differs in its last bit between libraries


@pytest.mark.parametrize("risk", ["precision", "recall,precision"])
@pytest.mark.parametrize("score", ["lac", "near"])
def test_sets_with_a_promise_of_precision_stay_empty(score, risk):
    cal = kandinsky.Calibrator("image", score_function=score, risk=risk, confidence=0.9).fit(*moody(60, 3, (24, 32), seed=1))
    probs, _ = moody(12, 3, (24, 32), seed=2)
    wanted = cal.predict_set(probs, 0.3)
    assert wanted.any() and not wanted.any(axis=1).all(), "no set is empty"
    for empty in ("auto", "keep"):
        np.testing.assert_array_equal(PredictionSets(cal, 0.3, empty=empty)(torch.from_numpy(probs)).numpy(), wanted)
    with pytest.raises(kandinsky.UsageError, match="promise of precision"):
        PredictionSets(cal, 0.3, empty="fill")


def net(classes=4):
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Conv2d(2, classes, 3, padding=1), torch.nn.Softmax(1)).eval()


@pytest.mark.parametrize("score", SCORES)
def test_a_network_with_sets_is_exported(score, tmp_path):
    cal, _ = calibrator(score)
    model, images = torch.nn.Sequential(net(), PredictionSets(cal)), torch.randn(2, 2, 24, 32)
    wanted = model(images)
    np.testing.assert_array_equal(wanted.numpy(), cal.predict_set(model[0](images).detach().numpy()))
    batch = torch.export.Dim("batch", min=1, max=64)
    program = torch.export.export(model, (images,), dynamic_shapes=({0: batch},))
    again = io.BytesIO()
    torch.export.save(program, again)
    again.seek(0)
    loaded = torch.export.load(again).module()
    for n in (2, 5):
        more = torch.randn(n, 2, 24, 32)
        assert torch.equal(loaded(more), model(more))


@pytest.mark.parametrize("score", SCORES)
def test_torch_makes_an_onnx_model_of_it(score, tmp_path):
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    pytest.importorskip("onnxscript", reason="onnxscript is not installed: torch needs it to export")
    cal, probs = calibrator(score)
    given = torch.from_numpy(probs[:3])
    torch.onnx.export(PredictionSets(cal).eval(), (given,), str(tmp_path / "m.onnx"), dynamo=True, input_names=["probs"],
                      dynamic_shapes=({0: torch.export.Dim("batch", min=1, max=64)},))
    session = runtime.InferenceSession(str(tmp_path / "m.onnx"), providers=["CPUExecutionProvider"])
    np.testing.assert_array_equal(session.run(None, {"probs": probs})[0], cal.predict_set(probs))


def test_the_state_can_be_stored():
    cal, probs = calibrator()
    other, _ = calibrator(seed=1)
    module, target = PredictionSets(cal, [0.1, 0.3]), PredictionSets(other, [0.1, 0.3])
    target.thresholds.zero_()
    file = io.BytesIO()
    torch.save(module.state_dict(), file)
    file.seek(0)
    target.load_state_dict(torch.load(file))
    assert torch.equal(target(torch.from_numpy(probs)), module(torch.from_numpy(probs)))
    with pytest.raises(kandinsky.UsageError, match="another score"):
        PredictionSets(calibrator("lac")[0], [0.1, 0.3]).load_state_dict(module.state_dict())


@pytest.mark.parametrize("adapt", [False, True])
def test_a_state_of_other_levels_or_images_is_refused(adapt):
    cal, probs = adapting() if adapt else calibrator()
    fewer = kandinsky.Calibrator("pixel", condition="none").fit(*outputs(9, 4, (24, 32), seed=5))
    other = adapting(seed=3)[0] if adapt else fewer
    module, given = PredictionSets(cal, 0.1), torch.from_numpy(probs)
    wanted = module(given)
    for alpha in (0.3, [0.1, 0.3]):
        with pytest.raises(kandinsky.UsageError, match=r"^the state has alpha \[.*0.3\], but this module has \[0.1\]; make"):
            module.load_state_dict(PredictionSets(cal, alpha).state_dict())
        with pytest.raises(kandinsky.UsageError, match="the state has alpha"):
            torch.nn.Sequential(module).load_state_dict(torch.nn.Sequential(PredictionSets(cal, alpha).half()).state_dict())
    with pytest.raises(kandinsky.UsageError, match="^the state is of a calibrator with other calibration images"):
        module.load_state_dict(PredictionSets(other, 0.1).state_dict())
    assert torch.equal(module(given), wanted)
    for same in (PredictionSets(cal, confidence_level=0.9), PredictionSets(cal, [0.1]).half(), PredictionSets(cal).bfloat16()):
        module.load_state_dict(same.state_dict())
        same.load_state_dict(module.half().state_dict())
        assert torch.equal(module(given), wanted)


def test_what_does_not_fit_is_refused():
    cal, probs = calibrator()
    with pytest.raises(kandinsky.DataError, match=r"shape \[12, 4, 24, 31\].*\[N,4,24,32\]"):
        PredictionSets(cal)(torch.from_numpy(probs[..., 1:]))
    for given in (probs, torch.from_numpy((probs * 255).astype(np.uint8))):
        with pytest.raises(kandinsky.DataError, match="the input is .* must be a tensor of floats"):
            PredictionSets(cal)(given)
    with pytest.raises(kandinsky.UsageError, match="calibrator is of type NoneType, but must be a Calibrator or the path"):
        PredictionSets(None)
    with pytest.raises(kandinsky.UsageError, match="randomized"):
        PredictionSets(calibrator("aps", randomized=True)[0])
    with pytest.raises(kandinsky.UsageError, match="logits is 'tanh'"):
        PredictionSets(cal, logits="tanh")
    with pytest.raises(kandinsky.NotFittedError):
        PredictionSets(kandinsky.Calibrator())


def test_the_file_of_a_calibrator_is_accepted(tmp_path):
    cal, probs = calibrator("lac")
    cal.save(tmp_path / "cal.kcal")
    given = torch.from_numpy(probs)
    assert torch.equal(PredictionSets(tmp_path / "cal.kcal", 0.3)(given), PredictionSets(cal, 0.3)(given))


def test_the_metric_calibrates_as_fit_does(saved):
    probs, labels = outputs(12, 3, (8, 9))
    metrics = [CalibrationMetric(kandinsky.Calibrator("kmeans")) for _ in range(2)]
    for start in range(0, 12, 4):
        batch = torch.from_numpy(probs[start : start + 4]), torch.from_numpy(labels[start : start + 4])
        metrics[start == 4].update(*batch)
    metrics[0].merge_state([metrics[1]])
    wanted = saved(kandinsky.Calibrator("kmeans").fit(probs, labels))
    assert saved(metrics[0].compute()) == wanted
    metrics[0].reset()
    metrics[0].update(torch.from_numpy(probs).bfloat16().float(), torch.from_numpy(labels))
    assert metrics[0].compute().n_images_ == 12 and saved(metrics[0].calibrator) != wanted


def test_lightning_calibrates_at_the_end_of_validation(tmp_path, saved):
    lightning = pytest.importorskip("lightning.pytorch", reason="lightning is not installed")
    from kandinsky.lightning import Calibrate

    probs, labels = outputs(12, 3, (8, 9))

    class Fixed(lightning.LightningModule):
        def validation_step(self, batch, index):
            return {"probs": batch[0], "labels": batch[1]}

    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.from_numpy(probs), torch.from_numpy(labels)), 5)
    callback = Calibrate(kandinsky.Calibrator("kmeans"), path=tmp_path / "model.kcal")
    lightning.Trainer(callbacks=[callback], logger=False, accelerator="cpu", enable_checkpointing=False).validate(Fixed(), loader)
    wanted = saved(kandinsky.Calibrator("kmeans").fit(probs, labels))
    assert saved(callback.calibrator_) == wanted == (tmp_path / "model.kcal").read_bytes()


def test_lightning_keeps_the_last_thresholds_while_the_next_validation_runs(saved):
    pytest.importorskip("lightning.pytorch", reason="lightning is not installed")
    from types import SimpleNamespace

    from kandinsky.lightning import Calibrate

    probs, labels = (torch.from_numpy(each) for each in outputs(12, 3, (8, 9)))
    callback, trainer = Calibrate(kandinsky.Calibrator("image")), SimpleNamespace(world_size=1, sanity_checking=False)
    callback.on_validation_epoch_start(trainer, None)
    callback.on_validation_batch_end(trainer, None, {"probs": probs, "labels": labels}, None, 0)
    callback.on_validation_epoch_end(trainer, None)
    kept = saved(callback.calibrator_)
    callback.on_validation_epoch_start(trainer, None)  # interrupted after a batch
    callback.on_validation_batch_end(trainer, None, {"probs": probs[:5], "labels": labels[:5]}, None, 0)
    assert saved(callback.calibrator_) == kept


def test_the_package_alone_does_not_import_torch():
    code = "import sys, kandinsky; assert 'torch' not in sys.modules and 'kandinsky.torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
