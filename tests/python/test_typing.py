"""The package's types are there, and they are true."""

import ast
import importlib.metadata
import re
import subprocess
import sys
import typing
import warnings
from pathlib import Path

import numpy as np
import pytest

import kandinsky

FOLDER = Path(kandinsky.__file__).parent
USER = """
import numpy as np
import kandinsky
cal = kandinsky.Calibrator(method="kmeans", clusters=3)
cal.partial_fit(np.zeros((1, 2, 3, 4)), np.zeros((1, 3, 4), int)).calibrate()
reveal_type(cal.grid_)
reveal_type(kandinsky.load("a.kcal").evaluate([1], [2]).mean_ce)
cal.thresholds("much")
"""


def mypy(*words, cwd):
    pytest.importorskip("mypy", reason="mypy is not installed")
    return subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, cwd=cwd, check=False)


def test_the_package_says_that_it_is_typed():
    assert (FOLDER / "py.typed").exists() and (FOLDER / "_core.pyi").exists()


def arguments(function):
    """Names of the arguments of a function of the extension, from the signature in its docstring."""
    signature = function.__doc__.splitlines()[0]
    tree = ast.parse(f"def {signature.split('(')[0]}({', '.join(NAME.findall(signature.split(' -> ')[0]))}): ...")
    return [one.arg for one in tree.body[0].args.args]


NAME = re.compile(r"[(,] ?([a-z_]\w*)(?=[:,)])")


def members(body):
    return {one.name: one for one in body if isinstance(one, (ast.FunctionDef, ast.ClassDef))}


def test_the_stub_lists_what_the_extension_has():
    core, stub = kandinsky._core, ast.parse((FOLDER / "_core.pyi").read_text())
    listed = members(stub.body)
    assert set(listed) | {"version", "default_method"} == {name for name in dir(core) if not name.startswith("_")}
    for name, node in listed.items():
        real = getattr(core, name)
        if isinstance(node, ast.FunctionDef):
            assert arguments(real) == [one.arg for one in node.args.args], name
            continue
        own = members(node.body)
        assert {one for one in own if not one.startswith("_")} == {one for one in dir(real) if not one.startswith("_")}
        for method, inner in own.items():
            if not inner.decorator_list and not method.startswith("_"):
                assert arguments(getattr(real, method)) == [one.arg for one in inner.args.args], (name, method)


def test_a_users_types_are_checked(tmp_path):
    (tmp_path / "user.py").write_text(USER)
    done = mypy("mypy", "--cache-dir", str(tmp_path / "cache"), "user.py", cwd=tmp_path)
    lines = done.stdout.replace("builtins.", "").splitlines()
    assert any(":6:" in line and "[int, int]" in line for line in lines), done.stdout
    assert any(":7:" in line and "ndarray" in line for line in lines), done.stdout
    assert any(":8:" in line and 'incompatible type "str"' in line for line in lines), done.stdout
    assert sum("error" in line for line in lines) == 2, done.stdout  # the error in line 8, and mypy's summary


