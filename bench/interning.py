# SPDX-License-Identifier: Apache-2.0
"""What it costs to make a `Code` of bytes, by their size, beside the passes over them that it has to take.

    python bench/interning.py

Needs no driver. Whatever is hashed is a new object each time: bytes keep their hash.
"""

import gc
import statistics
import time
from itertools import count

import kernels

SIZES = 1_000, 1_000_000, 64_000_000
ROUNDS = 15
MOST_BYTES = 64_000_000  # of what one round makes, unless one object alone takes more
MOST_CALLS = 200


class Content:
    """PTX of one size, equal copies of it, and other PTX of the same size."""

    def __init__(self, nbytes):
        self.nbytes = nbytes
        self.known = kernels.ptx(5, nbytes)
        self._split = self.known.index(b"//") + 2
        self._numbers = count()

    def equal(self):
        return bytes(bytearray(self.known))

    def new(self):
        number = b"%08d" % next(self._numbers)
        return self.known[:self._split] + number + self.known[self._split + len(number):]

    def new_bytearray(self):
        return bytearray(self.new())


def cases(content):
    """By name: what is called, what makes the argument of each call, and how many calls follow each other."""
    import se_cy

    kept = se_cy.Code(content.known)
    known = content.known

    def compare(copy):
        return copy == known and kept

    calls = min(max(MOST_BYTES // content.nbytes, 1), MOST_CALLS)
    return {
        "hash": (hash, content.equal, calls),
        "compare": (compare, content.equal, calls),
        "copy": (bytes, content.new_bytearray, calls),
        "known bytes": (se_cy.Code, lambda: known, MOST_CALLS),
        "equal bytes": (se_cy.Code, content.equal, calls),
        "new bytes": (se_cy.Code, content.new, calls),
        "new bytearray": (se_cy.Code, content.new_bytearray, calls),
    }


def nanoseconds(case):
    """Of one call, over some in a row, each with an argument of its own; what they make is kept meanwhile."""
    function, make, calls = case
    arguments = [make() for _ in range(calls)]
    results = [None] * len(arguments)
    start = time.perf_counter_ns()
    for i, argument in enumerate(arguments):
        results[i] = function(argument)
    return (time.perf_counter_ns() - start) / len(arguments)


def medians(nbytes, rounds=ROUNDS):
    """Nanoseconds of a call of each case, all measured in turn.

    Parameters
    ----------
    nbytes : int
    rounds : int

    Returns
    -------
    dict of str to float
    """
    all_cases = cases(Content(nbytes))
    found = {name: [] for name in all_cases}
    gc.disable()
    try:
        for _ in range(rounds):
            for name, case in all_cases.items():
                found[name].append(nanoseconds(case))
    finally:
        gc.enable()
    return {name: statistics.median(times) for name, times in found.items()}


def main():
    for nbytes in SIZES:
        print(f"{nbytes:,} bytes")
        times = medians(nbytes)
        equal = times["equal bytes"] / (times["hash"] + times["compare"])
        new = times["new bytes"] / times["hash"]
        copied = times["new bytearray"] / (times["hash"] + times["copy"])
        beside = {"equal bytes": f"{equal:.2f} x (hash + compare)", "new bytes": f"{new:.2f} x hash",
                  "new bytearray": f"{copied:.2f} x (hash + copy)"}
        for name, time_ in times.items():
            print(f"  {name:14} {time_:14,.0f} ns {nbytes / time_:12,.2f} GB/s   {beside.get(name, '')}".rstrip(),
                  flush=True)


if __name__ == "__main__":
    main()
