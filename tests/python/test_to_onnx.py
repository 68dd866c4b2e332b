"""to_onnx() against the command and against predict_set(), in onnxruntime and, where it is installed, in OpenVINO."""

import os

import numpy as np
import pytest

import kandinsky

runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: no graph is run")
SCORES = ["lac", "near", "margin", "aps", "raps", "saps"]


@pytest.mark.filterwarnings("ignore::kandinsky.CalibrationWarning")
def test_the_file_is_the_command_s(room):
    cal = kandinsky.Calibrator("image").fit(room.probs, room.labels)
    cal.save(room.folder / "cal.kcal")
    assert cal.to_onnx(room.folder / "a.onnx", alpha=[0.1, 0.25], empty="keep") == ["sets_0.1", "sets_0.25"]
    room.does("export", "cal.kcal", "--alpha", "0.1,0.25", "--empty", "keep", "-o", "b.onnx")
    assert (room.folder / "a.onnx").read_bytes() == (room.folder / "b.onnx").read_bytes()


def exported(score, small, path):
    cal = kandinsky.Calibrator("kmeans", score_function=score).fit(*small)
    assert cal.to_onnx(path, alpha=0.3) == ["sets_0.3"]
    return cal.predict_set(small[0], 0.3)


@pytest.mark.filterwarnings("ignore::kandinsky.CalibrationWarning")
@pytest.mark.parametrize("score", SCORES)
def test_onnxruntime_makes_the_sets_of_predict_set(score, small, tmp_path):
    wanted = exported(score, small, tmp_path / "g.onnx")
    session = runtime.InferenceSession(str(tmp_path / "g.onnx"), providers=["CPUExecutionProvider"])
    np.testing.assert_array_equal(session.run(None, {"probs": small[0]})[0], wanted)


@pytest.mark.filterwarnings("ignore::kandinsky.CalibrationWarning")
@pytest.mark.parametrize("score", SCORES)
def test_openvino_makes_the_sets_of_predict_set(score, small, tmp_path):
    openvino = pytest.importorskip("openvino", reason="openvino is not installed: make test-integrations")
    wanted = exported(score, small, tmp_path / "g.onnx")
    compiled = openvino.Core().compile_model(str(tmp_path / "g.onnx"), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    np.testing.assert_array_equal(compiled(small[0])[0], wanted)


@pytest.mark.filterwarnings("ignore::kandinsky.CalibrationWarning")
@pytest.mark.parametrize("method", ["field", "kmeans"])
def test_openvino_follows_the_image_too(method, tmp_path):
    openvino = pytest.importorskip("openvino", reason="openvino is not installed: make test-integrations")
    random = np.random.default_rng(1)
    labels = random.integers(0, 3, (60, 24, 32)).astype(np.uint8)
    right = 1 - random.random((60, 1, 1)) * random.random(labels.shape)
    probs = np.stack([np.where(labels == c, right, (1 - right) * random.random(labels.shape)) for c in range(3)], 1)
    probs = probs.astype(np.float32)
    cal = kandinsky.Calibrator(method, adapt="image", promise="none").fit(probs, labels)
    cal.to_onnx(tmp_path / "g.onnx", alpha=0.3)
    compiled = openvino.Core().compile_model(str(tmp_path / "g.onnx"), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    different = (compiled(probs)[0] != cal.predict_set(probs, 0.3)).mean((1, 2, 3))
    # OpenVINO computes float64 in float32, so an image's level may be wrong by one step of 1/256.
    assert (different > 0).mean() <= 0.05 and different.max() < 0.01


@pytest.mark.filterwarnings("ignore::kandinsky.CalibrationWarning")
def test_openvino_tells_scores_apart_that_differ_little(tmp_path):
    # Nearly all scores lie within 0.001 of 1.2, or of 1.4, and so do the thresholds: float32 must be enough to decide.
    openvino = pytest.importorskip("openvino", reason="openvino is not installed: make test-integrations")

    def confident(images, seed):
        random = np.random.default_rng(seed)
        truth = np.kron(random.integers(0, 4, (images, 8, 12)), np.ones((8, 8), int))
        right = 1 - 1e-3 * random.random((images, 1, 1)) * random.random(truth.shape)
        probs = np.stack([np.where(truth == c, right, (1 - right) * random.random(truth.shape)) for c in range(4)], 1)
        labels = np.where(random.random(truth.shape) < 0.1, random.integers(0, 4, truth.shape), truth)
        return probs.astype(np.float32), labels.astype(np.uint8)

    cal = kandinsky.Calibrator("image", score_function="saps", adapt="image", promise="none").fit(*confident(30, 1))
    cal.to_onnx(tmp_path / "g.onnx", alpha=0.1)
    probs, _ = confident(40, 2)
    compiled = openvino.Core().compile_model(str(tmp_path / "g.onnx"), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    np.testing.assert_array_equal(compiled(probs)[0], cal.predict_set(probs, 0.1))


def test_a_model_is_not_overwritten_with_its_graph(small, tmp_path, monkeypatch):
    cal, model = kandinsky.Calibrator("image").fit(*small), tmp_path / "m.onnx"
    model.write_bytes(b"model")
    os.link(model, tmp_path / "linked.onnx")
    monkeypatch.chdir(tmp_path)
    for path, onto in [("m.onnx", model), (model, "./m.onnx"), ("linked.onnx", "m.onnx"), ("no.onnx", tmp_path / "no.onnx")]:
        with pytest.raises(kandinsky.UsageError) as problem:
            cal.to_onnx(path, alpha=0.1, onto=onto)
        assert str(problem.value) == f"onto and path are the same file {path}; give another path"
    assert model.read_bytes() == b"model"


def test_errors_are_in_python_s_words(small, tmp_path):
    with pytest.raises(kandinsky.NotFittedError):
        kandinsky.Calibrator().to_onnx(tmp_path / "g.onnx")
    cal = kandinsky.Calibrator("image").fit(*small)
    for error, text, more in [
        (kandinsky.UsageError, "^foreground is for two classes", {"foreground": True}),
        (kandinsky.UsageError, "^output_name needs onto", {"output_name": "probs"}),
        (kandinsky.UsageError, "^logits is 'tanh'", {"logits": "tanh"}),
        (kandinsky.UsageError, "^alpha has 0.1 twice", {"alpha": [0.1, 0.1]}),
        (kandinsky.UsageError, "^onto is 3, but must be the path of a file$", {"onto": 3}),
        (kandinsky.FileError, "missing.onnx", {"onto": tmp_path / "missing.onnx"}),
    ]:
        with pytest.raises(error, match=text):
            cal.to_onnx(tmp_path / "g.onnx", **more)
    assert not list(tmp_path.iterdir())
