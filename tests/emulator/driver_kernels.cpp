// SPDX-License-Identifier: Apache-2.0
#include "driver_harness.h"

const char *const kernels_ptx = R"(
.version 8.0
.target sm_80
.address_size 64

.global .align 4 .u32 counter = 7;

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

.visible .entry count(.param .u64 count_address)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [count_address];
  cvta.to.global.u64 %rd2, %rd1;
  ld.global.u32 %r1, [counter];
  add.s32 %r2, %r1, 1;
  st.global.u32 [counter], %r2;
  st.global.u32 [%rd2], %r2;
  ret;
}

.visible .entry spin(.param .u64 spin_cycles)
{
  .reg .pred %p<2>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [spin_cycles];
  mov.u64 %rd2, %clock64;
again:
  mov.u64 %rd3, %clock64;
  sub.s64 %rd4, %rd3, %rd2;
  setp.lt.s64 %p1, %rd4, %rd1;
  @%p1 bra again;
  ret;
}

.visible .entry mixed(.param .align 8 .b8 mixed_0[24], .param .u32 mixed_1, .param .f64 mixed_2)
{
  ret;
}

.extern .shared .align 4 .b8 dynamic[];

.visible .entry shared(.param .u64 shared_address)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [shared_address];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, 5;
  st.shared.u32 [dynamic], %r1;
  ld.shared.u32 %r2, [dynamic];
  st.global.u32 [%rd2], %r2;
  ret;
}

.visible .entry exact()
.reqntid 128, 1, 1
{
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

CUresult launch(CUfunction function, CUstream stream, void **arguments, unsigned threads) {
  return cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, stream, arguments, nullptr);
}

CUresult launch_put(CUmodule module, CUstream stream, CUdeviceptr address, int value) {
  void *arguments[] = {&address, &value};
  return launch(kernel(module, "put"), stream, arguments);
}

CUresult launch_spin(CUmodule module, CUstream stream, long long cycles) {
  void *arguments[] = {&cycles};
  return launch(kernel(module, "spin"), stream, arguments);
}
