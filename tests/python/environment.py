"""The virtual environment of the package's tests.

    environment.py make BUILD SOURCE     creates BUILD/venv, with the package built on the library in BUILD
    environment.py run  BUILD ARGS...    runs `python ARGS` in it

Exits with 77, which ctest reads as skipped, when the packages cannot be fetched. A second `make` with nothing changed
takes a moment.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

SKIPPED = 77
OFFLINE = ("NewConnectionError", "Temporary failure in name resolution", "Network is unreachable", "ConnectTimeoutError",
           "ProxyError", "Name or service not known", "Connection refused")


def digest(*files):
    out = hashlib.sha256(sys.version.encode())
    for file in files:
        out.update(str(file).encode() + b"\0" + file.read_bytes())
    return out.hexdigest()


def pip(folder, *words):
    command = [folder / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "install", "-q", *words]
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode == 0:
        return
    print(done.stdout[-6000:])
    if any(sign in done.stdout for sign in OFFLINE):
        print("skipped: the packages of the Python tests cannot be fetched from here")
        sys.exit(SKIPPED)
    sys.exit(1)


def stamped(stamp, content, action):
    """Runs the action unless it ran before for the same content."""
    if stamp.exists() and stamp.read_text() == content:
        return
    stamp.unlink(missing_ok=True)
    action()
    stamp.write_text(content)


def make(build, source):
    folder, wanted = build / "venv", source / "tests" / "python" / "requirements.txt"

    def create():
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        pip(folder, "-r", wanted)

    def install():
        # The library of the build folder is taken as it is: only the binding layer is compiled here.
        pip(folder, "--no-build-isolation", "--no-deps", "--force-reinstall", source,
            f"--config-settings=build-dir={build / 'python-package'}",
            f"--config-settings=cmake.define.KANDINSKY_PREBUILT={build}")

    stamped(build / "venv.requirements", digest(wanted), create)
    parts = sorted(p for p in (source / "python").rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    parts += [source / "pyproject.toml", source / "CMakeLists.txt", *build.glob("libkandinsky*")]
    stamped(build / "venv.package", digest(wanted, *parts), install)


def run(build, *words):
    if not (build / "venv.package").exists():
        print("skipped: the environment of the Python tests could not be made")
        sys.exit(SKIPPED)
    python = str(build / "venv" / "bin" / "python")
    os.execv(python, [python, *words])


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve())
    else:
        run(Path(sys.argv[2]).resolve(), *sys.argv[3:])
