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

// The newest form that is not newer than version.
CUdriverProcAddressQueryResult find_entry_point(std::string_view name, int version, void *&function);

} // namespace emulator
