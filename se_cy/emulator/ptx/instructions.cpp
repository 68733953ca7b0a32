// SPDX-License-Identifier: Apache-2.0
// Every instruction of PTX, and which decoder takes it.
#include <unordered_map>

#include "function_decoder.h"

namespace emulator {

InstructionDecoder find_decoder(std::string_view opcode) {
  using Decoders = std::unordered_map<std::string_view, InstructionDecoder>;
  // Never destroyed: exit handlers load modules too.
  static const Decoders &decoders = *new Decoders([] {
    Decoders all;
    auto add = [&](InstructionDecoder decoder, std::initializer_list<std::string_view> opcodes) {
      for (std::string_view opcode : opcodes)
        all.emplace(opcode, decoder);
    };
    add(decode_integer_or_float, {"add", "sub", "div", "rem", "min", "max", "neg", "abs", "sad", "copysign"});
    add(decode_multiply, {"mul", "mad", "mul24", "mad24"});
    add(decode_fused, {"fma"});
    add(decode_float_function, {"sqrt", "rcp", "rsqrt", "sin", "cos", "ex2", "lg2", "tanh"});
    add(decode_logic, {"and", "or", "xor", "not", "cnot"});
    add(decode_shift, {"shl", "shr"});
    add(decode_count_bits, {"popc", "clz", "brev", "bfind"});
    add(decode_bit_field, {"bfe", "bfi"});
    add(decode_funnel, {"shf"});
    add(decode_permute, {"prmt"});
    add(decode_lop3, {"lop3"});
    add(decode_setp, {"setp"});
    add(decode_set, {"set"});
    add(decode_selp, {"selp"});
    add(decode_slct, {"slct"});
    add(decode_mov, {"mov"});
    add(decode_cvt, {"cvt"});
    add(decode_cvta, {"cvta"});
    add(decode_isspacep, {"isspacep"});
    add(decode_load, {"ld", "ldu"});
    add(decode_store, {"st"});
    add(decode_atomic, {"atom", "red"});
    add(decode_branch, {"bra"});
    add(decode_indexed_branch, {"brx"});
    add(decode_call, {"call"});
    add(decode_return, {"ret"});
    add(decode_exit, {"exit"});
    add(decode_trap, {"trap"});
    add(decode_barrier, {"bar", "barrier"});
    add(decode_no_operation, {"membar", "fence", "nanosleep", "prefetch", "prefetchu", "discard", "applypriority",
                              "pmevent", "brkpt", "griddepcontrol"});
    add(decode_unsupported,
        {"activemask", "addc", "alloca", "bmsk", "clusterlaunchcontrol", "cp", "createpolicy", "dp2a", "dp4a",
         "elect", "fns", "getctarank", "istypep", "ldmatrix", "madc", "mapa", "match", "mbarrier", "mma",
         "movmatrix", "multimem", "redux", "setmaxnreg", "shfl", "stackrestore",
         "stacksave", "stmatrix", "subc", "suld", "suq", "sured", "sust", "szext", "tcgen05", "tensormap", "testp",
         "tex", "tld4", "txq", "vabsdiff", "vabsdiff2", "vabsdiff4", "vadd", "vadd2", "vadd4", "vavrg2", "vavrg4",
         "vmad", "vmax", "vmax2", "vmax4", "vmin", "vmin2", "vmin4", "vote", "vset", "vset2", "vset4", "vshl", "vshr",
         "vsub", "vsub2", "vsub4", "wgmma", "wmma"});
    return all;
  }());
  auto at = decoders.find(opcode);
  return at == decoders.end() ? nullptr : at->second;
}

} // namespace emulator
