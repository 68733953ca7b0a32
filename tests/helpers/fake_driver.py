# SPDX-License-Identifier: Apache-2.0
"""Driver libraries that are wrong in one way, built for a test."""

import shutil
import subprocess

# cuda-python asks cuGetProcAddress_v2 for each function; this one answers two of them, and nothing else.
_SOURCE = """
#include <cstdint>
#include <cstring>
#ifndef NO_LOADER
static int version(int *value) { *value = DRIVER_VERSION; return 0; }
static int init(unsigned) { return INIT_STATUS; }
static int missing() { return 999; }
static int error_name(int, const char **text) { *text = "CUDA_ERROR_BY_FAKE"; return 0; }
extern "C" int cuGetProcAddress_v2(const char *name, void **function, int, uint64_t, int *) {
  if (!strcmp(name, "cuDriverGetVersion")) *function = (void *)version;
  else if (!strcmp(name, "cuInit")) *function = (void *)init;
  else if (!strcmp(name, "cuGetErrorName") || !strcmp(name, "cuGetErrorString")) *function = (void *)error_name;
  else if (!strcmp(name, "cuGetProcAddress")) *function = (void *)cuGetProcAddress_v2;
  else *function = (void *)missing;
  return 0;
}
#endif
"""


def build_fake_driver(folder, *, version=13000, init_status=0, has_loader=True):
    """Build a libcuda.so.1 that has a version, an answer to cuInit, and nothing else.

    Parameters
    ----------
    folder : pathlib.Path
        Where it is put; LD_LIBRARY_PATH for the process that is to find it.
    has_loader : bool
        False leaves out the entry point by which all others are found.
    """
    compiler = shutil.which("g++") or shutil.which("c++")
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", f"-DDRIVER_VERSION={version}",
         f"-DINIT_STATUS={init_status}", *([] if has_loader else ["-DNO_LOADER"]),
         "-x", "c++", "-", "-o", str(folder / "libcuda.so.1")],
        input=_SOURCE, text=True, check=True,
    )
    return folder
