// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "driver_harness.h"

SCENARIO(allocations_are_checked) {
  const CUcontext context = start();
  CUdeviceptr address = 0;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&address, 0));
  EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&address, size_t{1} << 50));
  OK(cuMemFree(0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemFree(12345));
  OK(cuMemAlloc(&address, 100));
  CHECK(address % 256 == 0);
  CUcontext owner = nullptr;
  int ordinal = -1;
  unsigned type = 0;
  OK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, address));
  OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address));
  OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
  CHECK(owner == context && ordinal == 0 && type == CU_MEMORYTYPE_DEVICE);
  CUdeviceptr base = 0;
  size_t size = 0;
  OK(cuMemGetAddressRange(&base, &size, address + 10));
  CHECK(base == address && size == 100);
  OK(cuMemFree(address));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemFree(address));
  int unknown;
  EXPECT(CUDA_ERROR_INVALID_VALUE,
         cuPointerGetAttribute(&unknown, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(&unknown)));
}

SCENARIO(copies_are_checked) {
  start();
  char bytes[16] = "";
  CUdeviceptr address = 0;
  OK(cuMemAlloc(&address, 16));
  OK(cuMemFree(address));
  OK(cuMemcpyHtoD(address, bytes, 0));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(0x1000, bytes, 16));
  OK(cuMemAlloc(&address, 8));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(address, bytes, 16));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(address, nullptr, 8));
}

SCENARIO(memory_round_trip) {
  start();
  char there[64];
  char back[64] = "";
  for (size_t i = 0; i < sizeof there; ++i)
    there[i] = static_cast<char>(i);
  CUdeviceptr a;
  CUdeviceptr b;
  OK(cuMemAlloc(&a, 64));
  OK(cuMemAlloc(&b, 64));
  OK(cuMemcpyHtoD(a, there, 64));
  OK(cuMemcpyDtoD(b, a, 64));
  OK(cuMemcpyDtoH(back, b, 64));
  CHECK(std::memcmp(there, back, 64) == 0);
  OK(cuMemsetD32(b, 0x01020304, 4));
  OK(cuMemsetD16(b + 16, 0x0506, 4));
  OK(cuMemsetD8(b + 24, 7, 3));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(b + 1, 0, 1));
  OK(cuMemcpy(reinterpret_cast<CUdeviceptr>(back), b, 64));
  CHECK(back[0] == 4 && back[15] == 1 && back[16] == 6 && back[17] == 5 && back[26] == 7 && back[27] == 27);
}

SCENARIO(stream_ordered_allocations) {
  start();
  CUstream stream;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUdeviceptr address = 0;
  OK(cuMemAllocAsync(&address, 256, stream));
  OK(cuMemsetD32Async(address, 9, 64, stream));
  int value = 0;
  OK(cuMemcpyDtoHAsync(&value, address + 252, 4, stream));
  OK(cuMemFreeAsync(address, stream));
  OK(cuStreamSynchronize(stream));
  CHECK(value == 9);
}

EMULATED_SCENARIO(allocations_are_counted_and_end_with_their_context) {
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

EMULATED_SCENARIO(freed_addresses_do_not_come_back_at_once) {
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

SCENARIO(capacity_is_a_limit) {
  start();
  size_t available = 0;
  size_t total = 0;
  OK(cuMemGetInfo(&available, &total));
  CHECK(available <= total);
  CUdeviceptr address;
  EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&address, total + 1));
}
