// SPDX-License-Identifier: Apache-2.0
#include "explanation.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "call_site.h"

namespace emulator {

namespace {

constexpr size_t most_text = 2047;

// Without a destructor, as driver calls from exit handlers come after those of the main thread's variables.
struct Explanation {
  const char *function;
  CUresult status;
  bool of_last_call;
  uint64_t generation;
  size_t size;
  char text[most_text + 1];
};

thread_local Explanation kept{};
std::atomic<uint64_t> generation{0};

} // namespace

CUresult refuse(CUresult status, std::string_view reason) {
  kept.function = CallSite::current().function;
  kept.status = status;
  kept.of_last_call = true;
  kept.generation = generation.load(std::memory_order_relaxed);
  kept.size = std::min(reason.size(), most_text);
  std::memcpy(kept.text, reason.data(), kept.size);
  return status;
}

std::string_view explanation() {
  const bool forgotten = kept.generation != generation.load(std::memory_order_relaxed);
  return forgotten ? std::string_view() : std::string_view(kept.text, kept.size);
}

std::string_view explanation_of(std::string_view function, CUresult status) {
  const bool answers = kept.of_last_call && kept.status == status && function == kept.function;
  return answers ? explanation() : std::string_view();
}

void begin_explaining(const char *function) {
  if (kept.of_last_call && std::strcmp(kept.function, function) == 0)
    kept.of_last_call = false;
}

void forget_explanations() { generation.fetch_add(1, std::memory_order_relaxed); }

} // namespace emulator
