// nvcc 13.0: nvcc -ptx -arch=sm_90 facts.cu -o facts.ptx; nvcc -G -O0 -ptx -arch=sm_90 facts.cu -o facts_debug.ptx
// SPDX-License-Identifier: Apache-2.0
extern "C" __global__ void spin(long long cycles, int *flag) {
  long long s = clock64();
  while (clock64() - s < cycles)
    ;
  if (flag)
    *flag = 1;
}
extern "C" __global__ void nop() {}
extern "C" __device__ int gcount = 7;
extern "C" __global__ void incr(int *o) { o[0] = ++gcount; }
struct S {
  char a;
  double b;
  short c;
};
extern "C" __global__ void st(S s, int *o) { o[0] = (int)s.b + s.c + s.a; }
extern "C" __global__ void p16(int a0, int a1, int a2, int a3, int a4, int a5, int a6, int a7, int a8, int a9,
                               int a10, int a11, int a12, int a13, int a14, int a15) {}
extern "C" __global__ void smem(int *o) {
  extern __shared__ int s[];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (o)
    o[threadIdx.x] = s[threadIdx.x];
}
struct Big {
  char x[8000];
};
extern "C" __global__ void big(Big b, int *o) { o[0] = b.x[7999]; }
