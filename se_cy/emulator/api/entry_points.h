// SPDX-License-Identifier: Apache-2.0
// The functions that this driver has, by the name in cuda.h without a version, and since which version of CUDA.
#pragma once

#include <string_view>

#include <cuda.h>

namespace emulator {

struct EntryPoint {
  std::string_view name;
  int version; // 12040: the first to have this form of the function
  void *function;
};

// The newest form that is not newer than version, of those that a driver of CUDA version driver has.
CUdriverProcAddressQueryResult find_entry_point(std::string_view name, int version, int driver, void *&function);


// The name of the entry point, version left out, if this driver has a function of it; else null.
const char *implemented(std::string_view name);
// Each name once, in the order of the table; null past the last.
const char *implemented_name(size_t index);

} // namespace emulator
