// SPDX-License-Identifier: Apache-2.0
#include "../state/capture.h"
#include "../state/launch_request.h"
#include "../state/library.h"
#include "../state/resolve.h"
#include "call.h"

using namespace emulator;

namespace {

CUresult launch(Call &call, CUfunction function_handle, CUstream stream_handle, const LaunchRequest &request) {
  std::shared_ptr<Function> function;
  const bool needs_context = is_kernel(call.process, function_handle);
  CUresult found = needs_context ? CUDA_SUCCESS : resolve_function(call.process, function_handle, function);
  if (function)
    call.record_launch(*function, request.parameters, request.extra);
  // Of a function and a current context that are both gone, the context is what the driver tells of.
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(resolve_stream(call.process, stream_handle, stream));
  if (needs_context) {
    found = resolve_callable(call.process, function_handle, stream->context, function);
    if (function)
      call.record_launch(*function, request.parameters, request.extra);
  }
  RETURN_IF_FAILED(found);
  if (stream->context != function->module->context)
    return refuse_foreign(call.process, call.process.functions.describe(function_handle), stream_handle, *stream);
  RETURN_IF_FAILED(check_use(call.process, *stream));
  if (!function->kernel->unsupported.empty())
    call.process.scheduler.explain("kernel " + function->kernel->name + " can't run here: " +
                                   function->kernel->unsupported);
  KernelLaunch prepared;
  CUresult refused = request.check(*function);
  if (refused == CUDA_SUCCESS)
    refused = request.prepare(function, prepared);
  if (refused != CUDA_SUCCESS)
    return stream->capture ? refuse_in_capture(*stream, refused, "the launch is not valid") : refused;
  RETURN_IF_FAILED(call.wait_for_room(stream));
  // Another thread may have unloaded it during the wait, and another function may have its handle.
  if (call.process.functions.find(function->handle) != function)
    return refuse_handle(call.process.functions, function->handle);
  if (stream->capture) {
    capture_node(call.process, *stream, {CU_GRAPH_NODE_TYPE_KERNEL, stream->context, std::move(prepared), {}});
    return CUDA_SUCCESS;
  }
  stream->enqueue(call.process.scheduler, make_action(std::move(prepared)));
  return CUDA_SUCCESS;
}

bool is_one(const CUlaunchAttributeValue &value) {
  return value.clusterDim.x == 1 && value.clusterDim.y == 1 && value.clusterDim.z == 1;
}

CUresult read_attributes(const CUlaunchConfig &configuration, LaunchRequest &request) {
  if (configuration.numAttrs && !configuration.attrs)
    return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < configuration.numAttrs; ++i) {
    const CUlaunchAttribute &attribute = configuration.attrs[i];
    switch (attribute.id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      request.cooperative = attribute.value.cooperative != 0;
      break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      if (!is_one(attribute.value))
        return CUDA_ERROR_NOT_SUPPORTED;
      break;
    // Hints, and orders weaker than the one a stream keeps here.
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      break;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
    }
  }
  return CUDA_SUCCESS;
}

} // namespace

DRIVER_FUNCTION cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                               unsigned int block_x, unsigned int block_y, unsigned int block_z,
                               unsigned int shared_bytes, CUstream stream, void **parameters, void **extra) DRIVER_TRY {
  Call call("cuLaunchKernel", function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream,
            parameters, extra);
  RETURN_IF_FAILED(call.begin());
  return launch(call, function, stream,
                {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, parameters, extra, false});
} DRIVER_CATCH

DRIVER_FUNCTION cuLaunchKernelEx(const CUlaunchConfig *configuration, CUfunction function, void **parameters,
                                 void **extra) DRIVER_TRY {
  Call call("cuLaunchKernelEx", configuration, function, parameters, extra);
  RETURN_IF_FAILED(call.begin());
  if (!configuration)
    return CUDA_ERROR_INVALID_VALUE;
  const CUlaunchConfig &shape = *configuration;
  call.record_attributes(shape);
  LaunchRequest request{{shape.gridDimX, shape.gridDimY, shape.gridDimZ},
                        {shape.blockDimX, shape.blockDimY, shape.blockDimZ},
                        shape.sharedMemBytes,
                        parameters,
                        extra,
                        false};
  RETURN_IF_FAILED(read_attributes(shape, request));
  return launch(call, function, shape.hStream, request);
} DRIVER_CATCH

DRIVER_FUNCTION cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                          unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                          unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                                          void **parameters) DRIVER_TRY {
  Call call("cuLaunchCooperativeKernel", function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
            stream, parameters);
  RETURN_IF_FAILED(call.begin());
  return launch(call, function, stream,
                {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, parameters, nullptr, true});
} DRIVER_CATCH
