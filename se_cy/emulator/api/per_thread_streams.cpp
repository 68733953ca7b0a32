// SPDX-License-Identifier: Apache-2.0
// The forms of the driver's functions, _ptsz and _ptds in cuda.h, whose stream 0 is the calling thread's own. They are
// found by cuGetProcAddress alone.
#include "per_thread_streams.h"

#include <unordered_map>

#include <cuda.h>

#include "../state/host_thread.h"

// Forms that cuda.h hides behind a macro of the same name.
#undef cuStreamGetCaptureInfo
extern "C" {
CUresult CUDAAPI cuStreamGetCaptureInfo(CUstream, CUstreamCaptureStatus *, cuuint64_t *);
CUresult CUDAAPI cuStreamGetCaptureInfo_v2(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *,
                                           const CUgraphNode **, size_t *);
}

namespace emulator {

namespace {

class PerThreadDefaultStream {
public:
  PerThreadDefaultStream() { HostThread::of_caller().has_own_default_stream = true; }
  ~PerThreadDefaultStream() { HostThread::of_caller().has_own_default_stream = false; }
};

template <auto Function> struct PerThread;

template <class... Arguments, CUresult(CUDAAPI *Function)(Arguments...)> struct PerThread<Function> {
  static CUresult CUDAAPI call(Arguments... arguments) {
    const PerThreadDefaultStream scope;
    return Function(arguments...);
  }
};

template <auto... Functions> std::unordered_map<void *, void *> forms() {
  return {{reinterpret_cast<void *>(Functions), reinterpret_cast<void *>(PerThread<Functions>::call)}...};
}

} // namespace

void *per_thread_form(void *function) {
  // Never destroyed: exit handlers look functions up too.
  static const auto &table = *new std::unordered_map<void *, void *>(
      forms<cuLaunchKernel, cuLaunchKernelEx, cuLaunchCooperativeKernel, cuStreamSynchronize, cuStreamQuery,
            cuStreamWaitEvent, cuStreamGetCtx, cuStreamGetFlags, cuStreamGetPriority, cuStreamGetId,
            cuStreamIsCapturing, cuStreamBeginCapture_v2, cuStreamEndCapture, cuStreamGetCaptureInfo,
            cuStreamGetCaptureInfo_v2, cuStreamGetCaptureInfo_v3, cuGraphLaunch, cuGraphUpload, cuEventRecord, cuMemAllocAsync, cuMemFreeAsync, cuMemcpyHtoD_v2,
            cuMemcpyHtoDAsync_v2, cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2, cuMemcpyDtoD_v2, cuMemcpyDtoDAsync_v2,
            cuMemcpy, cuMemcpyAsync, cuMemsetD8_v2, cuMemsetD8Async, cuMemsetD16_v2, cuMemsetD16Async,
            cuMemsetD32_v2, cuMemsetD32Async>());
  const auto found = table.find(function);
  return found == table.end() ? function : found->second;
}

} // namespace emulator
