// SPDX-License-Identifier: Apache-2.0
// nvcc 13.0: nvcc -ptx -arch=sm_75 arguments.cu
// nvcc -fatbin --compress-mode=none -gencode arch=compute_75,code=compute_75 arguments.cu
// nvcc -cubin -arch=sm_90 arguments.cu -o arguments_sm90.cubin
// Each kernel writes what it was given, so that a test sees the bytes that arrived.
struct Mixed {
  char letter;
  double number;
  short count;
};

extern "C" __global__ void nothing() {}

extern "C" __global__ void every_width(float f, signed char i8, short i16, int i32, long long i64, double d,
                                       double *out) {
  out[0] = f;
  out[1] = i8;
  out[2] = i16;
  out[3] = i32;
  out[4] = (double)i64;
  out[5] = d;
}

extern "C" __global__ void store_bool(bool first, bool second, char letter, int *out) {
  out[0] = first;
  out[1] = second;
  out[2] = letter;
}

extern "C" __global__ void store_struct(Mixed mixed, double *out) {
  out[0] = mixed.letter;
  out[1] = mixed.number;
  out[2] = mixed.count;
}

extern "C" __global__ void store_address(const void *pointer, unsigned long long *out) {
  out[0] = (unsigned long long)pointer;
}

extern "C" __global__ void double_it(int *out) { out[threadIdx.x] *= 2; }
extern "C" __global__ void add_hundred(int *out) { out[threadIdx.x] += 100; }

__global__ void scale(float *x, int n) {
  if (threadIdx.x < n)
    x[threadIdx.x] *= 2;
}

extern "C" __global__ void dynamic_shared(int *out) {
  extern __shared__ int values[];
  values[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
}

#define SIXTEEN(T) T a0, T a1, T a2, T a3, T a4, T a5, T a6, T a7, T a8, T a9, T a10, T a11, T a12, T a13, T a14, T a15
extern "C" __global__ void sixteen(SIXTEEN(int)) {}
