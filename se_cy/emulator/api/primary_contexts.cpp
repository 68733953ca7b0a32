// SPDX-License-Identifier: Apache-2.0
#include "../state/capture.h"
#include "../state/resolve.h"
#include "call.h"

using namespace emulator;

namespace {

enum class EndedBy { release, reset };

// Ends an incarnation. What it still has to do is done first, as by the real driver; meanwhile another thread may end
// it, or retain what the last release is about to end.
CUresult end(Call &call, Device &device, EndedBy by) {
  PrimaryContext &primary = device.primary();
  const std::shared_ptr<Context> context = primary.context;
  if (!context)
    return CUDA_SUCCESS;
  call.wait(call.process.scheduler.pending_of(*context));
  if (primary.context != context || (by == EndedBy::release && primary.retained))
    return CUDA_SUCCESS;
  if (context->fault != CUDA_SUCCESS)
    primary.fault = context->fault;
  call.process.destroy_context(context);
  primary.context.reset();
  return CUDA_SUCCESS;
}

} // namespace

DRIVER_FUNCTION cuDevicePrimaryCtxRetain(CUcontext *handle, CUdevice ordinal) DRIVER_TRY {
  Call call("cuDevicePrimaryCtxRetain", handle, ordinal);
  RETURN_IF_FAILED(call.begin());
  Device *device;
  RETURN_IF_FAILED(resolve_device(call.process, ordinal, device));
  if (!handle)
    return CUDA_ERROR_INVALID_VALUE;
  PrimaryContext &primary = device->primary();
  *handle = primary.handle;
  if (primary.fault != CUDA_SUCCESS)
    return primary.fault;
  if (!primary.context)
    primary.context = call.process.create_context(*device, primary.flags, true);
  ++primary.retained;
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) DRIVER_TRY {
  Call call("cuDevicePrimaryCtxRelease", ordinal);
  RETURN_IF_FAILED(call.begin());
  Device *device;
  RETURN_IF_FAILED(resolve_device(call.process, ordinal, device));
  PrimaryContext &primary = device->primary();
  if (!primary.retained)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (primary.retained == 1)
    RETURN_IF_FAILED(check_unsafe(call.process));
  return --primary.retained ? CUDA_SUCCESS : end(call, *device, EndedBy::release);
} DRIVER_CATCH

DRIVER_FUNCTION cuDevicePrimaryCtxReset_v2(CUdevice ordinal) DRIVER_TRY {
  Call call("cuDevicePrimaryCtxReset", ordinal);
  RETURN_IF_FAILED(call.begin());
  RETURN_IF_FAILED(check_unsafe(call.process));
  Device *device;
  RETURN_IF_FAILED(resolve_device(call.process, ordinal, device));
  return end(call, *device, EndedBy::reset);
} DRIVER_CATCH

DRIVER_FUNCTION cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned int *flags, int *active) DRIVER_TRY {
  Call call("cuDevicePrimaryCtxGetState", ordinal, flags, active);
  RETURN_IF_FAILED(call.begin());
  Device *device;
  RETURN_IF_FAILED(resolve_device(call.process, ordinal, device));
  if (!flags || !active)
    return CUDA_ERROR_INVALID_VALUE;
  *flags = device->primary().flags;
  *active = device->primary().context ? 1 : 0;
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned int flags) DRIVER_TRY {
  Call call("cuDevicePrimaryCtxSetFlags", ordinal, flags);
  RETURN_IF_FAILED(call.begin());
  Device *device;
  RETURN_IF_FAILED(resolve_device(call.process, ordinal, device));
  if (flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK))
    return CUDA_ERROR_INVALID_VALUE;
  PrimaryContext &primary = device->primary();
  primary.flags = flags;
  if (primary.context)
    primary.context->flags = flags;
  return CUDA_SUCCESS;
} DRIVER_CATCH
