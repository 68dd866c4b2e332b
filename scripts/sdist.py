#!/usr/bin/env python3
"""Makes a source distribution of the Python package that includes the report's page, so that installing it needs no Node.

    scripts/sdist.py BUILD          it is BUILD/sdist/kandinsky-*.tar.gz
    scripts/sdist.py BUILD --try    the same; then installs it without Node, runs the tutorial and writes a report
"""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from virtual_environment import create, digest, pip, stamped

ROOT = Path(__file__).resolve().parents[1]
PAGE = "web/dist/index.html"
NODE = {"node", "nodejs", "npm", "npx", "corepack"}
REPORT = """
import kandinsky
probs, labels, groups = kandinsky.make_scenes("medical", images=20, grid=(32, 32))
kandinsky.report(kandinsky.Calibrator("image").fit(probs, labels, groups), probs, labels, "report.html")
"""


def make(out):
    if not (ROOT / PAGE).exists():
        sys.exit(f"sdist: {PAGE} is missing; make sdist builds it")
    for old in out.glob("*.tar.gz"):
        old.unlink()
    wanted = out / "tools.txt"
    wanted.write_text("scikit-build-core>=0.10\n")
    stamped(out / "tools.stamp", digest(wanted), lambda: create(out / "tools", wanted))
    code = f"from scikit_build_core.build import build_sdist; build_sdist({str(out)!r})"
    subprocess.run([out / "tools" / "bin" / "python", "-c", code], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    (made,) = out.glob("*.tar.gz")
    with tarfile.open(made) as archive:
        if not any(name.endswith("/" + PAGE) for name in archive.getnames()):
            sys.exit(f"sdist: {made} has no {PAGE}")
    print(f"sdist: {made}", flush=True)
    return made


def programs_without_node(out):
    """A folder of links to the programs on the path except Node, which may be in the compiler's folder."""
    place = out / "programs"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for folder in os.environ["PATH"].split(os.pathsep):
        for program in Path(folder).glob("*") if folder else []:
            link = place / program.name
            if program.name not in NODE and program.is_file() and not link.is_symlink():
                link.symlink_to(program)
    return place


def attempt(out, archive):
    os.environ["PATH"] = str(programs_without_node(out))
    if any(map(shutil.which, NODE)):
        sys.exit("sdist: Node is still found")
    fresh, room = out / "fresh", out / "room"
    for old in (fresh, room):
        shutil.rmtree(old, ignore_errors=True)
    room.mkdir()
    subprocess.run([sys.executable, "-m", "venv", fresh], check=True)
    pip(fresh, archive)
    for what, words in {"the tutorial": [ROOT / "python" / "examples" / "tutorial.py"], "a report": ["-c", REPORT]}.items():
        done = subprocess.run([fresh / "bin" / "python", *words], cwd=room, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"sdist: {what} failed in a fresh environment\n{done.stdout}{done.stderr}")
    size = (room / "report.html").stat().st_size
    print(f"sdist: installed without Node; the tutorial runs, and a report of {size} bytes is made")


def main(build, *more):
    out = build / "sdist"
    out.mkdir(parents=True, exist_ok=True)
    made = make(out)
    if more:
        attempt(out, made)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--try"]):
        sys.exit(__doc__)
    main(Path(sys.argv[1]).resolve(), *sys.argv[2:])
