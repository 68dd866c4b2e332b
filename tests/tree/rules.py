"""The project's rules as functions: each takes a file's path and text and yields its violations as text."""

import posixpath
import re
from pathlib import PurePosixPath

# Includes point backwards along the flow of the data: a folder may include itself and the folders before it.
FLOW = ["core", "score", "curve", "partition", "calibrate", "outline", "evaluate", "io", "monitor", "scene", "report", "model", "dist", "cli"]
# The same inside the folders that are divided by theme.
ROOMS = {
    "core": ["base", "kernel", "team", "data"],
    "io": ["file", "array", "zip", "json", "kcal", "onnx", "source", "mask", "png", "jpeg", "nifti", "coco", "image", "folder"],
    "report": ["table", "data", "figure", "page"],
    "cli": ["process", "options", "commands"],
}
ABOVE_ALL_ROOMS = {"src/cli/main.cpp"}
LONGEST_FILE = 800
WIDEST_LINE = 110  # of .clang-format and web/biome.json, which break neither text nor comments
LAID_OUT = {".cpp", ".hpp", ".ts", ".mjs", ".css"}
SOURCES = {".cpp", ".hpp", ".py", ".ts", ".cmake", ".sh", ".in"}
# Files of these kinds have a limit on their length, because people read them; lock files and data have none.
READ_BY_PEOPLE = SOURCES | {".md", ".txt", ".yml", ".yaml", ".cff", ".html", ".css"}
# Methods whose names are ordinary words: only the name as a string literal counts.
ORDINARY_WORDS = {"pixel", "image", "mask", "field"}
# The commands choose defaults by name and show examples.
MAY_NAME_METHODS = "src/cli/commands/"
# Exceptions where a method's name occurs outside its folder: how often, and its meaning there.
NAMED_ELSEWHERE = {
    ("src/calibrate/guarantee.cpp", "image"): (1, "what is exchangeable: a group or an image"),
    ("src/calibrate/thresholds.cpp", "image"): (2, "a value of --fallback"),
    ("src/curve/adaptation.cpp", "image"): (2, "a value of --adapt"),
    ("src/cli/options/calibrate_flags.cpp", "image"): (1, "what was counted: groups or images"),
    ("src/cli/options/calibrate_flags.cpp", "kmeans"): (1, "the method of --preset paper"),
    ("src/io/coco/index.cpp", "image"): (1, "an entry of a COCO file"),
    ("src/io/folder/array_files.cpp", "image"): (1, "a usual key of archives"),
    ("src/io/folder/array_files.cpp", "mask"): (1, "a usual key of archives"),
    ("src/monitor/verdict.cpp", "image"): (1, "what is judged: a group or an image"),
    ("src/outline/shared_rule.hpp", "pixel"): (3, "a unit of length"),
    ("src/outline/scores.cpp", "field"): (1, "a value of outline's --score"),
    ("src/outline/words.hpp", "image"): (1, "what is exchangeable: a group, a volume or an image"),
    ("src/report/data/example_images.cpp", "image"): (1, "a field of the page's data"),
    ("src/report/page/report_data.cpp", "image"): (1, "a field of the page's data"),
    ("src/report/data/pixel_curves.cpp", "image"): (2, "a curve drawn beside every method's, and its field"),
    ("src/report/data/pixel_curves.cpp", "pixel"): (1, "a curve drawn beside every method's"),
    ("src/report/figure/figures.cpp", "kmeans"): (1, "the regions that shapes are drawn over"),
    ("src/report/figure/weights.cpp", "image"): (1, "the name of a column"),
    ("src/report/table/monitor_json.cpp", "image"): (1, "what is judged: a group or an image"),
}

# Messages that quote a line for the shell, whose flags stay as they are.
SHELL_LINES = ("srun --mpi", "--val --npz", "kandinsky outline --contours")

_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*")', re.DOTALL)
_MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:root|home|work)/")


def includes(text):
    """(line number, '<' or '"', path) of every include."""
    for match in _INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start(2)) + 1, match.group(1), match.group(2)


