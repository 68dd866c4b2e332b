"""Sphinx makes the pages of docs/ into a site (`make docs`). The source folder is the project's root, so that links
between pages are the same here and in a checkout."""

import os
import re
import sys
from pathlib import Path

from docutils import nodes

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

project = "Kandinsky"
author = "The Kandinsky developers"
copyright = author  # noqa: A001 (Sphinx's name)
release = version = re.search(r"project\(kandinsky VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text()).group(1)

extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
root_doc = "docs/index"
include_patterns = ["docs/**", "CHANGELOG.md", "CONTRIBUTING.md", "HACKING.md", "SECURITY.md"]
# docs/README.md is the table of contents for readers of the checkout; docs/index.md has its place here.
exclude_patterns = ["build*", "web/**", "src/**", "tests/**", ".git/**", "docs/README.md", "docs/site/**"]

myst_enable_extensions = ["colon_fence", "attrs_inline"]
myst_heading_anchors = 4
# Every header's part begins with the namespace. That no header stands on two pages is tested (tests/docs).
suppress_warnings = ["duplicate_declaration.cpp"]

breathe_projects = {"kandinsky": os.environ.get("KANDINSKY_DOXYGEN_XML", str(ROOT / "build" / "docs" / "doxygen" / "xml"))}
breathe_default_project = "kandinsky"
breathe_default_members = ("members",)
breathe_show_include = False

# The extension module needs a compiler; what users see is all Python.
autodoc_mock_imports = ["kandinsky._core", "matplotlib"]
autodoc_preserve_defaults = True
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}

html_theme = "furo"
html_title = f"Kandinsky {release}"
html_static_path = []
html_extra_path = ["extra"]
html_theme_options = {"sidebar_hide_name": False, "navigation_with_keys": True}
highlight_language = "text"
copybutton_exclude = ".linenos, .gp, .go"

COMMAND = re.compile(r"(kandinsky|make|pip|python3|cmake|ctest|git|mkdir|sudo|for|scripts/|\./|build/bin/|nnUNet|apt|docker)\b")


def colour_blocks(app, doctree):
    """Indented blocks have no language. Those that begin with a command are shell, those with find_package CMake."""
    for block in doctree.findall(nodes.literal_block):
        if block.get("language", "text") not in ("text", "default", "none"):
            continue
        first = block.astext().lstrip()
        if first.startswith("find_package"):
            block["language"] = "cmake"
        elif COMMAND.match(first):
            block["language"] = "bash"


def folders_are_text(app, name, source):
    """Links to folders and to files outside the site lead nowhere on it: their text stays."""
    here = (ROOT / name).parent

    def plain(found):
        target = found.group(2).split("#")[0]
        if not target or re.match(r"[a-z]+:", target):
            return found.group(0)
        path = (here / target).resolve()
        inside = path.suffix in (".md", ".png", ".svg") and path.is_file() and path.name != "README.md"
        return found.group(0) if inside or found.group(0).startswith("!") else found.group(1)

    source[0] = re.sub(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", plain, source[0])


def setup(app):
    app.connect("source-read", folders_are_text)
    app.connect("doctree-read", colour_blocks)
