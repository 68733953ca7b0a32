// SPDX-License-Identifier: Apache-2.0
// nvcc 13.0: nvcc -ptx -arch=sm_75 kernels.cu
// nvcc -cubin -arch=sm_90 kernels.cu -o kernels_sm90.cubin
#include <cassert>

struct Mixed {
  char letter;
  double number;
  short count;
};

struct Large {
  char bytes[8000];
};

__device__ int counter = 7;
extern __shared__ int dynamic[];

extern "C" __global__ void nothing() {}
extern "C" __global__ void nothing_else() {}

extern "C" __global__ void put(int *out, int value) { *out = value; }

extern "C" __global__ void add(int *out, int value) { *out += value; }

extern "C" __global__ void copy(int *out, const int *in) { *out = *in; }

extern "C" __global__ void count(int *out) { *out = ++counter; }

extern "C" __global__ void spin(long long nanoseconds) {
  long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - start < nanoseconds);
}

// Ends when the host, or another kernel, writes what is not zero to *flag.
extern "C" __global__ void spin_until(const volatile int *flag) {
  while (!*flag)
    ;
}

extern "C" __global__ void take_mixed(Mixed mixed, int *out) { *out = mixed.letter + (int)mixed.number + mixed.count; }

extern "C" __global__ void take_large(Large large, int *out) { *out = large.bytes[7999]; }

extern "C" __global__ void use_shared(int *out) {
  dynamic[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = dynamic[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void write_to(unsigned long long address) { *(volatile int *)address = 1; }

extern "C" __global__ void trap() { asm("trap;"); }

extern "C" __global__ void fail_assertion(int value) { assert(value == 0); }

extern "C" __global__ void __launch_bounds__(64) few_threads() {}
