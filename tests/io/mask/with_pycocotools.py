"""Runs masks_pycocotools_test.py in a virtual environment that has pycocotools, made on the first run and kept in the
build folder. Where it cannot be installed (no network, no python3-venv), says so and exits 77: skipped.

with_pycocotools.py ENVIRONMENT
"""

import subprocess
import sys
from pathlib import Path

SKIPPED = 77
VERSION = "2.0.11"


def attempt(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, check=False)
    return done.returncode == 0, (done.stderr or done.stdout).strip().splitlines()[-1:]


def main():
    environment = Path(sys.argv[1])
    python = environment / "bin" / "python"
    if not attempt(python, "-c", "import pycocotools.mask, pytest, numpy")[0] if python.exists() else True:
        # numpy and pytest are the system's.
        made, reason = attempt(sys.executable, "-m", "venv", "--clear", "--system-site-packages", environment)
        if made:
            made, reason = attempt(python, "-m", "pip", "-q", "install", f"pycocotools=={VERSION}")
        if not made:
            print("skipped: the comparison with pycocotools, which could not be installed:", *reason)
            return SKIPPED
    tests = Path(__file__).with_name("masks_pycocotools_test.py")
    return subprocess.call([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", tests])


sys.exit(main())
