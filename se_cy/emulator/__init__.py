# SPDX-License-Identifier: Apache-2.0
"""Control of the emulated CUDA driver, once `se_cy.use_emulator()` has made it this process's driver.

Functions of the driver go by their names in ``cuda.h``; a version suffix does not matter: "cuMemAlloc" is also
"cuMemAlloc_v2". In a child forked after the driver was initialised every call is refused at once, as by a real driver:
none is counted, recorded, held or made to fail there.
"""
from se_cy.emulator.devices import claim_registers, configure, parse_devices, set_driver_version
from se_cy.emulator.failures import calls, clear_failures, fail, hide
from se_cy.emulator.gates import block
from se_cy.emulator.library import library_path
from se_cy.emulator.order import progress, seed
from se_cy.emulator.recording import Call, record
from se_cy.emulator.state import explanation, last_fault, live, reset

__all__ = [
    "Call",
    "block",
    "calls",
    "claim_registers",
    "clear_failures",
    "configure",
    "explanation",
    "fail",
    "hide",
    "last_fault",
    "library_path",
    "live",
    "parse_devices",
    "progress",
    "record",
    "reset",
    "seed",
    "set_driver_version",
]
