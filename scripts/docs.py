#!/usr/bin/env python3
"""Makes the documentation's site: Doxygen reads the public headers, and Sphinx makes pages of them, of the Python package
and of docs/*.md. Any warning is an error.

    scripts/docs.py BUILD        the site is BUILD/docs/html/index.html

Sphinx and its extensions (docs/site/requirements.txt) are installed from PyPI into BUILD/docs/venv. If they cannot be
fetched, or Doxygen (Debian's) is missing, the exit status is 77.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from virtual_environment import SKIPPED, create, digest, stamped

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "docs" / "site"


def main(build):
    out = build / "docs"
    out.mkdir(parents=True, exist_ok=True)
    if shutil.which("doxygen") is None:
        print("skipped: doxygen is not installed (scripts/setup.sh --docs)")
        return SKIPPED
    wanted = SITE / "requirements.txt"
    stamped(out / "venv.requirements", digest(wanted), lambda: create(out / "venv", wanted))

    shutil.rmtree(out / "doxygen", ignore_errors=True)  # otherwise pages of removed symbols would stay
    settings = (SITE / "Doxyfile").read_text() + f'OUTPUT_DIRECTORY = "{out / "doxygen"}"\n'
    done = subprocess.run(["doxygen", "-"], input=settings, text=True, cwd=ROOT, check=False)
    if done.returncode != 0:
        print("docs: doxygen complains; see above", file=sys.stderr)
        return 1

    sphinx = [out / "venv" / "bin" / "sphinx-build", "-q", "-W", "--keep-going", "-j", "auto", "-c", SITE,
              "-d", out / "doctrees", "-b", "html", ROOT, out / "html"]  # fmt: skip
    environment = {**os.environ, "KANDINSKY_DOXYGEN_XML": str(out / "doxygen" / "xml"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(list(map(str, sphinx)), env=environment, check=False)
    if done.returncode != 0:
        print("docs: sphinx complains; see above", file=sys.stderr)
        return 1
    print(f"docs: {out / 'html' / 'index.html'}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]).resolve()))
