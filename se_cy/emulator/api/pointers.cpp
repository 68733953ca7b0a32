// SPDX-License-Identifier: Apache-2.0
#include "../state/resolve.h"
#include "call.h"

using namespace emulator;

namespace {

template <class Value> CUresult answer(void *data, Value value) {
  *static_cast<Value *>(data) = value;
  return CUDA_SUCCESS;
}

// What is known of an address that the driver gave out.
struct Pointee {
  std::shared_ptr<Context> context;
  uint64_t base;
  size_t size;
  bool host;
};

CUresult find_pointee(Process &process, uint64_t address, Pointee &pointee) {
  if (const HostAllocation *allocation = process.host_memory.find(address, 1)) {
    const auto owners =
        process.contexts.select([&](const Context &context) { return context.id == allocation->context_id; });
    pointee = {owners.front(), allocation->address, allocation->size, true};
    return CUDA_SUCCESS;
  }
  Device *device = process.device_of(address, 1);
  if (!device)
    return refuse_address(process, address);
  const Allocation *allocation = device->memory().find(address, 1);
  pointee = {process.owner_of(allocation->address), allocation->address, allocation->size, false};
  return pointee.context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

} // namespace

DRIVER_FUNCTION cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address) DRIVER_TRY {
  Call call("cuPointerGetAttribute", data, attribute, address);
  RETURN_IF_FAILED(call.begin());
  if (!data)
    return CUDA_ERROR_INVALID_VALUE;
  Pointee pointee;
  RETURN_IF_FAILED(find_pointee(call.process, address, pointee));
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT:
    return answer(data, pointee.context->handle);
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    return answer<unsigned>(data, pointee.host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    return answer<CUdeviceptr>(data, address);
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    return pointee.host ? answer(data, reinterpret_cast<void *>(address)) : CUDA_ERROR_INVALID_VALUE;
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    return answer<unsigned>(data, 0);
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    return answer<int>(data, pointee.context->device.ordinal());
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    return answer<CUdeviceptr>(data, pointee.base);
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    return answer<size_t>(data, pointee.size);
  case CU_POINTER_ATTRIBUTE_MAPPED:
    return answer<unsigned>(data, 1);
  default:
    return CUDA_ERROR_NOT_SUPPORTED;
  }
} DRIVER_CATCH
