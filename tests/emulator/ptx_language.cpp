// SPDX-License-Identifier: Apache-2.0
// What is accepted, and what is said of a text that is not.
#include "ptx_harness.h"

using namespace emulator;

static void check_refused(const std::string &text, const char *part, CUresult status = CUDA_ERROR_INVALID_PTX) {
  Compilation compilation = compile(text, 90);
  CHECK(compilation.status == status);
  CHECK(!compilation.program);
  CHECK_CONTAINS(compilation.log, part);
  CHECK_CONTAINS(compilation.log, "ptxas fatal   : ");
}

static std::string in_body(const std::string &statement) {
  return kernel_around(".reg .b32 %r<5>;\n.reg .b64 %rd<5>;\n.reg .f32 %f<5>;\n.reg .pred %p<3>;\n" + statement);
}

TEST(program_lists_kernels_parameters_and_variables) {
  Compilation compilation = compile(kernel_text("facts.ptx"), 90);
  CHECK(compilation.status == CUDA_SUCCESS);
  if (!compilation.program)
    return;
  const Program &program = *compilation.program;
  CHECK(program.version_major == 9 && program.version_minor == 0 && program.target == 90);
  CHECK(program.kernels.size() == 7);
  CHECK(program.kernels[3].name == "st");
  CHECK(program.kernels[3].parameters.size() == 2 && program.kernels[3].parameters[0].size == 24);
  CHECK(program.kernels[3].parameters[1].offset == 24 && program.kernels[3].parameter_bytes == 32);
  CHECK(program.kernels[6].parameters[0].size == 8000 && program.kernels[6].parameters[1].offset == 8000);
  CHECK(program.variables.size() == 1 && program.variables[0].name == "gcount" && program.variables[0].size == 4);
  CHECK(program.variables[0].initial == (std::vector<uint8_t>{7, 0, 0, 0}));
}

TEST(bounds_of_threads_are_read) {
  std::string head = ".version 8.0\n.target sm_75\n.address_size 64\n";
  Compilation most = compile(head + ".entry k() .maxntid 8, 4, 2 .minnctapersm 2 { ret; }", 90);
  CHECK(most.program && most.program->kernels[0].max_threads == 64 && most.program->kernels[0].required_block[0] == 0);
  Compilation exact = compile(head + ".entry k() .reqntid 128 { ret; }", 90);
  CHECK(exact.program && exact.program->kernels[0].required_block[0] == 128);
  CHECK(exact.program && exact.program->kernels[0].required_block[1] == 1);
}

TEST(text_that_is_no_ptx_is_an_invalid_image) {
  for (const char *text : {"", "hello", "// only a comment", "\xef\xbb\xbf.version 9.0\n.target sm_90\n", "/* open",
                           ".versions 9.0"})
    CHECK(compile(text, 90).status == CUDA_ERROR_INVALID_IMAGE);
}

TEST(syntax_errors_name_line_and_word) {
  check_refused(in_body("mov.u32 %r1 %r2;"), "line 10; fatal   : Parsing error near '%r2': syntax error");
  check_refused(in_body("mov.u32 %r1, 1"), "line 11; fatal   : Parsing error near 'ret': syntax error");
  check_refused(kernel_around("") + "}", "Parsing error near '}': syntax error");
  check_refused(".version 9.0\n.target sm_90\n.entry k() {", "line 3; fatal   : Parsing error near ''");
  check_refused(in_body("mov.u32 %r1, 0f123;"), "line 10; fatal   : Parsing error near '0f123'");
  check_refused(in_body("/* open"), "unexpected EOF");
}

TEST(semantic_errors_name_line_and_symbol) {
  check_refused(in_body("foo.u32 %r1, %r2;"), "line 10; error   : Not a name of any known instruction: 'foo'");
  check_refused(in_body("add.u32 %r1, %r2;"), "line 10; error   : Arguments mismatch for instruction 'add'");
  check_refused(in_body("add.u32 %rd1, %r2, %r3;"), "Arguments mismatch for instruction 'add'");
  check_refused(in_body("add.u32 %r1, %r2, 1.5;"), "Arguments mismatch for instruction 'add'");
  check_refused(in_body("add.f32 %f1, %f2, 1;"), "Arguments mismatch for instruction 'add'");
  check_refused(in_body("add.u32 %r1, %r2, %rx;"), "line 10; error   : Unknown symbol '%rx'");
  check_refused(in_body("mov.u32 %r1, nosym;"), "Unknown symbol 'nosym'");
  check_refused(in_body("bra nowhere;"), "Unknown symbol 'nowhere'");
  check_refused(in_body("call nofunc;"), "Unknown symbol 'nofunc'");
  check_refused(in_body("@%r1 ret;"), "Predicate expression expected");
  check_refused(in_body("L: L: ret;"), "Duplicate definition of label 'L'");
  check_refused(in_body(".reg .b32 x; .reg .b32 x;"), "Duplicate definition of variable 'x'");
  check_refused(in_body("mov.u32 %r1, %r9;"), "Unknown symbol '%r9'");
  check_refused(in_body("mov.u32 %r1, 0xfffffffffffffffffffff;"), "line 10; error   : Constant overflow");
  check_refused(in_body(".reg .b32 %q<999999999999>;"), "Constant overflow");
  check_refused(kernel_around("") + ".entry k() { ret; }", "Duplicate definition of function 'k'");
  check_refused(kernel_around("", "", ".global .u32 g; .global .u32 g;\n"), "Duplicate definition of variable 'g'");
  check_refused(kernel_around("", "", ".global .u64 g = nope;\n"), "Invalid initial value symbol 'nope'");
  check_refused(kernel_around("", "", ".global .u32 g[2] = {1,2,3};\n"), "Greater number of elements");
  check_refused(kernel_around("call f;", "", ".extern .func f();\n"), "Unresolved extern function 'f'");
  check_refused(kernel_around(".shared .b8 s[60000]; .reg .b32 r; mov.u32 r, s;"), "uses too much shared data");
}

