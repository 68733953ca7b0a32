// SPDX-License-Identifier: Apache-2.0
// Kernels as nvcc compiles them, against the same computation here.
#include <cmath>
#include <random>

#include "ptx_harness.h"

using namespace emulator;

static constexpr uint32_t block_size = 96;

static Dimensions blocks_for(int count) { return {(static_cast<uint32_t>(count) + block_size - 1) / block_size, 1, 1}; }

static std::vector<uint32_t> random_words(int count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint32_t> words(static_cast<size_t>(count));
  for (uint32_t &word : words)
    word = random();
  return words;
}

TEST(saxpy_is_right_for_any_size) {
  Machine machine(kernel_text("saxpy.ptx"));
  for (int count : {1, 31, 32, 33, 95, 96, 97, 1000}) {
    std::vector<float> x, y;
    for (int i = 0; i < count; ++i) {
      x.push_back(0.1f * static_cast<float>(i));
      y.push_back(1.0f / static_cast<float>(i + 1));
    }
    uint64_t dx = machine.put(x), dy = machine.put(y), out = machine.put(std::vector<float>(count, -1.0f));
    Fault fault = machine.launch("saxpy", blocks_for(count), {block_size, 1, 1}, 2.5f, dx, dy, out, count);
    CHECK(fault.status == CUDA_SUCCESS);
    std::vector<float> answers = machine.get<float>(out, count);
    for (int i = 0; i < count; ++i)
      CHECK(answers[i] == std::fma(x[i], 2.5f, y[i]));
  }
}

template <class T> static void check_reduction(Machine &machine, const std::string &name) {
  constexpr int count = 1000;
  std::vector<T> values;
  for (int i = 0; i < count; ++i)
    values.push_back(static_cast<T>(i % 50 - 7));
  uint64_t in = machine.put(values);
  for (uint32_t threads : {32u, 64u, 256u, 512u}) {
    uint32_t blocks = (count + threads - 1) / threads;
    for (bool is_dynamic : {false, true}) {
      uint64_t out = machine.put(std::vector<T>(blocks));
      machine.dynamic_shared_bytes = is_dynamic ? threads * sizeof(T) : 0;
      Fault fault = machine.launch((is_dynamic ? "reduce_dynamic_" : "reduce_static_") + name, {blocks, 1, 1},
                                   {threads, 1, 1}, in, out, count);
      CHECK(fault.status == CUDA_SUCCESS);
      std::vector<T> sums = machine.get<T>(out, blocks);
      for (uint32_t b = 0; b < blocks; ++b) {
        T sum = 0;
        for (uint32_t i = b * threads; i < (b + 1) * threads && i < count; ++i)
          sum = static_cast<T>(sum + values[i]);
        CHECK(sums[b] == sum);
      }
    }
  }
}

TEST(reductions_in_shared_memory) {
  Machine machine(kernel_text("reduction.ptx"));
  CHECK(machine.is_loaded());
  check_reduction<int32_t>(machine, "i32");
  check_reduction<uint64_t>(machine, "u64");
  check_reduction<float>(machine, "f32");
  check_reduction<double>(machine, "f64");
  check_reduction<int16_t>(machine, "i16");
  const Kernel *kernel = machine.find("reduce_static_f64");
  CHECK(kernel && kernel->shared_bytes == 8192);
}

static void check_facts(const char *file) {
  Machine machine(kernel_text(file));
  CHECK(machine.is_loaded());
  if (!machine.is_loaded())
    return;
  Dimensions one{1, 1, 1};
  uint64_t out = machine.put(std::vector<int32_t>(64));
  CHECK(machine.launch("nop", one, one).status == CUDA_SUCCESS);
  for (int32_t expected : {8, 9}) {
    CHECK(machine.launch("incr", one, one, out).status == CUDA_SUCCESS);
    CHECK(machine.get<int32_t>(out, 1)[0] == expected);
  }
  struct { char a; double b; short c; } s = {-3, 1000.75, -77};
  std::memset(&s, 0, sizeof s);
  s.a = -3, s.b = 1000.75, s.c = -77;
  CHECK(machine.launch("st", one, one, s, out).status == CUDA_SUCCESS);
  CHECK(machine.get<int32_t>(out, 1)[0] == 1000 - 77 - 3);
  machine.dynamic_shared_bytes = 256;
  CHECK(machine.launch("smem", one, {64, 1, 1}, out).status == CUDA_SUCCESS);
  CHECK(machine.get<int32_t>(out, 64)[63] == 63);
  struct { char x[8000]; } big;
  std::memset(&big, 0, sizeof big);
  big.x[7999] = -5;
  CHECK(machine.launch("big", one, one, big, out).status == CUDA_SUCCESS);
  CHECK(machine.get<int32_t>(out, 1)[0] == -5);
  CHECK(machine.launch("spin", one, {40, 1, 1}, int64_t{10000}, out).status == CUDA_SUCCESS);
  CHECK(machine.get<int32_t>(out, 1)[0] == 1);
  CHECK(machine.launch("p16", one, one, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15).status == CUDA_SUCCESS);
}

