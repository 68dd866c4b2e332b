"""The Python of the documents runs, and every name that the pages show exists."""

import ast
import re
import sys
import types
from pathlib import Path

import kandinsky
import numpy as np
import pytest
from support import run, scene

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/guide.md", "docs/python.md"]
KINDS = [kandinsky.Calibrator, kandinsky.Comparison, kandinsky.Evaluation, kandinsky.Evaluator, kandinsky.Monitor]
# What snippets call calibrators; other names (torch, client, future) are not ours.
CALIBRATORS = {"cal", "total", "calibrator"}


def snippets(page):
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


def execute(page, snippet, names):
    exec(compile(snippet, page, "exec"), names)  # noqa: S102


@pytest.mark.parametrize("page,says,leaves", [("docs/guide.md", "mean CE", "model.kcal")])
def test_the_snippets_that_read_the_demo_run(page, says, leaves, tmp_path, monkeypatch, capsys):
    done = run("demo", "-q", "-o", "demo", "--images", 12, "--test-images", 6, "--size", "24x16", cwd=tmp_path)
    assert done.code == 0, done
    monkeypatch.chdir(tmp_path)
    (snippet,) = snippets(page)
    execute(page, snippet, {})
    assert says in capsys.readouterr().out
    assert (tmp_path / leaves).exists()


class OnDevice:
    """The part of a tensor that the snippets use. A real tensor would be compared on its device."""

    def __init__(self, array):
        self.array = array

    def cuda(self):
        return self

    def __le__(self, other):  # probs >= thresholds, with a numpy array on the left
        return other >= self.array

    __array_ufunc__ = None


@pytest.fixture
def names(tmp_path, monkeypatch):
    """The names that the snippets of README and python.md use for the reader's own data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(from_numpy=OnDevice))
    probs, labels = scene(30, seed=3)
    test_probs, test_labels = scene(20, seed=4)
    return {
        "kandinsky": kandinsky, "torch": sys.modules["torch"], "probs": probs, "labels": labels, "groups": np.arange(30),
        "new": test_probs, "new_probs": test_probs, "probs_on_gpu": test_probs, "cal_probs": probs, "cal_labels": labels,
        "test_probs": test_probs, "test_labels": test_labels, "loader": [(probs[:15], labels[:15]), (probs[15:], labels[15:])],
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore::kandinsky.CalibrationWarning")
def test_the_snippet_of_the_readme_runs(names, capsys):
    (snippet,) = snippets("README.md")
    execute("README.md", snippet, names)
    assert names["sets"].shape == (20, 3, 5, 7)
    assert "field" in capsys.readouterr().out
    assert Path("model.kcal").exists()


@pytest.mark.filterwarnings("ignore::kandinsky.CalibrationWarning")
def test_the_snippets_of_the_python_page_run(names, capsys):
    distributed = pytest.importorskip("dask.distributed", reason="dask is not installed: the snippet on shards is left out")
    tour, device, loop, objects, shards = snippets("docs/python.md")
    execute("docs/python.md", tour, names)
    assert "mean CE" in capsys.readouterr().out
    execute("docs/python.md", device, names)
    np.testing.assert_array_equal(names["sets"], names["cal"].predict_set(names["probs"], alpha=0.1))

    own = dict(names)  # a copy, because the loop assigns names of the reader's data
    execute("docs/python.md", loop, own)
    assert own["found"].images == 30 and "0.1 [" in capsys.readouterr().out

    own = dict(names, patients=np.arange(30), image=names["new"][0, 1])
    execute("docs/python.md", objects, own)
    assert own["codes"].max() <= 2 and own["one"].size_low <= own["one"].size_high

    halves = [(names["probs"][half], names["labels"][half], np.arange(30)[half]) for half in (slice(0, 15), slice(15, 30))]
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        names |= {"dask": types.SimpleNamespace(distributed=distributed), "client": client, "parts": [0, 1],
                  "read": lambda part: [halves[part]]}  # fmt: skip
        execute("docs/python.md", shards, names)
    one = kandinsky.Calibrator("kmeans").fit(names["probs"], names["labels"], np.arange(30))
    np.testing.assert_array_equal(names["total"].score_thresholds(alpha=0.1), one.score_thresholds(alpha=0.1))


@pytest.mark.parametrize("page", PAGES)
def test_every_attribute_in_the_snippets_exists(page):
    looked_at = 0
    for snippet in snippets(page):
        for node in ast.walk(ast.parse(snippet)):
            if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
                continue
            owner = {"kandinsky": kandinsky}.get(node.value.id, kandinsky.Calibrator if node.value.id in CALIBRATORS else None)
            if owner is not None:
                assert hasattr(owner, node.attr), f"{page}: {node.value.id}.{node.attr}"
                looked_at += 1
    assert looked_at >= 3


def test_every_name_in_the_table_of_the_api_exists():
    rows = re.findall(r"^\| (`.*?) \| ", (ROOT / "docs/python.md").read_text(), re.MULTILINE)
    names = re.findall(r"`(\.?)([A-Za-z]\w*)", " ".join(rows))
    assert len(names) >= 25
    for dot, name in names:
        owners = KINDS if dot else [kandinsky]
        assert any(hasattr(owner, name) for owner in owners) or name in ERRORS_OF_PYTHON, name


ERRORS_OF_PYTHON = {"ValueError", "OSError", "RuntimeError", "AttributeError"}
