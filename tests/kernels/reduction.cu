// nvcc 13.0: nvcc -ptx -arch=sm_75 reduction.cu -o reduction.ptx
// SPDX-License-Identifier: Apache-2.0
// Sums of a block's elements by halving, in static and in dynamic shared memory.

template <class T> __device__ void reduce(T *partial, const T *values, T *sums, int count) {
  unsigned thread = threadIdx.x;
  unsigned i = blockIdx.x * blockDim.x + thread;
  partial[thread] = i < count ? values[i] : T(0);
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (thread < half)
      partial[thread] += partial[thread + half];
    __syncthreads();
  }
  if (thread == 0)
    sums[blockIdx.x] = partial[0];
}

#define STATIC_AND_DYNAMIC(T, NAME)                                                                                    \
  extern "C" __global__ void reduce_static_##NAME(const T *values, T *sums, int count) {                              \
    __shared__ T partial[1024];                                                                                        \
    reduce(partial, values, sums, count);                                                                              \
  }                                                                                                                    \
  extern "C" __global__ void reduce_dynamic_##NAME(const T *values, T *sums, int count) {                             \
    extern __shared__ __align__(16) char bytes[];                                                                      \
    reduce(reinterpret_cast<T *>(bytes), values, sums, count);                                                         \
  }

STATIC_AND_DYNAMIC(int, i32)
STATIC_AND_DYNAMIC(unsigned long long, u64)
STATIC_AND_DYNAMIC(float, f32)
STATIC_AND_DYNAMIC(double, f64)
STATIC_AND_DYNAMIC(short, i16)
