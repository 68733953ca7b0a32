// SPDX-License-Identifier: Apache-2.0
#include "driver_harness.h"

const char *const kernels_ptx = R"(
.version 8.0
.target sm_80
.address_size 64

.visible .entry nop()
{
  ret;
}

.visible .entry put(.param .u64 put_address, .param .u32 put_value)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [put_address];
  ld.param.u32 %r1, [put_value];
  cvta.to.global.u64 %rd2, %rd1;
  st.global.u32 [%rd2], %r1;
  ret;
}
)";

CUcontext start() {
  CUcontext context = nullptr;
  OK(cuInit(0));
  OK(cuDevicePrimaryCtxRetain(&context, 0));
  OK(cuCtxSetCurrent(context));
  return context;
}

CUmodule load_kernels() {
  CUmodule module = nullptr;
  OK(cuModuleLoadData(&module, kernels_ptx));
  return module;
}

CUfunction kernel(CUmodule module, const char *name) {
  CUfunction function = nullptr;
  OK(cuModuleGetFunction(&function, module, name));
  return function;
}

CUresult launch(CUfunction function, CUstream stream, void **arguments) {
  return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
}

CUresult launch_put(CUmodule module, CUstream stream, CUdeviceptr address, int value) {
  void *arguments[] = {&address, &value};
  return launch(kernel(module, "put"), stream, arguments);
}
