// SPDX-License-Identifier: Apache-2.0
// The handlers that decoding chooses from. A null handler: not supported for that type.
#pragma once

#include <string_view>

#include "../ptx/types.h"
#include "code.h"

namespace emulator {

// destination = f(a, b, c). opcode as in PTX, with .hi, .lo, .wide where the result depends on it ("mul.hi").
Handler integer_handler(std::string_view opcode, Type type);
Handler logic_handler(std::string_view opcode, Type type);
// "min" and "min.NaN" differ. Operation::rounding is heeded.
Handler float_handler(std::string_view opcode, Type type, bool flush_subnormals);
// Clamped to [0, 1], NaN to 0.
Handler saturate_handler(Type type);

// A mask of lanes: destination and, if extra is not no_predicate, its complement there; combined with predicate c as
// flags, a Combination, say.
enum class Combination : uint8_t { none, conjunction, disjunction, exclusive };
Handler compare_handler(std::string_view comparison, Type type, bool flush_subnormals);
Handler predicate_handler(std::string_view opcode); // and, or, xor, not, mov on predicates a, b
Handler select_handler();                           // predicate c ? a : b
Handler select_by_sign_handler(Type type);          // c >= 0 ? a : b

// Conversions take the bytes of the source type in width, of the destination type in count, and of the destination
// register in extra; flags are these.
constexpr uint8_t source_is_signed = 1, destination_is_signed = 2;
constexpr uint8_t flush_subnormal = 4, round_to_integer = 8;
Handler extend_handler(bool saturate);
Handler integer_to_float_handler(Type to, bool source_is_signed);
Handler float_to_integer_handler(Type from);
Handler float_to_float_handler(Type to, Type from);

// Address is a + immediate in space; width bytes an element. Vectors: count elements, registers in Code::lists at
// extra. flags: sign_extend; the bytes of the destination registers, shifted.
constexpr uint8_t sign_extend = 1, has_list = 2, kept_shift = 4;
Handler load_handler();
Handler store_handler(); // of b
Handler atomic_handler(std::string_view operation, Type type); // old value to destination unless no_register
// Handler of cvta: a plus or minus the window of space.
Handler to_generic_handler();
Handler from_generic_handler();
Handler is_space_handler();
// immediate bytes within local memory, from extra to c; flags say which lies in the callee's frame (that follows
// frame number a).
constexpr uint8_t source_in_callee = 1, destination_in_callee = 2;
Handler copy_parameter_handler();

Handler move_handler();
Handler pack_handler();   // registers of a list, width bytes each, lowest first
Handler unpack_handler(); // no_register in the list: ignored

Handler branch_handler();       // immediate: operation
Handler indexed_branch_handler(); // a: index into the list at extra, of count immediate
Handler call_handler();         // a: frame of the caller, b: of the callee
Handler return_handler();
Handler exit_handler();
Handler trap_handler();
Handler barrier_handler(); // a: barrier, b: threads or no_register; flags: whether to wait
Handler warp_barrier_handler();
Handler clock_handler();   // width 4 or 8; flags: globaltimer
Handler assertion_handler(); // immediate: offset of the parameters in the callee's frame (that follows frame a)

} // namespace emulator
