// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstring>

#include "../state/resolve.h"
#include "call.h"

using namespace emulator;

DRIVER_FUNCTION cuDeviceGet(CUdevice *device, int ordinal) DRIVER_TRY {
  Call call("cuDeviceGet", device, ordinal);
  RETURN_IF_FAILED(call.begin());
  if (!device)
    return CUDA_ERROR_INVALID_VALUE;
  Device *found;
  RETURN_IF_FAILED(resolve_device(call.process, ordinal, found));
  *device = ordinal;
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuDeviceGetCount(int *count) DRIVER_TRY {
  Call call("cuDeviceGetCount", count);
  RETURN_IF_FAILED(call.begin());
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<int>(call.process.devices.size());
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuDeviceGetName(char *name, int length, CUdevice ordinal) DRIVER_TRY {
  Call call("cuDeviceGetName", name, length, ordinal);
  RETURN_IF_FAILED(call.begin());
  Device *device;
  RETURN_IF_FAILED(resolve_device(call.process, ordinal, device));
  if (!name || length <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  std::snprintf(name, static_cast<size_t>(length), "%s", device->model().name.c_str());
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice ordinal) DRIVER_TRY {
  Call call("cuDeviceGetUuid", uuid, ordinal);
  RETURN_IF_FAILED(call.begin());
  Device *device;
  RETURN_IF_FAILED(resolve_device(call.process, ordinal, device));
  if (!uuid)
    return CUDA_ERROR_INVALID_VALUE;
  *uuid = device->uuid();
  return CUDA_SUCCESS;
} DRIVER_CATCH

#undef cuDeviceGetUuid
DRIVER_FUNCTION cuDeviceGetUuid(CUuuid *uuid, CUdevice ordinal) { return cuDeviceGetUuid_v2(uuid, ordinal); }

DRIVER_FUNCTION cuDeviceTotalMem_v2(size_t *bytes, CUdevice ordinal) DRIVER_TRY {
  Call call("cuDeviceTotalMem", bytes, ordinal);
  RETURN_IF_FAILED(call.begin());
  Device *device;
  RETURN_IF_FAILED(resolve_device(call.process, ordinal, device));
  if (!bytes)
    return CUDA_ERROR_INVALID_VALUE;
  *bytes = device->memory().capacity();
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice ordinal) DRIVER_TRY {
  Call call("cuDeviceGetAttribute", value, attribute, ordinal);
  RETURN_IF_FAILED(call.begin());
  Device *device;
  RETURN_IF_FAILED(resolve_device(call.process, ordinal, device));
  const auto answer = device->attribute(attribute);
  if (!value || !answer)
    return CUDA_ERROR_INVALID_VALUE;
  *value = *answer;
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuDeviceGetPCIBusId(char *text, int length, CUdevice ordinal) DRIVER_TRY {
  Call call("cuDeviceGetPCIBusId", text, length, ordinal);
  RETURN_IF_FAILED(call.begin());
  Device *device;
  RETURN_IF_FAILED(resolve_device(call.process, ordinal, device));
  if (!text || length <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  std::snprintf(text, static_cast<size_t>(length), "0000:%02x:00.0", static_cast<unsigned>(ordinal) + 1);
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuDeviceCanAccessPeer(int *can_access, CUdevice ordinal, CUdevice peer) DRIVER_TRY {
  Call call("cuDeviceCanAccessPeer", can_access, ordinal, peer);
  RETURN_IF_FAILED(call.begin());
  Device *device;
  RETURN_IF_FAILED(resolve_device(call.process, ordinal, device));
  RETURN_IF_FAILED(resolve_device(call.process, peer, device));
  if (!can_access)
    return CUDA_ERROR_INVALID_VALUE;
  *can_access = 0;
  return CUDA_SUCCESS;
} DRIVER_CATCH
