"""The built program has the effects of the hardening flags (SECURITY.md)."""

import platform
import re
import shutil
import subprocess

import pytest
from support import command

pytestmark = pytest.mark.skipif(platform.system() != "Linux" or not shutil.which("readelf"),
                                reason="looks at ELF programs with readelf")


def readelf(flag, path):
    return subprocess.run(["readelf", "-W", flag, path], check=True, capture_output=True, text=True).stdout


def marked_functions(path):
    """How many places the compiler marked as targets of indirect jumps (endbr64)."""
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], check=True, capture_output=True, text=True)
    return code.stdout.count("endbr64")


def weaknesses(path):
    dynamic, segments, symbols = readelf("-d", path), readelf("-l", path), readelf("--dyn-syms", path)
    if "(FLAGS_1)" not in dynamic or not re.search(r"FLAGS_1.*\bPIE\b", dynamic):
        yield "it is loaded at a fixed place"
    if "GNU_RELRO" not in segments:
        yield "its relocations stay writable"
    if not re.search(r"FLAGS.*\b(BIND_)?NOW\b", dynamic):
        yield "its functions are bound late, so their table stays writable"
    if not re.search(r"GNU_STACK\s.*\sRW\s", segments):
        yield "its stack can be executed"
    if re.search(r"LOAD\s.*\sRWE\s", segments):
        yield "it has memory that can be both written and executed"
    if "TEXTREL" in dynamic:
        yield "its code is relocated"
    if "__stack_chk_fail" not in symbols:
        yield "its stacks have no guards"
    if not re.search(r"__\w+_chk\b", symbols):
        yield "its calls of the C library are not fortified"
    if platform.machine() == "x86_64" and shutil.which("objdump") and marked_functions(path) < 100:
        yield "its functions are not marked as targets of jumps"


def is_sanitized(path):
    return bool(re.search(r"lib[at]san|libubsan", readelf("-d", path)))


def is_debug(path):
    return ".debug_info" in readelf("-S", path)


def test_the_program_is_hardened():
    if is_sanitized(command()):
        pytest.skip("sanitizers check more and replace these flags")
    found = list(weaknesses(command()))
    if is_debug(command()):  # fortified calls need optimisation
        found = [weakness for weakness in found if "fortified" not in weakness]
    assert found == []


def test_it_finds_its_libraries_by_the_system_alone():
    """With a run path the program could load libraries from a folder that another user can write to."""
    dynamic = readelf("-d", command())
    if "libkandinsky" in dynamic:
        pytest.skip("built on the shared library, which it finds in the build folder")
    assert not re.search(r"R(UN)?PATH", dynamic)


@pytest.mark.skipif(not shutil.which("c++"), reason="needs a compiler")
def test_a_program_without_hardening_is_noticed(tmp_path):
    source = tmp_path / "weak.cpp"
    source.write_text("int main() { return 0; }\n", encoding="ascii")
    flags = ["-no-pie", "-fno-stack-protector", "-fcf-protection=none", "-Wl,-z,norelro,-z,lazy,-z,execstack"]
    if platform.machine() != "x86_64":
        flags.remove("-fcf-protection=none")
    subprocess.run(["c++", *flags, source, "-o", tmp_path / "weak"], check=True, capture_output=True)
    found = list(weaknesses(str(tmp_path / "weak")))
    assert len(found) >= (7 if platform.machine() == "x86_64" else 6), found
