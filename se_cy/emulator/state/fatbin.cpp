// SPDX-License-Identifier: Apache-2.0
#include "fatbin.h"

#include <cstddef>
#include <cstring>

namespace emulator {

namespace {

constexpr char magic[4] = {0x50, static_cast<char>(0xed), 0x55, static_cast<char>(0xba)};

struct ContainerHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t header_bytes;
  uint64_t content_bytes;
};

struct EntryHeader {
  uint16_t kind;
  uint16_t version;
  uint32_t header_bytes;
  uint64_t payload_bytes;    // with padding
  uint32_t compressed_bytes; // 0 when the payload is stored as it is
  uint32_t options_offset;
  uint16_t minor;
  uint16_t major;
  uint32_t architecture;
};

// Behind the header, in every entry that nvcc writes; a compressed one can't do without.
struct EntryDetails {
  uint64_t name; // offset and length of what the entry was compiled from
  uint64_t flags;
  uint64_t reserved;
  uint64_t content_bytes; // of a compressed payload, once decompressed
};

constexpr uint64_t flag_lz4 = 0x2000;
constexpr uint64_t flag_zstd = 0x8000;

static_assert(sizeof(ContainerHeader) == 16 && sizeof(EntryHeader) == 32 && sizeof(EntryDetails) == 32,
              "the container's layout");

Compression compression_of(uint64_t flags) {
  switch (flags & (flag_lz4 | flag_zstd)) {
  case flag_lz4:
    return Compression::lz4;
  case flag_zstd:
    return Compression::zstd;
  default:
    return Compression::unknown;
  }
}

} // namespace

bool is_fatbin(const void *image) {
  const auto *bytes = static_cast<const char *>(image);
  for (size_t i = 0; i < sizeof magic; ++i) // byte by byte: a shorter text ends in a NUL
    if (bytes[i] != magic[i])
      return false;
  return true;
}

bool read_fatbin(const void *image, uint64_t bytes_there, std::vector<FatbinEntry> &entries) {
  const auto *bytes = static_cast<const char *>(image);
  ContainerHeader container;
  if (bytes_there < sizeof container)
    return false;
  std::memcpy(&container, bytes, sizeof container);
  if (container.version != 1 || container.header_bytes < sizeof container ||
      container.header_bytes > bytes_there || container.content_bytes > bytes_there - container.header_bytes)
    return false;
  uint64_t left = container.content_bytes;
  const char *position = bytes + container.header_bytes;
  while (left) {
    EntryHeader entry;
    if (left < sizeof entry)
      return false;
    std::memcpy(&entry, position, sizeof entry);
    if (entry.kind == 0 || entry.header_bytes < sizeof entry || left < entry.header_bytes ||
        left - entry.header_bytes < entry.payload_bytes || entry.compressed_bytes > entry.payload_bytes)
      return false;
    FatbinEntry read{static_cast<FatbinKind>(entry.kind), static_cast<int>(entry.architecture), Compression::none,
                     entry.payload_bytes, std::string_view(position + entry.header_bytes, entry.payload_bytes)};
    if (entry.compressed_bytes) {
      EntryDetails details;
      if (entry.header_bytes < sizeof entry + sizeof details)
        return false;
      std::memcpy(&details, position + sizeof entry, sizeof details);
      read.compression = compression_of(details.flags);
      read.content_bytes = details.content_bytes;
      read.payload = read.payload.substr(0, entry.compressed_bytes);
    }
    entries.push_back(read);
    position += entry.header_bytes + entry.payload_bytes;
    left -= entry.header_bytes + entry.payload_bytes;
  }
  return !entries.empty();
}

} // namespace emulator
