# SPDX-License-Identifier: Apache-2.0
"""Look-ups of addresses in C: 1,000,000 at a time, so asv's ms are ns each."""

import random
from pathlib import Path

from compiled import cython_extension

LOOK_UPS = 1_000_000
PROBE = Path(__file__).resolve().parents[1] / "table_probe" / "table_probe.pyx"
BASE = 0x7F0000000000


class _Table:
    number = 1

    def look_up_in(self, implementation, present, absent, sought):
        """Keys, or as many others that are not there, looked up in an order that no prefetcher guesses."""
        wanted = present if sought == "hit" else absent
        tables = cython_extension(PROBE).Tables(present, random.Random(0).sample(wanted, len(wanted)))
        self.look_up = getattr(tables, implementation)
        if self.look_up(len(wanted)) != (sum(present) % 2**64 if sought == "hit" else 0):
            raise AssertionError("what was found is not what is there")


class TableLookup(_Table):
    """Addresses anywhere in 4 GB of heap."""

    params = [[1, 1_000, 1_000_000], ["hit", "miss"], ["se_cy", "unordered_map"]]
    param_names = ["entries", "sought", "implementation"]

    def setup(self, entries, sought, implementation):
        chosen = [BASE + 16 * i for i in random.Random(1).sample(range(1 << 28), 2 * entries)]
        self.look_up_in(implementation, chosen[:entries], chosen[entries:], sought)

    def time_look_up(self, entries, sought, implementation):
        self.look_up(LOOK_UPS)


class TableStride(_Table):
    """Addresses a stride apart: 96, as an allocator gives them to small objects in a row, and strides that a table may
    be bad at, of equal low bits or a multiple of the number of buckets.

    A prime number of buckets likes the others best: no two keys share one.
    """

    params = [["96", "4096", "2**32", "buckets"], [1_000, 1_000_000], ["hit", "miss"], ["se_cy", "unordered_map"]]
    param_names = ["stride", "entries", "sought", "implementation"]

    def setup(self, stride, entries, sought, implementation):
        if stride == "buckets":
            if entries > 1_000:
                raise NotImplementedError("all in one bucket of the unordered_map: it would take hours to fill")
            stride = 16 * cython_extension(PROBE).Tables(range(2, entries + 2), ()).bucket_count
        else:
            stride = {"96": 96, "4096": 4096, "2**32": 2**32}[stride]
        addresses = [BASE + stride * i for i in range(2 * entries)]
        self.look_up_in(implementation, addresses[:entries], addresses[entries:], sought)

    def time_look_up(self, stride, entries, sought, implementation):
        self.look_up(LOOK_UPS)
