# SPDX-License-Identifier: Apache-2.0
"""What only the emulated driver has or answers; what every driver promises is in tests/driver_contract."""

from driver_contract.conftest import context, kernel, memory, module, stream

__all__ = ["context", "kernel", "memory", "module", "stream"]
