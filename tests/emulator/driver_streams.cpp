// SPDX-License-Identifier: Apache-2.0
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

SCENARIO(work_is_late_until_something_waits) {
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

SCENARIO(pinned_sources_are_read_late_and_pageable_ones_at_once) {
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
