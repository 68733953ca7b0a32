// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "driver_harness.h"

static CUresult shaped(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                       unsigned bz, unsigned shared = 0, void **arguments = nullptr) {
  return cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, nullptr, arguments, nullptr);
}

SCENARIO(launch_shapes_have_limits) {
  start();
  const CUmodule module = load_kernels();
  const CUfunction nop = kernel(module, "nop");
  EXPECT(CUDA_ERROR_INVALID_VALUE, shaped(nop, 0, 1, 1, 1, 1, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, shaped(nop, 1, 1, 1, 0, 1, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, shaped(nop, 1, 1, 1, 1025, 1, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, shaped(nop, 1, 1, 1, 512, 3, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, shaped(nop, 1, 65536, 1, 1, 1, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, shaped(nop, 2147483648u, 1, 1, 1, 1, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, shaped(nop, 1, 1, 1, 1, 1, 65));
  OK(shaped(nop, 1, 1, 1, 1024, 1, 1));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, shaped(nullptr, 1, 1, 1, 1, 1, 1));
  OK(shaped(kernel(module, "exact"), 1, 1, 1, 128, 1, 1));
  EXPECT(CUDA_ERROR_INVALID_VALUE, shaped(kernel(module, "exact"), 1, 1, 1, 64, 1, 1));
  OK(cuCtxSynchronize());
}

SCENARIO(dynamic_shared_memory_needs_an_opt_in) {
  start();
  const CUmodule module = load_kernels();
  const CUfunction shared = kernel(module, "shared");
  CUdeviceptr out;
  OK(cuMemAlloc(&out, 4));
  void *arguments[] = {&out};
  OK(shaped(shared, 1, 1, 1, 1, 1, 1, 49152, arguments));
  EXPECT(CUDA_ERROR_INVALID_VALUE, shaped(shared, 1, 1, 1, 1, 1, 1, 49153, arguments));
  constexpr auto attribute = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(shared, attribute, 232449));
  OK(cuFuncSetAttribute(shared, attribute, 232448));
  OK(shaped(shared, 1, 1, 1, 1, 1, 1, 232448, arguments));
  EXPECT(CUDA_ERROR_INVALID_VALUE, shaped(shared, 1, 1, 1, 1, 1, 1, 232449, arguments));
  int value = 0;
  OK(cuFuncGetAttribute(&value, attribute, shared));
  CHECK(value == 232448);
  OK(cuCtxSynchronize());
}

SCENARIO(arguments_come_by_address_or_in_a_buffer) {
  start();
  const CUmodule module = load_kernels();
  const CUfunction put = kernel(module, "put");
  CUdeviceptr out;
  OK(cuMemAlloc(&out, 4));
  EXPECT(CUDA_ERROR_INVALID_VALUE, shaped(put, 1, 1, 1, 1, 1, 1));
  OK(launch_put(module, nullptr, out, 41));
  int value = 0;
  OK(cuMemcpyDtoH(&value, out, 4));
  CHECK(value == 41);
  struct {
    CUdeviceptr address;
    int value;
  } buffer = {out, 42};
  size_t size = 12;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  OK(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  OK(cuMemcpyDtoH(&value, out, 4));
  CHECK(value == 42);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, nullptr, extra, extra));
  size = 16;
  EXPECT(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
}

SCENARIO(arguments_are_copied_by_the_launch) {
  start();
  const CUmodule module = load_kernels();
  CUdeviceptr out;
  OK(cuMemAlloc(&out, 4));
  int value = 1;
  void *arguments[] = {&out, &value};
  OK(launch(kernel(module, "put"), nullptr, arguments));
  value = 2;
  int result = 0;
  OK(cuMemcpyDtoH(&result, out, 4));
  CHECK(result == 1);
}

SCENARIO(cooperative_grids_must_fit) {
  start();
  const CUmodule module = load_kernels();
  const CUfunction nop = kernel(module, "nop");
  OK(cuLaunchCooperativeKernel(nop, 4, 1, 1, 32, 1, 1, 0, nullptr, nullptr));
  EXPECT(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
         cuLaunchCooperativeKernel(nop, 100000, 1, 1, 1024, 1, 1, 0, nullptr, nullptr));
  CUlaunchAttribute attribute;
  std::memset(&attribute, 0, sizeof attribute);
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  CUlaunchConfig configuration;
  std::memset(&configuration, 0, sizeof configuration);
  configuration.gridDimX = 100000;
  configuration.gridDimY = configuration.gridDimZ = 1;
  configuration.blockDimX = 1024;
  configuration.blockDimY = configuration.blockDimZ = 1;
  configuration.attrs = &attribute;
  configuration.numAttrs = 1;
  EXPECT(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, cuLaunchKernelEx(&configuration, nop, nullptr, nullptr));
  configuration.gridDimX = 4;
  OK(cuLaunchKernelEx(&configuration, nop, nullptr, nullptr));
  OK(cuCtxSynchronize());
}

SCENARIO(occupancy_is_positive) {
  start();
  const CUmodule module = load_kernels();
  const CUfunction nop = kernel(module, "nop");
  int blocks = 0;
  int grid = 0;
  int threads = 0;
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nop, 1024, 0));
  CHECK(blocks == 2);
  OK(cuOccupancyMaxPotentialBlockSize(&grid, &threads, nop, nullptr, 0, 0));
  CHECK(grid > 0 && threads > 0 && threads <= 1024);
}
