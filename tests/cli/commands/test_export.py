"""Sets as an ONNX graph against those of predict. The graphs are run by onnxruntime, from the Python package's test environment."""

import numpy as np
import pytest
from support import scene
from test_near import near

onnx = pytest.importorskip("onnx", reason="onnx is not installed: no graph is looked at")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: no graph is run")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

SCORES = {
    "lac": ["--score", "lac"],
    "near": ["--score", "near"],
    "margin": ["--score", "margin"],
    "aps": ["--score", "aps"],
    "raps": ["--score", "raps", "--raps-lambda", "0.03", "--raps-kreg", "2"],
    "saps": ["--score", "saps"],
}
GRIDS = [(5, 7), (1, 9), (3, 80), (2, 1800), (257, 301)]  # cells of 1, 1, 1, 7 and 2 pixels; the last two end with incomplete cells


def smooth(images, classes, grid, seed=0):
    """Softmax outputs that look like a network's: blobs, with ties and exact zeros and ones among them."""
    random = np.random.default_rng(seed)
    coarse = random.normal(size=(images, classes, grid[0] // 8 + 2, grid[1] // 8 + 2)) * 6
    logits = np.kron(coarse, np.ones((8, 8)))[:, :, : grid[0], : grid[1]] + random.normal(size=(images, classes, *grid))
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = (p / p.sum(axis=1, keepdims=True)).astype(np.float32)
    labels = np.array([random.choice(classes, p=(q := p[:, :, y, x].astype(float).mean(0)) / q.sum(), size=images)
                       for y in range(grid[0]) for x in range(grid[1])], np.uint8).reshape(*grid, images).transpose(2, 0, 1)
    p[:, :, ::5, ::3] = np.round(p[:, :, ::5, ::3], 1)  # ties, and sums other than 1
    return np.clip(p, 0, 1), np.ascontiguousarray(labels)


def session(path):
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    return runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def sets_of(room, path, array):
    """The graph's outputs by name."""
    ran = session(room.folder / path)
    names = [each.name for each in ran.get_outputs()]
    return dict(zip(names, ran.run(None, {ran.get_inputs()[0].name: array})))


def predicted(room, probs, alpha, *flags, cal="cal.kcal"):
    room.save("asked.npy", probs)
    room.does("predict", cal, "--probs", "asked.npy", "--alpha", alpha, "-o", "sets.npy", *flags)
    return room.load("sets.npy").astype(bool)


def check_same(room, path, array, probs, alphas=(0.1,), flags=()):
    found = sets_of(room, path, array)
    for alpha in alphas:
        np.testing.assert_array_equal(found[f"sets_{alpha}"], predicted(room, probs, alpha, *flags))
        assert found[f"sets_{alpha}"].dtype == bool


@pytest.mark.parametrize("grid", GRIDS, ids=str)
@pytest.mark.parametrize("score", SCORES)
def test_a_graph_makes_the_sets_of_predict(room, score, grid):
    # Every pixel's threshold is the score of one of these images there: the last bit of a score decides.
    probs, labels = smooth(12, 4, grid)
    room.save("p.npy", probs), room.save("l.npy", labels)
    room.calibrate("--method", "pixel", "--condition", "none", *SCORES[score], probs="p.npy", labels="l.npy")
    said = room.does("export", "cal.kcal", "--alpha", "0.1,0.35", "-o", "g.onnx").out
    assert said.startswith(f"g.onnx: from 'probs' to sets_0.1, sets_0.35, bool [N,4,{grid[0]},{grid[1]}]\n")
    for batch in (1, 3):
        check_same(room, "g.onnx", probs[:batch], probs[:batch], (0.1, 0.35))


def moody(images, classes, grid, seed):
    """Blobs in images that differ in difficulty; their probabilities show how hard they are."""
    random = np.random.default_rng(seed)
    blobs = random.integers(0, classes, (images, grid[0] // 6 + 1, grid[1] // 6 + 1))
    truth = np.kron(blobs, np.ones((6, 6), int))[:, : grid[0], : grid[1]]
    mood = random.random((images, 1, 1))
    labels = np.where(random.random(truth.shape) < 0.4 * mood, random.integers(0, classes, truth.shape), truth).astype(np.uint8)
    right = 1 - mood * random.random(truth.shape)
    probs = np.stack([np.where(truth == c, right, (1 - right) * random.random(truth.shape)) for c in range(classes)], 1)
    probs[:, :, ::5, ::3] = np.round(probs[:, :, ::5, ::3], 1)
    return probs.astype(np.float32), labels


def adapting(room, *flags, classes=3, grid=(24, 32)):
    """Calibrates so that levels follow the image; returns new images."""
    probs, labels = moody(40, classes, grid, seed=1)
    room.save("p.npy", probs), room.save("l.npy", labels)
    room.calibrate("--adapt", "image", *flags, probs="p.npy", labels="l.npy")
    with np.load(room.folder / "cal.kcal") as file:
        assert "adapt_shifts" in file, "no class adapts"
    probs, _ = moody(12, classes, grid, seed=2)
    return np.concatenate([probs, np.zeros_like(probs[:1]), np.ones_like(probs[:1]), np.full_like(probs[:1], 0.5)])


METHODS = [("field", score) for score in SCORES] + [(method, "near") for method in ("image", "kmeans", "fcc", "pixel")]


@pytest.mark.parametrize("method, score", METHODS)
def test_levels_follow_the_image_in_the_graph_too(room, method, score):
    probs = adapting(room, "--method", method, "--promise", "none", *SCORES[score])
    room.does("export", "cal.kcal", "--alpha", "0.1,0.4", "-o", "g.onnx")
    check_same(room, "g.onnx", probs, probs, (0.1, 0.4))
    together = sets_of(room, "g.onnx", probs[5:9])["sets_0.1"]  # each image has its own level, in any batch
    for n in range(4):
        np.testing.assert_array_equal(sets_of(room, "g.onnx", probs[5 + n : 6 + n])["sets_0.1"][0], together[n])


@pytest.mark.parametrize("flags", [["--condition", "none", "--promise", "split"], ["--promise", "loo"]], ids=" ".join)
def test_levels_follow_the_image_whatever_they_were_learnt_from(room, flags):
    grid = (12, 16) if "loo" in flags else (70, 90)  # cells of one pixel, and of several
    probs = adapting(room, "--method", "field", "--score", "near", *flags, grid=grid)
    room.does("export", "cal.kcal", "--alpha", "0.2,0.001", "--empty", "keep", "-o", "g.onnx")
    check_same(room, "g.onnx", probs, probs, (0.2, 0.001), ["--empty", "keep"])


def test_levels_follow_the_image_in_every_operator_set(room):
    adapting(room, "--method", "kmeans", "--promise", "none", "--score", "near", grid=(5, 7))
    images = np.random.default_rng(1).normal(size=(3, 2, 5, 7)).astype(np.float32)
    wanted = None
    for opset in range(13, 26):
        onnx.save(model(opset=opset, ir=8 if opset < 20 else 10), room.folder / "net.onnx")
        room.does("export", "cal.kcal", "--onto", "net.onnx", "-o", "both.onnx")
        found = sets_of(room, "both.onnx", images)
        wanted = predicted(room, found["probs"], 0.1) if wanted is None else wanted
        np.testing.assert_array_equal(found["sets_0.1"], wanted)


def test_a_nan_counts_as_nothing_where_levels_follow_the_image(room):
    probs = adapting(room, "--method", "image", "--promise", "none", "--score", "lac")[:4]
    room.does("export", "cal.kcal", "--empty", "keep", "-o", "g.onnx")
    wanted = sets_of(room, "g.onnx", np.where(np.arange(32) == 3, np.float32(0), probs))["sets_0.1"]
    found = sets_of(room, "g.onnx", np.where(np.arange(32) == 3, np.float32(np.nan), probs))["sets_0.1"]
    assert not found[..., 3].any()
    np.testing.assert_array_equal(np.delete(found, 3, -1), np.delete(wanted, 3, -1))


@pytest.mark.parametrize("score", SCORES)
def test_two_classes_may_come_as_one_plane(room, score):
    probs, labels = smooth(10, 2, (24, 32), seed=1)
    probs = probs[:, 1:]
    room.save("p.npy", probs), room.save("l.npy", labels)
    room.calibrate("--method", "image", *SCORES[score], probs="p.npy", labels="l.npy")
    room.does("export", "cal.kcal", "--foreground", "-o", "g.onnx")
    check_same(room, "g.onnx", probs[:3], probs[:3])


@pytest.mark.parametrize("empty", ["keep", "fill", "auto"])
def test_empty_sets_are_filled_as_predict_does(room, empty):
    room.calibrate("--method", "image", "--condition", "none")
    room.does("export", "cal.kcal", "--alpha", "0.6", "--empty", empty, "-o", "g.onnx")
    check_same(room, "g.onnx", room.probs, room.probs, (0.6,), ["--empty", empty])
    assert empty == "keep" or sets_of(room, "g.onnx", room.probs)["sets_0.6"].any(axis=1).all()
    assert empty != "keep" or not sets_of(room, "g.onnx", room.probs)["sets_0.6"].any(axis=1).all()


def test_many_classes_are_sorted_by_the_runtime(room):
    probs, labels = smooth(10, 11, (6, 9), seed=3)  # up to 8 are ranked by comparing planes
    room.save("p.npy", probs), room.save("l.npy", labels)
    for score in ["aps", "raps", "saps"]:
        room.calibrate("--method", "pixel", "--condition", "none", *SCORES[score], probs="p.npy", labels="l.npy")
        room.does("export", "cal.kcal", "-o", "g.onnx")
        check_same(room, "g.onnx", probs[:3], probs[:3])
        assert "TopK" in {node.op_type for node in onnx.load(room.folder / "g.onnx").graph.node}


@pytest.mark.parametrize("score", SCORES)
def test_a_nan_is_in_no_set(room, score):
    room.calibrate("--method", "image", "--condition", "none", *SCORES[score])
    room.does("export", "cal.kcal", "--empty", "keep", "-o", "g.onnx")
    probs = room.probs[:1].copy()
    probs[0, 1, 2, 3] = np.nan
    assert not sets_of(room, "g.onnx", probs)["sets_0.1"][0, 1, 2, 3]


def scores_of(kind, p):
    """Scores in float64 by their formulas (docs/scores.md)."""
    if kind == "lac":
        return 1 - p
    if kind == "near":
        return near(p.astype(np.float32)).astype(float)
    order = np.argsort(-p, axis=1, kind="stable")
    sums = np.take_along_axis(p, order, 1).cumsum(1)
    out = np.empty_like(sums)
    np.put_along_axis(out, order, sums, 1)
    return out


@pytest.mark.parametrize("kind", ["sigmoid", "softmax"])
@pytest.mark.parametrize("score", ["lac", "near", "aps"])
def test_logits_become_probabilities_as_the_calibrator_records(room, kind, score):
    logits = np.random.default_rng(4).normal(size=(20, 3, 16, 20)).astype(np.float32) * 4
    room.save("p.npy", logits), room.save("l.npy", logits.argmax(axis=1).astype(np.uint8))
    room.calibrate("--method", "image", "--logits", kind, *SCORES[score], probs="p.npy", labels="l.npy")
    room.does("export", "cal.kcal", "--empty", "keep", "-o", "g.onnx")
    found = sets_of(room, "g.onnx", logits)["sets_0.1"]
    wanted = predicted(room, logits, 0.1, "--logits", kind, "--empty", "keep")
    # exp() differs in its last bit between libraries: sets may differ only where score and threshold agree to 1e-6.
    wide = logits.astype(float)
    p = 1 / (1 + np.exp(-wide)) if kind == "sigmoid" else np.exp(wide) / np.exp(wide).sum(1, keepdims=True)
    room.does("predict", "cal.kcal", "--thresholds", "t.npy")
    limits = 1 - room.load("t.npy").astype(float) if score == "lac" else room.load("t.npy").astype(float)
    gap = np.abs(scores_of(score, p) - limits)
    assert (found != wanted).mean() < 1e-3 and gap[found != wanted].max(initial=0) <= 1e-6
    assert room.run("export", "cal.kcal", "--logits", "none", "-o", "n.onnx").code == 0
    assert session(room.folder / "n.onnx").get_inputs()[0].name == "probs"


def model(classes=3, grid=(5, 7), opset=17, kind=TensorProto.FLOAT, ir=8, shape=None, extra=False):
    """1 x 1 convolution, softmax, and perhaps a cast: image [N,2,H,W] -> probs."""
    weights = np.random.default_rng(0).normal(size=(classes, 2, 1, 1)).astype(np.float32)
    nodes = [helper.make_node("Conv", ["image", "w"], ["features"]),
             helper.make_node("Softmax", ["features"], ["soft"], axis=1),
             helper.make_node("Cast", ["soft"], ["probs"], to=kind)]
    outputs = [helper.make_tensor_value_info("probs", kind, ["N", classes, *grid] if shape is None else shape)]
    if extra:
        outputs.insert(0, helper.make_tensor_value_info("features", TensorProto.FLOAT, ["N", classes, *grid]))
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 2, *grid])],
                              outputs, [numpy_helper.from_array(weights, "w")])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir, doc_string="a model")
    helper.set_model_props(made, {"author": "somebody"})
    return made


