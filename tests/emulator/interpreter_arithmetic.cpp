// SPDX-License-Identifier: Apache-2.0
// Single instructions at the values where host and GPU, or C++ and PTX, part.
#include <cmath>

#include "ptx_harness.h"

using namespace emulator;

// d of a statement over %a, %b, %c and %d, of 64 bits each, and registers of every other type.
static uint64_t evaluate(const std::string &statement, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0) {
  std::string body = ".reg .b64 %a, %b, %c, %d, %p; .reg .b32 %ra, %rb, %rc, %rd; .reg .b16 %ha, %hb, %hc, %hd;\n"
                     ".reg .f32 %fa, %fb, %fc, %fd; .reg .f64 %ga, %gb, %gc, %gd; .reg .pred %q<4>;\n"
                     "ld.param.u64 %a, [pa]; ld.param.u64 %b, [pb]; ld.param.u64 %c, [pc]; ld.param.u64 %p, [pp];\n";
  for (const char *x : {"a", "b", "c"}) {
    std::string s = x;
    body += "cvt.u32.u64 %r" + s + ", %" + s + "; cvt.u16.u64 %h" + s + ", %" + s + "; mov.b32 %f" + s + ", %r" + s +
            "; mov.b64 %g" + s + ", %" + s + ";\n";
  }
  body += statement + "\nst.global.u64 [%p], %d;";
  Machine machine(
      kernel_around(body, ".param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pp"));
  uint64_t out = machine.put(std::vector<uint64_t>(1, 0x5555555555555555u));
  Fault fault = machine.launch("k", {1, 1, 1}, {1, 1, 1}, a, b, c, out);
  if (fault.status != CUDA_SUCCESS)
    std::printf("%s: %s %s\n", statement.c_str(), fault.message.c_str(), machine.compilation().log.c_str());
  CHECK(fault.status == CUDA_SUCCESS);
  return machine.get<uint64_t>(out, 1)[0];
}

static const std::string to_32 = " cvt.u64.u32 %d, %rd;", to_16 = " cvt.u64.u16 %d, %hd;";
static const std::string to_f32 = " mov.b32 %rd, %fd; cvt.u64.u32 %d, %rd;", to_f64 = " mov.b64 %d, %gd;";
static const std::string to_bit = " selp.u64 %d, 1, 0, %q0;";

static uint64_t bits(float value) {
  uint32_t word;
  std::memcpy(&word, &value, sizeof word);
  return word;
}
static uint64_t bits(double value) {
  uint64_t word;
  std::memcpy(&word, &value, sizeof word);
  return word;
}

static constexpr uint64_t lowest_32 = 0x80000000, all_32 = 0xffffffff, all_64 = ~uint64_t{0}, nan_32 = 0x7fffffff;
static constexpr uint64_t lowest_64 = uint64_t{1} << 63;

TEST(integer_division_never_traps) {
  CHECK(evaluate("div.s32 %rd, %ra, %rb;" + to_32, lowest_32, all_32) == lowest_32);
  CHECK(evaluate("rem.s32 %rd, %ra, %rb;" + to_32, lowest_32, all_32) == 0);
  CHECK(evaluate("div.s64 %d, %a, %b;", lowest_64, all_64) == lowest_64);
  CHECK(evaluate("rem.s64 %d, %a, %b;", lowest_64, all_64) == 0);
  CHECK(evaluate("div.u32 %rd, %ra, %rb;" + to_32, 7, 0) == all_32);
  CHECK(evaluate("div.s32 %rd, %ra, %rb;" + to_32, 7, 0) == all_32);
  CHECK(evaluate("div.u64 %d, %a, %b;", 7, 0) == all_64);
  CHECK(evaluate("div.s32 %rd, %ra, %rb;" + to_32, -7, 2) == (-3 & all_32));
  CHECK(evaluate("rem.s32 %rd, %ra, %rb;" + to_32, -7, 2) == (-1 & all_32));
  CHECK(evaluate("div.s16 %hd, %ha, %hb;" + to_16, 0x8000, 0xffff) == 0x8000);
}

