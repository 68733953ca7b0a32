// SPDX-License-Identifier: Apache-2.0
// The options of cuModuleLoadDataEx: parallel arrays, some of whose values the driver writes.
#pragma once

#include <string>

#include <cuda.h>

namespace emulator {

class JitOptions {
public:
  // INVALID_VALUE for an option that there is not, or a log buffer without its size.
  CUresult read(unsigned count, CUjit_option *options, void **values);
  void write_error(const std::string &log) const { error_.write(log); }
  void write_info(const std::string &log) const { info_.write(log); }

private:
  struct Log {
    char *buffer = nullptr;
    void **size = nullptr; // the capacity in, the bytes used out
    void write(const std::string &log) const;
  };

  Log error_;
  Log info_;
};

} // namespace emulator
