"""Users of Python never see the command's flags in errors, warnings, guarantees, results or help."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from support import methods, scene

import kandinsky
from kandinsky import Calibrator
from kandinsky._words import in_python

ROOT = Path(__file__).resolve().parents[2]
FLAG = re.compile(r"(?<![\w-])--[a-z]")
NAMED = re.compile(r"`[a-z][^`]*`")


@pytest.mark.parametrize("text,wanted", [
    ("--min-count is -1", "min_count is -1"),
    ("say --logits sigmoid or --logits softmax", "say logits='sigmoid' or logits='softmax'"),
    ("--split 0.5 of 3 groups leaves", "split=0.5 of 3 groups leaves"),
    ("(--split gives a guarantee)", "(split gives a guarantee)"),
    ("--compat released has the score lac only, but --score is near", "compat='released' has the score lac only, but score_function is near"),
    ("--promise loo needs --pooling groups", "promise='loo' needs pooling='groups'"),
    ("--adapt image needs --pooling groups", "adapt='image' needs pooling='groups'"),
    ("--risk recall,precision needs --confidence, e.g. 0.95", "risk='recall,precision' needs confidence, e.g. 0.95"),
    ("give --classes 1,2, or none", "give classes=[1, 2], or none"),
    ("add --mask REGIONS.npy", "add mask"),
    ("`min_count` is -1", "min_count is -1"),
    ("`promise loo` needs `pooling groups`", "promise='loo' needs pooling='groups'"),
    ("`compat released` has the score lac only, but `score` is near", "compat='released' has the score lac only, but score_function is near"),
    ("`split 0.5` of 3 groups leaves", "split=0.5 of 3 groups leaves"),
    ("add `mask REGIONS.npy`; `Not a name`, `", "add mask; `Not a name`, `"),
    ("--quantiles has 2, but", "quantiles has 2, but"),
    ("a -- b, x--y, ---", "a -- b, x--y, ---"),
])
def test_flags_become_parameters(text, wanted):
    assert in_python(text) == wanted


def test_every_message_of_the_library_can_be_said_in_python():
    told = 0
    for source in (ROOT / "src").rglob("*.cpp"):
        for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', source.read_text()):
            if FLAG.search(literal) or NAMED.search(literal):
                told += 1
                said = in_python(literal)
                assert not FLAG.search(said) and not NAMED.search(said), (source, literal)
    assert told > 150


def errors(small):
    """Calls that fail, from every part of the package."""
    probs, labels = small
    fitted = Calibrator("image", condition="none").fit(probs, labels)
    fit = lambda method="image", **options: lambda: Calibrator(method, **options).fit(probs, labels)  # noqa: E731
    nan, many = probs.copy(), labels.copy()
    nan[3, 1, 0, 2], many[0, 0, 0] = np.nan, 77
    compare = lambda **options: lambda: kandinsky.compare(probs, labels, probs, labels, methods="image", **options)  # noqa: E731
    return [
        fit("kmeans", clusters=0), fit("mask"), fit("nothing"), fit("kmeans", promise="loo", pooling="pixels"), fit("field", promise="loo", pooling="pixels"),
        fit("field", promise="loo", split=0.5), fit(quantiles=[]), fit(quantiles=[2]), fit(split=2), fit("kmeans", split=0.001),
        fit(rungs=1), fit(compat="released", score_function="aps"), fit(memory="1"), fit(memory="much"), fit(condition="klass"),
        fit(score_function="lack"), fit(pooling="none"), fit(fallback="all"), fit(options={"preset": "book"}), fit(logits="tanh"),
        fit("field", confidence=0.9, promise="loo"), fit(confidence=2), fit(risk="precision"), fit(risk="f1"), fit(confidence=0.9, pooling="pixels"),
        fit("field", bandwidths="x"), fit("genann", population=2), fit("fcc", order=0), fit("kmeans", split=0.5, promise="loo"),
        lambda: Calibrator("image").fit(nan, labels), lambda: Calibrator("image").fit(probs, many),
        lambda: Calibrator("image").fit(probs * 9, labels), lambda: Calibrator("image", logits="softmax").fit(nan, labels),
        lambda: Calibrator("image", logits="softmax").fit((probs * 9).astype(np.uint8), labels),
        lambda: Calibrator("image", logits="softmax").fit(probs[:, :1], labels),
        lambda: fitted.evaluate(probs, labels, bootstrap=99999), lambda: Calibrator("kmeans").fit(probs, labels).predict_set(probs[..., :3]),
        compare(draws=0), compare(draws=3), compare(sample=99), compare(sample=5, draws=2, bootstrap=9),
        lambda: kandinsky.compare(probs, labels, probs, labels, methods="image,image"),
        lambda: kandinsky.report(fitted, probs, labels, class_names=["one"]), lambda: kandinsky.load("/nowhere.kcal"),
    ]  # fmt: skip


@pytest.mark.filterwarnings("ignore::kandinsky.CalibrationWarning")
def test_no_error_names_a_flag(small):
    told = []
    for number, call in enumerate(errors(small)):
        with pytest.raises(kandinsky.Error) as problem:
            call()
            pytest.fail(f"call {number} was accepted")
        told.append(str(problem.value))
        assert not FLAG.search(told[-1]) and "\n" not in told[-1], told[-1]
    assert any("score_function" in one for one in told) and any("logits='sigmoid'" in one for one in told)


def test_nan_is_not_taken_for_a_logit(small):
    probs = small[0].copy()
    probs[3, 1, 0, 2] = np.nan
    with pytest.raises(kandinsky.DataError, match="probability nan at image 3, class 1, row 0, column 2") as problem:
        Calibrator("image").fit(probs, small[1])
    assert "logit" not in str(problem.value)


@pytest.mark.parametrize("method", [*methods(), "auto"])
def test_no_promise_warning_or_result_names_a_flag(method):
    probs, labels = scene(8, seed=1)
    options = {"mask": {"mask": np.zeros((5, 7), int)}, "fcc": {"starts": 1, "iterations": 5}}.get(method, {})
    with warnings.catch_warnings(record=True) as remarks:
        warnings.simplefilter("always")
        calibrator = Calibrator(method, **options).fit(probs, labels)
    found = calibrator.evaluate(probs, labels, bootstrap=0)
    for text in [calibrator.guarantee_, repr(calibrator), calibrator._repr_html_(), str(found), found.to_json(), found.guarantee,
                 *(str(one.message) for one in remarks)]:  # fmt: skip
        assert not FLAG.search(text), text


def test_no_help_names_a_flag():
    for option in kandinsky.options():
        assert not FLAG.search(option.help) and "-" not in option.name, option
    for method in kandinsky.methods():
        assert not FLAG.search(method.summary)


def test_no_docstring_names_a_flag():
    for name in kandinsky.__all__:
        member = getattr(kandinsky, name)
        for owner in [member, *(vars(member).values() if isinstance(member, type) else [])]:
            assert not FLAG.search(getattr(owner, "__doc__", None) or ""), (name, owner)
