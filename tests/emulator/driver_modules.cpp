// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>

#include "driver_harness.h"

// On the H200 some do and some do not.
EMULATED_SCENARIO(function_addresses_come_back_after_an_unload) {
  start();
  const CUmodule first = load_kernels();
  const CUfunction function = kernel(first, "nop");
  CHECK(kernel(first, "nop") == function);
  OK(cuModuleUnload(first));
  const CUmodule second = load_kernels();
  CHECK(kernel(second, "nop") == function);
  OK(cuModuleUnload(second));
}

EMULATED_SCENARIO(wrong_handles_are_refused) {
  start();
  const CUmodule module = load_kernels();
  const CUfunction nop = kernel(module, "nop");
  CUfunction function;
  for (const auto wrong : {reinterpret_cast<CUmodule>(nop), reinterpret_cast<CUmodule>(uintptr_t{12345}),
                           static_cast<CUmodule>(nullptr)}) {
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&function, wrong, "nop"));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(wrong));
  }
  OK(cuModuleUnload(module));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, launch(nop, nullptr));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuFuncLoad(nop));
  EXPECT(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(reinterpret_cast<CUstream>(nop)));
}

SCENARIO(modules_name_what_they_have) {
  start();
  const CUmodule module = load_kernels();
  unsigned count = 0;
  OK(cuModuleGetFunctionCount(&count, module));
  CHECK(count == 7);
  std::vector<CUfunction> functions(count);
  OK(cuModuleEnumerateFunctions(functions.data(), count, module));
  int seen = 0;
  for (const CUfunction function : functions) {
    const char *name = nullptr;
    OK(cuFuncGetName(&name, function));
    seen += std::strcmp(name, "put") == 0 || std::strcmp(name, "mixed") == 0;
  }
  CHECK(seen == 2);
  CUfunction absent;
  EXPECT(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&absent, module, "absent"));
  CUmodule owner = nullptr;
  OK(cuFuncGetModule(&owner, kernel(module, "nop")));
  CHECK(owner == module);
}

SCENARIO(parameters_have_offset_and_size) {
  start();
  const CUmodule module = load_kernels();
  const CUfunction mixed = kernel(module, "mixed");
  const size_t expected[][2] = {{0, 24}, {24, 4}, {32, 8}};
  for (size_t i = 0; i < 3; ++i) {
    size_t offset = 99;
    size_t size = 99;
    OK(cuFuncGetParamInfo(mixed, i, &offset, &size));
    CHECK(offset == expected[i][0] && size == expected[i][1]);
  }
  size_t offset;
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(mixed, 3, &offset, nullptr));
  EXPECT(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(kernel(module, "nop"), 0, &offset, nullptr));
}

SCENARIO(each_load_has_variables_of_its_own) {
  start();
  const CUmodule modules[] = {load_kernels(), load_kernels()};
  CUdeviceptr addresses[2] = {};
  size_t size = 0;
  for (int i = 0; i < 2; ++i) {
    OK(cuModuleGetGlobal(&addresses[i], &size, modules[i], "counter"));
    CHECK(size == 4);
  }
  CHECK(addresses[0] != addresses[1]);
  CUdeviceptr out;
  OK(cuMemAlloc(&out, 4));
  void *arguments[] = {&out};
  OK(launch(kernel(modules[0], "count"), nullptr, arguments));
  int values[2] = {};
  OK(cuMemcpyDtoH(&values[0], addresses[0], 4));
  OK(cuMemcpyDtoH(&values[1], addresses[1], 4));
  CHECK(values[0] == 8 && values[1] == 7);
  EXPECT(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&out, &size, modules[0], "absent"));
}

struct Loaded {
  CUresult status;
  std::string log;
  size_t reported;
};

static Loaded load(const char *image) {
  CUmodule module;
  std::vector<char> log(4096);
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  const CUresult status = cuModuleLoadDataEx(&module, image, 2, options, values);
  return {status, log.data(), reinterpret_cast<size_t>(values[1])};
}

static std::string replaced(const char *from, const char *to) {
  std::string text = kernels_ptx;
  text.replace(text.find(from), std::strlen(from), to);
  return text;
}

