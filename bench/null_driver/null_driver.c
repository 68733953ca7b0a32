// SPDX-License-Identifier: Apache-2.0
//
// A libcuda.so.1 whose calls return at once, so that only the time above the driver is left to measure. It has one
// device of capability 9.0, takes anything for a module, and computes nothing. Every module has the kernels p0 to p64,
// which have that many parameters, and saxpy, which is p5; what follows an underscore makes other names of the same. A
// function that is not here is not found, so a caller gets an error and not rubbish from an output that nobody wrote.

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, NOT_FOUND = 500 };
enum { MOST_PARAMETERS = 64 };

// Handles are addresses of these; nothing is stored in them but which one it is.
static int the_context, the_stream;
static int functions[MOST_PARAMETERS + 1];

static void *current_context, *context_below;
static uintptr_t last_module = 0x10000;
static uintptr_t last_address = 0x700000000000;

// ---- the driver itself

static int cuInit(unsigned flags) { return SUCCESS; }

static int cuDriverGetVersion(int *version) {
  *version = 13000;
  return SUCCESS;
}

static int cuGetErrorName(int status, const char **name) {
  *name = status == SUCCESS ? "CUDA_SUCCESS" : status == NOT_FOUND ? "CUDA_ERROR_NOT_FOUND" : "CUDA_ERROR_UNKNOWN";
  return SUCCESS;
}

// ---- the device

static int cuDeviceGetCount(int *count) {
  *count = 1;
  return SUCCESS;
}

static int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 ? SUCCESS : INVALID_VALUE;
}

static int cuDeviceGetName(char *name, int size, int device) {
  snprintf(name, size, "device that does nothing");
  return SUCCESS;
}

static int cuDeviceGetUuid(char uuid[16], int device) {
  memset(uuid, 0, 16);
  return SUCCESS;
}

// Numbers of cuda.h's CUdevice_attribute; whatever else is asked for, the device has not.
static int cuDeviceGetAttribute(int *value, int attribute, int device) {
  switch (attribute) {
  case 1: case 2: case 3: *value = 1024; break;        // threads per block, block x, block y
  case 4: *value = 64; break;                          // block z
  case 5: *value = 0x7fffffff; break;                  // grid x
  case 6: case 7: *value = 65535; break;               // grid y, grid z
  case 8: *value = 49152; break;                       // shared memory per block
  case 10: *value = 32; break;                         // warp size
  case 12: *value = 65536; break;                      // registers per block
  case 16: *value = 132; break;                        // multiprocessors
  case 39: *value = 2048; break;                       // threads per multiprocessor
  case 41: *value = 1; break;                          // unified addressing
  case 75: *value = 9; break;                          // capability, major
  case 76: *value = 0; break;                          // capability, minor
  case 81: *value = 233472; break;                     // shared memory per multiprocessor
  case 95: *value = 1; break;                          // cooperative launch
  case 97: *value = 232448; break;                     // shared memory per block, opt-in
  default: *value = 0;
  }
  return SUCCESS;
}

// ---- the context

static int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = &the_context;
  return SUCCESS;
}

static int cuDevicePrimaryCtxRelease(int device) { return SUCCESS; }

static int cuCtxGetId(void *context, unsigned long long *id) {
  *id = 1;
  return SUCCESS;
}

static int cuCtxGetCurrent(void **context) {
  *context = current_context;
  return SUCCESS;
}

static int cuCtxSetCurrent(void *context) {
  current_context = context;
  return SUCCESS;
}

static int cuCtxPushCurrent(void *context) {
  context_below = current_context;
  current_context = context;
  return SUCCESS;
}

static int cuCtxPopCurrent(void **context) {
  *context = current_context;
  current_context = context_below;
  return SUCCESS;
}

static int cuCtxGetDevice(int *device) {
  *device = 0;
  return SUCCESS;
}

static int cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  *least = 0;
  *greatest = -5;
  return SUCCESS;
}

static int cuCtxSynchronize(void) { return SUCCESS; }

static int cuThreadExchangeStreamCaptureMode(int *mode) { return SUCCESS; }

// ---- modules and functions

static int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values) {
  *module = (void *)(last_module += 16);
  return SUCCESS;
}

static int cuModuleUnload(void *module) { return SUCCESS; }

static int cuModuleGetFunction(void **function, void *module, const char *name) {
  char *end;
  long count;
  if (strcmp(name, "saxpy") == 0)
    name = "p5";
  count = strtol(name + 1, &end, 10);
  if (name[0] != 'p' || (*end != 0 && *end != '_') || count < 0 || count > MOST_PARAMETERS)
    return NOT_FOUND;
  *function = &functions[count];
  return SUCCESS;
}

static int cuLibraryLoadData(void **library, const void *code, int *jit, void **jit_values, unsigned jit_count,
                             int *options, void **values, unsigned count) {
  *library = (void *)(last_module += 16);
  return SUCCESS;
}

static int cuLibraryUnload(void *library) { return SUCCESS; }

static int cuLibraryGetKernel(void **kernel, void *library, const char *name) {
  return cuModuleGetFunction(kernel, library, name);
}

