#!/usr/bin/env python3
"""Writes the recipes of packaging/ for the source distribution of `make sdist`, and tests Conan's with `conan create`.

    scripts/recipes.py BUILD       they are BUILD/recipes/conan and BUILD/recipes/conda

Conan builds with the system's libraries, so only PyPI's conan is fetched. The conda recipe is written but not built, because that
would need conda-build.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from virtual_environment import create, digest, stamped

ROOT = Path(__file__).resolve().parents[1]
RECIPES = ROOT / "packaging"


def conan(out, archive):
    place = out / "conan"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(RECIPES / "conan", place)
    shutil.copy(archive, place)
    shutil.copy(ROOT / "tests" / "install" / "main.cpp", place / "test_package" / "sets.cpp")
    wanted = out / "tools.txt"
    wanted.write_text("conan>=2\n")
    stamped(out / "tools.stamp", digest(wanted), lambda: create(out / "tools", wanted))
    environment = {**os.environ, "CONAN_HOME": str(out / "home")}
    program = str(out / "tools" / "bin" / "conan")
    subprocess.run([program, "profile", "detect", "--force"], check=True, env=environment, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)  # fmt: skip
    done = subprocess.run([program, "create", str(place), "--no-remote", "-s", "compiler.cppstd=20", "-o",
                           "kandinsky/*:system_libraries=True"], check=False, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)  # fmt: skip
    if done.returncode != 0 or "guarantee" not in done.stdout.lower() and "probability" not in done.stdout:
        sys.exit(f"recipes: conan create failed\n{done.stdout[-6000:]}")
    print(f"recipes: conan create {place}: built, and a program runs on the package")


def conda(out, archive):
    place = out / "conda"
    place.mkdir(parents=True, exist_ok=True)
    text = (RECIPES / "conda" / "meta.yaml").read_text()
    values = {"@VERSION@": archive.name[len("kandinsky-") : -len(".tar.gz")], "@SDIST@": archive.as_uri(),
              "@SHA256@": hashlib.sha256(archive.read_bytes()).hexdigest()}  # fmt: skip
    for word, value in values.items():
        text = text.replace(word, value)
    (place / "meta.yaml").write_text(text)
    print(f"recipes: {place / 'meta.yaml'} (not built here)")


def main(build):
    archives = sorted((build / "sdist").glob("kandinsky-*.tar.gz"))
    if len(archives) != 1:
        sys.exit("recipes: there is no source distribution; make sdist first")
    out = build / "recipes"
    out.mkdir(parents=True, exist_ok=True)
    conda(out, archives[0])
    conan(out, archives[0])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]).resolve())
