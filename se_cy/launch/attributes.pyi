# SPDX-License-Identifier: Apache-2.0
from typing import NamedTuple

class KernelAttributes(NamedTuple):
    max_threads_per_block: int
    registers: int
    shared_bytes: int
    local_bytes: int
    const_bytes: int
    max_dynamic_shared_bytes: int
    ptx_version: int
    binary_version: int
