// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "../state/capture.h"
#include "../state/resolve.h"
#include "call.h"

using namespace emulator;

namespace {

CUresult allocate(Context &context, CUdeviceptr *address, size_t bytes, const char *origin) {
  if (!address || !bytes)
    return CUDA_ERROR_INVALID_VALUE;
  const uint64_t made = context.device.memory().allocate(bytes, origin);
  if (!made)
    return CUDA_ERROR_OUT_OF_MEMORY;
  context.allocations.insert(made);
  *address = made;
  return CUDA_SUCCESS;
}

CUresult check_stream(const Process &process, const Stream &stream) {
  RETURN_IF_FAILED(check_use(process, stream));
  return stream.capture
             ? refuse_in_capture(stream, CUDA_ERROR_NOT_SUPPORTED, "the emulated driver's graphs have no memory nodes")
             : CUDA_SUCCESS;
}

// A release in stream order. The allocation stops being the context's when the call is made: it can't be freed twice.
class Release : public Action {
public:
  Release(Memory &memory, uint64_t address) : memory_(memory), address_(address) {}
  ~Release() override {
    if (!done_)
      memory_.release(address_);
  }
  bool run(uint64_t) override {
    memory_.release(address_);
    return done_ = true;
  }

private:
  Memory &memory_;
  uint64_t address_;
  bool done_ = false;
};

} // namespace

DRIVER_FUNCTION cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) DRIVER_TRY {
  Call call("cuMemAlloc", address, bytes);
  RETURN_IF_FAILED(call.begin());
  RETURN_IF_FAILED(check_unsafe(call.process));
  std::shared_ptr<Context> context;
  RETURN_IF_FAILED(resolve_current(call.process, context));
  return allocate(*context, address, bytes, "cuMemAlloc");
} DRIVER_CATCH

// Pending work is not waited for: the H200 did not either. Work that still uses the memory will fault.
DRIVER_FUNCTION cuMemFree_v2(CUdeviceptr address) DRIVER_TRY {
  Call call("cuMemFree", address);
  RETURN_IF_FAILED(call.begin());
  RETURN_IF_FAILED(check_unsafe(call.process));
  RETURN_IF_FAILED(resolve_current_if_any(call.process));
  if (!address)
    return CUDA_SUCCESS;
  const std::shared_ptr<Context> owner = call.process.owner_of(address);
  if (!owner || !owner->allocations.erase(address))
    return refuse_address(call.process, address);
  owner->device.memory().release(address);
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream_handle) DRIVER_TRY {
  Call call("cuMemAllocAsync", address, bytes, stream_handle);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(resolve_stream(call.process, stream_handle, stream));
  RETURN_IF_FAILED(check_stream(call.process, *stream));
  RETURN_IF_FAILED(check_unsafe(call.process));
  return allocate(*stream->context, address, bytes, "cuMemAllocAsync");
} DRIVER_CATCH

DRIVER_FUNCTION cuMemFreeAsync(CUdeviceptr address, CUstream stream_handle) DRIVER_TRY {
  Call call("cuMemFreeAsync", address, stream_handle);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(resolve_stream(call.process, stream_handle, stream));
  RETURN_IF_FAILED(check_stream(call.process, *stream));
  RETURN_IF_FAILED(check_unsafe(call.process));
  if (!address)
    return CUDA_SUCCESS;
  const std::shared_ptr<Context> owner = call.process.owner_of(address);
  if (!owner || !owner->allocations.erase(address))
    return refuse_address(call.process, address);
  stream->enqueue(call.process.scheduler, std::make_unique<Release>(owner->device.memory(), address));
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuMemGetInfo_v2(size_t *available, size_t *total) DRIVER_TRY {
  Call call("cuMemGetInfo", available, total);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<Context> context;
  RETURN_IF_FAILED(resolve_current(call.process, context));
  const Memory &memory = context->device.memory();
  if (available)
    *available = memory.capacity() - memory.used();
  if (total)
    *total = memory.capacity();
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) DRIVER_TRY {
  Call call("cuMemGetAddressRange", base, bytes, address);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<Context> context;
  RETURN_IF_FAILED(resolve_current(call.process, context));
  Device *device = call.process.device_of(address, 1);
  if (!device)
    return refuse(CUDA_ERROR_NOT_FOUND, call.process.describe_address(address));
  const Allocation *allocation = device->memory().find(address, 1);
  if (base)
    *base = allocation->address;
  if (bytes)
    *bytes = allocation->size;
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuMemHostAlloc(void **address, size_t bytes, unsigned int flags) DRIVER_TRY {
  Call call("cuMemHostAlloc", address, bytes, flags);
  RETURN_IF_FAILED(call.begin());
  RETURN_IF_FAILED(check_unsafe(call.process));
  constexpr unsigned known = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  if (!address || (flags & ~known))
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Context> context;
  RETURN_IF_FAILED(resolve_current(call.process, context));
  *address = nullptr;
  if (!bytes)
    return CUDA_SUCCESS;
  void *made = call.process.host_memory.allocate(bytes, flags, context->id);
  if (!made)
    return CUDA_ERROR_OUT_OF_MEMORY;
  for (const auto &device : call.process.devices)
    device->memory().attach(reinterpret_cast<uint64_t>(made), bytes, "cuMemHostAlloc");
  context->host_allocations.insert(made);
  *address = made;
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuMemFreeHost(void *address) DRIVER_TRY {
  Call call("cuMemFreeHost", address);
  RETURN_IF_FAILED(call.begin());
  RETURN_IF_FAILED(check_unsafe(call.process));
  RETURN_IF_FAILED(resolve_current_if_any(call.process));
  if (!address)
    return CUDA_SUCCESS;
  const auto owners = call.process.contexts.select(
      [&](const Context &context) { return context.host_allocations.count(address) != 0; });
  if (owners.empty())
    return refuse_address(call.process, reinterpret_cast<uint64_t>(address));
  owners.front()->host_allocations.erase(address);
  for (const auto &device : call.process.devices)
    device->memory().detach(reinterpret_cast<uint64_t>(address));
  call.process.host_memory.release(address);
  return CUDA_SUCCESS;
} DRIVER_CATCH
