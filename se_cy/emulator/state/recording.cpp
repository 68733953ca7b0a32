// SPDX-License-Identifier: Apache-2.0
#include "recording.h"

namespace emulator {

uint64_t Recording::begin() {
  if (active_)
    return 0;
  calls_.clear();
  return active_ = ++last_;
}

void Recording::end(uint64_t number) {
  if (active_ == number)
    active_ = 0;
}

const RecordedCall *Recording::take(uint64_t number) {
  if (number != last_ || calls_.empty())
    return nullptr;
  taken_ = std::move(calls_.front());
  calls_.pop_front();
  return &taken_;
}

void Recording::add_launch(const Kernel &kernel, void **parameters, void **extra) {
  RecordedCall &call = calls_.back();
  call.kernel = kernel.name;
  const uint8_t *buffer = nullptr;
  size_t bytes = 0;
  for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = static_cast<const uint8_t *>(extra[1]);
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1])
      bytes = *static_cast<const size_t *>(extra[1]);
    else
      return; // the launch will be refused
  }
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Parameter &parameter = kernel.parameters[i];
    const uint8_t *value = nullptr;
    if (parameters)
      value = static_cast<const uint8_t *>(parameters[i]);
    else if (buffer && uint64_t{parameter.offset} + parameter.size <= bytes)
      value = buffer + parameter.offset;
    if (!value)
      return;
    call.parameters.insert(call.parameters.end(), value, value + parameter.size);
    call.parameter_bytes.push_back(parameter.size);
  }
}

void Recording::add_attributes(const CUlaunchConfig &configuration) {
  std::vector<int64_t> &attributes = calls_.back().attributes;
  for (unsigned i = 0; configuration.attrs && i < configuration.numAttrs; ++i) {
    const CUlaunchAttribute &attribute = configuration.attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      const auto &size = attribute.value.clusterDim;
      attributes.insert(attributes.end(), {attribute.id, size.x, size.y, size.z});
    } else {
      // The first field of every other value that matters here is an int.
      attributes.insert(attributes.end(), {attribute.id, attribute.value.priority, 0, 0});
    }
  }
}

} // namespace emulator
