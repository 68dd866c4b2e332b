#!/usr/bin/env python3
"""Makes a source distribution of the Python package, with the report's page in it: installing it needs no Node.

    scripts/sdist.py BUILD       it is BUILD/sdist/kandinsky-*.tar.gz
"""

import subprocess
import sys
import tarfile
from pathlib import Path

from virtual_environment import create, digest, stamped

ROOT = Path(__file__).resolve().parents[1]
PAGE = "web/dist/index.html"


def main(build):
    out = build / "sdist"
    out.mkdir(parents=True, exist_ok=True)
    if not (ROOT / PAGE).exists():
        sys.exit(f"sdist: {PAGE} is not there; make sdist builds it")
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
    print(f"sdist: {made}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]).resolve())
