"""Compares the instructions of each kernel, counted by callgrind, with the stored counts.

    kernel_counts.py PROGRAM COUNTS.json [--update]

Counts depend on the compiler, not on the machine's load; they are for Debian 12's g++ 12.2. Exit 77: nothing could be
counted on this machine.
"""
import json
import re
import subprocess
import sys
import tempfile

TOLERANCE = 0.03


def count(program, kernel):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--toggle-collect=measured", f"--callgrind-out-file={folder}/out",
             program, kernel], capture_output=True, text=True)
    if done.returncode == 77:
        print(f"skipped: {done.stderr.strip().splitlines()[-1]}")
        sys.exit(77)
    found = re.search(r"Collected\s*:\s*(\d+)", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(f"valgrind could not run {kernel}:\n{done.stderr[-2000:]}")
    return int(found.group(1))


def main():
    program, stored = sys.argv[1:3]
    try:
        subprocess.run(["valgrind", "--version"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        print("skipped: valgrind is not installed")
        sys.exit(77)
    kernels = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    counts = {kernel: count(program, kernel) for kernel in kernels}
    if "--update" in sys.argv:
        with open(stored, "w", encoding="ascii") as file:
            file.write(json.dumps(counts, indent=2) + "\n")
        return
    with open(stored, encoding="ascii") as file:
        expected = json.load(file)
    suspects = sorted(set(expected) - set(counts))
    for kernel, instructions in counts.items():
        before = expected.get(kernel, 0)
        change = instructions / before - 1 if before else float("inf")
        print(f"{kernel:24}{before:10}{instructions:10}{change:+8.1%}")
        if change > TOLERANCE:
            suspects.append(kernel)
    if suspects:
        sys.exit(f"more instructions than stored, or kernels missing: {', '.join(suspects)}. If this is intended, run\n"
                 f"  python3 bench/kernel_counts.py {program} {stored} --update\nand say why in the commit.")


if __name__ == "__main__":
    main()
