"""The pages generated from the program's help are up to date, and the completions offer its words."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import command, help_text

ROOT = Path(__file__).resolve().parents[2]
COMPLETIONS = ROOT / "completions" / "kandinsky.bash"
MADE = [("cli_reference.py", "docs/cli.md"), ("man_page.py", "man/kandinsky.1"), ("completions.py", "completions/kandinsky.bash")]


def made_by(script):
    done = subprocess.run([sys.executable, ROOT / "scripts" / script, command()], check=True, capture_output=True, text=True)
    return done.stdout


@pytest.mark.parametrize("script,page", MADE)
def test_the_page_is_that_of_the_program(script, page):
    # Compared outside the assertion, because pytest takes minutes to show how two long texts differ.
    same = made_by(script) == (ROOT / page).read_text()
    assert same, f"{page} is stale: run 'make reference', or scripts/{script} build/bin/kandinsky > {page}, and commit it"


@pytest.mark.parametrize("page", [page for _, page in MADE])
def test_every_option_of_every_command_is_on_the_page(page):
    text = re.sub(r"\\f[BIR]", " ", (ROOT / page).read_text()).replace("\\-", "-")
    names = re.findall(r"^  ([a-z]+) ", help_text().split("Subcommands:\n")[1].split("\n\n")[0], re.MULTILINE)
    assert len(names) >= 7
    for name in names:
        for option in re.findall(r"^  (?:-\w,)?(--[a-z][a-z0-9-]*)", help_text(name), re.MULTILINE):
            if option == "--help":
                continue
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", text), f"{page} lacks {name} {option}"


def test_the_man_page_has_no_faults_of_layout():
    groff = shutil.which("groff")
    if not groff:
        pytest.skip("groff is missing: the layout of man/kandinsky.1 was not looked at")
    done = subprocess.run([groff, "-t", "-man", "-ww", "-Tascii", ROOT / "man/kandinsky.1"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "EXIT STATUS" in re.sub(r".\x08", "", done.stdout)


def completed(*words):
    """What bash offers for the last of the words."""
    script = f'source "{COMPLETIONS}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kandinsky; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", script, "bash", "kandinsky", *words], check=True, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_commands_options_and_words():
    assert completed("ca") == ["calibrate"]
    assert {"predict", "--version"} <= set(completed(""))
    assert completed("calibrate", "--pool") == ["--pooling"]
    assert completed("calibrate", "--method", "kme") == ["kmeans"]
    assert completed("calibrate", "--method", "=", "kme") == ["kmeans"]
    assert set(completed("calibrate", "--pooling", "=")) == {"pixels", "groups"}
    assert completed("inspect", "--pool") == []


def test_the_shell_offers_files_where_an_option_takes_a_file():
    assert completed("calibrate", "--probs", "") == []
    assert completed("predict", "") == []


def test_no_word_is_offered_that_the_program_does_not_know(room):
    """The words come from sentences of the help. The program would refuse a wrong word."""
    rows = re.findall(r'^ +((?:"calibrate [^"]+"[ |]*)+)\) words="(.*)" ;;', COMPLETIONS.read_text(), re.MULTILINE)
    # Refusals that do not concern the word itself: the option is for other inputs or methods, or needs more options.
    elsewhere = ("has no effect: ", "needs a region map", "needs --confidence")
    methods = completed("calibrate", "--method", "")
    offered = [(option, word) for options, words in rows for option in re.findall(r"calibrate (\S+?)\"", options) for word in words.split()]
    assert len(offered) >= 30
    for option, word in offered:
        owner = option.removeprefix("--").split("-")[0]
        method = word if option in ("-m", "--method") else owner if owner in methods else "kmeans"
        given = [] if option in ("-m", "--method") else [option, word]
        learns = method not in ("image", "pixel", "mask")
        given += ["--promise", "none"] if learns and option not in ("--promise", "--preset") else []
        result = room.run("calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "-q", "-o", "x.kcal", "--method", method, *given)
        assert result.code == 0 or any(part in result.err for part in elsewhere), (option, word, result)
