// nvcc 13.0: nvcc -ptx -arch=sm_75 control.cu -o control.ptx; nvcc -G -O0 -ptx -arch=sm_80 control.cu -o control_debug.ptx
// SPDX-License-Identifier: Apache-2.0
// Divergence, loops of different length in each thread, calls and structures.

extern "C" __global__ void divergent(const int *values, int *results, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  int v = values[i];
  int r;
  switch (v & 7) {
  case 0: r = v * 3; break;
  case 1: r = v - 100; break;
  case 2: r = v / 7; break;
  case 3: r = v % 11; break;
  case 4: r = v << 3; break;
  case 5: r = v ^ 0x55; break;
  case 6: r = -v; break;
  default: r = v > 1000 ? 1 : v < -1000 ? 2 : 3;
  }
  if (i & 1)
    r += 5;
  else if (i & 2)
    r -= 7;
  results[i] = r;
}

extern "C" __global__ void nested_loops(const unsigned *values, unsigned *results, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  unsigned sum = 0;
  for (unsigned a = 0; a < values[i] % 7; ++a)
    for (unsigned b = a; b < values[i] % 13; ++b) {
      if ((a * b + i) % 5 == 0)
        continue;
      if (sum > 100000)
        break;
      sum += a * 31 + b;
    }
  results[i] = sum;
}

// Collatz: loops of a length that no two threads need share.
extern "C" __global__ void steps(const unsigned *values, unsigned *results, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  unsigned n = values[i], taken = 0;
  while (n > 1 && taken < 1000) {
    n = n & 1 ? 3 * n + 1 : n / 2;
    ++taken;
  }
  results[i] = taken;
}

__device__ __noinline__ unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

extern "C" __global__ void recursive(const unsigned *values, unsigned *results, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    results[i] = fibonacci(values[i] % 10);
}

struct Pair {
  double first;
  int second;
  char third;
};

__device__ __noinline__ Pair swapped(Pair pair, int plus) {
  Pair result;
  result.first = pair.second + plus;
  result.second = static_cast<int>(pair.first);
  result.third = static_cast<char>(pair.third + 1);
  return result;
}

extern "C" __global__ void structures(const Pair *pairs, Pair *results, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    results[i] = swapped(swapped(pairs[i], i), 2 * i);
}

__device__ int counters[4] = {1, 2, 3, 4};
__device__ int *const counter_pointer = &counters[2];
__constant__ float factors[8] = {0.5f, 1, 2, 4, 8, 16, 32, 64};

extern "C" __global__ void variables(float *results, int *count) {
  int i = threadIdx.x;
  results[i] = factors[i & 7] * i;
  atomicAdd(counter_pointer, 1);
  atomicAdd(&counters[i & 1], 2);
  __syncthreads();
  if (i < 4)
    count[i] = counters[i];
}

// Every thread takes the lock in turn, also those of one warp.
extern "C" __global__ void spin_lock(int *lock, int *total) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *(volatile int *)total = *(volatile int *)total + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}