def without_comments(text):
    """The text with comments blanked; string literals and line numbers stay."""
    return _COMMENT.sub(lambda m: m.group(1) or "\n" * m.group(0).count("\n"), text)


def place_in_flow(parts):
    """The place of src/`parts` in the order: (number of the folder, number inside it, the folder's name), or None."""
    if parts[0] not in FLOW:
        return None
    if parts[0] not in ROOMS:
        return FLOW.index(parts[0]), 0, parts[0]
    if "/".join(("src", *parts)) in ABOVE_ALL_ROOMS:
        return FLOW.index(parts[0]), len(ROOMS[parts[0]]), parts[0]
    if len(parts) < 3 or parts[1] not in ROOMS[parts[0]]:
        return None
    return FLOW.index(parts[0]), ROOMS[parts[0]].index(parts[1]), "/".join(parts[:2])


def include_direction(path, text):
    parts = PurePosixPath(path).parts
    if parts[0] != "src" or PurePosixPath(path).suffix not in {".cpp", ".hpp"}:
        return
    here = place_in_flow(parts[1:])
    if here is None:
        order = ROOMS.get(parts[1], FLOW)
        yield f"{path}: it lies in none of the folders {' < '.join(order)}"
        return
    for line, quote, target in includes(text):
        if quote != '"':
            continue
        wanted = PurePosixPath(target).parts
        there = place_in_flow(wanted) if len(wanted) > 1 else None
        if there is None:
            yield f'{path}:{line}: "{target}" is not written from src/, as in "core/base/fail.hpp"'
        elif there[:2] > here[:2]:
            yield f"{path}:{line}: src/{here[2]} includes {target}, which comes later in the flow"
        elif wanted[0] == "partition" and len(wanted) > 2 and parts[1:-1][:2] != wanted[:2]:
            yield f"{path}:{line}: {target} belongs to the method {wanted[1]} alone"


def public_headers_are_self_contained(path, text):
    if not path.startswith("include/"):
        return
    for line, quote, target in includes(text):
        ours = quote == "<" and target.startswith("kandinsky/")
        standard = quote == "<" and re.fullmatch(r"[a-z_0-9]+", target)
        if not ours and not standard:
            yield f"{path}:{line}: public headers include only <kandinsky/...> and the standard library, not {target}"


def length(path, text):
    lines = text.count("\n")
    if PurePosixPath(path).suffix in READ_BY_PEOPLE and lines > LONGEST_FILE:
        yield f"{path}: {lines} lines, more than {LONGEST_FILE}; split it by noun or step"


def width(path, text):
    if PurePosixPath(path).suffix not in LAID_OUT:
        return
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > WIDEST_LINE:
            yield f"{path}:{number}: {len(line)} columns, more than {WIDEST_LINE}"


def no_conflict_markers(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("<" * 7 + " ") or line.startswith(">" * 7 + " "):
            yield f"{path}:{number}: a merge was not finished here"


def ascii_only(path, text):
    name = PurePosixPath(path).name
    if PurePosixPath(path).suffix not in SOURCES and name not in {"CMakeLists.txt", "Makefile"}:
        return
    for number, line in enumerate(text.splitlines(), 1):
        odd = next((c for c in line if ord(c) > 126 or (ord(c) < 32 and c not in "\t\f")), None)
        if odd is not None:
            yield f"{path}:{number}: U+{ord(odd):04X} in a source; sources are ASCII"


def no_machine_paths(path, text):
    for match in _MACHINE_PATH.finditer(text):
        yield f"{path}:{text.count(chr(10), 0, match.start()) + 1}: a path of one machine ({match.group(0)}...)"


def links_lead_somewhere(path, text, files):
    """Relative links of Markdown files point to one of `files` or to a folder of theirs."""
    if not path.endswith(".md"):
        return
    known = {str(p) for name in files for p in (PurePosixPath(name), *PurePosixPath(name).parents)}
    for match in re.finditer(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)", text):
        target = match.group(1)
        if re.match(r"[a-z]+:", target):
            continue
        if posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) not in known:
            line = text.count("\n", 0, match.start()) + 1
            yield f"{path}:{line}: the link {target} leads nowhere"


