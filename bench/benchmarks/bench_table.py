# SPDX-License-Identifier: Apache-2.0
"""Look-ups of addresses in C: 1,000,000 at a time, so asv's ms are ns each."""

import random
from pathlib import Path

from compiled import cython_extension

LOOK_UPS = 1_000_000
PROBE = Path(__file__).resolve().parents[1] / "table_probe" / "table_probe.pyx"


class TableLookup:
    params = [[1, 1_000, 1_000_000], ["se_cy", "unordered_map"]]
    param_names = ["entries", "implementation"]
    number = 1

    def setup(self, entries, implementation):
        # Addresses as an allocator gives them to objects of 96 bytes, looked up in an order that no prefetcher guesses.
        keys = [0x7F0000000000 + 96 * i for i in range(entries)]
        tables = cython_extension(PROBE).Tables(keys, random.Random(0).sample(keys, entries))
        self.look_up = getattr(tables, implementation)
        if self.look_up(entries) != sum(keys) % 2**64:
            raise AssertionError("not every key was found")

    def time_look_up(self, entries, implementation):
        self.look_up(LOOK_UPS)
