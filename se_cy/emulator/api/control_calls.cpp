// SPDX-License-Identifier: Apache-2.0
// Control of the driver's calls: failing, hidden, waiting and recorded ones.
#include <mutex>
#include <string>
#include <string_view>

#include "../control.h"
#include "../state/process.h"
#include "entry_points.h"

using namespace emulator;

namespace {

using Guard = std::lock_guard<FairLock>;

// These two answer from a table in every state of the process, and take no part in all this.
bool is_controlled(std::string_view function) {
  const std::string name = without_version(function);
  return implemented(name) && name != "cuGetErrorName" && name != "cuGetErrorString";
}

} // namespace

int se_cy_emulator_implements(const char *function) {
  if (!function || !implemented(function))
    return 0;
  return is_controlled(function) ? 1 : 2;
}

const char *se_cy_emulator_function(size_t index) { return implemented_name(index); }

int se_cy_emulator_fail(const char *function, uint64_t nth, int status, int mode) {
  if (!function || !is_controlled(function) || !nth || status <= 0 ||
      mode & ~(SE_CY_EMULATOR_ALWAYS | SE_CY_EMULATOR_STICKY))
    return -1;
  Process &process = Process::instance();
  const Guard guard(process.lock);
  const Failure failure{static_cast<CUresult>(status), (mode & SE_CY_EMULATOR_STICKY) != 0};
  const FailureMode how_often = mode & SE_CY_EMULATOR_ALWAYS ? FailureMode::always : FailureMode::once;
  return process.ledger.fail(function, nth, failure, how_often) ? 0 : -1;
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

int se_cy_emulator_hide(const char *function) {
  if (!se_cy_emulator_implements(function))
    return -1;
  Process &process = Process::instance();
  const Guard guard(process.lock);
  if (process.ledger.was_asked_for(function))
    return -2;
  process.ledger.hide(function);
  return 0;
}

uint64_t se_cy_emulator_close_gate(const char *function) {
  return function && is_controlled(function) ? Process::instance().gates.close(without_version(function)) : 0;
}

int se_cy_emulator_wait_at_gate(uint64_t gate, uint64_t count, double seconds) {
  switch (Process::instance().gates.wait_until_reached(gate, count, seconds)) {
  case Reached::yes: return 1;
  case Reached::no: return 0;
  case Reached::open: return -1;
  case Reached::by_caller_with_gil: return -2;
  }
  return -1;
}

void se_cy_emulator_open_gate(uint64_t gate) { Process::instance().gates.open(gate); }

void se_cy_emulator_open_all_gates(void) { Process::instance().gates.open_all(); }

uint64_t se_cy_emulator_begin_recording(void) {
  Process &process = Process::instance();
  const Guard guard(process.lock);
  return process.recording.begin();
}

void se_cy_emulator_end_recording(uint64_t recording) {
  Process &process = Process::instance();
  const Guard guard(process.lock);
  process.recording.end(recording);
}

int se_cy_emulator_take_recorded(uint64_t recording, se_cy_emulator_call *call) {
  Process &process = Process::instance();
  const Guard guard(process.lock);
  const RecordedCall *recorded = call ? process.recording.take(recording) : nullptr;
  if (!recorded)
    return 0;
  // Signed: a negative number as the caller wrote it; pointers are positive either way.
  *call = {recorded->function.c_str(), reinterpret_cast<const int64_t *>(recorded->arguments.data()),
           recorded->arguments.size(), recorded->thread,          recorded->has_gil, recorded->context,
           recorded->kernel.c_str(),   recorded->parameters.data(), recorded->parameter_bytes.data(),
           recorded->parameter_bytes.size(), recorded->attributes.data(), recorded->attributes.size() / 4};
  return 1;
}
