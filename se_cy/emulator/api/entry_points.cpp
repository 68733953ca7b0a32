// SPDX-License-Identifier: Apache-2.0
#include "entry_points.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "call.h"
#include "per_thread_streams.h"

// Forms that cuda.h hides behind a macro of the same name.
#undef cuDeviceGetUuid
#undef cuEventElapsedTime
#undef cuGetProcAddress
#undef cuStreamGetCaptureInfo
extern "C" {
CUresult CUDAAPI cuCtxCreate_v2(CUcontext *, unsigned int, CUdevice);
CUresult CUDAAPI cuDeviceGetUuid(CUuuid *, CUdevice);
CUresult CUDAAPI cuEventElapsedTime(float *, CUevent, CUevent);
CUresult CUDAAPI cuGetProcAddress(const char *, void **, int, cuuint64_t);
CUresult CUDAAPI cuStreamBeginCapture_v2(CUstream, CUstreamCaptureMode);
CUresult CUDAAPI cuStreamGetCaptureInfo(CUstream, CUstreamCaptureStatus *, cuuint64_t *);
CUresult CUDAAPI cuStreamGetCaptureInfo_v2(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *,
                                           const CUgraphNode **, size_t *);
}

namespace emulator {

namespace {

#define SINCE(version, name, function) {name, version, reinterpret_cast<void *>(function)}

const std::vector<EntryPoint> &entry_points() {
  // Never destroyed: exit handlers look functions up too.
  static const auto &table = *new std::vector<EntryPoint>{
      SINCE(2000, "cuInit", cuInit),
      SINCE(2020, "cuDriverGetVersion", cuDriverGetVersion),
      SINCE(6000, "cuGetErrorName", cuGetErrorName),
      SINCE(6000, "cuGetErrorString", cuGetErrorString),
      SINCE(11030, "cuGetProcAddress", cuGetProcAddress),
      SINCE(12000, "cuGetProcAddress", cuGetProcAddress_v2),

      SINCE(2000, "cuDeviceGet", cuDeviceGet),
      SINCE(2000, "cuDeviceGetCount", cuDeviceGetCount),
      SINCE(2000, "cuDeviceGetName", cuDeviceGetName),
      SINCE(9020, "cuDeviceGetUuid", cuDeviceGetUuid),
      SINCE(11040, "cuDeviceGetUuid", cuDeviceGetUuid_v2),
      SINCE(3020, "cuDeviceTotalMem", cuDeviceTotalMem_v2),
      SINCE(2000, "cuDeviceGetAttribute", cuDeviceGetAttribute),
      SINCE(4010, "cuDeviceGetPCIBusId", cuDeviceGetPCIBusId),
      SINCE(4000, "cuDeviceCanAccessPeer", cuDeviceCanAccessPeer),

      SINCE(7000, "cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain),
      SINCE(11000, "cuDevicePrimaryCtxRelease", cuDevicePrimaryCtxRelease_v2),
      SINCE(11000, "cuDevicePrimaryCtxReset", cuDevicePrimaryCtxReset_v2),
      SINCE(7000, "cuDevicePrimaryCtxGetState", cuDevicePrimaryCtxGetState),
      SINCE(11000, "cuDevicePrimaryCtxSetFlags", cuDevicePrimaryCtxSetFlags_v2),

      SINCE(3020, "cuCtxCreate", cuCtxCreate_v2),
      SINCE(12050, "cuCtxCreate", cuCtxCreate_v4),
      SINCE(4000, "cuCtxDestroy", cuCtxDestroy_v2),
      SINCE(4000, "cuCtxGetCurrent", cuCtxGetCurrent),
      SINCE(4000, "cuCtxSetCurrent", cuCtxSetCurrent),
      SINCE(4000, "cuCtxPushCurrent", cuCtxPushCurrent_v2),
      SINCE(4000, "cuCtxPopCurrent", cuCtxPopCurrent_v2),
      SINCE(2000, "cuCtxGetDevice", cuCtxGetDevice),
      SINCE(12000, "cuCtxGetId", cuCtxGetId),
      SINCE(7000, "cuCtxGetFlags", cuCtxGetFlags),
      SINCE(2000, "cuCtxSynchronize", cuCtxSynchronize),
      SINCE(3020, "cuCtxGetApiVersion", cuCtxGetApiVersion),
      SINCE(5050, "cuCtxGetStreamPriorityRange", cuCtxGetStreamPriorityRange),

      SINCE(2000, "cuModuleLoadData", cuModuleLoadData),
      SINCE(2010, "cuModuleLoadDataEx", cuModuleLoadDataEx),
      SINCE(2000, "cuModuleUnload", cuModuleUnload),
      SINCE(2000, "cuModuleGetFunction", cuModuleGetFunction),
      SINCE(12040, "cuModuleGetFunctionCount", cuModuleGetFunctionCount),
      SINCE(12040, "cuModuleEnumerateFunctions", cuModuleEnumerateFunctions),
      SINCE(3020, "cuModuleGetGlobal", cuModuleGetGlobal_v2),

      SINCE(12000, "cuLibraryLoadData", cuLibraryLoadData),
      SINCE(12000, "cuLibraryUnload", cuLibraryUnload),
      SINCE(12000, "cuLibraryGetKernel", cuLibraryGetKernel),
      SINCE(12040, "cuLibraryGetKernelCount", cuLibraryGetKernelCount),
      SINCE(12040, "cuLibraryEnumerateKernels", cuLibraryEnumerateKernels),
      SINCE(12000, "cuLibraryGetModule", cuLibraryGetModule),
      SINCE(12000, "cuKernelGetFunction", cuKernelGetFunction),
      SINCE(12030, "cuKernelGetName", cuKernelGetName),
      SINCE(12040, "cuKernelGetParamInfo", cuKernelGetParamInfo),

      SINCE(12040, "cuFuncGetParamInfo", cuFuncGetParamInfo),
      SINCE(2020, "cuFuncGetAttribute", cuFuncGetAttribute),
      SINCE(9000, "cuFuncSetAttribute", cuFuncSetAttribute),
      SINCE(12030, "cuFuncGetName", cuFuncGetName),
      SINCE(11000, "cuFuncGetModule", cuFuncGetModule),
      SINCE(12040, "cuFuncLoad", cuFuncLoad),
      SINCE(12040, "cuFuncIsLoaded", cuFuncIsLoaded),

      SINCE(4000, "cuLaunchKernel", cuLaunchKernel),
      SINCE(11060, "cuLaunchKernelEx", cuLaunchKernelEx),
      SINCE(9000, "cuLaunchCooperativeKernel", cuLaunchCooperativeKernel),
      SINCE(6050, "cuOccupancyMaxActiveBlocksPerMultiprocessor", cuOccupancyMaxActiveBlocksPerMultiprocessor),
      SINCE(7000, "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
            cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags),
      SINCE(6050, "cuOccupancyMaxPotentialBlockSize", cuOccupancyMaxPotentialBlockSize),

      SINCE(2000, "cuStreamCreate", cuStreamCreate),
      SINCE(5050, "cuStreamCreateWithPriority", cuStreamCreateWithPriority),
      SINCE(4000, "cuStreamDestroy", cuStreamDestroy_v2),
      SINCE(2000, "cuStreamSynchronize", cuStreamSynchronize),
      SINCE(2000, "cuStreamQuery", cuStreamQuery),
      SINCE(3020, "cuStreamWaitEvent", cuStreamWaitEvent),
      SINCE(9020, "cuStreamGetCtx", cuStreamGetCtx),
      SINCE(5050, "cuStreamGetFlags", cuStreamGetFlags),
      SINCE(5050, "cuStreamGetPriority", cuStreamGetPriority),
      SINCE(12000, "cuStreamGetId", cuStreamGetId),
      SINCE(10000, "cuStreamIsCapturing", cuStreamIsCapturing),
      SINCE(10010, "cuStreamBeginCapture", cuStreamBeginCapture_v2),
      SINCE(10000, "cuStreamEndCapture", cuStreamEndCapture),
      SINCE(10010, "cuStreamGetCaptureInfo", cuStreamGetCaptureInfo),
      SINCE(11030, "cuStreamGetCaptureInfo", cuStreamGetCaptureInfo_v2),
      SINCE(12030, "cuStreamGetCaptureInfo", cuStreamGetCaptureInfo_v3),
      SINCE(10010, "cuThreadExchangeStreamCaptureMode", cuThreadExchangeStreamCaptureMode),

      SINCE(2000, "cuEventCreate", cuEventCreate),
      SINCE(4000, "cuEventDestroy", cuEventDestroy_v2),
      SINCE(2000, "cuEventRecord", cuEventRecord),
      SINCE(2000, "cuEventSynchronize", cuEventSynchronize),
      SINCE(2000, "cuEventQuery", cuEventQuery),
      SINCE(2000, "cuEventElapsedTime", cuEventElapsedTime),
      SINCE(12080, "cuEventElapsedTime", cuEventElapsedTime_v2),

      SINCE(10000, "cuGraphCreate", cuGraphCreate),
      SINCE(10000, "cuGraphDestroy", cuGraphDestroy),
      SINCE(12000, "cuGraphAddKernelNode", cuGraphAddKernelNode),
      SINCE(10000, "cuGraphGetNodes", cuGraphGetNodes),
      SINCE(10000, "cuGraphNodeGetType", cuGraphNodeGetType),
      SINCE(12000, "cuGraphKernelNodeGetParams", cuGraphKernelNodeGetParams),
      SINCE(12000, "cuGraphKernelNodeSetParams", cuGraphKernelNodeSetParams),
      SINCE(12000, "cuGraphInstantiate", cuGraphInstantiateWithFlags),
      SINCE(11040, "cuGraphInstantiateWithFlags", cuGraphInstantiateWithFlags),
      SINCE(10000, "cuGraphExecDestroy", cuGraphExecDestroy),
      SINCE(10000, "cuGraphLaunch", cuGraphLaunch),
      SINCE(11010, "cuGraphUpload", cuGraphUpload),
      SINCE(12000, "cuGraphExecKernelNodeSetParams", cuGraphExecKernelNodeSetParams),

      SINCE(3020, "cuMemAlloc", cuMemAlloc_v2),
      SINCE(3020, "cuMemFree", cuMemFree_v2),
      SINCE(11020, "cuMemAllocAsync", cuMemAllocAsync),
      SINCE(11020, "cuMemFreeAsync", cuMemFreeAsync),
      SINCE(3020, "cuMemGetInfo", cuMemGetInfo_v2),
      SINCE(3020, "cuMemGetAddressRange", cuMemGetAddressRange_v2),
      SINCE(2020, "cuMemHostAlloc", cuMemHostAlloc),
      SINCE(2000, "cuMemFreeHost", cuMemFreeHost),
      SINCE(4000, "cuPointerGetAttribute", cuPointerGetAttribute),

      SINCE(3020, "cuMemcpyHtoD", cuMemcpyHtoD_v2),
      SINCE(3020, "cuMemcpyHtoDAsync", cuMemcpyHtoDAsync_v2),
      SINCE(3020, "cuMemcpyDtoH", cuMemcpyDtoH_v2),
      SINCE(3020, "cuMemcpyDtoHAsync", cuMemcpyDtoHAsync_v2),
      SINCE(3020, "cuMemcpyDtoD", cuMemcpyDtoD_v2),
      SINCE(3020, "cuMemcpyDtoDAsync", cuMemcpyDtoDAsync_v2),
      SINCE(4000, "cuMemcpy", cuMemcpy),
      SINCE(4000, "cuMemcpyAsync", cuMemcpyAsync),
      SINCE(3020, "cuMemsetD8", cuMemsetD8_v2),
      SINCE(3020, "cuMemsetD8Async", cuMemsetD8Async),
      SINCE(3020, "cuMemsetD16", cuMemsetD16_v2),
      SINCE(3020, "cuMemsetD16Async", cuMemsetD16Async),
      SINCE(3020, "cuMemsetD32", cuMemsetD32_v2),
      SINCE(3020, "cuMemsetD32Async", cuMemsetD32Async),
  };
  return table;
}

#undef SINCE

} // namespace

CUdriverProcAddressQueryResult find_entry_point(std::string_view name, int version, int driver, void *&function) {
  CUdriverProcAddressQueryResult search = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  int newest = 0;
  for (const EntryPoint &entry : entry_points()) {
    if (entry.name != name || entry.version > driver)
      continue;
    if (entry.version <= version && entry.version > newest) {
      newest = entry.version;
      function = entry.function;
      search = CU_GET_PROC_ADDRESS_SUCCESS;
    } else if (search == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND) {
      search = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    }
  }
  return search;
}

const char *implemented(std::string_view name) {
  const std::string wanted = without_version(name);
  for (const EntryPoint &entry : entry_points())
    if (entry.name == wanted)
      return entry.name.data();
  return nullptr;
}

const char *implemented_name(size_t index) {
  const auto &table = entry_points();
  for (size_t i = 0; i < table.size(); ++i) {
    if (i && table[i].name == table[i - 1].name)
      continue;
    if (!index--)
      return table[i].name.data();
  }
  return nullptr;
}

} // namespace emulator

using namespace emulator;

namespace {

CUresult look_up(const char *name, void **function, int version, cuuint64_t flags,
                 CUdriverProcAddressQueryResult *status) {
  Call call("cuGetProcAddress", name, function, version, flags, status);
  RETURN_IF_FAILED(call.begin_uninitialized());
  constexpr cuuint64_t known = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (!name || !function || version < 1000 || version > call.process.driver_version || (flags & ~known))
    return CUDA_ERROR_INVALID_VALUE;
  *function = nullptr;
  *status = call.process.ledger.look_up(name)
                ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
                : find_entry_point(name, version, call.process.driver_version, *function);
  if (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
    *function = per_thread_form(*function);
  return CUDA_SUCCESS;
}

} // namespace

// A name that is not found is no error of this form.
DRIVER_FUNCTION cuGetProcAddress_v2(const char *name, void **function, int version, cuuint64_t flags,
                                    CUdriverProcAddressQueryResult *status) DRIVER_TRY {
  CUdriverProcAddressQueryResult found;
  const CUresult answer = look_up(name, function, version, flags, &found);
  if (answer == CUDA_SUCCESS && status)
    *status = found;
  return answer;
} DRIVER_CATCH

DRIVER_FUNCTION cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags) DRIVER_TRY {
  CUdriverProcAddressQueryResult found;
  const CUresult answer = look_up(name, function, version, flags, &found);
  return answer == CUDA_SUCCESS && found != CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_ERROR_NOT_FOUND : answer;
} DRIVER_CATCH