@pytest.mark.parametrize("kind", [TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE])
@pytest.mark.parametrize("shape", [None, ["N", "c", "h", "w"], ["N", 3, "h", "w"]], ids=str)
def test_sets_are_appended_to_a_model(room, kind, shape):
    room.calibrate("--score", "near")
    before = model(kind=kind, shape=shape, extra=True)
    onnx.save(before, room.folder / "net.onnx")
    room.does("export", "cal.kcal", "--onto", "net.onnx", "--output-name", "probs", "-o", "both.onnx")
    images = np.random.default_rng(1).normal(size=(3, 2, 5, 7)).astype(np.float32)
    found, alone = sets_of(room, "both.onnx", images), sets_of(room, "net.onnx", images)
    assert list(found) == ["features", "probs", "sets_0.1"]
    for name, array in alone.items():
        np.testing.assert_array_equal(found[name], array)
    np.testing.assert_array_equal(found["sets_0.1"], predicted(room, alone["probs"], 0.1))

    after = onnx.load(room.folder / "both.onnx")
    props = {entry.key: entry.value for entry in after.metadata_props}
    assert props["author"] == "somebody" and props["kandinsky.alpha"] == "0.1" and props["kandinsky.score"] == "near"
    assert props["kandinsky.empty"] == "fill" and props["kandinsky.input"] == "probs" and props["kandinsky.grid"] == "7x5"
    assert f"identity      {props['kandinsky.identity']}\n" in room.does("inspect", "cal.kcal").out
    assert len(props["kandinsky.fingerprint"]) == 32 and "1 - alpha" in props["kandinsky.guarantee"]
    del after.graph.node[3:], after.graph.initializer[1:], after.graph.output[2:], after.metadata_props[1:]
    assert after == before


