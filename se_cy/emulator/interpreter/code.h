// SPDX-License-Identifier: Apache-2.0
// One kernel and the functions it reaches, as operations of fixed size with every name resolved.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "address_space.h"

namespace emulator {

struct Warp;
struct Operation;
using Handler = void (*)(Warp &, const Operation &);

constexpr unsigned warp_lanes = 32;

// A register is 32 lanes of 64 bits that hold the value zero-extended, whatever its type. The two highest bits say
// which bank it is in; only those of the frame can be written by operations.
using Register = uint32_t;
enum class Bank : uint32_t {
  frame,    // of the running function
  constant, // the same for every launch
  thread,   // %tid and the like
  block     // %ctaid, %ntid, addresses of variables: the same for all threads of a block
};
constexpr Register no_register = UINT32_MAX;
constexpr uint32_t bank_shift = 30;
constexpr uint32_t bank_index = (1u << bank_shift) - 1;
constexpr Register in_bank(Bank bank, uint32_t index) { return static_cast<uint32_t>(bank) << bank_shift | index; }

// The first registers of each frame are the call's own.
constexpr Register return_pc = 0, caller_base = 1, local_base = 2;
constexpr uint32_t first_free_register = 3;

// Predicates are masks of 32 bits, one for each lane; the highest bit of an index negates.
using Predicate = uint32_t;
constexpr Predicate no_predicate = UINT32_MAX;
constexpr uint32_t predicate_negated = 1u << 31;

enum class Rounding : uint8_t { nearest, zero, down, up };

struct Operation {
  Handler handler = nullptr;
  uint64_t immediate = 0;
  Register destination = no_register;
  Register a = no_register, b = no_register, c = no_register;
  uint32_t extra = 0; // what the handler makes of it: a second predicate, a list in Code::lists, a width
  Predicate guard = no_predicate;
  uint32_t line = 0;
  uint8_t width = 0;     // bytes of one element in memory
  uint8_t count = 0;     // elements of a vector
  uint8_t flags = 0;     // what the handler makes of it
  Rounding rounding = Rounding::nearest;
  AddressSpace space = AddressSpace::generic;
};

enum class ThreadValue : uint8_t {
  tid_x, tid_y, tid_z,
  laneid, warpid,
  lanemask_eq, lanemask_le, lanemask_lt, lanemask_ge, lanemask_gt
};

enum class BlockValue : uint8_t {
  variable_address, // of Program::variables[index]
  ntid_x, ntid_y, ntid_z,
  ctaid_x, ctaid_y, ctaid_z,
  nctaid_x, nctaid_y, nctaid_z,
  nwarpid, gridid, smid, nsmid,
  dynamic_shared_bytes, total_shared_bytes
};

struct BlockConstant {
  BlockValue value;
  uint32_t index;
};

struct Frame {
  std::string name;
  uint32_t entry = 0;     // operation
  uint32_t registers = 0; // slots, predicates included in the count so that frames of both kinds tile alike
  uint32_t local_bytes = 0;
};

struct Code {
  std::vector<Operation> operations;
  std::vector<Frame> frames; // the kernel's own first
  std::vector<uint64_t> constants;
  std::vector<ThreadValue> thread_values;
  std::vector<BlockConstant> block_constants;
  std::vector<uint32_t> lists; // registers of vector operands, branch targets
  uint32_t static_shared_bytes = 0;
  uint32_t dynamic_shared_offset = 0;
};

} // namespace emulator
