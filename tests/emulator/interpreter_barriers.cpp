// SPDX-License-Identifier: Apache-2.0
#include "ptx_harness.h"

using namespace emulator;

static const char *const names = ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>;\n"
                                 "mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; ld.param.u64 %rd1, [out];\n"
                                 "add.u64 %rd2, %rd1, %rd2;\n";

static std::string with_out(const std::string &body) { return kernel_around(names + body, ".param .u64 out"); }

TEST(exited_threads_count_as_arrived) {
  Machine machine(with_out("setp.ge.u32 %p1, %r1, 50; @%p1 exit;\nbar.sync 0;\nst.global.u32 [%rd2], 7;"));
  uint64_t out = machine.put(std::vector<uint32_t>(128));
  CHECK(machine.launch("k", {1, 1, 1}, {128, 1, 1}, out).status == CUDA_SUCCESS);
  CHECK(machine.get<uint32_t>(out, 128)[49] == 7 && machine.get<uint32_t>(out, 128)[50] == 0);
}

TEST(exit_of_the_last_releases_those_who_wait) {
  Machine machine(with_out("setp.lt.u32 %p1, %r1, 32; @%p1 bra WAIT;\nbar.sync 1;\nexit;\n"
                           "WAIT: bar.sync 0;\nst.global.u32 [%rd2], 7;\nbar.sync 1;"));
  uint64_t out = machine.put(std::vector<uint32_t>(64));
  // Barrier 0 lacks the second warp, barrier 1 the first: neither can go on.
  Fault fault = machine.launch("k", {1, 1, 1}, {64, 1, 1}, out);
  CHECK(fault.status == CUDA_ERROR_LAUNCH_FAILED);
  CHECK_CONTAINS(fault.message, "deadlock");
  CHECK_CONTAINS(fault.message, "thread (0,0,0)");
  CHECK_CONTAINS(fault.message, "PTX line 12");
}

TEST(barriers_for_some_of_the_threads) {
  // The first two warps meet at barrier 1, the others at barrier 2; in between the first write and their fellows read.
  Machine machine(kernel_around(std::string(names) +
                                    ".shared .b32 s[128];\n"
                                    "mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r2, %r2, %r3;\n"
                                    "shr.u32 %r4, %r1, 6; add.u32 %r4, %r4, 1; st.shared.u32 [%r2], %r1;\n"
                                    "barrier.sync %r4, 64;\nxor.b32 %r3, %r1, 63; shl.b32 %r3, %r3, 2;\n"
                                    "mov.u32 %r2, s; add.u32 %r2, %r2, %r3; ld.shared.u32 %r5, [%r2];\n"
                                    "st.global.u32 [%rd2], %r5;",
                                ".param .u64 out"));
  uint64_t out = machine.put(std::vector<uint32_t>(128));
  CHECK(machine.launch("k", {1, 1, 1}, {128, 1, 1}, out).status == CUDA_SUCCESS);
  std::vector<uint32_t> answers = machine.get<uint32_t>(out, 128);
  for (uint32_t i = 0; i < 128; ++i)
    CHECK(answers[i] == (i ^ 63));
}

TEST(arrival_without_waiting) {
  // The second warp produces and does not wait; the first consumes.
  Machine machine(with_out(".shared .b32 s; setp.lt.u32 %p1, %r1, 32; @%p1 bra CONSUME;\n"
                           "st.shared.u32 [s], 42;\nbar.arrive 3, 64;\nexit;\n"
                           "CONSUME: bar.sync 3, 64;\nld.shared.u32 %r2, [s]; st.global.u32 [%rd2], %r2;"));
  uint64_t out = machine.put(std::vector<uint32_t>(32));
  CHECK(machine.launch("k", {1, 1, 1}, {64, 1, 1}, out).status == CUDA_SUCCESS);
  CHECK(machine.get<uint32_t>(out, 32) == std::vector<uint32_t>(32, 42));
}

TEST(barrier_in_divergent_code) {
  Machine machine(with_out("and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra EVEN;\n"
                           "bar.sync 0; st.global.u32 [%rd2], 1; bra END;\n"
                           "EVEN: bar.sync 0; st.global.u32 [%rd2], 2;\nEND:"));
  uint64_t out = machine.put(std::vector<uint32_t>(64));
  CHECK(machine.launch("k", {1, 1, 1}, {64, 1, 1}, out).status == CUDA_SUCCESS);
  CHECK(machine.get<uint32_t>(out, 64)[62] == 2 && machine.get<uint32_t>(out, 64)[63] == 1);
}

TEST(warp_barrier_waits_for_its_members) {
  Machine machine(with_out(".shared .b32 s[32]; mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r2, %r2, %r3;\n"
                           "setp.lt.u32 %p1, %r1, 16; @%p1 bra LOW;\n"
                           "st.shared.u32 [%r2], %r1; bar.warp.sync -1; bra END;\n"
                           "LOW: bar.warp.sync 0xffffffff; ld.shared.u32 %r5, [%r2+64]; st.global.u32 [%rd2], %r5;\n"
                           "END:"));
  uint64_t out = machine.put(std::vector<uint32_t>(32));
  CHECK(machine.launch("k", {1, 1, 1}, {32, 1, 1}, out).status == CUDA_SUCCESS);
  CHECK(machine.get<uint32_t>(out, 32)[15] == 31);
}

TEST(cooperative_blocks_wait_for_each_other) {
  Machine machine(with_out("atom.global.add.u32 %r2, [%rd1], 1;\n"
                           "AGAIN: ld.volatile.global.u32 %r3, [%rd1]; setp.lt.u32 %p1, %r3, 128; @%p1 bra AGAIN;\n"
                           "st.global.u32 [%rd2+4], %r3;"));
  uint64_t out = machine.put(std::vector<uint32_t>(33));
  machine.cooperative = true;
  CHECK(machine.launch("k", {4, 1, 1}, {32, 1, 1}, out).status == CUDA_SUCCESS);
  CHECK(machine.get<uint32_t>(out, 33)[32] == 128);
}

TEST(endless_loop_gives_back_control) {
  Machine machine(kernel_around("AGAIN: bra AGAIN;"));
  machine.most_slices = 100;
  CHECK(machine.launch("k", {1, 1, 1}, {64, 1, 1}).status == CUDA_ERROR_LAUNCH_TIMEOUT);
}
