/* SPDX-License-Identifier: Apache-2.0 */
/* Control of the emulated driver, beside its driver functions. Usable from C; se_cy.emulator is the Python form.
   Driver functions go by their names in cuda.h; a version suffix does not matter. */
#ifndef SE_CY_EMULATOR_CONTROL_H
#define SE_CY_EMULATOR_CONTROL_H

#include <stddef.h>
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

/* Chooses the CUDA version that the driver implements, before cuInit: 12040 for 12.4. 0, or -1 for a version that is
   not known, or -2 when the driver is another one and is initialised or was asked for entry points. */
SE_CY_EMULATOR_API int se_cy_emulator_set_driver_version(int version);

/* Back to what a new process has: every context is destroyed and its pending work discarded, faults are healed, and
   whatever was asked for through this file is forgotten. Ids, handles and the driver's version go on. */
SE_CY_EMULATOR_API void se_cy_emulator_reset(void);

/* 1 if the driver has the function, 2 if it has it but does not count its calls, which can't fail or wait then, else 0;
   and the names of all, index from 0, NULL past the last. */
SE_CY_EMULATOR_API int se_cy_emulator_implements(const char *function);
SE_CY_EMULATOR_API const char *se_cy_emulator_function(size_t index);

enum se_cy_emulator_failure_mode { SE_CY_EMULATOR_ONCE = 0, SE_CY_EMULATOR_ALWAYS = 1, SE_CY_EMULATOR_STICKY = 2 };

/* Makes the nth call from now (1: the next) of a driver function answer status and do nothing else. mode is a sum:
   with ALWAYS it and every later one; with STICKY the context in use is lost, as by a device fault. 0, or -1 for a
   bad argument. */
SE_CY_EMULATOR_API int se_cy_emulator_fail(const char *function, uint64_t nth, int status, int mode);
SE_CY_EMULATOR_API void se_cy_emulator_clear_failures(void);

/* Calls of a driver function so far, failed ones too; of all functions for NULL. */
SE_CY_EMULATOR_API uint64_t se_cy_emulator_calls(const char *function);

/* Makes cuGetProcAddress find no such function. 0; -1 for one that the driver lacks; -2 where it was asked for
   already, so that somebody may hold it. */
SE_CY_EMULATOR_API int se_cy_emulator_hide(const char *function);

/* Calls of the function that come from now on wait at their start, until the gate is opened. 0 for one that the driver lacks. */
SE_CY_EMULATOR_API uint64_t se_cy_emulator_close_gate(const char *function);
/* Waits until count calls wait there. 1; 0 when the time is over; -1 when the gate is open; -2 when a call was made by
   a thread that held Python's GIL, which is let through, as nobody could open the gate meanwhile. */
SE_CY_EMULATOR_API int se_cy_emulator_wait_at_gate(uint64_t gate, uint64_t count, double seconds);
SE_CY_EMULATOR_API void se_cy_emulator_open_gate(uint64_t gate);
SE_CY_EMULATOR_API void se_cy_emulator_open_all_gates(void);

struct se_cy_emulator_call {
  const char *function;
  const int64_t *arguments;
  size_t argument_count;
  int thread;
  int has_gil;
  uint64_t context;
  const char *kernel; /* of a launch; else "" */
  const unsigned char *parameters;
  const uint32_t *parameter_bytes;
  size_t parameter_count;
  const int64_t *attributes; /* of cuLaunchKernelEx: CUlaunchAttributeID and three values of each */
  size_t attribute_count;
};

/* Starts a log of driver calls: its number, or 0 while there is another. */
SE_CY_EMULATOR_API uint64_t se_cy_emulator_begin_recording(void);
SE_CY_EMULATOR_API void se_cy_emulator_end_recording(uint64_t recording);
/* Takes the oldest call out of the log: 1, or 0 when there is none. What call points to is valid until the next one is
   taken, by whichever thread. */
SE_CY_EMULATOR_API int se_cy_emulator_take_recorded(uint64_t recording, struct se_cy_emulator_call *call);

/* The kinds of things that the driver holds, index from 0, NULL past the last; and how many of a kind are alive,
   UINT64_MAX for another kind. */
SE_CY_EMULATOR_API const char *se_cy_emulator_kind(size_t index);
SE_CY_EMULATOR_API uint64_t se_cy_emulator_live(const char *kind);

/* What the last fault of device work was; empty if there was none. Valid in the calling thread until its next call. */
SE_CY_EMULATOR_API const char *se_cy_emulator_last_fault(void);
/* Why the calling thread's last call that a reason is known for was refused; empty if there was none. Valid
   likewise. */
SE_CY_EMULATOR_API const char *se_cy_emulator_explanation(void);
/* Why the calling thread's last call of the function answered status: the fault behind a status of device work, or the
   explanation; empty if there is none. Valid likewise. */
SE_CY_EMULATOR_API const char *se_cy_emulator_explanation_of(const char *function, int status);

/* Waits run pending work in an order that the seed decides, out of all orders that are legal; NULL: only what they
   wait for, in the order of the calls. */
SE_CY_EMULATOR_API void se_cy_emulator_seed(const uint64_t *seed);

/* Pending work runs in a thread of the driver's own until each begin has its end: with the number that begin returned,
   or 0 when there is no thread. A reset ends them all; an end that comes after it does nothing. */
SE_CY_EMULATOR_API uint64_t se_cy_emulator_begin_progress(void);
SE_CY_EMULATOR_API void se_cy_emulator_end_progress(uint64_t begun);

/* Kernels of that name use count registers a thread, 1 to 255; 0: what their code says. 0, or -1 for another count. */
SE_CY_EMULATOR_API int se_cy_emulator_claim_registers(const char *kernel, unsigned count);

#ifdef __cplusplus
}
#endif

#endif
