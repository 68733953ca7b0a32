// SPDX-License-Identifier: Apache-2.0
// What a module image is: PTX text, an ELF cubin, a fatbin container, or none of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <cuda.h>

namespace emulator {

struct Image {
  CUresult status = CUDA_SUCCESS;
  std::string log;      // why there is no PTX
  std::string_view ptx; // within the image, or in decompressed
  std::vector<char> decompressed = {};
};

// Finds the PTX in an image for a device of that capability. No length is known, as with the real driver: what lies
// behind the extents that the image itself states is never read.
Image find_ptx(const void *image, int capability);

} // namespace emulator
