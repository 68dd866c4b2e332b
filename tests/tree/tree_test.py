"""Every file of the project keeps the rules, and each rule detects a violation."""

import re
import subprocess
from pathlib import Path

import pytest
import rules

ROOT = Path(__file__).resolve().parents[2]
NOT_OURS = {".git", ".venv", ".cache", "node_modules", "__pycache__", "demo"}


def project_files():
    """Tracked files and new ones that git does not ignore; in a copy without git, all but the build folders."""
    git = ["git", "-C", str(ROOT), "ls-files", "-z", "-co", "--exclude-standard"]
    try:
        listing = subprocess.run(git, check=True, capture_output=True, text=True).stdout
        names = {name for name in listing.split("\0") if name}
    except (OSError, subprocess.CalledProcessError):
        names = set()
    if not names:
        found = (p.relative_to(ROOT) for p in ROOT.rglob("*"))
        names = {p.as_posix() for p in found if not NOT_OURS & set(p.parts) and not p.parts[0].startswith("build")}
    return sorted(name for name in names if (ROOT / name).is_file())


def project_texts():
    for name in project_files():
        content = (ROOT / name).read_bytes()
        if b"\0" not in content:
            yield name, content.decode("utf-8", errors="surrogateescape")


FILES = project_files()
TEXTS = dict(project_texts())
METHODS = sorted({name.split("/")[2] for name in FILES if name.startswith("src/partition/") and name.count("/") > 2})


def expect_none(problems):
    problems = list(problems)
    assert not problems, "\n" + "\n".join(problems)


@pytest.mark.parametrize("rule", rules.PER_FILE, ids=lambda rule: rule.__name__)
def test_every_file_keeps_the_rule(rule):
    expect_none(problem for name, text in TEXTS.items() for problem in rule(name, text))


def test_a_method_is_named_in_its_own_folder_only():
    assert METHODS, "no method folders found below src/partition"
    expect_none(p for name, text in TEXTS.items() for p in rules.method_names_stay_at_home(name, text, METHODS))


def test_every_folder_of_src_has_tests():
    expect_none(rules.folders_without_tests(FILES))


def test_links_between_documents_lead_somewhere():
    expect_none(p for name, text in TEXTS.items() for p in rules.links_lead_somewhere(name, text, FILES))


def test_the_documentation_has_at_most_20000_words():
    expect_none(rules.too_many_words(TEXTS))


def test_types_have_one_name():
    expect_none(rules.types_with_one_name(TEXTS))


def test_the_changelog_has_an_unreleased_section():
    assert "\n## [Unreleased]\n" in TEXTS["CHANGELOG.md"]


def test_the_readme_shows_the_program_that_the_install_test_compiles():
    assert TEXTS["tests/install/main.cpp"] in TEXTS["README.md"]


def test_the_guide_shows_the_program_that_the_install_test_compiles():
    assert TEXTS["tests/install/predict.cpp"] in TEXTS["docs/guide.md"]


def test_the_cmake_lines_of_the_documents_are_those_of_the_install_test():
    for page in ["README.md", "docs/guide.md"]:
        lines = re.findall(r"^    ((?:find_package|target_link_libraries)\(.*\))$", TEXTS[page], re.MULTILINE)
        assert len(lines) >= 2, page
        for line in lines:
            assert f"\n{line}\n" in TEXTS["tests/install/CMakeLists.txt"], f"{page}: {line}"


def test_the_version_is_the_same_everywhere():
    project = TEXTS["CMakeLists.txt"].split("project(kandinsky VERSION ")[1].split()[0]
    assert f"\nversion: {project}\n" in TEXTS["CITATION.cff"]


BROKEN = [
    (rules.include_direction, "src/score/lac.cpp", '#include "io/array/npy.hpp"\n'),
    (rules.include_direction, "src/partition/genann/fit.cpp", '#include "partition/kmeans/lloyd.hpp"\n'),
    (rules.include_direction, "src/calibrate/fit.cpp", '#include "partition/kmeans/lloyd.hpp"\n'),
    (rules.include_direction, "src/core/data/array.cpp", '#include "fail.hpp"\n'),
    (rules.include_direction, "src/core/base/a.cpp", '#include "core/b.hpp"\n'),
    (rules.include_direction, "src/core/base/a.cpp", '#include "core/team/team.hpp"\n'),
    (rules.include_direction, "src/io/array/npy.cpp", '#include "io/folder/pairing.hpp"\n'),
    (rules.include_direction, "src/cli/options/input.cpp", '#include "cli/commands/command.hpp"\n'),
    (rules.include_direction, "src/io/a.cpp", ""),
    (rules.include_direction, "src/io/attic/a.cpp", ""),
    (rules.include_direction, "src/attic/old.cpp", ""),
    (rules.public_headers_are_self_contained, "include/kandinsky/a.hpp", "#include <fmt/format.h>\n"),
    (rules.public_headers_are_self_contained, "include/kandinsky/a.hpp", '#include "core/base/fail.hpp"\n'),
    (rules.length, "src/core/long.cpp", "\n" * 801),
    (rules.width, "src/core/wide.cpp", "//" + 109 * "x" + "\n"),
    (rules.width, "web/src/wide.ts", "a;\n" + 111 * "b"),
    (rules.no_conflict_markers, "README.md", "a\n" + "<" * 7 + " HEAD\nb\n"),
    (rules.ascii_only, "src/core/a.cpp", "// caf\u00e9\n"),
    (rules.ascii_only, "scripts/a.sh", "a\u00a0b\n"),
    (rules.no_machine_paths, "docs/a.md", "see `/" + "home/someone/notes`\n"),
    (rules.no_machine_paths, "src/core/a.cpp", 'open("/' + 'root/x");\n'),
    (rules.messages_name_parameters, "src/io/a.cpp", 'fail("--min-count is {}");\n'),
    (rules.messages_name_parameters, "src/io/a.cpp", 'fail("--{} is {}");\n'),
]


