# SPDX-License-Identifier: Apache-2.0
"""What it costs to make a `Code` of bytes that a living one keeps, of equal ones, and of new ones."""

import interning


class Interning:
    params = [interning.SIZES, ["known bytes", "equal bytes", "new bytes", "new bytearray", "hash", "compare", "copy"]]
    param_names = ["code_bytes", "case"]
    timeout = 300

    def setup_cache(self):
        # All cases of a size in one process, in turn.
        return {nbytes: interning.medians(nbytes) for nbytes in interning.SIZES}

    def track_time(self, medians, code_bytes, case):
        return medians[code_bytes][case]

    track_time.unit = "ns"