static int cuKernelGetFunction(void **function, void *kernel) {
  *function = kernel;
  return SUCCESS;
}

static int cuFuncGetAttribute(int *value, int attribute, void *function) {
  *value = attribute == 0 ? 1024 : attribute == 8 ? 49152 : attribute == 5 || attribute == 6 ? 90 : 0;
  return SUCCESS;
}

static int cuFuncSetAttribute(void *function, int attribute, int value) { return SUCCESS; }

// The parameters repeat those of saxpy: a float, three pointers, an int. Five of them take 40 bytes.
static int cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *size) {
  static const size_t offsets[] = {0, 8, 16, 24, 32}, sizes[] = {4, 8, 8, 8, 4};
  if (index >= (size_t)((int *)function - functions))
    return INVALID_VALUE;
  *offset = index / 5 * 40 + offsets[index % 5];
  *size = sizes[index % 5];
  return SUCCESS;
}

// ---- launches

static int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                          unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream, void **parameters,
                          void **extra) {
  return SUCCESS;
}

static int cuLaunchKernelEx(const void *configuration, void *function, void **parameters, void **extra) {
  return SUCCESS;
}

// ---- streams

static int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
  *stream = &the_stream;
  return SUCCESS;
}

static int cuStreamDestroy(void *stream) { return SUCCESS; }
static int cuStreamQuery(void *stream) { return SUCCESS; }
static int cuStreamSynchronize(void *stream) { return SUCCESS; }

// ---- memory: addresses that nothing is behind

static int cuMemAlloc(uint64_t *address, size_t bytes) {
  *address = last_address;
  last_address += (bytes + 255) / 256 * 256;
  return SUCCESS;
}

static int cuMemAllocAsync(uint64_t *address, size_t bytes, void *stream) { return cuMemAlloc(address, bytes); }
static int cuMemFree(uint64_t address) { return SUCCESS; }
static int cuMemFreeAsync(uint64_t address, void *stream) { return SUCCESS; }
static int cuMemcpyHtoDAsync(uint64_t to, const void *from, size_t bytes, void *stream) { return SUCCESS; }

static int cuMemcpyDtoHAsync(void *to, uint64_t from, size_t bytes, void *stream) {
  memset(to, 0, bytes);
  return SUCCESS;
}

static int cuMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
  *free_bytes = *total_bytes = (size_t)1 << 36;
  return SUCCESS;
}

// ---- how callers find all that

__attribute__((visibility("default"))) int cuGetProcAddress_v2(const char *name, void **function, int version,
                                                               uint64_t flags, int *found);

#define ENTRY(name) {#name, (void *)name}

static const struct {
  const char *name;
  void *function;
} entries[] = {
    {"cuGetProcAddress", (void *)cuGetProcAddress_v2},
    {"cuGetErrorString", (void *)cuGetErrorName},
    ENTRY(cuInit), ENTRY(cuDriverGetVersion), ENTRY(cuGetErrorName), ENTRY(cuDeviceGetCount), ENTRY(cuDeviceGet),
    ENTRY(cuDeviceGetName), ENTRY(cuDeviceGetUuid), ENTRY(cuDeviceGetAttribute), ENTRY(cuDevicePrimaryCtxRetain),
    ENTRY(cuDevicePrimaryCtxRelease), ENTRY(cuCtxGetId), ENTRY(cuCtxGetCurrent), ENTRY(cuCtxSetCurrent),
    ENTRY(cuCtxPushCurrent), ENTRY(cuCtxPopCurrent), ENTRY(cuCtxGetDevice), ENTRY(cuCtxGetStreamPriorityRange),
    ENTRY(cuCtxSynchronize), ENTRY(cuThreadExchangeStreamCaptureMode), ENTRY(cuModuleLoadDataEx),
    ENTRY(cuModuleUnload), ENTRY(cuModuleGetFunction), ENTRY(cuLibraryLoadData), ENTRY(cuLibraryUnload),
    ENTRY(cuLibraryGetKernel), ENTRY(cuKernelGetFunction), ENTRY(cuFuncGetAttribute), ENTRY(cuFuncSetAttribute),
    ENTRY(cuFuncGetParamInfo), ENTRY(cuLaunchKernel), ENTRY(cuLaunchKernelEx), ENTRY(cuStreamCreateWithPriority),
    ENTRY(cuStreamDestroy), ENTRY(cuStreamQuery), ENTRY(cuStreamSynchronize), ENTRY(cuMemAlloc),
    ENTRY(cuMemAllocAsync), ENTRY(cuMemFree), ENTRY(cuMemFreeAsync), ENTRY(cuMemcpyHtoDAsync),
    ENTRY(cuMemcpyDtoHAsync), ENTRY(cuMemGetInfo),
};

int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *found) {
  *function = NULL;
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
    if (strcmp(entries[i].name, name) == 0)
      *function = entries[i].function;
  if (found != NULL)
    *found = *function != NULL ? 0 : 1;
  return *function != NULL ? SUCCESS : NOT_FOUND;
}
