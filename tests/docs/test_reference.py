"""The reference pages name every public header and every Python name once, and the site's contents every page."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def test_every_public_header_is_on_one_page():
    shown = [name for page in (DOCS / "api").glob("*.md") for name in re.findall(r"doxygenfile:: (\S+)", page.read_text())]
    headers = [path.name for path in (ROOT / "include" / "kandinsky").glob("*.hpp") if path.name not in ("kandinsky.hpp", "export.hpp")]  # these declare nothing
    assert len(headers) >= 20
    assert sorted(shown) == sorted(headers)


def test_every_python_name_is_explained():
    tree = ast.parse((ROOT / "python" / "kandinsky" / "__init__.py").read_text())
    (names,) = [ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"]
    page = (DOCS / "api" / "python.md").read_text()
    shown = re.findall(r"auto\w+:: kandinsky\.(\w+)", page)
    assert sorted(shown) == sorted(name for name in names if name != "__version__")


def test_the_contents_list_every_page():
    listed = []
    for page in [DOCS / "index.md", DOCS / "api" / "cpp.md"]:
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), re.DOTALL):
            words = [line for line in tree.splitlines() if line and not line.startswith(":")]
            listed += [(page.parent / f"{word}.md").resolve() for word in words]
    pages = [page for page in DOCS.rglob("*.md") if page not in (DOCS / "index.md", DOCS / "README.md")]
    assert sorted(page for page in listed if DOCS in page.parents) == sorted(pages)
