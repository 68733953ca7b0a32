// SPDX-License-Identifier: Apache-2.0
#include "device_table.h"

#include <cctype>
#include <utility>

namespace emulator {

namespace {

bool parse_device(std::string_view text, DeviceModel &model) {
  const size_t colon = text.find(':');
  const std::string_view capability = text.substr(0, colon);
  const size_t dot = capability.find('.');
  if (dot == std::string_view::npos || dot == 0 || dot > 2 || dot + 2 != capability.size())
    return false;
  model.major = 0;
  for (const char digit : capability.substr(0, dot)) {
    if (!std::isdigit(static_cast<unsigned char>(digit)))
      return false;
    model.major = model.major * 10 + (digit - '0');
  }
  const char minor = capability[dot + 1];
  if (!std::isdigit(static_cast<unsigned char>(minor)))
    return false;
  model.minor = minor - '0';
  model.name = colon == std::string_view::npos ? "se_cy emulated device" : std::string(text.substr(colon + 1));
  return true;
}

} // namespace

bool parse_device_table(std::string_view text, std::vector<DeviceModel> &table) {
  std::vector<DeviceModel> parsed;
  for (;;) {
    const size_t comma = text.find(',');
    DeviceModel model;
    if (!parse_device(text.substr(0, comma), model))
      return false;
    parsed.push_back(std::move(model));
    if (comma == std::string_view::npos)
      break;
    text.remove_prefix(comma + 1);
  }
  table = std::move(parsed);
  return true;
}

} // namespace emulator
