// SPDX-License-Identifier: Apache-2.0
#include "kernel_decoder.h"

#include <algorithm>
#include <cstdio>

#include "diagnostics.h"
#include "function_decoder.h"

namespace emulator {

namespace {

constexpr uint64_t most_static_shared_bytes = 48 << 10;

std::string hexadecimal(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

} // namespace

KernelDecoder::KernelDecoder(const syntax::Module &module, const ModuleNames &names, Kernel &kernel,
                             DecodeState &state)
    : module_(module), names_(names), kernel_(kernel), state_(state),
      code_(std::make_shared<Code>()) {}

void KernelDecoder::decode(const syntax::Function &entry) {
  code_->frames.push_back({std::string(entry.name)});
  FunctionDecoder(*this, entry, 0).decode();
  for (size_t i = 0; i < pending_.size(); ++i)
    FunctionDecoder(*this, module_.functions[pending_[i]], static_cast<uint32_t>(i + 1)).decode();
  finish_shared();
  kernel_.registers = std::min(kernel_.registers, 255u);
  kernel_.local_bytes = code_->frames[0].local_bytes;
  kernel_.code = std::move(code_);
}

Register KernelDecoder::constant(uint64_t value) {
  auto [at, is_new] = constants_.try_emplace(value, 0);
  if (is_new) {
    at->second = in_bank(Bank::constant, static_cast<uint32_t>(code_->constants.size()));
    code_->constants.push_back(value);
  }
  return at->second;
}

Register KernelDecoder::thread_value(ThreadValue value) {
  auto &all = code_->thread_values;
  size_t i = static_cast<size_t>(std::find(all.begin(), all.end(), value) - all.begin());
  if (i == all.size())
    all.push_back(value);
  return in_bank(Bank::thread, static_cast<uint32_t>(i));
}

Register KernelDecoder::block_constant(BlockValue value, uint32_t index) {
  auto [at, is_new] = block_constants_.try_emplace({value, index}, 0);
  if (is_new) {
    at->second = in_bank(Bank::block, static_cast<uint32_t>(code_->block_constants.size()));
    code_->block_constants.push_back({value, index});
  }
  return at->second;
}

Register KernelDecoder::dynamic_shared_base(uint32_t alignment) {
  dynamic_alignment_ = std::max(dynamic_alignment_, alignment);
  if (dynamic_base_ == no_register) {
    // Not one of constants_: its value changes in finish_shared.
    dynamic_base_ = in_bank(Bank::constant, static_cast<uint32_t>(code_->constants.size()));
    code_->constants.push_back(0);
  }
  return dynamic_base_;
}

uint32_t KernelDecoder::shared_offset(const syntax::Declaration &declaration) {
  auto [at, is_new] = shared_offsets_.try_emplace(&declaration, 0);
  if (is_new) {
    uint64_t alignment = std::max(declaration.natural_alignment(), 1u);
    shared_bytes_ = (shared_bytes_ + alignment - 1) / alignment * alignment;
    uint64_t end = shared_bytes_ + declaration.bytes();
    if (end > most_static_shared_bytes)
      reject(CUDA_ERROR_INVALID_PTX, "Entry function " + quoted(kernel_.name) + " uses too much shared data (" +
                                         hexadecimal(end) + " bytes, " + hexadecimal(most_static_shared_bytes) +
                                         " max)");
    at->second = static_cast<uint32_t>(shared_bytes_);
    shared_bytes_ = end;
  }
  return at->second;
}

void KernelDecoder::finish_shared() {
  kernel_.shared_bytes = static_cast<uint32_t>(shared_bytes_);
  code_->static_shared_bytes = kernel_.shared_bytes;
  uint64_t aligned = (shared_bytes_ + dynamic_alignment_ - 1) / dynamic_alignment_ * dynamic_alignment_;
  code_->dynamic_shared_offset = static_cast<uint32_t>(aligned);
  if (dynamic_base_ != no_register)
    code_->constants[dynamic_base_ & bank_index] = aligned;
}

uint32_t KernelDecoder::frame_of(uint32_t function) {
  uint32_t next = static_cast<uint32_t>(code_->frames.size());
  auto [at, is_new] = function_frames_.try_emplace(function, next);
  if (is_new) {
    code_->frames.push_back({std::string(module_.functions[function].name)});
    pending_.push_back(function);
    state_.reached[function] = true;
  }
  return at->second;
}

Operation &KernelDecoder::add_operation() {
  if (state_.operations_left == 0)
    reject(CUDA_ERROR_INVALID_PTX, "Program too large for the emulated driver");
  --state_.operations_left;
  return code_->operations.emplace_back();
}

void KernelDecoder::note_unsupported(const std::string &text) {
  if (kernel_.unsupported.empty())
    kernel_.unsupported = text;
}

void decode_kernel(const syntax::Module &module, const ModuleNames &names, const syntax::Function &entry,
                   Kernel &kernel, DecodeState &state) {
  KernelDecoder(module, names, kernel, state).decode(entry);
}

} // namespace emulator
