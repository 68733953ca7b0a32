// SPDX-License-Identifier: Apache-2.0
#include "transfer.h"

#include <cstring>
#include <string>
#include <utility>

namespace emulator {

namespace {

// The fault of touching bytes that are no longer what they were when the call was made.
Fault missing(const Process &process, const Range &range, size_t bytes, const char *what) {
  if (range.place == Place::pageable || locate(process, range.address, bytes).place == range.place)
    return {};
  const char *state = range.place == Place::pinned ? "page-locked memory that has been freed"
                                                   : "device memory that has been freed";
  return {CUDA_ERROR_ILLEGAL_ADDRESS, std::string(what) + " of " + std::to_string(bytes) + " bytes reaches " + state +
                                           ": " + process.describe_address(range.address)};
}

} // namespace

Range locate(const Process &process, uint64_t address, uint64_t bytes) {
  if (process.host_memory.find(address, bytes))
    return {address, Place::pinned};
  return {address, process.device_of(address, bytes) ? Place::device : Place::pageable};
}

Copy::Copy(Process &process, Range destination, Range source, size_t bytes)
    : process_(process), destination_(destination), source_(source), bytes_(bytes) {}

Copy::Copy(Process &process, Range destination, std::vector<uint8_t> staged)
    : process_(process), destination_(destination), bytes_(staged.size()), staged_(std::move(staged)) {}

bool Copy::run(uint64_t) {
  fault_ = missing(process_, destination_, bytes_, "the destination of a copy");
  if (fault_.status == CUDA_SUCCESS && staged_.empty())
    fault_ = missing(process_, source_, bytes_, "the source of a copy");
  if (fault_.status == CUDA_SUCCESS)
    std::memmove(reinterpret_cast<void *>(destination_.address),
                 staged_.empty() ? reinterpret_cast<const void *>(source_.address) : staged_.data(), bytes_);
  return true;
}

Fill::Fill(Process &process, Range destination, uint32_t value, unsigned width, size_t count)
    : process_(process), destination_(destination), value_(value), width_(width), count_(count) {}

bool Fill::run(uint64_t) {
  fault_ = missing(process_, destination_, width_ * count_, "a memset");
  if (fault_.status != CUDA_SUCCESS)
    return true;
  auto *bytes = reinterpret_cast<uint8_t *>(destination_.address);
  for (size_t i = 0; i < count_; ++i)
    std::memcpy(bytes + i * width_, &value_, width_); // little-endian: the lowest bytes come first
  return true;
}

} // namespace emulator
