// SPDX-License-Identifier: Apache-2.0
#include "image.h"

#include <cstring>
#include <vector>

#include "elf.h"
#include "fatbin.h"

namespace emulator {

namespace {

// PTX begins with .version; only space and comments may stand before it.
bool is_ptx(const char *text) {
  for (;;) {
    text += std::strspn(text, " \t\r\n\v\f");
    if (text[0] != '/')
      return std::strncmp(text, ".version", 8) == 0;
    const char *end = nullptr;
    if (text[1] == '/') {
      end = std::strchr(text, '\n');
    } else if (text[1] == '*') {
      end = std::strstr(text + 2, "*/");
      end = end ? end + 2 : nullptr;
    }
    if (!end)
      return false;
    text = end;
  }
}

std::string_view text_of(const FatbinEntry &entry) { return entry.payload.substr(0, entry.payload.find('\0')); }

// A truncated container ends in zeros: its stated extents are whole, but not what lies in them.
bool is_whole(const FatbinEntry &entry) {
  constexpr size_t most_padding = 16;
  if (entry.compressed)
    return true;
  if (entry.kind == FatbinKind::elf)
    return is_whole_cubin(entry.payload.data(), entry.payload.size());
  if (entry.kind == FatbinKind::ptx)
    return is_ptx(entry.payload.data()) && text_of(entry).size() + most_padding >= entry.payload.size();
  return true;
}

Image refuse(CUresult status, std::string log = "") { return {status, std::move(log), {}}; }

Image machine_code(const std::string &what) {
  return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU,
                "error : the emulated driver executes PTX and no machine code; the image holds " + what);
}

Image find_ptx_in_fatbin(const void *image, int capability) {
  std::vector<FatbinEntry> entries;
  if (!read_fatbin(image, entries))
    return refuse(CUDA_ERROR_INVALID_IMAGE);
  const FatbinEntry *best = nullptr;
  bool compressed_ptx = false;
  std::string contents;
  for (const FatbinEntry &entry : entries) {
    const bool ptx = entry.kind == FatbinKind::ptx;
    if (!is_whole(entry))
      return refuse(CUDA_ERROR_INVALID_IMAGE);
    contents += contents.empty() ? "" : ", ";
    contents += entry.compressed ? "compressed " : "";
    contents += ptx ? "PTX for sm_" : entry.kind == FatbinKind::elf ? "machine code for sm_" : "other code for sm_";
    contents += std::to_string(entry.architecture);
    compressed_ptx = compressed_ptx || (ptx && entry.compressed);
    const bool usable = ptx && !entry.compressed && entry.architecture <= capability;
    if (usable && (!best || entry.architecture > best->architecture))
      best = &entry;
  }
  if (!best)
    return machine_code(contents + (compressed_ptx ? " (nvcc --compress-mode=none leaves PTX readable here)" : ""));
  return {CUDA_SUCCESS, "", text_of(*best)};
}

} // namespace

Image find_ptx(const void *image, int capability) {
  if (is_fatbin(image))
    return find_ptx_in_fatbin(image, capability);
  if (is_elf(image))
    // The driver is told no length: whoever calls it has checked the extents.
    return is_whole_cubin(image, UINT64_MAX) ? machine_code("machine code for " + cubin_architecture(image))
                                 : refuse(CUDA_ERROR_INVALID_IMAGE);
  const char *text = static_cast<const char *>(image);
  if (!is_ptx(text))
    return refuse(CUDA_ERROR_INVALID_IMAGE);
  return {CUDA_SUCCESS, "", std::string_view(text)};
}

} // namespace emulator
