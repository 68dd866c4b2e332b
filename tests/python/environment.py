"""The virtual environment of the package's tests.

    environment.py make BUILD SOURCE     creates BUILD/venv, with the package built on the library in BUILD
    environment.py run  BUILD ARGS...    runs `python ARGS` in it
    environment.py integrations BUILD SOURCE    creates BUILD/venv-integrations, with torch and others, and runs their tests

Exits with 77, which ctest reads as skipped, when the packages cannot be fetched. A second `make` with nothing changed
takes a moment.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from virtual_environment import SKIPPED, create, digest, pip, stamped  # noqa: E402


def make(build, source, name="venv", requirements="requirements.txt"):
    folder, wanted = build / name, source / "tests" / "python" / requirements

    def install():
        # The library of the build folder is taken as it is: only the binding layer is compiled here.
        pip(folder, "--no-build-isolation", "--no-deps", "--force-reinstall", source,
            f"--config-settings=build-dir={build / 'python-package'}",
            f"--config-settings=cmake.define.KANDINSKY_PREBUILT={build}")

    stamped(build / f"{name}.requirements", digest(wanted), lambda: create(folder, wanted))
    parts = sorted(p for p in (source / "python").rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    parts += [source / "pyproject.toml", source / "CMakeLists.txt", *build.glob("libkandinsky*")]
    stamped(build / f"{name}.package", digest(wanted, *parts), install)


def run(build, *words):
    if not (build / "venv.package").exists():
        print("skipped: the environment of the Python tests could not be made")
        sys.exit(SKIPPED)
    python = str(build / "venv" / "bin" / "python")
    os.execv(python, [python, *words])


def integrations(build, source):
    name, tests = "venv-integrations", source / "tests"
    make(build, source, name, "integrations.txt")
    python = str(build / name / "bin" / "python")
    os.environ.update(KANDINSKY_COMMAND=str(build / "bin" / "kandinsky"), PYTHONDONTWRITEBYTECODE="1", MPLBACKEND="Agg")
    files = [tests / "cli" / "commands" / "test_export.py"]
    files += [tests / "python" / f"test_{topic}.py" for topic in ("to_onnx", "torch", "volumes", "examples")]
    os.execv(python, [python, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *map(str, files)])


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve())
    elif sys.argv[1] == "integrations":
        integrations(Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve())
    else:
        run(Path(sys.argv[2]).resolve(), *sys.argv[3:])
