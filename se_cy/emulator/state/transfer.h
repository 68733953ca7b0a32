// SPDX-License-Identifier: Apache-2.0
// Copies and fills as work of a stream. Memory is looked up when the work runs: what was freed meanwhile is a fault,
// as it is for a kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "process.h"
#include "work.h"

namespace emulator {

enum class Place { device, pinned, pageable };

struct Range {
  uint64_t address;
  Place place;
};

// Where the bytes lie. Nothing tells pageable memory from a wild pointer.
Range locate(const Process &process, uint64_t address, uint64_t bytes);

class Copy : public Action {
public:
  Copy(Process &process, Range destination, Range source, size_t bytes);
  // A copy whose source was read when the call was made.
  Copy(Process &process, Range destination, std::vector<uint8_t> staged);
  bool run(uint64_t) override;
  Fault fault() const override { return fault_; }

private:
  Process &process_;
  Range destination_;
  Range source_{0, Place::pageable};
  size_t bytes_;
  std::vector<uint8_t> staged_;
  Fault fault_;
};

class Fill : public Action {
public:
  // value's lowest width bytes, count times.
  Fill(Process &process, Range destination, uint32_t value, unsigned width, size_t count);
  bool run(uint64_t) override;
  Fault fault() const override { return fault_; }

private:
  Process &process_;
  Range destination_;
  uint32_t value_;
  unsigned width_;
  size_t count_;
  Fault fault_;
};

} // namespace emulator