TEST(shifts_by_the_width_and_more) {
  CHECK(evaluate("shl.b32 %rd, %ra, %rb;" + to_32, 1, 31) == lowest_32);
  CHECK(evaluate("shl.b32 %rd, %ra, %rb;" + to_32, 1, 32) == 0);
  CHECK(evaluate("shl.b64 %d, %a, %rb;", 1, 64) == 0);
  CHECK(evaluate("shl.b64 %d, %a, %rb;", 1, all_32) == 0);
  CHECK(evaluate("shl.b16 %hd, %ha, %rb;" + to_16, 0xffff, 15) == 0x8000);
  CHECK(evaluate("shr.u32 %rd, %ra, %rb;" + to_32, lowest_32, 32) == 0);
  CHECK(evaluate("shr.s32 %rd, %ra, %rb;" + to_32, lowest_32, 99) == all_32);
  CHECK(evaluate("shr.s64 %d, %a, %rb;", lowest_64, 64) == all_64);
  CHECK(evaluate("shr.s16 %hd, %ha, %rb;" + to_16, 0x8000, 4) == 0xf800);
  CHECK(evaluate("shf.l.wrap.b32 %rd, %ra, %rb, %rc;" + to_32, 0x80000000, 1, 33) == 3);
  CHECK(evaluate("shf.r.clamp.b32 %rd, %ra, %rb, %rc;" + to_32, 5, 9, 40) == 9);
}

TEST(products_and_sums) {
  CHECK(evaluate("mul.hi.s32 %rd, %ra, %rb;" + to_32, all_32, all_32) == 0);
  CHECK(evaluate("mul.hi.u32 %rd, %ra, %rb;" + to_32, all_32, all_32) == 0xfffffffe);
  CHECK(evaluate("mul.hi.u64 %d, %a, %b;", all_64, all_64) == all_64 - 1);
  CHECK(evaluate("mul.hi.s64 %d, %a, %b;", all_64, all_64) == 0);
  CHECK(evaluate("mul.wide.s32 %d, %ra, %rb;", all_32, 2) == all_64 - 1);
  CHECK(evaluate("mul.wide.u16 %rd, %ha, %hb;" + to_32, 0xffff, 0xffff) == 0xfffe0001);
  CHECK(evaluate("mad.wide.s32 %d, %ra, %rb, %c;", all_32, 3, 10) == 7);
  CHECK(evaluate("mad.lo.s32 %rd, %ra, %rb, %rc;" + to_32, 100000, 100000, 1) == ((10000000000u + 1) & all_32));
  CHECK(evaluate("mad.hi.u32 %rd, %ra, %rb, %rc;" + to_32, all_32, all_32, 5) == 3);
  CHECK(evaluate("mul24.lo.s32 %rd, %ra, %rb;" + to_32, 0xffffff, 2) == (-2 & all_32));
  CHECK(evaluate("add.sat.s32 %rd, %ra, %rb;" + to_32, 0x7fffffff, 1) == 0x7fffffff);
  CHECK(evaluate("sub.sat.s32 %rd, %ra, %rb;" + to_32, lowest_32, 1) == lowest_32);
  CHECK(evaluate("neg.s32 %rd, %ra;" + to_32, lowest_32) == lowest_32);
  CHECK(evaluate("abs.s64 %d, %a;", all_64) == 1);
  CHECK(evaluate("sad.s32 %rd, %ra, %rb, %rc;" + to_32, -5, 5, 1) == 11);
  CHECK(evaluate("min.s32 %rd, %ra, %rb;" + to_32, all_32, 1) == all_32);
  CHECK(evaluate("min.u32 %rd, %ra, %rb;" + to_32, all_32, 1) == 1);
}

