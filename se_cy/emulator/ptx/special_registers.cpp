// SPDX-License-Identifier: Apache-2.0
// %tid.x and the like, and the list of an instruction's modifiers.
#include <string>

#include "diagnostics.h"
#include "function_decoder.h"
#include "kernel_decoder.h"

namespace emulator {

using namespace syntax;

namespace {

struct ThreadName {
  std::string_view name;
  ThreadValue value;
};

constexpr ThreadName thread_names[] = {
    {"%tid.x", ThreadValue::tid_x},
    {"%tid.y", ThreadValue::tid_y},
    {"%tid.z", ThreadValue::tid_z},
    {"%laneid", ThreadValue::laneid},
    {"%warpid", ThreadValue::warpid},
    {"%lanemask_eq", ThreadValue::lanemask_eq},
    {"%lanemask_le", ThreadValue::lanemask_le},
    {"%lanemask_lt", ThreadValue::lanemask_lt},
    {"%lanemask_ge", ThreadValue::lanemask_ge},
    {"%lanemask_gt", ThreadValue::lanemask_gt},
};

struct BlockName {
  std::string_view name;
  BlockValue value;
};

// Without clusters each block is its own: %clusterid is %ctaid.
constexpr BlockName block_names[] = {
    {"%ntid.x", BlockValue::ntid_x},
    {"%ntid.y", BlockValue::ntid_y},
    {"%ntid.z", BlockValue::ntid_z},
    {"%ctaid.x", BlockValue::ctaid_x},
    {"%ctaid.y", BlockValue::ctaid_y},
    {"%ctaid.z", BlockValue::ctaid_z},
    {"%nctaid.x", BlockValue::nctaid_x},
    {"%nctaid.y", BlockValue::nctaid_y},
    {"%nctaid.z", BlockValue::nctaid_z},
    {"%clusterid.x", BlockValue::ctaid_x},
    {"%clusterid.y", BlockValue::ctaid_y},
    {"%clusterid.z", BlockValue::ctaid_z},
    {"%nclusterid.x", BlockValue::nctaid_x},
    {"%nclusterid.y", BlockValue::nctaid_y},
    {"%nclusterid.z", BlockValue::nctaid_z},
    {"%nwarpid", BlockValue::nwarpid},
    {"%gridid", BlockValue::gridid},
    {"%smid", BlockValue::smid},
    {"%nsmid", BlockValue::nsmid},
    {"%dynamic_smem_size", BlockValue::dynamic_shared_bytes},
    {"%total_smem_size", BlockValue::total_shared_bytes},
    {"%aggr_smem_size", BlockValue::total_shared_bytes},
};

struct FixedName {
  std::string_view name;
  uint64_t value;
};

constexpr FixedName fixed_names[] = {
    {"%tid.w", 0},            {"%ntid.w", 0},           {"%ctaid.w", 0},          {"%nctaid.w", 0},
    {"%cluster_ctaid.x", 0},  {"%cluster_ctaid.y", 0},  {"%cluster_ctaid.z", 0},  {"%cluster_nctaid.x", 1},
    {"%cluster_nctaid.y", 1}, {"%cluster_nctaid.z", 1}, {"%cluster_ctarank", 0},  {"%cluster_nctarank", 1},
    {"%current_graph_exec", 0},
};

struct ClockName {
  std::string_view name;
  uint8_t width, shift;
  bool is_global_timer;
};

constexpr ClockName clock_names[] = {
    {"%clock", 4, 0, false},         {"%clock_hi", 4, 32, false},     {"%clock64", 8, 0, false},
    {"%globaltimer", 8, 0, true},    {"%globaltimer_lo", 4, 0, true}, {"%globaltimer_hi", 4, 32, true},
};

// Known, but nothing the emulated device could answer.
constexpr std::string_view unsupported_names[] = {"%tid", "%ntid", "%ctaid", "%nctaid", "%clusterid",
                                                  "%nclusterid", "%cluster_ctaid", "%cluster_nctaid",
                                                  "%is_explicit_cluster", "%reserved_smem_offset_begin"};

template <class Table> const auto *look_up(const Table &table, std::string_view name) {
  for (const auto &entry : table)
    if (entry.name == name)
      return &entry;
  return static_cast<decltype(&table[0])>(nullptr);
}

} // namespace

Register FunctionDecoder::special(const Operand &operand) {
  std::string name(operand.name);
  name += operand.suffix;
  if (operand.value || operand.minus)
    mismatch();
  if (const ThreadName *entry = look_up(thread_names, name))
    return kernel_.thread_value(entry->value);
  if (const BlockName *entry = look_up(block_names, name))
    return kernel_.block_constant(entry->value);
  if (const FixedName *entry = look_up(fixed_names, name))
    return constant(entry->value);
  if (const ClockName *entry = look_up(clock_names, name)) {
    Register time = scratch_register();
    Operation &operation = emit(clock_handler());
    operation.destination = time;
    operation.width = entry->width;
    operation.count = entry->shift;
    operation.flags = entry->is_global_timer;
    return time;
  }
  bool is_known = name.rfind("%pm", 0) == 0 || name.rfind("%envreg", 0) == 0;
  for (std::string_view known : unsupported_names)
    is_known = is_known || operand.name == known;
  if (is_known)
    unsupported("special register " + quoted(name));
  reject_error(operand.line, "Unknown symbol " + quoted(name));
}

bool Modifiers::take(std::string_view word) {
  if (left_ == 0 || *first_ != word)
    return false;
  take_next();
  return true;
}

void Modifiers::skip_any(std::initializer_list<std::string_view> words) {
  for (bool again = true; again;) {
    again = false;
    for (std::string_view word : words)
      again = take(word) || again;
  }
}

bool Modifiers::take_prefix(std::string_view prefix) {
  if (left_ == 0 || first_->substr(0, prefix.size()) != prefix)
    return false;
  take_next();
  return true;
}

std::string_view Modifiers::take_next() {
  if (left_ == 0)
    return {};
  --left_;
  return *first_++;
}

Type Modifiers::take_type() {
  Type type = left_ ? type_named(*first_) : Type::none;
  if (type != Type::none)
    take_next();
  return type;
}

Rounding Modifiers::take_rounding() {
  if (take(".rn"))
    return Rounding::nearest;
  if (take(".rz"))
    return Rounding::zero;
  if (take(".rm"))
    return Rounding::down;
  if (take(".rp"))
    return Rounding::up;
  return Rounding::nearest;
}

} // namespace emulator
