// SPDX-License-Identifier: Apache-2.0
#include "image.h"

#include <utility>
#include <vector>

#include "elf.h"
#include "fatbin.h"
#include "mapping.h"

namespace emulator {

namespace {

// PTX begins with .version; only space and comments may stand before it.
bool is_ptx(std::string_view text) {
  for (;;) {
    const size_t code = text.find_first_not_of(" \t\r\n\v\f");
    if (code == text.npos)
      return false;
    text.remove_prefix(code);
    const std::string_view opening = text.substr(0, 2);
    if (opening != "//" && opening != "/*")
      return text.substr(0, 8) == ".version";
    const std::string_view closing = opening == "//" ? "\n" : "*/";
    const size_t end = text.find(closing, opening.size());
    if (end == text.npos)
      return false;
    text.remove_prefix(end + closing.size());
  }
}

std::string_view text_of(std::string_view content) { return content.substr(0, content.find('\0')); }

// A truncated container ends in zeros: its stated extents are whole, but not what lies in them.
bool is_whole(FatbinKind kind, std::string_view content) {
  constexpr size_t most_padding = 16;
  if (kind == FatbinKind::elf)
    return is_whole_cubin(content.data(), content.size());
  return is_ptx(text_of(content)) && text_of(content).size() + most_padding >= content.size();
}

// A payload as it was before a compression, if there was one.
struct Content {
  std::string_view bytes;
  std::vector<char> decompressed;
};

// False when the entry is not whole. Of code in another form, or in one that can't be decompressed here, nothing is
// known: it counts as whole, and its content is empty.
bool read_content(const FatbinEntry &entry, Content &content) {
  if ((entry.kind != FatbinKind::ptx && entry.kind != FatbinKind::elf) ||
      entry.compression == Compression::unknown || missing_library(entry.compression))
    return true;
  content.bytes = entry.payload;
  if (entry.compression != Compression::none) {
    if (!decompress(entry.compression, entry.payload, entry.content_bytes, content.decompressed))
      return false;
    content.bytes = {content.decompressed.data(), entry.content_bytes};
  }
  return is_whole(entry.kind, content.bytes);
}

std::string describe(const FatbinEntry &entry) {
  const char *kind = entry.kind == FatbinKind::ptx   ? "PTX"
                     : entry.kind == FatbinKind::elf ? "machine code"
                                                     : "other code";
  return std::string(entry.compression == Compression::none ? "" : "compressed ") + kind + " for sm_" +
         std::to_string(entry.architecture);
}

Image refuse(CUresult status, std::string log = "") { return {status, std::move(log), {}, {}}; }

Image nothing_to_execute(const std::string &contents, int capability) {
  return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, "error : the emulated driver executes PTX, here for sm_" +
                                                  std::to_string(capability) +
                                                  " or older, and no machine code; the image holds " + contents);
}

Image unreadable(const FatbinEntry &entry) {
  const char *library = missing_library(entry.compression);
  return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU,
                "error : the emulated driver can't decompress the image's PTX for sm_" +
                    std::to_string(entry.architecture) + ": " +
                    (library ? std::string("it needs ") + library + ", which was not found"
                             : "its compression is of no known kind") +
                    "; nvcc --compress-mode=none leaves PTX as it is");
}

Image find_ptx_in_fatbin(const void *image, int capability) {
  std::vector<FatbinEntry> entries;
  if (!read_fatbin(image, readable_bytes(image), entries))
    return refuse(CUDA_ERROR_INVALID_IMAGE);
  const FatbinEntry *best = nullptr;
  Content best_content;
  std::string contents;
  for (const FatbinEntry &entry : entries) {
    Content content;
    if (!read_content(entry, content))
      return refuse(CUDA_ERROR_INVALID_IMAGE);
    contents += (contents.empty() ? "" : ", ") + describe(entry);
    const bool usable = entry.kind == FatbinKind::ptx && entry.architecture <= capability;
    if (usable && (!best || entry.architecture > best->architecture)) {
      best = &entry;
      best_content = std::move(content);
    }
  }
  if (!best)
    return nothing_to_execute(contents, capability);
  if (!best_content.bytes.data())
    return unreadable(*best);
  const std::string_view text = text_of(best_content.bytes);
  return {CUDA_SUCCESS, "", text, std::move(best_content.decompressed)};
}

} // namespace

Image find_ptx(const void *image, int capability) {
  if (is_fatbin(image))
    return find_ptx_in_fatbin(image, capability);
  if (is_elf(image))
    return is_whole_cubin(image, readable_bytes(image))
               ? nothing_to_execute("machine code for " + cubin_architecture(image), capability)
               : refuse(CUDA_ERROR_INVALID_IMAGE);
  const std::string_view text = static_cast<const char *>(image);
  if (!is_ptx(text))
    return refuse(CUDA_ERROR_INVALID_IMAGE);
  return {CUDA_SUCCESS, "", text, {}};
}

} // namespace emulator
