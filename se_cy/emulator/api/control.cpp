// SPDX-License-Identifier: Apache-2.0
#include "../control.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "../state/explanation.h"
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

struct Kind {
  std::string_view name;
  uint64_t (*live)(const Process &process);
};

const Kind kinds[] = {
    {"contexts", [](const Process &process) -> uint64_t { return process.contexts.size(); }},
    {"modules", [](const Process &process) -> uint64_t { return process.modules.size(); }},
    {"functions", [](const Process &process) -> uint64_t { return process.functions.size(); }},
    {"streams", [](const Process &process) -> uint64_t { return process.streams.size(); }},
    {"events", [](const Process &process) -> uint64_t { return process.events.size(); }},
    {"libraries", [](const Process &process) -> uint64_t { return process.libraries.size(); }},
    {"graphs", [](const Process &process) -> uint64_t { return process.graphs.size(); }},
    {"graph_execs", [](const Process &process) -> uint64_t { return process.graph_execs.size(); }},
    {"allocations",
     [](const Process &process) {
       return sum_over_contexts(process, [](const Context &context) { return context.allocations.size(); });
     }},
    {"host_allocations",
     [](const Process &process) {
       return sum_over_contexts(process, [](const Context &context) { return context.host_allocations.size(); });
     }},
};

struct PtxOfDriver {
  int driver;
  int ptx;
};

// The PTX ISA's release history: the newest .version that each CUDA's driver takes.
constexpr PtxOfDriver ptx_of_driver[] = {
    {11030, 73}, {11040, 74}, {11050, 75}, {11060, 76}, {11070, 77}, {11080, 78}, {12000, 80}, {12010, 81}, {12020, 82},
    {12030, 83}, {12040, 84}, {12050, 85}, {12060, 85}, {12070, 86}, {12080, 87}, {12090, 88}, {13000, 90}};

// Texts for callers in C: valid in the calling thread until it asks for the next, and cut where they are very long.
// Without a destructor, as exit handlers ask after those of the main thread's variables.
const char *keep(std::string_view text) {
  constexpr size_t most_text = 8191;
  thread_local char kept[most_text + 1];
  kept[text.copy(kept, most_text)] = 0;
  return kept;
}

bool is_lost_with(const Process &process, CUresult status) {
  const auto &devices = process.devices;
  return std::any_of(devices.begin(), devices.end(),
                     [&](const auto &device) { return device->primary().fault == status; }) ||
         !process.contexts.select([&](const Context &context) { return context.fault == status; }).empty();
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

int se_cy_emulator_set_driver_version(int version) {
  const auto *found = std::find_if(std::begin(ptx_of_driver), std::end(ptx_of_driver),
                                   [&](const PtxOfDriver &entry) { return entry.driver == version; });
  if (found == std::end(ptx_of_driver))
    return -1;
  Process &process = Process::instance();
  const Guard guard(process.lock);
  if (process.initialized() || process.ledger.any_asked_for())
    return version == process.driver_version ? 0 : -2;
  process.driver_version = version;
  set_highest_version(found->ptx);
  return 0;
}

void se_cy_emulator_reset(void) { Process::instance().reset(); }

const char *se_cy_emulator_kind(size_t index) { return index < std::size(kinds) ? kinds[index].name.data() : nullptr; }

uint64_t se_cy_emulator_live(const char *kind) {
  const auto *found = std::find_if(std::begin(kinds), std::end(kinds),
                                   [&](const Kind &entry) { return kind && entry.name == kind; });
  if (found == std::end(kinds))
    return UINT64_MAX;
  Process &process = Process::instance();
  const Guard guard(process.lock);
  return found->live(process);
}

const char *se_cy_emulator_last_fault(void) {
  Process &process = Process::instance();
  const Guard guard(process.lock);
  return keep(process.scheduler.last_fault());
}

const char *se_cy_emulator_explanation(void) { return keep(explanation()); }

const char *se_cy_emulator_explanation_of(const char *function, int status) {
  if (!function)
    return "";
  const auto answered = static_cast<CUresult>(status);
  const std::string_view refused = explanation_of(without_version(function), answered);
  if (!refused.empty())
    return keep(refused);
  Process &process = Process::instance();
  if (process.forked())
    return "";
  const Guard guard(process.lock);
  return is_lost_with(process, answered) ? keep(process.scheduler.fault_of(answered)) : "";
}

void se_cy_emulator_seed(const uint64_t *seed) {
  Process &process = Process::instance();
  const Guard guard(process.lock);
  process.scheduler.seed(seed ? std::optional<uint64_t>(*seed) : std::nullopt);
}

uint64_t se_cy_emulator_begin_progress(void) {
  try {
    return Process::instance().progress.begin();
  } catch (const std::system_error &) {
    return 0;
  } catch (const std::bad_alloc &) {
    return 0;
  }
}

void se_cy_emulator_end_progress(uint64_t begun) { Process::instance().progress.end(begun); }

int se_cy_emulator_claim_registers(const char *kernel, unsigned count) {
  if (!kernel || count > 255)
    return -1;
  Process &process = Process::instance();
  const Guard guard(process.lock);
  if (count)
    process.claimed_registers[kernel] = count;
  else
    process.claimed_registers.erase(kernel);
  return 0;
}