def too_many_words(texts, most=20_000):
    """The documentation stays short enough to be kept true. Words have a letter or a digit; cli.md is generated."""
    pages = {path: text for path, text in texts.items() if path.startswith("docs/") and path.endswith(".md") and path != "docs/cli.md"}
    count = sum(1 for text in pages.values() for word in text.split() if any(c.isalnum() for c in word))
    if count > most:
        yield f"docs: {count} words in {len(pages)} pages, but at most {most}; say each thing once"


def types_with_one_name(texts):
    """Two types of one namespace and name, in two headers, would be one type to the linker."""
    places = {}
    for path, text in sorted(texts.items()):
        if not path.startswith(("src/", "include/")) or not path.endswith(".hpp"):
            continue
        space = ""
        for match in re.finditer(r"^(?:namespace ([\w:]+) \{|(?:class|struct) (?:KANDINSKY_API )?(\w+)[^;{]*\{)", text, re.MULTILINE):
            if match[1]:
                space = match[1]
            elif (first := places.setdefault((space, match[2]), path)) != path:
                yield f"{path}: {space}::{match[2]} is defined in {first} too"


def method_names_stay_at_home(path, text, methods, named_elsewhere=NAMED_ELSEWHERE):
    """`methods` are the folder names of src/partition."""
    if not path.startswith("src/") or path.startswith(MAY_NAME_METHODS):
        return
    code = without_comments(text)
    for name in sorted(methods):
        if path.startswith(f"src/partition/{name}/"):
            continue
        pattern = f'"{name}"' if name in ORDINARY_WORDS else rf"\b{name}\b"
        lines = [code.count("\n", 0, match.start()) + 1 for match in re.finditer(pattern, code)]
        allowed, meaning = named_elsewhere.get((path, name), (0, ""))
        if len(lines) < allowed:
            yield f"{path}: NAMED_ELSEWHERE allows {name} {allowed} times ({meaning}), but it stands there {len(lines)} times"
        if len(lines) > allowed:
            yield f"{path}:{lines[-1]}: names the method {name}; ask methods() instead, so that a method stays one folder"


def messages_name_parameters(path, text):
    """The library's messages name parameters in back quotes; the command writes them as flags, Python as its parameters."""
    if not path.startswith("src/") or path.startswith("src/cli/") or PurePosixPath(path).suffix not in {".cpp", ".hpp"}:
        return
    code = without_comments(text)
    for match in re.finditer(r'"(?:\\.|[^"\\\n])*"', code):
        if re.search(r"(?<![\w-])--[a-z{]", match[0]) and not any(shell in match[0] for shell in SHELL_LINES):
            yield f"{path}:{code.count(chr(10), 0, match.start()) + 1}: {match[0]} names a flag; write `min_count 3` for --min-count 3"


def folders_without_tests(paths):
    """Every folder of src/ that holds a .cpp has a test of its own: tests/FOLDER/*_test.* (or test_*.py), or
    tests/FOLDER_test.* where one file is enough."""
    tested = set()
    for path in map(PurePosixPath, paths):
        is_test = path.stem.endswith("_test") or (path.stem.startswith("test_") and path.suffix == ".py")
        if path.parts[0] == "tests" and is_test:
            tested.add(path.parts[1:-1])
            tested.add(path.parts[1:-1] + (path.stem.removesuffix("_test"),))
    rooms = {p.parts[1:-1] for p in map(PurePosixPath, paths) if p.parts[0] == "src" and p.suffix == ".cpp"}
    for room in sorted(rooms - tested):
        yield f"src/{'/'.join(room)} holds code, but tests/{'/'.join(room)} holds no test"


PER_FILE = [no_conflict_markers, include_direction, public_headers_are_self_contained, length, width, ascii_only, no_machine_paths, messages_name_parameters]
