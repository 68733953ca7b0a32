// SPDX-License-Identifier: Apache-2.0
//
// The least that launches cost on this driver: a loop in C that does nothing else. It calls the libcuda.so.1 that is
// loaded in the process, and is timed in C.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef int (*get_address_function)(const char *name, void **function, int version, uint64_t flags, int *found);
typedef int (*launch_function)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                               unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream,
                               void **parameters, void **extra);

static launch_function launch;
static int (*retain)(void **context, int device);
static int (*set_current)(void *context);
static int (*get_current)(void **context);
static void *primary_context;

static int find(get_address_function get_address, const char *name, void *function) {
  int found;
  return get_address(name, (void **)function, 12040, 0, &found);
}

// Returns 0, or the driver's status, or -1 where there is no driver.
int open_driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  get_address_function get_address = library ? (get_address_function)dlsym(library, "cuGetProcAddress_v2") : NULL;
  int status;
  if (get_address == NULL)
    return -1;
  if ((status = find(get_address, "cuLaunchKernel", &launch)) != 0 ||
      (status = find(get_address, "cuDevicePrimaryCtxRetain", &retain)) != 0 ||
      (status = find(get_address, "cuCtxSetCurrent", &set_current)) != 0 ||
      (status = find(get_address, "cuCtxGetCurrent", &get_current)) != 0)
    return status;
  return retain(&primary_context, 0);
}

// Makes device 0's primary context current in the calling thread. Returns 0 or the driver's status.
int make_current(void) { return set_current(primary_context); }

// Nanoseconds of `count` launches of saxpy, or minus the driver's status. The thread's current context is restored.
long long burst(void *function, void *stream, float a, uint64_t x, uint64_t y, uint64_t out, int n, int count) {
  void *parameters[] = {&a, &x, &y, &out, &n};
  struct timespec start, end;
  void *before;
  int status = get_current(&before);
  if (status == 0)
    status = make_current();
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (int i = 0; i < count && status == 0; i++)
    status = launch(function, 1, 1, 1, 128, 1, 1, 0, stream, parameters, NULL);
  clock_gettime(CLOCK_MONOTONIC, &end);
  if (status == 0)
    status = set_current(before);
  if (status != 0)
    return -status;
  return (end.tv_sec - start.tv_sec) * 1000000000LL + (end.tv_nsec - start.tv_nsec);
}
