# SPDX-License-Identifier: Apache-2.0
"""A table of bursts, each alternated with the C loop's: printed row by row, and kept for a file."""

import gc
import statistics
import time

from gpu.alternation import alternate, median_interval
from statements import repeated


def timed(statement, count, names):
    """A function that runs a statement `count` times and returns nanoseconds of one."""
    run = repeated(statement, count, names)

    def burst():
        start = time.perf_counter_ns()
        run()
        return (time.perf_counter_ns() - start) / count

    return burst


class Table:
    """Measures one row after another.

    Parameters
    ----------
    drain : callable
        Waits until the launch queue is empty; never timed.
    rounds : int
        Alternations for each row.
    count : int
        Statements in a burst.
    """

    def __init__(self, drain, rounds, count):
        self.drain, self.rounds, self.count = drain, rounds, count
        self.rows, self.failures = [], []
        print(f"{'ns each: median [95 % interval]':42} {'':25} {'C loop':>8} {'ratio of pairs':>24}")

    def measure(self, title, statement, names, reference):
        """Alternate a statement with the C loop, print the row, and return the median ratio."""
        burst = timed(statement, self.count, names)
        gc.collect()
        gc.disable()
        try:
            times = alternate(burst, reference, self.drain, self.rounds)
        finally:
            gc.enable()
        own, other, ratio = map(median_interval, (times.subject, times.reference, times.ratios))
        print(f"{title:42} {own.median:8.0f} [{own.low:6.0f}, {own.high:6.0f}] {other.median:8.0f} "
              f"{ratio.median:8.3f} [{ratio.low:.3f}, {ratio.high:.3f}]", flush=True)
        self.rows.append({
            "title": title, "ns": own._asdict(), "c_loop_ns": other._asdict(), "ratio": ratio._asdict(),
            "bursts_ns": times.subject, "c_loop_bursts_ns": times.reference,
        })
        return ratio.median

    def c_loop(self):
        """Nanoseconds of a launch from C: the median over all rows."""
        return statistics.median([one for row in self.rows for one in row["c_loop_bursts_ns"]])

    def measure_peer(self, title, make, reference):
        """The same for a package that may be missing, or not run here."""
        try:
            self.measure(title, *make(), reference)
        except ImportError as error:
            print(f"{title:42} not measured: {error}")
        except Exception as error:
            self.failures.append(title)
            print(f"{title:42} FAILED: {type(error).__name__}: {error}")