@pytest.mark.parametrize("rule,path,text", BROKEN)
def test_a_broken_rule_is_noticed(rule, path, text):
    assert len(list(rule(path, text))) == 1


KEPT = [
    (rules.include_direction, "src/io/array/npy.cpp", '#include <vector>\n#include "core/base/fail.hpp"\n#include "io/file/mapped_file.hpp"\n'),
    (rules.include_direction, "src/cli/main.cpp", '#include "cli/commands/command.hpp"\n'),
    (rules.include_direction, "src/partition/kmeans/kmeans.cpp", '#include "partition/kmeans/lloyd.hpp"\n'),
    (rules.public_headers_are_self_contained, "include/kandinsky/a.hpp", "#include <kandinsky/b.hpp>\n#include <span>\n"),
    (rules.length, "src/core/long.cpp", "\n" * 800),
    (rules.width, "src/core/wide.cpp", 110 * "x" + "\n"),
    (rules.width, "docs/a.md", 200 * "x" + "\n"),
    (rules.ascii_only, "docs/a.md", "caf\u00e9\n"),
    (rules.messages_name_parameters, "src/io/a.cpp", '// --min-count\nfail("`min_count` is {}; a--b");\nrun("srun --mpi=pmix");\n'),
    (rules.messages_name_parameters, "src/cli/commands/a.cpp", 'fail("--min-count is {}");\n'),
    (rules.no_machine_paths, "docs/a.md", "https://example.org/home/ and ~/work/ and $HOME/work/x\n"),
]


@pytest.mark.parametrize("rule,path,text", KEPT)
def test_a_rule_that_is_kept_gives_no_finding(rule, path, text):
    expect_none(rule(path, text))


def test_method_names_are_found_in_code_but_not_in_comments_or_their_own_folder():
    methods = ["field", "genann", "image", "mask", "pixel"]

    def found(path, text):
        return len(list(rules.method_names_stay_at_home(path, text, methods)))

    assert found("src/calibrate/a.cpp", 'if (name == "genann") return;\n') == 1
    assert found("src/calibrate/a.cpp", "partition::genann::kMethod\n") == 1
    assert found("src/calibrate/a.cpp", 'open("http://genann");\n') == 1
    assert found("src/calibrate/a.cpp", "// as genann does\n/* genann\n*/ int field = 0;\n") == 0
    for name in ["field", "image", "mask", "pixel"]:
        assert found("src/calibrate/a.cpp", f'if (one.method == "{name}") return;\n') == 1
        assert found(f"src/io/{name}/a.cpp", f'if (one.method == "{name}") return;\n') == 1
        assert found(f"src/partition/{name}/a.cpp", f'.name = "{name}"\n') == 0
        assert found("src/calibrate/a.cpp", f"int {name} = 0;  // the {name}s\n") == 0
    assert found("src/cli/commands/demo.cpp", '"genann"\n') == 0


def test_a_name_with_another_meaning_may_occur_as_often_as_listed():
    def found(text):
        places = {("src/calibrate/a.cpp", "image"): (1, "a unit")}
        return len(list(rules.method_names_stay_at_home("src/calibrate/a.cpp", text, ["image"], places)))

    assert found('unit = "image";\n') == 0
    assert found('unit = "image";\nif (name == "image") return;\n') == 1
    assert found("nothing\n") == 1, "a line of the list that nothing needs"


def test_the_list_of_names_with_another_meaning_names_files():
    assert {path for path, _ in rules.NAMED_ELSEWHERE} <= set(FILES)


def test_a_broken_link_is_noticed():
    files = ["README.md", "docs/a.md"]
    text = "[a](docs/a.md) [b](docs/) [c](https://example.org/x) [d](docs/a.md#part)"
    expect_none(rules.links_lead_somewhere("README.md", text, files))
    expect_none(rules.links_lead_somewhere("docs/a.md", "[up](../README.md)", files))
    assert len(list(rules.links_lead_somewhere("docs/a.md", "[x](docs/a.md)\n[y](b.md#part)", files))) == 2


def test_two_types_of_one_name_are_noticed():
    one, other = "namespace kandinsky {\nstruct A {};\n}\n", "namespace kandinsky::inner {\nclass A final : public B {\n};\n}\n"
    expect_none(rules.types_with_one_name({"src/a.hpp": one, "src/b.hpp": other, "tests/a.hpp": one, "src/a.cpp": one}))
    assert list(rules.types_with_one_name({"include/kandinsky/a.hpp": one, "src/b.hpp": one})) == [
        "src/b.hpp: kandinsky::A is defined in include/kandinsky/a.hpp too"]


def test_too_many_words_are_noticed():
    texts = {"docs/a.md": "one | two\n", "docs/b/c.md": "- 3\n", "docs/cli.md": "many " * 9, "README.md": "more"}
    expect_none(rules.too_many_words(texts, most=3))
    assert len(list(rules.too_many_words(texts, most=2))) == 1


def test_a_folder_without_tests_is_noticed():
    tested = ["src/io/array/npy.cpp", "tests/io/array/npy_test.cpp", "src/cli/main.cpp", "tests/cli/test_demo.py"]
    expect_none(rules.folders_without_tests(tested))
    assert len(list(rules.folders_without_tests(tested + ["src/partition/fcc/fcc.cpp"]))) == 1
