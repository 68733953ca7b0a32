// SPDX-License-Identifier: Apache-2.0
#include "compression.h"

#include <climits>
#include <cstddef>

#include <dlfcn.h>

namespace emulator {

namespace {

constexpr const char *lz4_library = "liblz4.so.1";
constexpr const char *zstd_library = "libzstd.so.1";

// As lz4.h and zstd.h declare them.
using Lz4DecompressSafe = int (*)(const char *source, char *destination, int source_bytes, int capacity);
using ZstdDecompress = size_t (*)(void *destination, size_t capacity, const void *source, size_t source_bytes);

template <class Function> Function find(const char *library, const char *name) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  return handle ? reinterpret_cast<Function>(dlsym(handle, name)) : nullptr;
}

Lz4DecompressSafe lz4_decompress_safe() {
  static const auto function = find<Lz4DecompressSafe>(lz4_library, "LZ4_decompress_safe");
  return function;
}

ZstdDecompress zstd_decompress() {
  static const auto function = find<ZstdDecompress>(zstd_library, "ZSTD_decompress");
  return function;
}

} // namespace

const char *missing_library(Compression compression) {
  if (compression == Compression::lz4 && !lz4_decompress_safe())
    return lz4_library;
  if (compression == Compression::zstd && !zstd_decompress())
    return zstd_library;
  return nullptr;
}

bool decompress(Compression compression, std::string_view stream, uint64_t bytes, std::vector<char> &content) {
  // LZ4 counts in int, and no stream of either kind grows like this: a size beyond is not a size.
  constexpr uint64_t most_growth = 1 << 16;
  if (missing_library(compression) || bytes >= INT_MAX || stream.size() > INT_MAX ||
      bytes > stream.size() * most_growth)
    return false;
  content.assign(bytes + 1, '\0');
  switch (compression) {
  case Compression::lz4: {
    const int made = lz4_decompress_safe()(stream.data(), content.data(), static_cast<int>(stream.size()),
                                           static_cast<int>(bytes));
    return made >= 0 && static_cast<uint64_t>(made) == bytes;
  }
  case Compression::zstd: // its errors are sizes that no buffer has
    return zstd_decompress()(content.data(), bytes, stream.data(), stream.size()) == bytes;
  default:
    return false;
  }
}

} // namespace emulator
