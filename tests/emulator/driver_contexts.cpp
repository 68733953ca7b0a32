// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "driver_harness.h"

SCENARIO(nothing_works_before_initialisation) {
  CUdevice device;
  int version = 0;
  EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGet(&device, 0));
  OK(cuDriverGetVersion(&version));
  CHECK(version >= 13000);
}

SCENARIO(devices_answer) {
  OK(cuInit(0));
  CUdevice device = -1;
  int value = 0;
  char name[64] = "";
  CUuuid uuid;
  size_t bytes = 0;
  OK(cuDeviceGet(&device, 0));
  EXPECT(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 99));
  EXPECT(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, -1));
  OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0));
  CHECK(value == 1024);
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(100000), 0));
  OK(cuDeviceGetName(name, sizeof name, 0));
  CHECK(name[0] != 0);
  OK(cuDeviceGetUuid(&uuid, 0));
  OK(cuDeviceTotalMem(&bytes, 0));
  CHECK(bytes > 0);
}

SCENARIO(reset_makes_a_new_incarnation_at_the_same_address) {
  const CUcontext before = start();
  unsigned long long id = 0;
  OK(cuCtxGetId(before, &id));
  CHECK(id == 1);
  const CUmodule module = load_kernels();
  const CUfunction nop = kernel(module, "nop");
  CUstream stream;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cuDevicePrimaryCtxReset(0));
  unsigned flags;
  int active = -1;
  OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
  CHECK(active == 0);
  CUcontext after = nullptr;
  OK(cuDevicePrimaryCtxRetain(&after, 0));
  CHECK(after == before);
  OK(cuCtxSetCurrent(after));
  OK(cuCtxGetId(after, &id));
  CHECK(id == 2);
  CUfunction function;
  EXPECT(CUDA_ERROR_INVALID_HANDLE, launch(nop, nullptr));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&function, module, "nop"));
  const CUresult query = cuStreamQuery(stream); // the H200 answered one or the other
  CHECK(query == CUDA_ERROR_INVALID_HANDLE || query == CUDA_ERROR_CONTEXT_IS_DESTROYED);
  load_kernels();
}

SCENARIO(destroyed_context_is_named_as_such) {
  const CUcontext context = start();
  OK(cuDevicePrimaryCtxReset(0));
  CUcontext current = nullptr;
  unsigned long long id;
  CUdeviceptr address;
  OK(cuCtxGetCurrent(&current));
  CHECK(current == context);
  EXPECT(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxGetId(context, &id));
  EXPECT(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
  EXPECT(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc(&address, 16));
  EXPECT(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuStreamSynchronize(nullptr));
  OK(cuCtxSetCurrent(context));
}

static void in_a_thread_without_context(CUmodule module, CUstream stream) {
  CUcontext context = reinterpret_cast<CUcontext>(1);
  CUmodule other;
  CUdeviceptr address;
  OK(cuCtxGetCurrent(&context));
  CHECK(context == nullptr);
  const CUfunction nop = kernel(module, "nop");
  OK(launch(nop, stream));
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, launch(nop, nullptr));
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, launch(nop, CU_STREAM_LEGACY));
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, launch(nop, CU_STREAM_PER_THREAD));
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuModuleLoadData(&other, kernels_ptx));
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&address, 16));
  OK(cuStreamSynchronize(stream));
  OK(cuMemAllocAsync(&address, 16, stream));
  int word = 0;
  int value = 0;
  OK(cuMemcpyHtoDAsync(address, &word, 4, stream));
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuMemcpyHtoD(address, &word, 4));
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, nop, 32, 0));
  OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, nop));
  OK(cuMemFree(0));
  OK(cuMemFreeAsync(address, stream));
  OK(cuModuleUnload(module));
}

SCENARIO(thread_without_context_needs_an_explicit_stream) {
  start();
  const CUmodule module = load_kernels();
  CUstream stream;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  std::thread(in_a_thread_without_context, module, stream).join();
}

SCENARIO(foreign_context_refuses_the_default_streams) {
  const CUcontext primary = start();
  const CUmodule module = load_kernels();
  const CUfunction nop = kernel(module, "nop");
  CUstream stream;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUcontext foreign = nullptr;
  OK(cuCtxCreate(&foreign, nullptr, 0, 0));
  CUcontext current = nullptr;
  OK(cuCtxGetCurrent(&current));
  CHECK(current == foreign);
  OK(launch(nop, stream));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, launch(nop, nullptr));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, launch(nop, CU_STREAM_LEGACY));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, launch(nop, CU_STREAM_PER_THREAD));
  OK(cuModuleUnload(module));
  OK(cuCtxDestroy(foreign));
  OK(cuCtxGetCurrent(&current));
  CHECK(current == primary);
}

SCENARIO(contexts_form_a_stack_per_thread) {
  const CUcontext primary = start();
  CUcontext top = nullptr;
  OK(cuCtxPushCurrent(primary));
  OK(cuCtxPopCurrent(&top));
  CHECK(top == primary);
  OK(cuCtxPopCurrent(&top));
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&top));
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
  OK(cuCtxSetCurrent(primary));
  OK(cuCtxSynchronize());
  OK(cuDevicePrimaryCtxRelease(0));
  EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(0));
}

static int checks_in_a_forked_child(CUmodule module, CUstream stream, CUfunction nop) {
  CUcontext context;
  failed_checks = 0;
  EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuCtxGetCurrent(&context));
  EXPECT(CUDA_ERROR_NOT_INITIALIZED, launch(nop, stream));
  EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuModuleUnload(module));
  EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuCtxSynchronize());
  EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuInit(0));
  std::fflush(stdout);
  return failed_checks;
}

SCENARIO(forked_child_is_not_initialised) {
  start();
  const CUmodule module = load_kernels();
  const CUfunction nop = kernel(module, "nop");
  CUstream stream;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  const pid_t child = fork();
  if (child == 0)
    _exit(checks_in_a_forked_child(module, stream, nop));
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  OK(launch(nop, stream));
  OK(cuCtxSynchronize());
}

EMULATED_SCENARIO(child_forked_before_initialisation_works) {
  int version;
  OK(cuDriverGetVersion(&version));
  const pid_t child = fork();
  if (child == 0) {
    failed_checks = 0;
    start();
    load_kernels();
    _exit(failed_checks);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}

EMULATED_SCENARIO(devices_are_chosen_before_initialisation) {
  const auto configure = control<int (*)(const char *)>("se_cy_emulator_configure");
  for (const char *wrong : {"", "9", "9.", "x.0", "9.0,", "9.0;8.0", "sm_90"})
    CHECK(configure(wrong) == -1);
  CHECK(configure("9.0:first,8.0") == 0);
  OK(cuInit(0));
  CHECK(configure("9.0:first,8.0") == 0);
  CHECK(configure("9.0") == -1);
  int count = 0;
  int minor = -1;
  int major = -1;
  char name[64];
  OK(cuDeviceGetCount(&count));
  CHECK(count == 2);
  OK(cuDeviceGetName(name, sizeof name, 0));
  CHECK(std::string(name) == "first");
  OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 1));
  OK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 1));
  CHECK(major == 8 && minor == 0);
}