TEST(bits_and_fields) {
  CHECK(evaluate("bfe.s32 %rd, %ra, 4, 4;" + to_32, 0x80) == 0xfffffff8);
  CHECK(evaluate("bfe.u32 %rd, %ra, 28, 8;" + to_32, 0xf0000000) == 0xf);
  CHECK(evaluate("bfe.s32 %rd, %ra, 28, 8;" + to_32, 0xf0000000) == all_32);
  CHECK(evaluate("bfe.s32 %rd, %ra, 40, 8;" + to_32, 0xf0000000) == all_32);
  CHECK(evaluate("bfe.u64 %d, %a, 0, 64;", all_64) == all_64);
  CHECK(evaluate("bfe.s32 %rd, %ra, 3, 0;" + to_32, all_32) == 0);
  CHECK(evaluate("bfi.b32 %rd, %ra, %rb, 8, 8;" + to_32, 0xab, 0x11111111) == 0x1111ab11);
  CHECK(evaluate("bfi.b32 %rd, %ra, %rb, 32, 8;" + to_32, 0xab, 0x11111111) == 0x11111111);
  CHECK(evaluate("popc.b64 %rd, %a;" + to_32, all_64) == 64);
  CHECK(evaluate("clz.b32 %rd, %ra;" + to_32, 0) == 32);
  CHECK(evaluate("clz.b32 %rd, %ra;" + to_32, 1) == 31);
  CHECK(evaluate("brev.b32 %rd, %ra;" + to_32, 1) == lowest_32);
  CHECK(evaluate("bfind.s32 %rd, %ra;" + to_32, -1) == all_32);
  CHECK(evaluate("bfind.u32 %rd, %ra;" + to_32, 0x100) == 8);
  CHECK(evaluate("bfind.shiftamt.u32 %rd, %ra;" + to_32, 0x100) == 23);
  CHECK(evaluate("prmt.b32 %rd, %ra, %rb, 0x7a05;" + to_32, 0x33228110, 0x77665544) == 0x77001055);
  CHECK(evaluate("lop3.b32 %rd, %ra, %rb, %rc, 0x96;" + to_32, 0xf0, 0xcc, 0xaa) == (0xf0 ^ 0xcc ^ 0xaa));
  CHECK(evaluate("lop3.b32 %rd, %ra, %rb, %rc, 0xca;" + to_32, 0xf0, 0xcc, 0xaa) == 0xca);
  CHECK(evaluate("not.b16 %hd, %ha;" + to_16, 0x00ff) == 0xff00);
  CHECK(evaluate("cnot.b32 %rd, %ra;" + to_32, 0) == 1);
  CHECK(evaluate("mov.b64 {%ra, %rb}, %a; mov.b64 %d, {%rb, %ra};", 0x1111111122222222) == 0x2222222211111111);
}

TEST(conversions_to_integers_clamp_and_know_nan) {
  CHECK(evaluate("cvt.rzi.s32.f32 %rd, %fa;" + to_32, bits(3e9f)) == 0x7fffffff);
  CHECK(evaluate("cvt.rzi.s32.f32 %rd, %fa;" + to_32, bits(-3e9f)) == lowest_32);
  CHECK(evaluate("cvt.rzi.u32.f32 %rd, %fa;" + to_32, bits(-1.0f)) == 0);
  CHECK(evaluate("cvt.rzi.u64.f32 %d, %fa;", bits(1e30f)) == all_64);
  CHECK(evaluate("cvt.rzi.s32.f32 %rd, %fa;" + to_32, nan_32) == 0);
  CHECK(evaluate("cvt.rzi.s64.f32 %d, %fa;", nan_32) == lowest_64);
  CHECK(evaluate("cvt.rzi.s32.f64 %rd, %ga;" + to_32, bits(std::nan(""))) == lowest_32);
  CHECK(evaluate("cvt.rni.s32.f32 %rd, %fa;" + to_32, bits(2.5f)) == 2);
  CHECK(evaluate("cvt.rmi.s32.f32 %rd, %fa;" + to_32, bits(-2.5f)) == (-3 & all_32));
  CHECK(evaluate("cvt.rpi.s32.f64 %rd, %ga;" + to_32, bits(2.1)) == 3);
  CHECK(evaluate("cvt.rpi.ftz.s32.f32 %rd, %fa;" + to_32, 1) == 0);
  CHECK(evaluate("cvt.rpi.s32.f32 %rd, %fa;" + to_32, 1) == 1);
  CHECK(evaluate("cvt.rzi.u16.f32 %hd, %fa;" + to_16, bits(70000.0f)) == 0xffff);
}

