// SPDX-License-Identifier: Apache-2.0
// Faults, and what is said of them.
#include "ptx_harness.h"

using namespace emulator;

static Fault run(const std::string &body, uint32_t threads = 1) {
  const std::string head = ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>; ld.param.u64 %rd1, [out];\n";
  Machine machine(kernel_around(head + body, ".param .u64 out"));
  uint64_t out = machine.put(std::vector<uint8_t>(100));
  return machine.launch("k", {1, 1, 1}, {threads, 1, 1}, out);
}

static void check_fault(const std::string &body, CUresult status, const char *part, uint32_t threads = 1) {
  Fault fault = run(body, threads);
  CHECK(fault.status == status);
  CHECK_CONTAINS(fault.message, part);
}

TEST(out_of_range_names_thread_and_line) {
  Machine machine(kernel_text("saxpy.ptx"));
  uint64_t x = machine.put(std::vector<float>(40)), out = machine.put(std::vector<float>(33));
  Fault fault = machine.launch("saxpy", {1, 1, 1}, {64, 1, 1}, 1.0f, x, x, out, 40);
  CHECK(fault.status == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK_CONTAINS(fault.message, "kernel saxpy, block (0,0,0), thread (33,0,0): 4-byte store to 0x");
  CHECK_CONTAINS(fault.message, "0 bytes past the end of");
  CHECK_CONTAINS(fault.message, "PTX line 51");
}

TEST(accesses_are_checked_in_every_space) {
  check_fault("ld.global.u32 %r1, [%rd1+100];", CUDA_ERROR_ILLEGAL_ADDRESS, "4-byte load from 0x");
  check_fault("ld.global.u32 %r1, [%rd1+98];", CUDA_ERROR_MISALIGNED_ADDRESS, "not a multiple of 4");
  check_fault("ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%rd1+8];", CUDA_ERROR_MISALIGNED_ADDRESS, "16-byte load");
  check_fault("ld.global.v2.u64 {%rd2,%rd3}, [%rd1+96];", CUDA_ERROR_ILLEGAL_ADDRESS, "16-byte load");
  check_fault("mov.u64 %rd2, 0; ld.u8 %r1, [%rd2];", CUDA_ERROR_ILLEGAL_ADDRESS, "1-byte load from 0x0");
  check_fault("mov.u64 %rd2, -8; st.u64 [%rd2], %rd2;", CUDA_ERROR_ILLEGAL_ADDRESS,
              "8-byte store to 0xfffffffffffffff8");
  check_fault(".shared .b32 s[2]; st.shared.u32 [s+8], 1;", CUDA_ERROR_ILLEGAL_ADDRESS, "shared address 0x8");
  check_fault(".shared .b32 s[2]; mov.u64 %rd2, s; cvta.shared.u64 %rd2, %rd2; st.u32 [%rd2+8], 1;",
              CUDA_ERROR_ILLEGAL_ADDRESS, "shared address 0x8: the block has 8 bytes");
  check_fault(".shared .b32 s[2]; mov.u32 %r1, s; ld.shared.u32 %r2, [%r1+-4];", CUDA_ERROR_ILLEGAL_ADDRESS,
              "shared address 0xfffffffc");
  check_fault(".local .b32 l[4]; mov.u64 %rd2, l; ld.local.u32 %r1, [%rd2+1024];", CUDA_ERROR_ILLEGAL_ADDRESS,
              "local address 0x400");
  check_fault("ld.param.u64 %rd2, [8];", CUDA_ERROR_ILLEGAL_ADDRESS, "parameter address 0x8");
  check_fault("mov.b64 %rd2, out; cvta.param.u64 %rd2, %rd2; st.u64 [%rd2], 1;", CUDA_ERROR_ILLEGAL_ADDRESS,
              "parameters can't be written");
  check_fault("atom.global.add.u32 %r1, [%rd1+100], 1;", CUDA_ERROR_ILLEGAL_ADDRESS, "4-byte atomic operation on 0x");
  check_fault("mov.u64 %rd2, 0xffffffffffff; ld.global.u8 %r1, [%rd2];", CUDA_ERROR_ILLEGAL_ADDRESS, "1-byte load");
}

TEST(no_lane_writes_before_a_fault) {
  Machine machine(kernel_around(".reg .b32 %r<9>; .reg .b64 %rd<9>; ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;\n"
                                "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd1, %rd2; st.global.u32 [%rd2], 9;",
                                ".param .u64 out"));
  uint64_t out = machine.put(std::vector<uint32_t>(16));
  CHECK(machine.launch("k", {1, 1, 1}, {32, 1, 1}, out).status == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(machine.get<uint32_t>(out, 16) == std::vector<uint32_t>(16));
}

TEST(released_memory_is_out_of_range) {
  Machine machine(kernel_around(".reg .b64 %rd<9>; ld.param.u64 %rd1, [out]; st.global.u64 [%rd1], %rd1;",
                                ".param .u64 out"));
  uint64_t out = machine.put(std::vector<uint64_t>(1));
  CHECK(machine.launch("k", {1, 1, 1}, {1, 1, 1}, out).status == CUDA_SUCCESS);
  CHECK(machine.memory().release(out));
  CHECK(machine.launch("k", {1, 1, 1}, {1, 1, 1}, out).status == CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(traps_and_wrong_barriers) {
  check_fault("trap;", CUDA_ERROR_LAUNCH_FAILED, "thread (0,0,0): trap, PTX line 7");
  check_fault("mov.u32 %r1, 16; bar.sync %r1;", CUDA_ERROR_LAUNCH_FAILED, "barrier 16 does not exist");
  check_fault("bar.sync 0, 33;", CUDA_ERROR_LAUNCH_FAILED, "not a multiple");
  check_fault("bar.sync 0, 64;", CUDA_ERROR_LAUNCH_FAILED, "deadlock", 32);
}

TEST(endless_recursion_exhausts_the_stack) {
  Machine machine(kernel_around("call f;", "", ".func f() { .local .b8 l[64]; call f; ret; }\n"));
  Fault fault = machine.launch("k", {1, 1, 1}, {32, 1, 1});
  CHECK(fault.status == CUDA_ERROR_HARDWARE_STACK_ERROR);
  CHECK_CONTAINS(fault.message, "stack is exhausted");
}

TEST(failed_assertion_names_its_source) {
  std::string module =
      ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n"
      ".global .b8 message[4] = {120, 62, 48};\n.global .b8 file[5] = {97, 46, 99, 117};\n"
      ".global .b8 name[2] = {102};\n";
  std::string body = ".reg .b64 %rd<9>;\n"
                     ".param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;\n"
                     "mov.u64 %rd1, message; cvta.global.u64 %rd1, %rd1; st.param.b64 [p0], %rd1;\n"
                     "mov.u64 %rd1, file; st.param.b64 [p1], %rd1;\nst.param.b32 [p2], 12;\n"
                     "mov.u64 %rd1, name; st.param.b64 [p3], %rd1;\nst.param.b64 [p4], 1;\n"
                     "call.uni __assertfail, (p0, p1, p2, p3, p4);\n";
  Machine machine(kernel_around(body, "", module));
  Fault fault = machine.launch("k", {1, 1, 1}, {1, 1, 1});
  CHECK(fault.status == CUDA_ERROR_ASSERT);
  CHECK_CONTAINS(fault.message, "a.cu:12: f: Assertion `x>0` failed");
}