SCENARIO(images_that_are_no_code_are_refused) {
  start();
  CHECK(load("").status == CUDA_ERROR_INVALID_IMAGE);
  CHECK(load("hello world").status == CUDA_ERROR_INVALID_IMAGE);
  CHECK(load((std::string("\xef\xbb\xbf") + kernels_ptx).c_str()).status == CUDA_ERROR_INVALID_IMAGE);
}

// A cubin cut down to its header, and the head of a fatbin, each followed by zeros: the H200 took minutes over them.
EMULATED_SCENARIO(truncated_images_are_refused) {
  start();
  std::vector<char> zeros(1 << 16);
  const char elf[] = "\x7f" "ELF\x02\x01\x01\x41\x08";
  std::memcpy(zeros.data(), elf, sizeof elf - 1);
  zeros[18] = static_cast<char>(190);
  CHECK(load(zeros.data()).status == CUDA_ERROR_INVALID_IMAGE);
  std::fill(zeros.begin(), zeros.end(), '\0');
  const char fatbin[] = "\x50\xed\x55\xba\x01\x00\x10\x00\x00\x10";
  std::memcpy(zeros.data(), fatbin, sizeof fatbin - 1);
  CHECK(load(zeros.data()).status == CUDA_ERROR_INVALID_IMAGE);
}

SCENARIO(bad_ptx_is_explained_in_the_log) {
  start();
  const Loaded newer = load(replaced(".version 8.0", ".version 9.9").c_str());
  CHECK(newer.status == CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  const Loaded target = load(replaced("sm_80", "sm_120").c_str());
  CHECK(target.status == CUDA_ERROR_INVALID_PTX);
  CHECK(target.log.find(".target") != std::string::npos);
  CHECK(target.reported > 0 && target.reported <= 4096);
  const Loaded syntax = load(replaced("cvta.", "cvtx.").c_str());
  CHECK(syntax.status == CUDA_ERROR_INVALID_PTX);
  CHECK(syntax.log.find("line 19") != std::string::npos);
  CHECK(load(kernels_ptx).status == CUDA_SUCCESS);
}

EMULATED_SCENARIO(failed_load_leaves_nothing) {
  start();
  const auto live = control<uint64_t (*)(const char *)>("se_cy_emulator_live");
  load(replaced("cvta.", "cvtx.").c_str());
  load("hello");
  CHECK(live("modules") == 0);
  size_t available;
  size_t total;
  OK(cuMemGetInfo(&available, &total));
  CHECK(available == total);
}

// Files that nvcc wrote from saxpy.cu, where there are any: SE_CY_TEST_IMAGES names their folder.
static std::string read_image(const char *name) {
  const char *folder = std::getenv("SE_CY_TEST_IMAGES");
  std::string content;
  if (std::FILE *file = folder ? std::fopen((std::string(folder) + "/" + name).c_str(), "rb") : nullptr) {
    char buffer[4096];
    for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;)
      content.append(buffer, n);
    std::fclose(file);
  }
  return content;
}

EMULATED_SCENARIO(compiled_images_need_ptx) {
  if (!std::getenv("SE_CY_TEST_IMAGES"))
    return;
  start();
  for (const char *name : {"saxpy.cubin", "s90.fatbin", "p90.fatbin"}) {
    const Loaded loaded = load(read_image(name).c_str());
    CHECK(loaded.status == CUDA_ERROR_NO_BINARY_FOR_GPU);
    CHECK(loaded.log.find("emulated driver") != std::string::npos);
    CHECK(loaded.log.find("90") != std::string::npos);
  }
  for (const char *name : {"p90u.fatbin", "mixed.fatbin"})
    CHECK(load(read_image(name).c_str()).status == CUDA_SUCCESS);
  for (const char *name : {"saxpy.cubin", "s90.fatbin", "p90u.fatbin", "mixed.fatbin"}) {
    std::string half = read_image(name);
    const size_t size = half.size();
    half.resize(size / 2);
    half.resize(size + 65536);
    CHECK(load(half.c_str()).status == CUDA_ERROR_INVALID_IMAGE);
  }
}