TEST(conversions_of_integers) {
  CHECK(evaluate("cvt.s32.s8 %rd, %ra;" + to_32, 0x180) == 0xffffff80);
  CHECK(evaluate("cvt.s8.s32 %rd, %ra;" + to_32, 0x180) == 0xffffff80);
  CHECK(evaluate("cvt.u8.u32 %rd, %ra;" + to_32, 0x180) == 0x80);
  CHECK(evaluate("cvt.s64.s32 %d, %ra;", lowest_32) == 0xffffffff80000000);
  CHECK(evaluate("cvt.u64.s32 %d, %ra;", all_32) == all_64);
  CHECK(evaluate("cvt.sat.u8.s32 %rd, %ra;" + to_32, 300) == 255);
  CHECK(evaluate("cvt.sat.u8.s32 %rd, %ra;" + to_32, -5) == 0);
  CHECK(evaluate("cvt.sat.s8.s32 %rd, %ra;" + to_32, -300) == 0xffffff80);
  CHECK(evaluate("cvt.sat.s32.u64 %rd, %a;" + to_32, all_64) == 0x7fffffff);
  CHECK(evaluate("cvt.rn.f32.u64 %fd, %a;" + to_f32, all_64) == bits(18446744073709551616.0f));
  CHECK(evaluate("cvt.rz.f32.u32 %fd, %ra;" + to_f32, all_32) == bits(std::nextafter(4294967296.0f, 0.0f)));
  CHECK(evaluate("cvt.rn.f64.s32 %gd, %ra;" + to_f64, all_32) == bits(-1.0));
}

TEST(single_precision) {
  CHECK(evaluate("sub.f32 %fd, %fa, %fb;" + to_f32, bits(INFINITY), bits(INFINITY)) == nan_32);
  CHECK(evaluate("add.f32 %fd, %fa, %fb;" + to_f32, 0xffc12345, 0) == nan_32);
  CHECK(evaluate("add.ftz.f32 %fd, %fa, %fb;" + to_f32, 0x80000001, 0x80000001) == 0x80000000);
  CHECK(evaluate("add.f32 %fd, %fa, %fb;" + to_f32, 1, 1) == 2);
  CHECK(evaluate("mul.ftz.f32 %fd, %fa, %fb;" + to_f32, bits(1e-20f), bits(-1e-20f)) == 0x80000000);
  CHECK(evaluate("add.rz.f32 %fd, %fa, %fb;" + to_f32, bits(1.0f), bits(-1e-30f)) == bits(std::nextafter(1.0f, 0.0f)));
  CHECK(evaluate("add.rp.f32 %fd, %fa, %fb;" + to_f32, bits(1.0f), bits(1e-30f)) == bits(std::nextafter(1.0f, 2.0f)));
  CHECK(evaluate("add.sat.f32 %fd, %fa, %fb;" + to_f32, bits(1.0f), bits(5.0f)) == bits(1.0f));
  CHECK(evaluate("add.sat.f32 %fd, %fa, %fb;" + to_f32, nan_32, bits(5.0f)) == 0);
  float x = 1.0f + 0x1p-12f;
  CHECK(evaluate("fma.rn.f32 %fd, %fa, %fb, %fc;" + to_f32, bits(x), bits(x), bits(-1.0f)) ==
        bits(std::fma(x, x, -1.0f)));
  CHECK(evaluate("fma.rm.f64 %gd, %ga, %gb, %gc;" + to_f64, bits(0.1), bits(0.1), bits(0.0)) ==
        bits(std::nextafter(0.1 * 0.1, 0.0)));
  CHECK(evaluate("min.f32 %fd, %fa, %fb;" + to_f32, nan_32, bits(1.0f)) == bits(1.0f));
  CHECK(evaluate("max.f32 %fd, %fa, %fb;" + to_f32, bits(-0.0f), bits(0.0f)) == 0);
  CHECK(evaluate("min.f32 %fd, %fa, %fb;" + to_f32, bits(0.0f), bits(-0.0f)) == bits(-0.0f));
  CHECK(evaluate("min.NaN.f32 %fd, %fa, %fb;" + to_f32, nan_32, bits(1.0f)) == nan_32);
  CHECK(evaluate("div.rn.f32 %fd, %fa, %fb;" + to_f32, bits(1.0f), bits(3.0f)) == bits(1.0f / 3.0f));
  CHECK(evaluate("sqrt.rn.f32 %fd, %fa;" + to_f32, bits(2.0f)) == bits(std::sqrt(2.0f)));
  CHECK(evaluate("sqrt.rn.f32 %fd, %fa;" + to_f32, bits(-2.0f)) == nan_32);
  CHECK(evaluate("cvt.rn.f32.f64 %fd, %ga;" + to_f32, bits(0.1)) == bits(0.1f));
  CHECK(evaluate("cvt.rni.f32.f32 %fd, %fa;" + to_f32, bits(3.5f)) == bits(4.0f));
  CHECK(evaluate("cvt.sat.f32.f32 %fd, %fa;" + to_f32, bits(-3.5f)) == 0);
  CHECK(evaluate("neg.f32 %fd, %fa;" + to_f32, bits(0.0f)) == bits(-0.0f));
}

