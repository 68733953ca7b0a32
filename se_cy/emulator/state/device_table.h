// SPDX-License-Identifier: Apache-2.0
// Which devices there are: read from text, "9.0" or "9.0:a name,8.0:another".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace emulator {

struct DeviceModel {
  int major;
  int minor;
  std::string name;

  int capability() const { return major * 10 + minor; }
  bool operator==(const DeviceModel &other) const {
    return major == other.major && minor == other.minor && name == other.name;
  }
};

// False, and the table unchanged, when the text names no device or something that is none.
bool parse_device_table(std::string_view text, std::vector<DeviceModel> &table);

} // namespace emulator
