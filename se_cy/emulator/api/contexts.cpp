// SPDX-License-Identifier: Apache-2.0
#include "../state/capture.h"
#include "../state/host_thread.h"
#include "../state/resolve.h"
#include "call.h"

using namespace emulator;

namespace {

CUresult create(Call &call, CUcontext *handle, unsigned flags, CUdevice ordinal) {
  Device *device;
  RETURN_IF_FAILED(resolve_device(call.process, ordinal, device));
  if (!handle || (flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)))
    return CUDA_ERROR_INVALID_VALUE;
  RETURN_IF_FAILED(check_unsafe(call.process));
  *handle = call.process.create_context(*device, flags, false)->handle;
  HostThread::of_caller().contexts.push_back(*handle);
  return CUDA_SUCCESS;
}

} // namespace

DRIVER_FUNCTION cuCtxCreate_v2(CUcontext *handle, unsigned int flags, CUdevice device) DRIVER_TRY {
  Call call("cuCtxCreate", handle, flags, device);
  RETURN_IF_FAILED(call.begin());
  return create(call, handle, flags, device);
} DRIVER_CATCH

DRIVER_FUNCTION cuCtxCreate_v4(CUcontext *handle, CUctxCreateParams *parameters, unsigned int flags, CUdevice device) DRIVER_TRY {
  Call call("cuCtxCreate", handle, parameters, flags, device);
  RETURN_IF_FAILED(call.begin());
  if (parameters && (parameters->execAffinityParams || parameters->cigParams))
    return CUDA_ERROR_NOT_SUPPORTED;
  return create(call, handle, flags, device);
} DRIVER_CATCH

DRIVER_FUNCTION cuCtxDestroy_v2(CUcontext handle) DRIVER_TRY {
  Call call("cuCtxDestroy", handle);
  RETURN_IF_FAILED(call.begin());
  RETURN_IF_FAILED(check_unsafe(call.process));
  const std::shared_ptr<Context> context = call.process.contexts.find(handle);
  if (!context || context->primary)
    return refuse(CUDA_ERROR_INVALID_CONTEXT, call.process.contexts.describe(handle));
  call.wait(call.process.scheduler.pending_of(*context));
  // Another thread may have destroyed it during the wait.
  if (context->destroyed)
    return refuse(CUDA_ERROR_INVALID_CONTEXT, call.process.contexts.describe(handle));
  call.process.destroy_context(context);
  HostThread &thread = HostThread::of_caller();
  if (thread.current() == handle)
    thread.contexts.pop_back();
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuCtxGetCurrent(CUcontext *handle) DRIVER_TRY {
  Call call("cuCtxGetCurrent", handle);
  RETURN_IF_FAILED(call.begin());
  if (!handle)
    return CUDA_ERROR_INVALID_VALUE;
  *handle = HostThread::of_caller().current();
  return CUDA_SUCCESS;
} DRIVER_CATCH

// A destroyed context can be made current; what needs it fails then.
DRIVER_FUNCTION cuCtxSetCurrent(CUcontext handle) DRIVER_TRY {
  Call call("cuCtxSetCurrent", handle);
  RETURN_IF_FAILED(call.begin());
  if (handle && !call.process.contexts.issued(handle))
    return refuse(CUDA_ERROR_INVALID_CONTEXT, call.process.contexts.describe(handle));
  HostThread::of_caller().set_current(handle);
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuCtxPushCurrent_v2(CUcontext handle) DRIVER_TRY {
  Call call("cuCtxPushCurrent", handle);
  RETURN_IF_FAILED(call.begin());
  if (!call.process.contexts.issued(handle))
    return refuse(CUDA_ERROR_INVALID_CONTEXT, call.process.contexts.describe(handle));
  HostThread::of_caller().contexts.push_back(handle);
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuCtxPopCurrent_v2(CUcontext *handle) DRIVER_TRY {
  Call call("cuCtxPopCurrent", handle);
  RETURN_IF_FAILED(call.begin());
  HostThread &thread = HostThread::of_caller();
  if (thread.contexts.empty())
    return CUDA_ERROR_INVALID_CONTEXT;
  if (handle)
    *handle = thread.current();
  thread.contexts.pop_back();
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuCtxGetDevice(CUdevice *device) DRIVER_TRY {
  Call call("cuCtxGetDevice", device);
  RETURN_IF_FAILED(call.begin());
  if (!device)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Context> context;
  RETURN_IF_FAILED(resolve_context_in_any_state(call.process, nullptr, context));
  *device = context->device.ordinal();
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuCtxGetId(CUcontext handle, unsigned long long *id) DRIVER_TRY {
  Call call("cuCtxGetId", handle, id);
  RETURN_IF_FAILED(call.begin());
  if (!id)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Context> context;
  RETURN_IF_FAILED(resolve_context_in_any_state(call.process, handle, context));
  *id = context->id;
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuCtxGetFlags(unsigned int *flags) DRIVER_TRY {
  Call call("cuCtxGetFlags", flags);
  RETURN_IF_FAILED(call.begin());
  if (!flags)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Context> context;
  RETURN_IF_FAILED(resolve_context_in_any_state(call.process, nullptr, context));
  *flags = context->flags;
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuCtxGetApiVersion(CUcontext handle, unsigned int *version) DRIVER_TRY {
  Call call("cuCtxGetApiVersion", handle, version);
  RETURN_IF_FAILED(call.begin());
  if (!version)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Context> context;
  RETURN_IF_FAILED(resolve_context(call.process, handle, context));
  *version = 3020;
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuCtxGetStreamPriorityRange(int *least, int *greatest) DRIVER_TRY {
  Call call("cuCtxGetStreamPriorityRange", least, greatest);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<Context> context;
  RETURN_IF_FAILED(resolve_current(call.process, context));
  if (least)
    *least = 0;
  if (greatest)
    *greatest = -5;
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuCtxSynchronize(void) DRIVER_TRY {
  Call call("cuCtxSynchronize");
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<Context> context;
  RETURN_IF_FAILED(resolve_current(call.process, context));
  RETURN_IF_FAILED(check_wait(call.process, *context));
  call.wait(call.process.scheduler.pending_of(*context));
  return context->fault;
} DRIVER_CATCH
