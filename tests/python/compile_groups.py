"""Checks that the package compiles in pip's way: files in groups, where names may collide (cmake/quick.cmake).

    compile_groups.py BUILD SOURCE

Reads every group without generating code, which takes a quarter of the time. Exits with 77 (skipped) without BUILD/venv.
"""

import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def reads(entry):
    words = shlex.split(entry["command"])
    words[words.index("-o") + 1] = os.devnull
    done = subprocess.run([*words, "-fsyntax-only"], cwd=entry["directory"], capture_output=True, text=True)
    return entry["file"], done.returncode, done.stderr


def main(build, source):
    python = build / "venv" / "bin" / "python"
    if not python.exists():
        print("skipped: the environment of the Python tests could not be made")
        sys.exit(77)
    folder = build / "compile-groups"
    subprocess.run(["cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    "-DKANDINSKY_BUILD_PYTHON=ON", "-DKANDINSKY_BUILD_CLI=OFF", "-DKANDINSKY_BUILD_TESTS=OFF",
                    "-DKANDINSKY_WEB=OFF", f"-DPython_EXECUTABLE={python}", "-DCMAKE_CXX_COMPILER_LAUNCHER="],
                   check=True, stdout=subprocess.DEVNULL)
    entries = json.loads((folder / "compile_commands.json").read_text())
    groups = [entry for entry in entries if "/Unity/" in entry["file"] and "nanobind" not in entry["file"]]
    assert len(groups) > 10, "the package is no longer compiled in groups"
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = [(file, words) for file, status, words in pool.map(reads, groups) if status]
    for file, words in failed:
        print(f"{file} does not compile:\n{words}", file=sys.stderr)
    print(f"{len(groups)} groups read, {len(failed)} with errors")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
