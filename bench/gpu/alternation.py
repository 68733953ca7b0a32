# SPDX-License-Identifier: Apache-2.0
"""Times two ways of doing the same, in turn, so that what drifts drifts for both."""

import math
import statistics
from typing import NamedTuple


class Interval(NamedTuple):
    """A median, and what it lies between with a confidence of 95 %."""

    median: float
    low: float
    high: float


class Alternated(NamedTuple):
    """Nanoseconds of each: of the one looked at, of what it is compared with, and the ratios of the pairs."""

    subject: list
    reference: list

    @property
    def ratios(self):
        return [one / other for one, other in zip(self.subject, self.reference)]


def median_interval(values):
    """The median with its interval by order statistics, which assumes nothing of how the values are distributed.

    Parameters
    ----------
    values : list of float

    Returns
    -------
    Interval
    """
    ordered = sorted(values)
    n = len(ordered)
    rank, below = 0, 0.0
    # The largest rank with a chance of at most 2.5 % that the median lies below the value of that rank.
    while below + math.comb(n, rank) / 2**n <= 0.025:
        below += math.comb(n, rank) / 2**n
        rank += 1
    rank = max(rank - 1, 0)
    return Interval(statistics.median(ordered), ordered[rank], ordered[n - 1 - rank])


def alternate(subject, reference, drain, rounds):
    """Run both in turn; each goes first in every other round.

    Parameters
    ----------
    subject, reference : callable
        Each returns nanoseconds.
    drain : callable
        Called after each, untimed.
    rounds : int

    Returns
    -------
    Alternated
    """
    times = Alternated([], [])
    for i in range(-3, rounds):
        for which in (0, 1) if i % 2 else (1, 0):
            nanoseconds = (subject, reference)[which]()
            drain()
            if i >= 0:  # the first few warm up
                times[which].append(nanoseconds)
    return times
