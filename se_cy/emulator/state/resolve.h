// SPDX-License-Identifier: Apache-2.0
// From what a caller passes to the object it stands for, or the status that the driver answers instead: dead and
// foreign handles, missing contexts, and contexts with a sticky fault.
#pragma once

#include <memory>
#include <string>

#include <cuda.h>

#include "explanation.h"
#include "process.h"

namespace emulator {

CUresult resolve_current(Process &process, std::shared_ptr<Context> &context);
// A context handle; null means the current one.
CUresult resolve_context(Process &process, CUcontext handle, std::shared_ptr<Context> &context);
// For calls that look at a context without using its device: a sticky fault does not stop them.
CUresult resolve_context_in_any_state(Process &process, CUcontext handle, std::shared_ptr<Context> &context);
// For calls that need no current context, and fail if there is one that does not work.
CUresult resolve_current_if_any(Process &process);
CUresult resolve_device(Process &process, CUdevice ordinal, Device *&device);
// Handles 0, 1 and 2 are default streams of the current context; others carry their context.
CUresult resolve_stream(Process &process, CUstream handle, std::shared_ptr<Stream> &stream);
CUresult resolve_module(Process &process, CUmodule handle, std::shared_ptr<Module> &module);
CUresult resolve_function(Process &process, CUfunction handle, std::shared_ptr<Function> &function);
CUresult resolve_event(Process &process, CUevent handle, std::shared_ptr<Event> &event);

// INVALID_HANDLE, explained by what is known of the handle.
template <class Table, class Handle> CUresult refuse_handle(const Table &table, Handle handle) {
  return refuse(CUDA_ERROR_INVALID_HANDLE, table.describe(handle));
}
// INVALID_HANDLE for a thing of another context than the stream's; the thing as its table describes it.
CUresult refuse_foreign(const Process &process, const std::string &thing, CUstream handle, const Stream &stream);
// INVALID_VALUE for an address that is no allocation's, explained by what is known of it.
CUresult refuse_address(const Process &process, uint64_t address);
// The same for bytes from there that are not all of one allocation.
CUresult refuse_range(const Process &process, uint64_t address, uint64_t bytes);

} // namespace emulator
