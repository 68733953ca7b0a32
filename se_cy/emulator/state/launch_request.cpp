// SPDX-License-Identifier: Apache-2.0
#include "launch_request.h"

#include <cstring>
#include <utility>

#include "context.h"
#include "device.h"
#include "explanation.h"
#include "occupancy.h"

namespace emulator {

namespace {

class KernelExecution : public Action {
public:
  KernelExecution(Launch launch, Memory &memory) : grid_(std::move(launch), memory) {}
  bool run(uint64_t operations) override { return grid_.run(operations); }
  Fault fault() const override { return grid_.fault(); }

private:
  Grid grid_;
};

bool within(const Dimensions &size, uint32_t x, uint32_t y, uint32_t z) {
  return size.x && size.y && size.z && size.x <= x && size.y <= y && size.z <= z;
}

// The argument buffer of the extra form: pairs of a key and a value behind it.
CUresult read_extra(void **extra, const void *&buffer, size_t &bytes) {
  buffer = nullptr;
  bytes = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = extra[1];
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1])
      bytes = *static_cast<const size_t *>(extra[1]);
    else
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

} // namespace

CUresult LaunchRequest::check(const Function &function) const {
  const Kernel &kernel = *function.kernel;
  if (!within(grid, 2147483647, 65535, 65535) || !within(block, 1024, 1024, 64))
    return CUDA_ERROR_INVALID_VALUE;
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  if (threads > Device::max_threads_per_block || threads > kernel.max_threads)
    return CUDA_ERROR_INVALID_VALUE;
  if (threads > most_threads(function))
    return refuse(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                  "kernel " + kernel.name + " uses " + std::to_string(reported_registers(function)) +
                      " registers a thread: too many for a block of " + std::to_string(threads) + " threads");
  const uint32_t *required = kernel.required_block;
  if (required[0] && (block.x != required[0] || block.y != required[1] || block.z != required[2]))
    return CUDA_ERROR_INVALID_VALUE;
  if (dynamic_shared_bytes > function.max_dynamic_shared_bytes)
    return CUDA_ERROR_INVALID_VALUE;
  if (!kernel.unsupported.empty())
    return CUDA_ERROR_NOT_SUPPORTED;
  if (cooperative) {
    const uint64_t resident =
        uint64_t{active_blocks(function, static_cast<uint32_t>(threads), dynamic_shared_bytes)} *
        static_cast<uint64_t>(function.module->context->device.architecture().multiprocessors);
    if (uint64_t{grid.x} * grid.y * grid.z > resident)
      return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  }
  return CUDA_SUCCESS;
}

CUresult LaunchRequest::prepare(const std::shared_ptr<Function> &function, KernelLaunch &launch) const {
  const Kernel &kernel = *function->kernel;
  std::vector<uint8_t> arguments(kernel.parameter_bytes);
  if (parameters && extra)
    return CUDA_ERROR_INVALID_VALUE;
  if (extra) {
    const void *buffer;
    size_t bytes;
    if (const CUresult status = read_extra(extra, buffer, bytes))
      return status;
    // A buffer that is too short is taken, as by the H200; what it lacks is zero here.
    if (bytes > arguments.size())
      return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (!buffer && !arguments.empty())
      return CUDA_ERROR_INVALID_VALUE;
    if (bytes)
      std::memcpy(arguments.data(), buffer, bytes);
  } else if (!kernel.parameters.empty()) {
    if (!parameters)
      return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < kernel.parameters.size(); ++i)
      std::memcpy(arguments.data() + kernel.parameters[i].offset, parameters[i], kernel.parameters[i].size);
  }
  launch = {function, grid, block, dynamic_shared_bytes, cooperative, std::move(arguments)};
  return CUDA_SUCCESS;
}

std::unique_ptr<Action> make_action(KernelLaunch launch) {
  const Module &module = *launch.function->module;
  return std::make_unique<KernelExecution>(Launch{module.program, launch.function->kernel, launch.grid, launch.block,
                                                  launch.dynamic_shared_bytes, std::move(launch.arguments),
                                                  module.variable_address, launch.cooperative},
                                           module.context->device.memory());
}

} // namespace emulator
