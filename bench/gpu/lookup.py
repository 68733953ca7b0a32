# SPDX-License-Identifier: Apache-2.0
"""What it costs to ask again for a kernel that one already has, by the size of its code.

    python bench/gpu/lookup.py [FOLDER] [--driver emulator]

All ways in one process, in turn. Prints a table as it goes, and writes lookup.csv to the folder; plot_lookup.py draws
it. A package that is not installed is left out, and said to be.
"""

import argparse
import csv
import gc
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import drivers
from gpu.alternation import median_interval
from gpu.environment import environment
from gpu.lookup_ways import TITLES, Ways

SIZES = 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 64_000_000
BURST_NS = 300_000
MOST_IN_BURST = 1_000
FEWEST_ROUNDS = 7
COLUMNS = "way", "code_bytes", "median_ns", "low_ns", "high_ns", "rounds", "burst"


class Way:
    """One way at one size, with what it took so far.

    Parameters
    ----------
    name : str
    ask : callable
        Asks so many times, and returns nanoseconds of one.
    seconds : float
        Takes part in no more rounds once it has taken so many, if it has had the fewest.
    """

    def __init__(self, name, ask, seconds):
        self.name, self.ask, self.seconds = name, ask, seconds
        ask(1)  # loads the kernel
        self.burst = 1
        for _ in range(2):  # one alone is timed too roughly
            self.burst = min(max(int(BURST_NS / max(ask(self.burst), 1)), 1), MOST_IN_BURST)
        self.nanoseconds, self.spent = [], 0.0

    def run(self):
        if self.spent > self.seconds and len(self.nanoseconds) >= FEWEST_ROUNDS:
            return
        start = time.perf_counter()
        self.nanoseconds.append(self.ask(self.burst))
        self.spent += time.perf_counter() - start

    def row(self, nbytes):
        interval = median_interval(self.nanoseconds)
        return [self.name, nbytes, *(f"{value:.1f}" for value in interval), len(self.nanoseconds), self.burst]


def made(ways, seconds, failures):
    """Those of the ways that can be had here."""
    found = []
    for name, title in TITLES.items():
        start = time.perf_counter()
        try:
            found.append(Way(name, getattr(ways, name)(), seconds))
        except (ImportError, NotImplementedError) as error:
            print(f"{title:46} not measured: {error}")
        except Exception as error:
            failures.append(name)
            print(f"{title:46} FAILED: {type(error).__name__}: {error}")
        if time.perf_counter() - start > 2:
            print(f"{title:46} took {time.perf_counter() - start:.1f} s to begin", flush=True)
    return found


def measure(device, nbytes, rounds, seconds, failures):
    """Rows of one size."""
    print(f"\n{nbytes:,} bytes of code", flush=True)
    found = made(Ways(device, nbytes), seconds, failures)
    gc.collect()
    gc.disable()
    try:
        for i in range(rounds):
            # Another one first each time, so that each follows each other one.
            for way in found[i % len(found):] + found[:i % len(found)]:
                way.run()
    finally:
        gc.enable()
    rows = [way.row(nbytes) for way in found]
    for name, _, median, low, high, count, burst in rows:
        print(f"{TITLES[name]:46} {float(median):14,.0f} [{float(low):,.0f}, {float(high):,.0f}], {count} x {burst}",
              flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="where lookup.csv goes")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--rounds", type=int, default=101)
    parser.add_argument("--seconds", type=float, default=1.5,
                        help="for each way at each size, unless the fewest rounds take more")
    drivers.add_option(parser)
    options = parser.parse_args()
    drivers.use(options.driver)
    import se_cy

    device = se_cy.Device(0)
    for name, value in environment(device).items():
        print(f"{name:14} {value}")
    print("\nns of one request: median [95 % interval], rounds x requests in a burst; garbage collector off")
    failures, rows = [], []
    for nbytes in options.sizes:
        rows += measure(device, nbytes, options.rounds, options.seconds, failures)
        if options.folder:
            # After each size: what is measured stays if the next is cut short.
            options.folder.mkdir(parents=True, exist_ok=True)
            with open(options.folder / "lookup.csv", "w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
