// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <thread>

#include "driver_harness.h"

static int *pinned_int() {
  void *address = nullptr;
  OK(cuMemHostAlloc(&address, sizeof(int), 0));
  *static_cast<int *>(address) = 0;
  return static_cast<int *>(address);
}

struct Fixture {
  CUmodule module;
  CUdeviceptr word;
  int *pinned;
  CUstream stream;
  CUstream other;

  Fixture() {
    start();
    module = load_kernels();
    OK(cuMemAlloc(&word, 4));
    OK(cuMemsetD32(word, 0, 1));
    OK(cuCtxSynchronize());
    pinned = pinned_int();
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  }
};

EMULATED_SCENARIO(work_is_late_until_something_waits) {
  Fixture f;
  OK(launch_put(f.module, f.stream, f.word, 5));
  OK(cuMemcpyDtoHAsync(f.pinned, f.word, 4, f.stream));
  CHECK(*f.pinned == 0);
  // Another stream's wait does not drive this one: who reads without an order between them sees old data.
  int seen = -1;
  OK(cuMemcpyDtoHAsync(&seen, f.word, 4, f.other));
  CHECK(seen == 0);
  EXPECT(CUDA_ERROR_NOT_READY, cuStreamQuery(f.stream));
  OK(cuStreamSynchronize(f.stream));
  CHECK(*f.pinned == 5);
  OK(cuStreamQuery(f.stream));
}

EMULATED_SCENARIO(pinned_sources_are_read_late_and_pageable_ones_at_once) {
  Fixture f;
  *f.pinned = 1;
  OK(cuMemcpyHtoDAsync(f.word, f.pinned, 4, f.stream));
  *f.pinned = 2;
  OK(cuStreamSynchronize(f.stream));
  int result = 0;
  OK(cuMemcpyDtoH(&result, f.word, 4));
  CHECK(result == 2);
  int pageable = 3;
  OK(cuMemcpyHtoDAsync(f.word, &pageable, 4, f.stream));
  pageable = 4;
  OK(cuStreamSynchronize(f.stream));
  OK(cuMemcpyDtoH(&result, f.word, 4));
  CHECK(result == 3);
}

SCENARIO(polling_gets_there) {
  Fixture f;
  OK(launch_spin(f.module, f.stream, 1000000));
  OK(launch_put(f.module, f.stream, f.word, 6));
  OK(cuMemcpyDtoHAsync(f.pinned, f.word, 4, f.stream));
  CUevent event;
  OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  OK(cuEventRecord(event, f.stream));
  CUresult status;
  while ((status = cuEventQuery(event)) == CUDA_ERROR_NOT_READY)
    ;
  OK(status);
  CHECK(*f.pinned == 6);
}

SCENARIO(events_order_streams) {
  Fixture f;
  CUevent event;
  OK(cuEventCreate(&event, 0));
  OK(cuEventQuery(event));
  OK(launch_spin(f.module, f.stream, 1000000));
  OK(launch_put(f.module, f.stream, f.word, 7));
  OK(cuEventRecord(event, f.stream));
  OK(cuStreamWaitEvent(f.other, event, 0));
  int seen = 0;
  OK(cuMemcpyDtoHAsync(&seen, f.word, 4, f.other));
  OK(cuStreamSynchronize(f.other));
  CHECK(seen == 7);
  OK(cuEventDestroy(event));
}

SCENARIO(events_measure_time) {
  Fixture f;
  CUevent first;
  CUevent second;
  CUevent untimed;
  OK(cuEventCreate(&first, 0));
  OK(cuEventCreate(&second, 0));
  OK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
  OK(cuEventRecord(first, f.stream));
  OK(launch_spin(f.module, f.stream, 1000000));
  OK(cuEventRecord(second, f.stream));
  OK(cuEventRecord(untimed, f.stream));
  OK(cuStreamSynchronize(f.stream));
  float milliseconds = -1;
  OK(cuEventElapsedTime(&milliseconds, first, second));
  CHECK(milliseconds >= 0);
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, first, untimed));
}

