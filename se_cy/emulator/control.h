/* SPDX-License-Identifier: Apache-2.0 */
/* Control of the emulated driver, beside its driver functions. Usable from C; se_cy.emulator is the Python form. */
#ifndef SE_CY_EMULATOR_CONTROL_H
#define SE_CY_EMULATOR_CONTROL_H

#include <stdint.h>

#define SE_CY_EMULATOR_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* Only the emulated driver has this symbol: its presence tells it from a real one. */
SE_CY_EMULATOR_API const char *se_cy_emulator_version(void);

/* Chooses the devices, before cuInit: "9.0,8.0", each with a name behind a colon if wanted ("9.0:first").
   0, or -1 when the text is not such a list or the driver is already initialised with other devices. */
SE_CY_EMULATOR_API int se_cy_emulator_configure(const char *devices);

enum se_cy_emulator_failure_mode { SE_CY_EMULATOR_ONCE = 0, SE_CY_EMULATOR_ALWAYS = 1 };

/* Makes the nth call from now (1: the next) of a driver function answer status and do nothing else; with ALWAYS it
   and every later one. Names are those of cuda.h, a version suffix does not matter. 0, or -1 for a bad argument. */
SE_CY_EMULATOR_API int se_cy_emulator_fail(const char *function, uint64_t nth, int status, int mode);
SE_CY_EMULATOR_API void se_cy_emulator_clear_failures(void);

/* Calls of a driver function so far, failed ones too; of all functions for NULL. */
SE_CY_EMULATOR_API uint64_t se_cy_emulator_calls(const char *function);

/* Live handles: kind is "contexts", "modules", "functions", "streams", "events", "allocations" or
   "host_allocations"; UINT64_MAX for another. */
SE_CY_EMULATOR_API uint64_t se_cy_emulator_live(const char *kind);

/* What the last fault of device work was; empty if there was none. Valid in the calling thread until its next call. */
SE_CY_EMULATOR_API const char *se_cy_emulator_last_fault(void);

#ifdef __cplusplus
}
#endif

#endif
