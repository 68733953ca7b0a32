// SPDX-License-Identifier: Apache-2.0
#include "driver_harness.h"

SCENARIO(allocations_are_counted_and_end_with_their_context) {
  start();
  const auto live = control<uint64_t (*)(const char *)>("se_cy_emulator_live");
  CUdeviceptr address;
  void *host;
  OK(cuMemAlloc(&address, 1 << 20));
  OK(cuMemHostAlloc(&host, 1 << 20, 0));
  CHECK(live("allocations") == 1 && live("host_allocations") == 1 && live("contexts") == 1);
  OK(cuDevicePrimaryCtxReset(0));
  CHECK(live("allocations") == 0 && live("host_allocations") == 0 && live("contexts") == 0);
  CHECK(live("nonsense") == UINT64_MAX);
}

SCENARIO(freed_addresses_do_not_come_back_at_once) {
  start();
  CUdeviceptr first;
  OK(cuMemAlloc(&first, 4096));
  OK(cuMemFree(first));
  for (size_t i = 1; i < 100; ++i) {
    CUdeviceptr next;
    OK(cuMemAlloc(&next, i));
    CHECK(next != first && next % 256 == 0);
    OK(cuMemFree(next));
  }
  // Far more than the address range holds, so that it is gone through more than once.
  for (int i = 0; i < 40; ++i) {
    CUdeviceptr large;
    OK(cuMemAlloc(&large, size_t{15} << 30));
    OK(cuMemFree(large));
  }
}