SCENARIO(legacy_stream_is_ordered_with_blocking_streams) {
  Fixture f;
  CUstream blocking;
  OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  OK(launch_spin(f.module, blocking, 1000000));
  OK(launch_put(f.module, blocking, f.word, 8));
  int result = 0;
  OK(cuMemcpyDtoH(&result, f.word, 4));
  CHECK(result == 8);
  OK(launch_spin(f.module, nullptr, 1000000));
  OK(launch_put(f.module, nullptr, f.word, 9));
  OK(cuMemcpyDtoHAsync(&result, f.word, 4, blocking));
  CHECK(result == 9);
  OK(launch_put(f.module, CU_STREAM_PER_THREAD, f.word, 10));
  OK(cuMemcpyDtoH(&result, f.word, 4));
  CHECK(result == 10);
}

SCENARIO(destroyed_stream_finishes_its_work) {
  Fixture f;
  OK(launch_spin(f.module, f.stream, 1000000));
  OK(launch_put(f.module, f.stream, f.word, 11));
  OK(cuStreamDestroy(f.stream));
  OK(cuCtxSynchronize());
  int result = 0;
  OK(cuMemcpyDtoH(&result, f.word, 4));
  CHECK(result == 11);
}

SCENARIO(unload_waits_for_all_work) {
  Fixture f;
  const CUmodule other = load_kernels();
  OK(launch_spin(f.module, f.stream, 1000000));
  OK(launch_put(f.module, f.stream, f.word, 12));
  OK(cuMemcpyDtoHAsync(f.pinned, f.word, 4, f.stream));
  OK(cuModuleUnload(other));
  CHECK(*f.pinned == 12);
}

// Far more launches than a queue holds, then one wait.
SCENARIO(long_queues_are_done_in_order) {
  Fixture f;
  for (int i = 1; i <= 5000; ++i)
    OK(launch_put(f.module, f.stream, f.word, i));
  OK(cuStreamSynchronize(f.stream));
  int result = 0;
  OK(cuMemcpyDtoH(&result, f.word, 4));
  CHECK(result == 5000);
}

SCENARIO(other_threads_calls_do_not_wait_for_a_running_kernel) {
  Fixture f;
  const CUmodule module = load_kernels(); // loading PTX does wait on the H200, loading a cubin does not
  std::atomic<bool> done{false};
  OK(launch_spin(f.module, f.stream, 3000000000ll));
  std::thread waiter([&] {
    OK(cuStreamSynchronize(f.stream));
    done = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CUdeviceptr address;
  OK(launch(kernel(module, "nop"), f.other));
  OK(cuMemAlloc(&address, 1 << 20));
  OK(cuMemFree(address));
  CHECK(!done);
  waiter.join();
}

SCENARIO(capture_mode_is_the_threads) {
  Fixture f;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  OK(cuThreadExchangeStreamCaptureMode(&mode));
  CHECK(mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
  OK(cuThreadExchangeStreamCaptureMode(&mode));
  CHECK(mode == CU_STREAM_CAPTURE_MODE_RELAXED);
  CUstreamCaptureStatus status;
  OK(cuStreamIsCapturing(f.stream, &status));
  CHECK(status == CU_STREAM_CAPTURE_STATUS_NONE);
}

SCENARIO(streams_know_their_properties) {
  const CUcontext context = start();
  CUstream stream;
  CUcontext owner = nullptr;
  unsigned flags = 0;
  int priority = 99;
  int least = 99;
  int greatest = 99;
  OK(cuCtxGetStreamPriorityRange(&least, &greatest));
  CHECK(least == 0 && greatest < 0);
  OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, greatest));
  OK(cuStreamGetCtx(stream, &owner));
  OK(cuStreamGetFlags(stream, &flags));
  OK(cuStreamGetPriority(stream, &priority));
  CHECK(owner == context && flags == CU_STREAM_NON_BLOCKING && priority == greatest);
  OK(cuStreamDestroy(stream));
}
