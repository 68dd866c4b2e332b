"""Commands in the documents work: they run if the demo's files are enough, and all their options exist; Python snippets
compile."""

import os
import re
import shlex
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from support import PATIENCE, SHORT, command, help_text

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(p for p in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")] if p.name != "cli.md")
NAMES = [str(p.relative_to(ROOT)) for p in PAGES]
# Pages on which every command must run with the demo's files.
WHOLE = ["README.md", "docs/index.md", "docs/guide.md", "docs/concepts.md"]
# test_files.py and test_raster.py test these with their own files.
ELSEWHERE = ["docs/files.md"]
# Names of a user's files, for which the demo's files are used here.
STAND_FOR = {
    "cal_probs.npy": "cal_probs", "cal_labels.npy": "cal_labels", "new_probs.npy": "test_probs",
    "test_probs.npy": "test_probs", "test_labels.npy": "test_labels", "P": "cal_probs", "Y": "cal_labels",
}  # fmt: skip
SMALL = {"--images": "24", "--test-images": "12", "--size": "48x32" if PATIENCE == 1 else "24x16"}
WRITTEN = {"-o", "--output", "--json", "--report", "--figures", "--curves", "--regions", "--thresholds", "--pvalues",
           "--ce-map", "--ece-map", "--state", "--prometheus", "--change-map"}  # fmt: skip


def blocks(text):
    """Indented blocks outside fences, without their indentation."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    for found in re.findall(r"(?:^|\n\n)((?:    .*(?:\n|$))+)", text):
        yield textwrap.dedent(found)


def commands_in(block):
    """Every kandinsky command of a block as words: over several lines, in loops, with comments."""
    for line in re.sub(r"\\\n", " ", block).splitlines():
        line = re.sub(r"[\[\]]", " ", line) if re.search(r"\[-", line) else line
        for part in re.findall(r"(?:^|;|&&|\bdo)\s*(kandinsky .*?)(?=;|&&|\||$)", line):
            words = shlex.split(part, comments=True)
            yield words[: next((i for i, word in enumerate(words) if word.startswith(">")), len(words))]


def shell_blocks(text):
    return [block for block in blocks(text) if any(commands_in(block))]


def all_commands(name):
    return [words for block in shell_blocks((ROOT / name).read_text()) for words in commands_in(block)]


def reads(words):
    """Files and folders a command reads."""
    files = [words[2]] if words[1] == "nnunet" else []
    for before, word in zip(words[1:], words[2:]):
        named = re.fullmatch(r"--(?:\w+-)?(?:probs|labels|groups|images|model|data|mask)", before) and words[1] != "demo"
        if before not in WRITTEN and (named or re.search(r"\.(npy|npz|kcal)$", word)):
            files.append(word)
    return files


def writes(words):
    return [word for before, word in zip(words, words[1:]) if before in WRITTEN]


def runs_with_the_demo(block):
    """Whether a block reads only files of the demo, files in STAND_FOR, and files that it writes itself."""
    if "..." in block or re.search(r"\[-", block):
        return False
    made = [word for words in commands_in(block) for word in writes(words)] + re.findall(r"np\.save\(['\"]([^'\"]+)", block)
    folders = tuple(f"{word}/" for words in commands_in(block) if words[1] == "demo" for word in writes(words))
    for words in commands_in(block):
        for file in reads(words):
            if not (file.startswith(("demo/", *folders)) or file in STAND_FOR or file in made):
                return False
    return True


OPTIONS = {}


def options_of(name):
    if name not in OPTIONS:
        OPTIONS[name] = set(re.findall(r"(?<![\w-])(--?[a-z][a-z0-9-]*)", help_text(name)))
    return OPTIONS[name]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_and_option_named_exists(name):
    known = re.findall(r"^  ([a-z]+) ", help_text().split("Subcommands:\n")[1].split("\n\n")[0], re.MULTILINE)
    for words in all_commands(name):
        if words[1].startswith("-") or words[1] == "COMMAND":
            continue
        assert words[1] in known, f"{name}: there is no command '{words[1]}': {' '.join(words)}"
        for word in words[2:]:
            option = word.split("=")[0]
            if re.fullmatch(r"--?[a-z][a-z0-9-]*", option):
                assert option in options_of(words[1]), f"{name}: {words[1]} has no {option}: {' '.join(words)}"


WRAPPER = """#!{python}
import os, sys
words, small, short = sys.argv[1:], {small!r}, {short!r}
if words[:1] == ["demo"]:  # as documented, but of a size for tests
    kept, at = [], 0
    while at < len(words):
        at += 2 if words[at] in small else 1
        kept += [] if words[at - 2] in small and at > 1 else words[at - 1 : at]
    words = kept + [word for pair in small.items() for word in pair]
if words[:1] in (["calibrate"], ["compare"]):
    every = "auto" in words or words[0] == "compare" and "--methods" not in words
    words += [word for pair in zip(short[::2], short[1::2]) if pair[0] not in words
              and (every or pair[0][2:].split("-")[0] in " ".join(words)) for word in pair]
os.execv({program!r}, [{program!r}, *words])
"""


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """Runs a block as bash would, in a folder where `kandinsky demo -o demo` has run, small."""
    folder, tools = tmp_path_factory.mktemp("documents"), tmp_path_factory.mktemp("tools")
    wrapper = tools / "kandinsky"
    wrapper.write_text(WRAPPER.format(python=sys.executable, small=SMALL, short=SHORT, program=str(Path(command()).resolve())))
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    (tools / "python3").symlink_to(sys.executable)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}

    def run(block):
        block = re.sub(r"\$\(seq \d+\)", "$(seq 2)", block)  # more repetitions would not test the commands better
        return subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=folder, env=environment, capture_output=True,
                              text=True, timeout=300 * PATIENCE, stdin=subprocess.DEVNULL)  # fmt: skip

    assert run("kandinsky demo -q -o demo").returncode == 0
    for name, array in STAND_FOR.items():
        (folder / name).symlink_to(folder / "demo" / f"{array}.npy")
    return run


def to_run(name):
    """Blocks whose files all exist; of the others, unless they are loops, the commands whose files exist."""
    for block in shell_blocks((ROOT / name).read_text()):
        if name in WHOLE or runs_with_the_demo(block):
            yield block
        elif not re.search(r"^\s*(for|while|if) ", block, re.MULTILINE):
            lines = re.sub(r"\\\n", " ", block).splitlines(keepends=True)
            yield from (line for line in lines if any(commands_in(line)) and runs_with_the_demo(line))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ELSEWHERE])
def test_the_commands_that_need_only_the_demo_work(shell, name):
    blocks_here = list(to_run(name))
    if all_commands(name) and not blocks_here:
        pytest.skip(f"all commands of {name} need data that are not here; their options were looked at")
    for block in blocks_here:
        done = shell(block)
        if "built without reports" in done.stderr:
            continue
        assert done.returncode == 0, f"{name}:\n{block}\n{done.stderr}"


def test_the_pages_that_promise_to_run_have_commands():
    for name in WHOLE:
        assert len(all_commands(name)) >= 5, name


@pytest.mark.parametrize("name", NAMES)
def test_make_targets_and_scripts_named_exist(name):
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    text = (ROOT / name).read_text()
    for block in blocks(text):
        for target in re.findall(r"^make ([a-z-]+)", block, re.MULTILINE):
            assert target in targets, f"{name}: make {target}"
    for script in re.findall(r"(?<![\w/])scripts/[\w/]+\.(?:sh|py|txt)", text):
        assert (ROOT / script).exists(), f"{name}: {script}"


@pytest.mark.parametrize("name", NAMES)
def test_python_snippets_compile(name):
    for snippet in re.findall(r"^```python\n(.*?)^```$", (ROOT / name).read_text(), re.MULTILINE | re.DOTALL):
        compile(snippet, name, "exec")
    for snippet in re.findall(r'python3 -c "(.*?)"', (ROOT / name).read_text(), re.DOTALL):
        compile(textwrap.dedent(snippet), name, "exec")


def test_words_are_found_in_blocks_loops_and_over_lines():
    page = "text\n\n    for a in 1 2; do\n      kandinsky compare --x \\\n          $a | tail\n    done\n\n```\n    kandinsky no\n```\n"
    assert [words for block in shell_blocks(page) for words in commands_in(block)] == [["kandinsky", "compare", "--x", "$a"]]
    assert runs_with_the_demo("kandinsky inspect demo/a.kcal\n") and not runs_with_the_demo("kandinsky inspect a.kcal\n")
    assert not runs_with_the_demo("kandinsky train --images photos --labels masks -o unet.pt\n")
    assert runs_with_the_demo("kandinsky calibrate --probs P --labels Y -o a.kcal\nkandinsky inspect a.kcal\n")
