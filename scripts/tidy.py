#!/usr/bin/env python3
"""Runs clang-tidy (.clang-tidy) over the C++ sources of src/ that changed since they last passed.

    scripts/tidy.py BUILD JOBS      BUILD holds compile_commands.json; what passed is kept in BUILD/tidy

clang-tidy spends nearly all its time on the standard library's headers. Sources with the same flags are therefore checked
several at a time, as one file that includes them. If the compiler complains, for example because two sources define the same
name, or clang-tidy itself breaks down, the list is split in half. A source that passed is checked again if it, one of our
headers that it includes, its flags, .clang-tidy, clang-tidy itself or this script has changed; comments do not count.
"""

import collections
import concurrent.futures
import hashlib
import json
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOGETHER = 12  # sources; more would take too much memory


def flags_of(command):
    """The words of a compile command that matter to clang-tidy."""
    words = shlex.split(command)[1:]
    del words[words.index("-o"):words.index("-o") + 2]
    return tuple(word for word in words[:-1] if word != "-c")


def included(path, seen):
    """Adds to `seen` the file and all files of ours that it includes."""
    if path in seen:
        return
    seen.add(path)
    for name in re.findall(r'^\s*#\s*include\s*["<]([^">]+)[">]', path.read_text(), re.MULTILINE):
        for folder in (path.parent, ROOT / "src", ROOT / "include"):
            if (folder / name).is_file():
                included((folder / name).resolve(), seen)
                break


def without_comments(text):
    """The text without // comments, except those that clang-tidy reads. Text that may be part of a literal is kept."""
    return re.sub(r'(?m)[ \t]*//(?!.*NOLINT)[^"\n]*$\n?', "", text)


def key_of(source, flags, common):
    seen = set()
    included(source, seen)
    digest = hashlib.sha256(common + repr(flags).encode())
    for path in sorted(seen):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + without_comments(path.read_text()).encode())
    return digest.hexdigest()


def check(work, sources, flags):
    """The complaints about these sources: an empty text if there are none."""
    together = work / (hashlib.sha256(repr(sources).encode()).hexdigest()[:16] + ".cpp")
    together.write_text("".join(f'#include "{source}"\n' for source in sources))
    found = run("-bugprone-suspicious-include", together, [*flags, "-Xclang", "-analyzer-opt-analyze-headers"])
    together.unlink()
    if len(sources) > 1 and re.search(r"\[clang-diagnostic-|Stack dump:|^clang-tidy ended with", found, re.MULTILINE):
        half = len(sources) // 2
        return check(work, sources[:half], flags) + check(work, sources[half:], flags)
    # This check ignores included files, so each source is checked alone.
    alone = [source for source in sources if re.search(r"^\s*using [\w:]+;", source.read_text(), re.MULTILINE)]
    return found + "".join(run("-*,misc-unused-using-decls", source, flags) for source in alone)


def run(checks, source, flags):
    done = subprocess.run(
        ["clang-tidy", "--quiet", f"--config-file={ROOT / '.clang-tidy'}", f"--checks={checks}", source, "--", *flags],
        cwd=ROOT, text=True, capture_output=True)
    if done.returncode == 0:
        return ""
    return done.stdout + done.stderr + f"clang-tidy ended with {done.returncode}\n" * (done.returncode < 0)


def main():
    build, jobs = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2])
    work = build / "tidy"
    work.mkdir(exist_ok=True)
    common = b"".join(path.read_bytes() for path in (ROOT / ".clang-tidy", pathlib.Path(__file__)))
    common += subprocess.check_output(["clang-tidy", "--version"])

    commands = json.loads((build / "compile_commands.json").read_text())
    flags = {pathlib.Path(entry["file"]): flags_of(entry["command"]) for entry in commands}
    usual = collections.Counter(flags.values()).most_common(1)[0][0]  # for the stubs, which this build does not compile
    groups = collections.defaultdict(list)
    keys = {}
    for source in sorted((ROOT / "src").rglob("*.cpp")):
        own = flags.get(source, usual)
        keys[source] = key_of(source, own, common)
        if not (work / keys[source]).exists():
            # A file of vector code defines a macro with its own name, and commands define the same names, so they
            # are checked alone.
            alone = source if "HWY_TARGET_INCLUDE" in source.read_text() or source.parent.name == "commands" else None
            groups[own, source.name == "stub.cpp", alone].append(source)
    lists = [(own, found[first:first + TOGETHER])
             for (own, _, _), found in groups.items() for first in range(0, len(found), TOGETHER)]
    changed = sum(len(found) for _, found in lists)
    print(f"clang-tidy: {changed} of {len(keys)} sources to check", flush=True)

    begin, checked, failed = time.monotonic(), 0, 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = {pool.submit(check, work, sources, own): sources for own, sources in lists}
        for run in concurrent.futures.as_completed(runs):
            sources = runs[run]
            checked += len(sources)
            if run.result():
                failed += 1
                print(run.result(), end="")
            else:
                for source in sources:
                    (work / keys[source]).touch()
            print(f"clang-tidy: {checked} of {changed} sources, {time.monotonic() - begin:.0f} s", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
