// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "call.h"

using namespace emulator;

namespace {

struct StatusText {
  CUresult status;
  const char *name;
  const char *text;
};

#define STATUS(name, text) {name, #name, text}

const StatusText status_texts[] = {
    STATUS(CUDA_SUCCESS, "no error"),
    STATUS(CUDA_ERROR_INVALID_VALUE, "an argument is out of range or null"),
    STATUS(CUDA_ERROR_OUT_OF_MEMORY, "not enough memory"),
    STATUS(CUDA_ERROR_NOT_INITIALIZED, "the driver is not initialised in this process"),
    STATUS(CUDA_ERROR_DEINITIALIZED, "the driver is shutting down"),
    STATUS(CUDA_ERROR_PROFILER_DISABLED, "the profiler is not active"),
    STATUS(CUDA_ERROR_PROFILER_NOT_INITIALIZED, "the profiler is not initialised"),
    STATUS(CUDA_ERROR_PROFILER_ALREADY_STARTED, "the profiler is already started"),
    STATUS(CUDA_ERROR_PROFILER_ALREADY_STOPPED, "the profiler is already stopped"),
    STATUS(CUDA_ERROR_STUB_LIBRARY, "the stub library of the toolkit is loaded in place of the driver"),
    STATUS(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, "the call needs a newer driver"),
    STATUS(CUDA_ERROR_DEVICE_UNAVAILABLE, "the device is not available now"),
    STATUS(CUDA_ERROR_MULTICAST_RESOURCE_FULL, "the device has no multicast resources left"),
    STATUS(CUDA_ERROR_NO_DEVICE, "there is no device"),
    STATUS(CUDA_ERROR_INVALID_DEVICE, "there is no device of that number"),
    STATUS(CUDA_ERROR_DEVICE_NOT_LICENSED, "the device has no licence"),
    STATUS(CUDA_ERROR_INVALID_IMAGE, "the module image is not device code"),
    STATUS(CUDA_ERROR_INVALID_CONTEXT, "there is no current context, or it is not valid"),
    STATUS(CUDA_ERROR_CONTEXT_ALREADY_CURRENT, "the context is already current"),
    STATUS(CUDA_ERROR_MAP_FAILED, "a mapping failed"),
    STATUS(CUDA_ERROR_UNMAP_FAILED, "an unmapping failed"),
    STATUS(CUDA_ERROR_ARRAY_IS_MAPPED, "the array is mapped"),
    STATUS(CUDA_ERROR_ALREADY_MAPPED, "the resource is already mapped"),
    STATUS(CUDA_ERROR_NO_BINARY_FOR_GPU, "the module image has no code for this device"),
    STATUS(CUDA_ERROR_ALREADY_ACQUIRED, "the resource is already acquired"),
    STATUS(CUDA_ERROR_NOT_MAPPED, "the resource is not mapped"),
    STATUS(CUDA_ERROR_NOT_MAPPED_AS_ARRAY, "the resource is not mapped as an array"),
    STATUS(CUDA_ERROR_NOT_MAPPED_AS_POINTER, "the resource is not mapped as a pointer"),
    STATUS(CUDA_ERROR_ECC_UNCORRECTABLE, "memory has an error that can't be corrected"),
    STATUS(CUDA_ERROR_UNSUPPORTED_LIMIT, "the device does not have that limit"),
    STATUS(CUDA_ERROR_CONTEXT_ALREADY_IN_USE, "the context is bound to another thread"),
    STATUS(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "the devices can't reach each other's memory"),
    STATUS(CUDA_ERROR_INVALID_PTX, "the PTX does not compile"),
    STATUS(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, "the graphics context is not valid"),
    STATUS(CUDA_ERROR_NVLINK_UNCORRECTABLE, "NVLink has an error that can't be corrected"),
    STATUS(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "the PTX compiler is missing"),
    STATUS(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "the PTX is of a newer version than this driver's"),
    STATUS(CUDA_ERROR_JIT_COMPILATION_DISABLED, "PTX compilation is disabled"),
    STATUS(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, "the execution affinity is not supported"),
    STATUS(CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC, "the code synchronises on the device, which is not supported"),
    STATUS(CUDA_ERROR_CONTAINED, "an error was contained"),
    STATUS(CUDA_ERROR_INSUFFICIENT_LOADER_VERSION, "the loader is too old"),
    STATUS(CUDA_ERROR_INVALID_SOURCE, "the kernel source is not valid"),
    STATUS(CUDA_ERROR_FILE_NOT_FOUND, "the file is not found"),
    STATUS(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, "a shared object lacks a symbol"),
    STATUS(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "a shared object failed to initialise"),
    STATUS(CUDA_ERROR_OPERATING_SYSTEM, "a call to the operating system failed"),
    STATUS(CUDA_ERROR_INVALID_HANDLE, "the handle is not valid"),
    STATUS(CUDA_ERROR_ILLEGAL_STATE, "the object is not in the state that the call needs"),
    STATUS(CUDA_ERROR_LOSSY_QUERY, "the answer would leave something out"),
    STATUS(CUDA_ERROR_NOT_FOUND, "the name is not found"),
    STATUS(CUDA_ERROR_NOT_READY, "the work is not done yet"),
    STATUS(CUDA_ERROR_ILLEGAL_ADDRESS, "a kernel reached memory that it may not"),
    STATUS(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "the launch needs more resources than there are"),
    STATUS(CUDA_ERROR_LAUNCH_TIMEOUT, "the kernel ran too long"),
    STATUS(CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING, "the launch uses an incompatible texturing mode"),
    STATUS(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled"),
    STATUS(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access is not enabled"),
    STATUS(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "the primary context is active"),
    STATUS(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the current context is destroyed"),
    STATUS(CUDA_ERROR_ASSERT, "an assertion in a kernel failed"),
    STATUS(CUDA_ERROR_TOO_MANY_PEERS, "there are too many peers"),
    STATUS(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "the host memory is already registered"),
    STATUS(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "the host memory is not registered"),
    STATUS(CUDA_ERROR_HARDWARE_STACK_ERROR, "a kernel's call stack is broken"),
    STATUS(CUDA_ERROR_ILLEGAL_INSTRUCTION, "a kernel met an illegal instruction"),
    STATUS(CUDA_ERROR_MISALIGNED_ADDRESS, "a kernel reached memory at an address that is not aligned"),
    STATUS(CUDA_ERROR_INVALID_ADDRESS_SPACE, "a kernel used an address of the wrong space"),
    STATUS(CUDA_ERROR_INVALID_PC, "a kernel's program counter is not valid"),
    STATUS(CUDA_ERROR_LAUNCH_FAILED, "a kernel failed"),
    STATUS(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "the cooperative launch has more blocks than fit on the device"),
    STATUS(CUDA_ERROR_TENSOR_MEMORY_LEAK, "a kernel left tensor memory allocated"),
    STATUS(CUDA_ERROR_NOT_PERMITTED, "the operation is not permitted"),
    STATUS(CUDA_ERROR_NOT_SUPPORTED, "the operation is not supported"),
    STATUS(CUDA_ERROR_SYSTEM_NOT_READY, "the system is not ready"),
    STATUS(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "the parts of the driver have different versions"),
    STATUS(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "the device does not support forward compatibility"),
    STATUS(CUDA_ERROR_MPS_CONNECTION_FAILED, "no connection to the MPS server"),
    STATUS(CUDA_ERROR_MPS_RPC_FAILURE, "a call to the MPS server failed"),
    STATUS(CUDA_ERROR_MPS_SERVER_NOT_READY, "the MPS server is not ready"),
    STATUS(CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, "the MPS server has no room for another client"),
    STATUS(CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED, "the MPS server has no room for another connection"),
    STATUS(CUDA_ERROR_MPS_CLIENT_TERMINATED, "the MPS server ended this client"),
    STATUS(CUDA_ERROR_CDP_NOT_SUPPORTED, "launches from kernels are not supported"),
    STATUS(CUDA_ERROR_CDP_VERSION_MISMATCH, "launches from kernels are of another version"),
    STATUS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the operation is not allowed while a stream captures"),
    STATUS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the capture is invalid because of an earlier error"),
    STATUS(CUDA_ERROR_STREAM_CAPTURE_MERGE, "two captures would be merged"),
    STATUS(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "the capture was not begun in this stream"),
    STATUS(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "the capture has a fork that was not joined"),
    STATUS(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "a dependency would leave the capture"),
    STATUS(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "the legacy stream would depend on a capture"),
    STATUS(CUDA_ERROR_CAPTURED_EVENT, "the event was last recorded in a capture"),
    STATUS(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "the capture belongs to another thread"),
    STATUS(CUDA_ERROR_TIMEOUT, "the wait ran out of time"),
    STATUS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "the executable graph can't be updated"),
    STATUS(CUDA_ERROR_EXTERNAL_DEVICE, "a device outside the driver's control failed"),
    STATUS(CUDA_ERROR_INVALID_CLUSTER_SIZE, "the cluster size is not valid"),
    STATUS(CUDA_ERROR_FUNCTION_NOT_LOADED, "the function is not loaded"),
    STATUS(CUDA_ERROR_INVALID_RESOURCE_TYPE, "the resource's type is not valid"),
    STATUS(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, "the resource's configuration is not valid"),
    STATUS(CUDA_ERROR_KEY_ROTATION, "the encryption key is being changed"),
    STATUS(CUDA_ERROR_STREAM_DETACHED, "the stream is detached"),
    STATUS(CUDA_ERROR_GRAPH_RECAPTURE_FAILURE, "the graph can't be captured again"),
    STATUS(CUDA_ERROR_FABRIC_NOT_READY, "the fabric is not ready"),
    STATUS(CUDA_ERROR_UNKNOWN, "an unknown error"),
};

#undef STATUS

// The table is needed in every state of the process, a forked child's too: it takes no lock.
CUresult look_up(CUresult status, const char *StatusText::*member, const char **answer) {
  if (!answer)
    return CUDA_ERROR_INVALID_VALUE;
  std::underlying_type_t<CUresult> number; // which may be none of the enumerators
  std::memcpy(&number, &status, sizeof number);
  const auto found = std::find_if(std::begin(status_texts), std::end(status_texts),
                                  [&](const StatusText &entry) { return entry.status == number; });
  *answer = found == std::end(status_texts) ? nullptr : found->*member;
  return *answer ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

} // namespace

DRIVER_FUNCTION cuGetErrorName(CUresult status, const char **name) {
  return look_up(status, &StatusText::name, name);
}

DRIVER_FUNCTION cuGetErrorString(CUresult status, const char **text) {
  return look_up(status, &StatusText::text, text);
}
