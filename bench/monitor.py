"""The monitor's delays beside those of crepes' martingales, in one run: monitor.py PROGRAM FOLDER SET [options of bench/monitor.cpp]

PROGRAM is the built bench/monitor.cpp. crepes gets the very p-values that the monitor bets on, one feature at a time, and its best feature and
martingale count; the monitor has to watch all features at once.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from crepes.martingales import CompositeMartingale, SimpleJumper, SleeperDrifter, SleeperStayer

DELTA, NEVER, STREAMS = 0.01, 10**6, 60
NAMES = ["doubt", "area", "inside", "stray", "odds inside", "odds outside", "balance", "roughness"]


def delay(martingale, p_values):
    index = martingale.apply(p_values, c=1 / DELTA)
    return index + 1 if index < len(p_values) else NEVER


def main(program, folder, name, *options):
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([program, "streams", folder, name, *options, "--out", out], check=True)
        for file in sorted(Path(out).glob("p_*.npy")):
            kind, p = file.stem[2:], np.load(file)[:STREAMS]
            own = np.load(Path(out) / f"delay_{kind}.npy")[:STREAMS]
            regions = 16
            kinds = {"SimpleJumper": SimpleJumper, "SleeperStayer": SleeperStayer, "SleeperDrifter": SleeperDrifter,
                     "Composite": lambda: CompositeMartingale([SimpleJumper(), SleeperStayer(), SleeperDrifter()])}  # fmt: skip
            best = (NEVER, "none", "none")
            for f in range(p.shape[1]):
                number = f % (len(NAMES) + regions)
                if number >= len(NAMES):
                    continue
                for label, make in kinds.items():
                    median = float(np.median([delay(make(), stream[f]) for stream in p]))
                    best = min(best, (median, label, f"{NAMES[number]} of class {f // (len(NAMES) + regions) + (p.shape[1] == 24)}"))
            ours = float(np.median(np.where(own == 0, NEVER, own)))
            text = lambda value: "never" if value >= NEVER else f"{value:g}"  # noqa: E731
            print(f"{kind:<9} {len(p)} streams: monitor {text(ours)}, crepes' best {text(best[0])} ({best[1]}, {best[2]})", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