def test_a_model_with_one_plane_says_so_itself(room):
    probs, labels = scene(6, classes=2)
    room.save("p.npy", probs), room.save("l.npy", labels)
    room.calibrate("--method", "image", probs="p.npy", labels="l.npy")
    room.save("l.npy", labels)
    net = helper.make_model(helper.make_graph(
        [helper.make_node("Sigmoid", ["x"], ["y"])], "net", [helper.make_tensor_value_info("x", 1, ["N", 1, 5, 7])],
        [helper.make_tensor_value_info("y", 1, ["N", 1, 5, 7])]), opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(net, room.folder / "net.onnx")
    room.does("export", "cal.kcal", "--onto", "net.onnx", "-o", "both.onnx")
    x = np.random.default_rng(1).normal(size=(2, 1, 5, 7)).astype(np.float32)
    found = sets_of(room, "both.onnx", x)
    np.testing.assert_array_equal(found["sets_0.1"], predicted(room, found["y"], 0.1))
    room.refuses(2, ["softmax over the single class of output 'y'"], "export", "cal.kcal", "--onto", "net.onnx", "--logits",
                 "softmax", "-o", "no.onnx")


def test_probabilities_are_not_taken_for_logits(room):
    room.calibrate("--logits", "softmax", output="of_logits.kcal")
    room.calibrate()
    onnx.save(model(kind=TensorProto.FLOAT16), room.folder / "net.onnx")  # a Softmax, then a Cast
    room.refuses(2, ["'probs' holds probabilities already (computed by Softmax)", "--logits softmax", ", as in calibration;", "--logits none"],
                 "export", "of_logits.kcal", "--onto", "net.onnx", "-o", "no.onnx")
    room.refuses(2, ["'probs' holds probabilities already", "--logits sigmoid would"],
                 "export", "cal.kcal", "--onto", "net.onnx", "--logits", "sigmoid", "-o", "no.onnx")
    room.does("export", "of_logits.kcal", "--onto", "net.onnx", "--logits", "none", "-o", "both.onnx")


@pytest.mark.parametrize("score", ["near", "margin", "raps"])
def test_every_operator_set_from_13_to_25_works(room, score):
    room.calibrate(*SCORES[score])
    images = np.random.default_rng(1).normal(size=(1, 2, 5, 7)).astype(np.float32)
    for opset in range(13, 26):
        onnx.save(model(opset=opset, ir=8 if opset < 20 else 10), room.folder / "net.onnx")
        room.does("export", "cal.kcal", "--onto", "net.onnx", "-o", "both.onnx")
        found = sets_of(room, "both.onnx", images)
        np.testing.assert_array_equal(found["sets_0.1"], predicted(room, found["probs"], 0.1))


def test_the_runtime_refuses_other_shapes(room):
    room.calibrate()
    room.does("export", "cal.kcal", "-o", "g.onnx")
    with pytest.raises(Exception, match="invalid dimensions"):
        sets_of(room, "g.onnx", room.probs[:, :, :, :6])
    onnx.save(model(shape=["N", "c", "h", "w"], grid=("h", "w")), room.folder / "net.onnx")
    room.does("export", "cal.kcal", "--onto", "net.onnx", "-o", "both.onnx")
    assert sets_of(room, "both.onnx", np.ones((1, 2, 5, 7), np.float32))["sets_0.1"].shape == (1, 3, 5, 7)
    with pytest.raises(Exception, match="the calibrator needs 7 columns"):
        sets_of(room, "both.onnx", np.ones((1, 2, 5, 1), np.float32))


def test_what_cannot_be_exported_is_refused_in_one_line(room):
    room.calibrate()
    room.calibrate("--score", "aps", "--randomized", output="random.kcal")
    onnx.save(model(), room.folder / "net.onnx")
    onnx.save(model(extra=True), room.folder / "two.onnx")
    onnx.save(model(opset=12), room.folder / "old.onnx")
    onnx.save(model(opset=26), room.folder / "new.onnx")
    onnx.save(model(grid=(5, 8)), room.folder / "wide.onnx")
    onnx.save(model(classes=4), room.folder / "four.onnx")
    onnx.save(model(kind=TensorProto.INT64), room.folder / "whole.onnx")
    big = model()
    onnx.external_data_helper.convert_model_to_external_data(big, location="w.bin", size_threshold=0)
    onnx.save(big, room.folder / "outside.onnx")
    (room.folder / "text.onnx").write_text("this is a text, not a model\n")
    (room.folder / "none.onnx").write_bytes(b"")
    (room.folder / "cut.onnx").write_bytes((room.folder / "net.onnx").read_bytes()[:-30])
    (room.folder / "sub").mkdir()
    room.does("export", "cal.kcal", "--onto", "net.onnx", "-o", "both.onnx")
    room.does("export", "cal.kcal", "--onto", "outside.onnx", "-o", "beside.onnx")
    for code, parts, *words in [
        (2, ["randomized", "hash of the image", "calibrate without"], "random.kcal"),
        (2, ["--alpha has 0.1 twice"], "cal.kcal", "--alpha", "0.1,0.2,0.1"),
        (2, ["alpha is 1.5"], "cal.kcal", "--alpha", "1.5"),
        (2, ["--alpha"], "cal.kcal", "--alpha", "low"),
        (2, ["--foreground is for two classes", "has 3"], "cal.kcal", "--foreground"),
        (2, ["--logits is 'tanh'"], "cal.kcal", "--logits", "tanh"),
        (2, ["--empty is 'some'"], "cal.kcal", "--empty", "some"),
        (2, ["--output-name has no effect", "--onto MODEL"], "cal.kcal", "--output-name", "probs"),
        (2, ["two.onnx", "several outputs: features, probs", "--output-name NAME"], "cal.kcal", "--onto", "two.onnx"),
        (3, ["net.onnx", "no output 'mask'", "may be probs"], "cal.kcal", "--onto", "net.onnx", "--output-name", "mask"),
        (3, ["old.onnx", "operator set is 12", "13 to 25"], "cal.kcal", "--onto", "old.onnx"),
        (3, ["new.onnx", "operator set is 26", "13 to 25"], "cal.kcal", "--onto", "new.onnx"),
        (3, ["wide.onnx", "'probs' has shape [?,3,5,8]", "[N,3,5,7]"], "cal.kcal", "--onto", "wide.onnx"),
        (3, ["four.onnx", "'probs' has shape [?,4,5,7]"], "cal.kcal", "--onto", "four.onnx"),
        (3, ["whole.onnx", "holds no floats"], "cal.kcal", "--onto", "whole.onnx"),
        (3, ["both.onnx", "sets were appended to it before"], "cal.kcal", "--onto", "both.onnx", "--output-name", "probs"),
        (3, ["outside.onnx", "weights are in other files"], "cal.kcal", "--onto", "outside.onnx", "-o", "sub/no.onnx"),
        (3, ["text.onnx", "not an ONNX model"], "cal.kcal", "--onto", "text.onnx"),
        (3, ["none.onnx", "not an ONNX model"], "cal.kcal", "--onto", "none.onnx"),
        (3, ["cut.onnx", "not an ONNX model"], "cal.kcal", "--onto", "cut.onnx"),
        (4, ["missing.onnx"], "cal.kcal", "--onto", "missing.onnx"),
    ]:
        room.refuses(code, parts, "export", *words, *([] if "-o" in words else ["-o", "no.onnx"]))
