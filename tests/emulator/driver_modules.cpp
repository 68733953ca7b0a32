// SPDX-License-Identifier: Apache-2.0
#include "driver_harness.h"

SCENARIO(wrong_handles_are_refused) {
  start();
  const CUmodule module = load_kernels();
  const CUfunction nop = kernel(module, "nop");
  CUfunction function;
  for (const auto wrong : {reinterpret_cast<CUmodule>(nop), reinterpret_cast<CUmodule>(uintptr_t{12345}),
                           static_cast<CUmodule>(nullptr)}) {
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&function, wrong, "nop"));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(wrong));
  }
  OK(cuModuleUnload(module));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, launch(nop, nullptr));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuFuncLoad(nop));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(reinterpret_cast<CUstream>(nop)));
}

SCENARIO(failed_load_leaves_nothing) {
  start();
  const auto live = control<uint64_t (*)(const char *)>("se_cy_emulator_live");
  CUmodule module;
  std::string misspelt = kernels_ptx;
  misspelt.replace(misspelt.find("cvta."), 5, "cvtx.");
  EXPECT(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, misspelt.c_str()));
  EXPECT(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, "hello"));
  CHECK(live("modules") == 0);
  size_t available;
  size_t total;
  OK(cuMemGetInfo(&available, &total));
  CHECK(available == total);
}
