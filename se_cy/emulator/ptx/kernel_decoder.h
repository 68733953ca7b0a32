// SPDX-License-Identifier: Apache-2.0
// One kernel's code in the making: its functions, constants and shared memory.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "decode.h"

namespace emulator {

class KernelDecoder {
public:
  KernelDecoder(const syntax::Module &module, const ModuleNames &names, Kernel &kernel, DecodeState &state);
  void decode(const syntax::Function &entry);

  Code &code() { return *code_; }
  Kernel &kernel() { return kernel_; }
  const syntax::Module &module() const { return module_; }
  const ModuleNames &names() const { return names_; }

  Register constant(uint64_t value);
  Register thread_value(ThreadValue value);
  Register block_constant(BlockValue value, uint32_t index = 0);
  // Where dynamic shared memory starts; known only when all is decoded.
  Register dynamic_shared_base(uint32_t alignment);
  uint32_t shared_offset(const syntax::Declaration &declaration);
  uint32_t frame_of(uint32_t function); // decoded later, if not yet
  Operation &add_operation();
  void note_unsupported(const std::string &text);

private:
  void finish_shared();

  const syntax::Module &module_;
  const ModuleNames &names_;
  Kernel &kernel_;
  DecodeState &state_;
  std::shared_ptr<Code> code_;
  std::unordered_map<uint64_t, Register> constants_;
  std::map<std::pair<BlockValue, uint32_t>, Register> block_constants_;
  std::unordered_map<const syntax::Declaration *, uint32_t> shared_offsets_;
  std::unordered_map<uint32_t, uint32_t> function_frames_;
  std::vector<uint32_t> pending_; // functions, in the order of their frames after the kernel's own
  Register dynamic_base_ = no_register;
  uint32_t dynamic_alignment_ = 1;
  uint64_t shared_bytes_ = 0;
};

} // namespace emulator
