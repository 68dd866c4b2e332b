"""The Python of the documents: the guide's snippet runs, and every name that the pages show exists."""

import ast
import re
from pathlib import Path

import kandinsky
import pytest
from support import run

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/guide.md", "docs/python.md"]
KINDS = [kandinsky.Calibrator, kandinsky.Comparison, kandinsky.Evaluation]
# What snippets call calibrators; other names (torch, client, future) are not ours.
CALIBRATORS = {"cal", "total", "calibrator"}


def snippets(page):
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


def test_the_snippet_of_the_guide_runs(tmp_path, monkeypatch, capsys):
    done = run("demo", "-q", "-o", "demo", "--images", 12, "--test-images", 6, "--size", "24x16", cwd=tmp_path)
    assert done.code == 0, done
    monkeypatch.chdir(tmp_path)
    (snippet,) = snippets("docs/guide.md")
    exec(compile(snippet, "docs/guide.md", "exec"), {})  # noqa: S102
    assert "mean CE" in capsys.readouterr().out
    assert (tmp_path / "model.kcal").exists()


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
