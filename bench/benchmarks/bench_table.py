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

    def look_up_in(self, implementation, stride, entries, sought):
        """Keys a stride apart, looked up in an order that no prefetcher guesses; those that miss follow them."""
        keys = [BASE + stride * i for i in range(entries)]
        wanted = keys if sought == "hit" else [key + stride * entries for key in keys]
        tables = cython_extension(PROBE).Tables(keys, random.Random(0).sample(wanted, entries))
        self.look_up = getattr(tables, implementation)
        if self.look_up(entries) != (sum(keys) % 2**64 if sought == "hit" else 0):
            raise AssertionError("what was found is not what is there")


class TableLookup(_Table):
    params = [[1, 1_000, 1_000_000], ["hit", "miss"], ["se_cy", "unordered_map"]]
    param_names = ["entries", "sought", "implementation"]

    def setup(self, entries, sought, implementation):
        # Addresses as an allocator gives them to objects of 96 bytes.
        self.look_up_in(implementation, 96, entries, sought)

    def time_look_up(self, entries, sought, implementation):
        self.look_up(LOOK_UPS)


class TableAdversarial(_Table):
    """Strides that a table may be bad at: equal low bits, or a multiple of the number of buckets."""

    params = [["4096", "2**32", "buckets"], [1_000, 1_000_000], ["hit", "miss"], ["se_cy", "unordered_map"]]
    param_names = ["stride", "entries", "sought", "implementation"]

    def setup(self, stride, entries, sought, implementation):
        if stride == "buckets":
            if entries > 1_000:
                raise NotImplementedError("all in one bucket of the unordered_map: it would take hours to fill")
            stride = 16 * cython_extension(PROBE).Tables(range(2, entries + 2), ()).bucket_count
        else:
            stride = {"4096": 4096, "2**32": 2**32}[stride]
        self.look_up_in(implementation, stride, entries, sought)

    def time_look_up(self, stride, entries, sought, implementation):
        self.look_up(LOOK_UPS)
