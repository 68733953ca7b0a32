// SPDX-License-Identifier: Apache-2.0
// nvcc 13.0: nvcc -ptx -arch=sm_75 saxpy.cu, then .version and .target lowered to 6.0 and sm_52: the code uses nothing
// newer, and older drivers and devices take it too.
extern "C" __global__ void saxpy(float a, const float *x, const float *y, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = a * x[i] + y[i];
}
