// SPDX-License-Identifier: Apache-2.0
#include "../control.h"

#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../state/process.h"

using namespace emulator;

namespace {

using Guard = std::lock_guard<FairLock>;

template <class Count> uint64_t sum_over_contexts(const Process &process, Count count) {
  uint64_t sum = 0;
  for (const auto &context : process.contexts.select([](const Context &) { return true; }))
    sum += count(*context);
  return sum;
}

} // namespace

const char *se_cy_emulator_version(void) { return SE_CY_EMULATOR_VERSION; }

int se_cy_emulator_configure(const char *devices) {
  Process &process = Process::instance();
  const Guard guard(process.lock);
  std::vector<DeviceModel> table;
  if (!devices || !parse_device_table(devices, table))
    return -1;
  if (process.initialized())
    return table == process.device_table ? 0 : -1;
  process.device_table = std::move(table);
  return 0;
}

int se_cy_emulator_fail(const char *function, uint64_t nth, int status, int mode) {
  if (!function || !nth || (mode != SE_CY_EMULATOR_ONCE && mode != SE_CY_EMULATOR_ALWAYS))
    return -1;
  Process &process = Process::instance();
  const Guard guard(process.lock);
  process.ledger.fail(function, nth, static_cast<CUresult>(status),
                      mode == SE_CY_EMULATOR_ONCE ? FailureMode::once : FailureMode::always);
  return 0;
}

void se_cy_emulator_clear_failures(void) {
  Process &process = Process::instance();
  const Guard guard(process.lock);
  process.ledger.clear_failures();
}

uint64_t se_cy_emulator_calls(const char *function) {
  Process &process = Process::instance();
  const Guard guard(process.lock);
  return function ? process.ledger.calls(function) : process.ledger.all_calls();
}

uint64_t se_cy_emulator_live(const char *kind) {
  Process &process = Process::instance();
  const Guard guard(process.lock);
  const std::string_view name = kind ? kind : "";
  if (name == "contexts")
    return process.contexts.size();
  if (name == "modules")
    return process.modules.size();
  if (name == "functions")
    return process.functions.size();
  if (name == "streams")
    return process.streams.size();
  if (name == "events")
    return process.events.size();
  if (name == "allocations")
    return sum_over_contexts(process, [](const Context &context) { return context.allocations.size(); });
  if (name == "host_allocations")
    return sum_over_contexts(process, [](const Context &context) { return context.host_allocations.size(); });
  return UINT64_MAX;
}

const char *se_cy_emulator_last_fault(void) {
  thread_local std::string text;
  Process &process = Process::instance();
  const Guard guard(process.lock);
  text = process.scheduler.last_fault();
  return text.c_str();
}