TEST(facts_optimised) { check_facts("facts.ptx"); }
TEST(facts_for_a_debugger) { check_facts("facts_debug.ptx"); }

static int32_t divergent(int32_t v, int i) {
  int32_t r = 0;
  switch (v & 7) {
  case 0: r = static_cast<int32_t>(static_cast<uint32_t>(v) * 3); break;
  case 1: r = v - 100; break;
  case 2: r = v / 7; break;
  case 3: r = v % 11; break;
  case 4: r = static_cast<int32_t>(static_cast<uint32_t>(v) << 3); break;
  case 5: r = v ^ 0x55; break;
  case 6: r = static_cast<int32_t>(0u - static_cast<uint32_t>(v)); break;
  default: r = v > 1000 ? 1 : v < -1000 ? 2 : 3;
  }
  return static_cast<int32_t>(static_cast<uint32_t>(r) + (i & 1 ? 5u : i & 2 ? -7u : 0u));
}

static uint32_t nested(uint32_t v, int i) {
  uint32_t sum = 0;
  for (uint32_t a = 0; a < v % 7; ++a)
    for (uint32_t b = a; b < v % 13; ++b) {
      if ((a * b + static_cast<uint32_t>(i)) % 5 == 0)
        continue;
      sum += a * 31 + b;
    }
  return sum;
}

static uint32_t steps(uint32_t n) {
  uint32_t taken = 0;
  while (n > 1 && taken < 1000) {
    n = n & 1 ? 3 * n + 1 : n / 2;
    ++taken;
  }
  return taken;
}

static void check_control(const char *file) {
  constexpr int count = 333;
  Machine machine(kernel_text(file));
  CHECK(machine.is_loaded());
  std::vector<uint32_t> values = random_words(count, 7);
  uint64_t in = machine.put(values), out = machine.put(std::vector<uint32_t>(count));
  auto run = [&](const char *name) {
    Fault fault = machine.launch(name, blocks_for(count), {block_size, 1, 1}, in, out, count);
    if (fault.status != CUDA_SUCCESS)
      std::printf("%s\n", fault.message.c_str());
    CHECK(fault.status == CUDA_SUCCESS);
    return machine.get<uint32_t>(out, count);
  };
  std::vector<uint32_t> a = run("divergent"), b = run("nested_loops"), c = run("steps"), d = run("recursive");
  const uint32_t fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34};
  for (int i = 0; i < count; ++i) {
    CHECK(static_cast<int32_t>(a[i]) == divergent(static_cast<int32_t>(values[i]), i));
    CHECK(b[i] == nested(values[i], i));
    CHECK(c[i] == steps(values[i]));
    CHECK(d[i] == fibonacci[values[i] % 10]);
  }
}

TEST(divergence_loops_and_recursion_optimised) { check_control("control.ptx"); }
TEST(divergence_loops_and_recursion_for_a_debugger) { check_control("control_debug.ptx"); }

struct Pair {
  double first;
  int second;
  char third;
};

static Pair swapped(Pair pair, int plus) {
  return {static_cast<double>(pair.second + plus), static_cast<int>(pair.first), static_cast<char>(pair.third + 1)};
}

static void check_structures_and_variables(const char *file) {
  constexpr int count = 77;
  Machine machine(kernel_text(file));
  CHECK(machine.is_loaded());
  std::vector<Pair> pairs;
  for (int i = 0; i < count; ++i)
    pairs.push_back({i * 1.5, 1000 - i, static_cast<char>(i)});
  uint64_t in = machine.put(pairs), out = machine.put(std::vector<Pair>(count));
  CHECK(machine.launch("structures", blocks_for(count), {block_size, 1, 1}, in, out, count).status == CUDA_SUCCESS);
  std::vector<Pair> answers = machine.get<Pair>(out, count);
  for (int i = 0; i < count; ++i) {
    Pair expected = swapped(swapped(pairs[i], i), 2 * i);
    CHECK(answers[i].first == expected.first && answers[i].second == expected.second &&
          answers[i].third == expected.third);
  }
  uint64_t products = machine.put(std::vector<float>(64)), counters = machine.put(std::vector<int32_t>(4));
  CHECK(machine.launch("variables", {1, 1, 1}, {64, 1, 1}, products, counters).status == CUDA_SUCCESS);
  CHECK(machine.get<float>(products, 64)[11] == 4.0f * 11);
  CHECK(machine.get<int32_t>(counters, 4) == (std::vector<int32_t>{65, 66, 67, 4}));
  uint64_t lock = machine.put(std::vector<int32_t>(2));
  CHECK(machine.launch("spin_lock", {3, 1, 1}, {50, 1, 1}, lock, lock + 4).status == CUDA_SUCCESS);
  CHECK(machine.get<int32_t>(lock, 2) == (std::vector<int32_t>{0, 150}));
}

TEST(structures_and_variables_optimised) { check_structures_and_variables("control.ptx"); }
TEST(structures_and_variables_for_a_debugger) { check_structures_and_variables("control_debug.ptx"); }
