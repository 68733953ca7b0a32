// SPDX-License-Identifier: Apache-2.0
#include "driver_harness.h"

SCENARIO(fault_is_described) {
  start();
  const CUmodule module = load_kernels();
  const auto last_fault = control<const char *(*)()>("se_cy_emulator_last_fault");
  CHECK(std::string(last_fault()).empty());
  CUdeviceptr word;
  OK(cuMemAlloc(&word, 4));
  OK(launch_put(module, nullptr, word + 4, 1));
  EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
  const std::string text = last_fault();
  CHECK(text.find("put") != std::string::npos);
  CHECK(text.find("cuMemAlloc") != std::string::npos);
}

SCENARIO(early_free_is_a_fault) {
  start();
  const CUmodule module = load_kernels();
  CUdeviceptr word;
  OK(cuMemAlloc(&word, 4));
  OK(launch_put(module, nullptr, word, 1));
  OK(cuMemFree(word));
  EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
}

SCENARIO(early_free_of_a_copys_memory_is_a_fault) {
  start();
  CUdeviceptr word;
  void *pinned;
  OK(cuMemAlloc(&word, 4));
  OK(cuMemHostAlloc(&pinned, 4, 0));
  OK(cuMemcpyDtoHAsync(pinned, word, 4, nullptr));
  OK(cuMemFreeHost(pinned));
  EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
}

SCENARIO(fault_leaves_other_contexts_alone) {
  const CUcontext primary = start();
  CUcontext other;
  OK(cuCtxCreate(&other, nullptr, 0, 0));
  const CUmodule module = load_kernels();
  OK(launch_put(module, nullptr, 0x1000, 1));
  EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
  OK(cuCtxSetCurrent(primary));
  OK(cuCtxSynchronize());
}

SCENARIO(calls_fail_on_demand) {
  start();
  const auto fail = control<int (*)(const char *, uint64_t, int, int)>("se_cy_emulator_fail");
  const auto clear = control<void (*)()>("se_cy_emulator_clear_failures");
  const auto calls = control<uint64_t (*)(const char *)>("se_cy_emulator_calls");
  CUdeviceptr address;
  CHECK(fail("cuMemAlloc", 0, CUDA_ERROR_OUT_OF_MEMORY, 0) == -1);
  CHECK(fail("cuMemAlloc", 1, CUDA_ERROR_OUT_OF_MEMORY, 7) == -1);
  CHECK(fail("cuMemAlloc", 1, CUDA_SUCCESS, 0) == -1 && fail("cuMemAlloc", 1, -1, 0) == -1);
  CHECK(fail("cuMemAlloc_v2", 2, CUDA_ERROR_OUT_OF_MEMORY, 0) == 0);
  OK(cuMemAlloc(&address, 16));
  CHECK(fail("cuMemAlloc", UINT64_MAX, CUDA_ERROR_UNKNOWN, 1) == -1);
  EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&address, 16));
  OK(cuMemAlloc(&address, 16));
  CHECK(fail("cuMemAlloc", 1, CUDA_ERROR_UNKNOWN, 1) == 0);
  EXPECT(CUDA_ERROR_UNKNOWN, cuMemAlloc(&address, 16));
  EXPECT(CUDA_ERROR_UNKNOWN, cuMemAlloc(&address, 16));
  clear();
  OK(cuMemAlloc(&address, 16));
  CHECK(calls("cuMemAlloc") == 6 && calls("cuMemAlloc_v2") == 6 && calls("cuLaunchKernel") == 0);
}