# Correct code, then code with a mistake on each line.
RIGHT = """
import numpy as np
import kandinsky
from kandinsky import Calibrator, Evaluator

probs, labels = np.zeros((1, 2, 3, 4)), np.zeros((1, 3, 4), int)


class Tensor:
    def __dlpack__(self, *, stream: object = None) -> object: ...
    def __dlpack_device__(self) -> object: ...


class Own(Calibrator):
    pass


own: Own = Own("fcc", curves=3, penalty=0.1).fit(probs, labels, ["a"]).set_params(seed=2)
tensor: Tensor = own.predict_set(Tensor(), alpha=[0.1, 0.2])
sets: np.ndarray = own.predict_set(probs.tolist(), empty="keep")
found = own.evaluate(probs, labels)
size: float = found.results[0].set_size + found.single_right
evaluator: Evaluator = Evaluator(own, 0.1).update(Tensor(), labels)
kandinsky.compare(probs, labels, probs, labels, methods=["image"], score_function="lac", kmeans_clusters="auto")
kandinsky.compare(probs, labels, probs, labels, methods=["field", "field:lac"])
"""
WRONG = """
Calibrator(condition="klass")
Calibrator(metohd=2)
Calibrator(method="kmean")
Calibrator("kmeans", clusters="many")
Calibrator(logits=True)
Calibrator().fit("nonsense", 3.0)
Calibrator().predict_set(probs, empty="drop")
Calibrator().predict_set("nonsense")
found.results[0].set_sise
found.mean_cce
kandinsky.compare(probs, labels, probs, labels, pooling="all")
Evaluator(own).update(probs)
kandinsky.make_scenes("landscape")
kandinsky.compare(probs, labels, probs, labels, methods=["pixle"])
kandinsky.compare(probs, labels, probs, labels, methods=["field", "field:lca"])
"""


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_a_wrong_word_fails_the_type_checker(tmp_path, checker):
    pytest.importorskip(checker, reason=f"{checker} is not installed")
    (tmp_path / "user.py").write_text(RIGHT + WRONG)
    words = ["mypy", "--strict", "--cache-dir", str(tmp_path / "cache")] if checker == "mypy" else ["pyright"]
    done = subprocess.run([sys.executable, "-m", *words, "user.py"], capture_output=True, text=True, cwd=tmp_path, check=False)
    told = {int(number) for number in re.findall(r"user\.py:(\d+):.*error", done.stdout)}
    # Errors in the bodies of the protocols in RIGHT do not count.
    first = RIGHT.count("\n") + 2
    assert {line for line in told if line >= first} == set(range(first, first + WRONG.count("\n") - 1)), done.stdout
    assert not {line for line in told if line < first and "__dlpack" not in RIGHT.splitlines()[line - 1]}, done.stdout


def test_the_types_list_all_words_and_options():
    from kandinsky import _keywords, _types

    names = {method.name: method for method in kandinsky.methods()}
    assert set(typing.get_args(_types.MethodName)) == set(names)
    pairs = typing.get_args(typing.get_args(_types.ComparedName)[-1])
    assert set(pairs) >= {f"{method}:{score}" for method in names for score in typing.get_args(_types.ScoreName)}
    probs, labels = np.full((3, 2, 2, 2), 0.5, np.float32), np.zeros((3, 2, 2), np.uint8)
    for name, words in _types.WORDS.items():
        for word in typing.get_args(words):  # the library must accept each of them
            if name not in ("method", "empty") and (name, word) != ("compat", "released"):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    if name in ("sides", "unit", "connectivity", "by"):
                        learn = kandinsky.fit_measure if name == "by" else kandinsky.fit_outline
                        learn(probs, np.ones_like(labels), **({"unit": "object"} if name == "connectivity" else {}), **{name: word})
                        continue
                    learner = {"promise": {"method": "kmeans", "clusters": 1}, "adapt": {"method": "field"}, "risk": {"confidence": 0.9}}.get(name, {"method": "image"})
                    kandinsky.Calibrator(**learner, **{name: word}).fit(probs, labels)
    full = {option.name for option in kandinsky.options()} - set(kandinsky.Calibrator().get_params())
    short = {"regions"} | {o.name[len(m) + 1 :] for m in names for o in names[m].options if o.name.startswith(f"{m}_")}
    assert set(_keywords.AllOptions.__annotations__) == full
    assert set(_keywords.MoreOptions.__annotations__) == full | short
    assert kandinsky.Calibrator().method == kandinsky._core.default_method


def test_the_packages_own_types_fit_together(tmp_path):
    done = mypy("mypy", "--cache-dir", str(tmp_path / "cache"), "--ignore-missing-imports",
                "--disable-error-code=import-untyped", "-p", "kandinsky", cwd=tmp_path)
    assert done.returncode == 0, done.stdout


def test_every_public_name_is_documented():
    for name in kandinsky.__all__:
        assert name == "__version__" or getattr(kandinsky, name).__doc__, name
    methods = {name: getattr(kandinsky.Calibrator, name) for name in dir(kandinsky.Calibrator) if not name.startswith("_")}
    assert {"fit", "predict_set", "save"} <= set(methods)
    for name, member in methods.items():
        assert not callable(member) or member.__doc__, name


def test_the_version_is_the_packages():
    assert importlib.metadata.version("kandinsky") == kandinsky.__version__
