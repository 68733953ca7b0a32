// SPDX-License-Identifier: Apache-2.0
#include "elf.h"

#include <cstdint>
#include <cstring>

#include <elf.h>

namespace emulator {

namespace {

constexpr uint16_t machine_cuda = 190;

Elf64_Ehdr header_of(const void *image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  return header;
}

} // namespace

bool is_elf(const void *image) { return std::strncmp(static_cast<const char *>(image), ELFMAG, SELFMAG) == 0; }

bool is_whole_cubin(const void *image, uint64_t bytes_there) {
  const auto is_there = [&](uint64_t offset, uint64_t bytes) {
    return offset <= bytes_there && bytes <= bytes_there - offset;
  };
  if (!is_there(0, sizeof(Elf64_Ehdr)))
    return false;
  const Elf64_Ehdr header = header_of(image);
  if (!is_there(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr)) ||
      !is_there(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr)))
    return false;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != machine_cuda || header.e_shnum < 2 ||
      header.e_shentsize != sizeof(Elf64_Shdr))
    return false;
  const auto *bytes = static_cast<const char *>(image);
  for (unsigned i = 1; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, bytes + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type == SHT_NULL)
      return false;
  }
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type == PT_NULL)
      return false;
  }
  return true;
}

std::string cubin_architecture(const void *image) {
  const Elf64_Ehdr header = header_of(image);
  // Since ABI version 8 the architecture is in the second byte of the flags, before that in the first.
  const unsigned architecture = header.e_ident[EI_ABIVERSION] >= 8 ? header.e_flags >> 8 & 0xff : header.e_flags & 0xff;
  return "sm_" + std::to_string(architecture);
}

} // namespace emulator