TEST(comparisons) {
  auto holds = [](const std::string &comparison, uint64_t a, uint64_t b) {
    return evaluate("setp." + comparison + to_bit, a, b) == 1;
  };
  CHECK(!holds("eq.f32 %q0, %fa, %fb;", nan_32, nan_32));
  CHECK(!holds("ne.f32 %q0, %fa, %fb;", nan_32, bits(1.0f)));
  CHECK(holds("neu.f32 %q0, %fa, %fb;", nan_32, bits(1.0f)));
  CHECK(holds("ltu.f32 %q0, %fa, %fb;", nan_32, bits(1.0f)));
  CHECK(holds("nan.f32 %q0, %fa, %fb;", bits(1.0f), nan_32));
  CHECK(holds("num.f64 %q0, %ga, %gb;", bits(1.0), bits(2.0)));
  CHECK(holds("eq.f32 %q0, %fa, %fb;", bits(0.0f), bits(-0.0f)));
  CHECK(holds("eq.ftz.f32 %q0, %fa, %fb;", 1, 2));
  CHECK(holds("lt.s32 %q0, %ra, %rb;", all_32, 0));
  CHECK(!holds("lt.u32 %q0, %ra, %rb;", all_32, 0));
  CHECK(holds("hi.u16 %q0, %ha, %hb;", 0xffff, 1));
  CHECK(holds("ne.s32 %q2, 0, 0; setp.lt.and.s32 %q1|%q0, %ra, %rb, !%q2;", 5, 1));
  CHECK(evaluate("set.lt.u32.s32 %rd, %ra, %rb;" + to_32, 1, 2) == all_32);
  CHECK(evaluate("set.gt.f32.s32 %fd, %ra, %rb;" + to_f32, 2, 1) == bits(1.0f));
  CHECK(evaluate("slct.s32.f32 %rd, %ra, %rb, %fc;" + to_32, 1, 2, bits(-0.0f)) == 1);
  CHECK(evaluate("mov.pred %q0, 1; not.pred %q1, %q0; xor.pred %q0, %q0, %q1;" + to_bit) == 1);
}

TEST(special_registers_describe_the_thread) {
  Machine machine(kernel_around(
      ".reg .b32 %r<20>; .reg .b64 %rd<4>;\nmov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;\n"
      "mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y; mad.lo.s32 %r6, %r3, %r5, %r2; mad.lo.s32 %r6, %r6, %r4, %r1;\n"
      "mov.u32 %r7, %ctaid.y; mov.u32 %r8, %nctaid.x; mov.u32 %r9, %ctaid.x; mad.lo.s32 %r7, %r7, %r8, %r9;\n"
      "mov.u32 %r10, %ntid.z; mul.lo.s32 %r11, %r4, %r5; mul.lo.s32 %r11, %r11, %r10;\n"
      "mad.lo.s32 %r12, %r7, %r11, %r6; mul.wide.u32 %rd1, %r12, 8;\n"
      "ld.param.u64 %rd2, [out]; add.s64 %rd1, %rd1, %rd2;\n"
      "mov.u32 %r13, %laneid; st.global.v2.u32 [%rd1], {%r13, %r7};",
      ".param .u64 out"));
  uint64_t out = machine.put(std::vector<uint32_t>(2 * 6 * 60));
  CHECK(machine.launch("k", {3, 2, 1}, {5, 4, 3}, out).status == CUDA_SUCCESS);
  std::vector<uint32_t> answers = machine.get<uint32_t>(out, 2 * 6 * 60);
  for (uint32_t i = 0; i < 360; ++i)
    CHECK(answers[2 * i] == i % 60 % 32 && answers[2 * i + 1] == i / 60);
}