TEST(versions_and_targets_too_new_are_refused) {
  check_refused(".version 9.9\n.target sm_90\n", "Unsupported .version 9.9; current version is '9.0'",
                CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  check_refused(".version 9.0\n.target sm_100\n", "SM version specified by .target is higher than default");
  check_refused(".version 9.0\n.target sm_80a\n", "cannot be compiled for architecture 'sm_90'");
  check_refused(".version 9.0\n.target sm_9x\n", "Unsupported .target 'sm_9x'");
  check_refused(".version 9.0\n.address_size 64\n", "Missing .target directive");
  CHECK(compile(".version 9.0\n.target sm_90a\n.address_size 64\n", 90).status == CUDA_SUCCESS);
  CHECK(compile(".version 6.0\r\n.target sm_60\r\n.address_size 64\r\n", 90).status == CUDA_SUCCESS);
}

TEST(non_ascii_is_refused_in_comments_too) {
  check_refused(".version 9.0\n.target sm_90\n// \xc3\xa9\n", "Unexpected non-ASCII character encountered on line 3");
}

TEST(unsupported_instruction_leaves_other_kernels) {
  std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n"
                     ".func helper() {\n .reg .b32 r;\n redux.sync.add.s32 r, r, 1;\n ret; }\n"
                     ".entry direct() {\n.reg .f32 f;\nwmma.load.a.sync.aligned.row.m16n16k16.f16 f, f;\nret; }\n"
                     ".entry indirect() {\ncall helper;\nret; }\n"
                     ".entry fine() { ret; }\n";
  Machine machine(text);
  CHECK(machine.is_loaded());
  if (!machine.is_loaded())
    return;
  CHECK_CONTAINS(machine.find("direct")->unsupported, "line 10: instruction 'wmma.load.a");
  CHECK_CONTAINS(machine.find("indirect")->unsupported, "line 6: instruction 'redux.sync.add.s32'");
  CHECK(machine.find("fine")->unsupported.empty());
  CHECK(machine.launch("fine", {1, 1, 1}, {32, 1, 1}).status == CUDA_SUCCESS);
}

TEST(names_are_scoped) {
  Machine machine(kernel_around(".reg .b64 p; .reg .b32 x;\nld.param.u64 p, [out]; mov.u32 x, 1;\n"
                                "{ .reg .b32 x; mov.u32 x, 2; bra L; L: { .reg .b32 x; mov.u32 x, 3; } "
                                "st.global.u32 [p], x; }\n"
                                "{ bra L; L: st.global.u32 [p+4], x; }",
                                ".param .u64 out"));
  uint64_t out = machine.put(std::vector<uint32_t>(2));
  CHECK(machine.launch("k", {1, 1, 1}, {1, 1, 1}, out).status == CUDA_SUCCESS);
  CHECK(machine.get<uint32_t>(out, 2) == (std::vector<uint32_t>{2, 1}));
}

TEST(nested_initialisers_and_addresses) {
  Machine machine(kernel_around("", "",
                                ".global .u32 a[2][3] = {{1, 2}, {4}};\n.global .u64 b[2] = {a, generic(a)+4};\n"
                                ".const .f32 c[] = {1.5, 0f40000000, -1.0};\n.global .u32 d = (1 << 4) | 3;\n"));
  CHECK(machine.is_loaded());
  if (!machine.is_loaded())
    return;
  uint64_t a = machine.variable("a"), b = machine.variable("b");
  CHECK(machine.get<uint32_t>(a, 6) == (std::vector<uint32_t>{1, 2, 0, 4, 0, 0}));
  CHECK(machine.get<uint64_t>(b, 2) == (std::vector<uint64_t>{a, a + 4}));
  CHECK(machine.get<float>(machine.variable("c"), 3) == (std::vector<float>{1.5f, 2.0f, -1.0f}));
  CHECK(machine.get<uint32_t>(machine.variable("d"), 1)[0] == 19);
}

TEST(depth_and_size_are_bounded) {
  std::string open(100000, '('), minus(100000, '-'), braces(100000, '{');
  check_refused(in_body("mov.u32 %r1, " + open + "1;"), "nested too deeply");
  check_refused(in_body("mov.u32 %r1, " + minus + "1;"), "nested too deeply");
  check_refused(in_body(braces), "Parsing error near ''");
  check_refused(in_body("ld.global.v4.u32 " + braces), "Parsing error near '{'");
  check_refused(kernel_around("", "", ".global .u32 a[1] = " + braces + ";"), "Parsing error near '{'");
  check_refused(kernel_around("", "", ".global .u32 a[1000000000000000][1000000000000000];"), "Array too large");
  Compilation large = compile(kernel_around(".reg .b32 %r<1000000000>; mov.u32 %r999999999, 1;"), 90);
  CHECK(large.program && large.program->kernels[0].registers < 10);
  Compilation local = compile(kernel_around(".local .b8 a[1000000000000]; .local .b8 b[1000000000000];"), 90);
  CHECK(local.program && !local.program->kernels[0].unsupported.empty());
}
