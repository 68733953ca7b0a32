// SPDX-License-Identifier: Apache-2.0
// From a text to a Program: the checks of the whole module, its variables, its kernels.
#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <unordered_set>

#include "decode.h"
#include "diagnostics.h"
#include "lexer.h"
#include "parser.h"
#include "program.h"

namespace emulator {

using namespace syntax;

namespace {

int highest_version = 90;
constexpr uint32_t most_parameter_bytes = 32764;
// Initialisers are held in memory; a sparse one must not reach for a device's worth of host memory.
constexpr uint64_t most_initial_bytes = uint64_t{1} << 30;

void check_target(const Module &module, int capability) {
  if (module.target > capability)
    reject(CUDA_ERROR_INVALID_PTX, "SM version specified by .target is higher than default SM version assumed");
  bool is_other = module.target_suffix == "a"   ? module.target != capability
                  : module.target_suffix == "f" ? module.target / 10 != capability / 10
                                                : false;
  if (is_other)
    reject(CUDA_ERROR_INVALID_PTX, "PTX with .target 'sm_" + std::to_string(module.target) + module.target_suffix +
                                       "' cannot be compiled for architecture 'sm_" + std::to_string(capability) +
                                       "'");
}

void add_name(ModuleNames &names, std::string_view name, ModuleNames::Entry::Kind kind, size_t index, uint32_t line) {
  if (!names.entries.try_emplace(name, ModuleNames::Entry{kind, static_cast<uint32_t>(index)}).second)
    reject_error(line, "Duplicate definition of variable " + quoted(name));
}

void name_functions(const Module &module, ModuleNames &names) {
  for (size_t i = 0; i < module.functions.size(); ++i) {
    const Function &function = module.functions[i];
    auto [at, is_new] = names.entries.try_emplace(
        function.name, ModuleNames::Entry{ModuleNames::Entry::Kind::function, static_cast<uint32_t>(i)});
    if (is_new)
      continue;
    if (at->second.kind != ModuleNames::Entry::Kind::function)
      reject_error(function.line, "Duplicate definition of variable " + quoted(function.name));
    if (!function.has_body)
      continue;
    if (module.functions[at->second.index].has_body)
      reject_error(function.line, "Duplicate definition of function " + quoted(function.name));
    at->second.index = static_cast<uint32_t>(i);
  }
}

void put(std::vector<uint8_t> &bytes, uint64_t offset, uint64_t value, uint32_t size) {
  if (bytes.size() < offset + size)
    bytes.resize(offset + size);
  std::memcpy(&bytes[offset], &value, size);
}

uint64_t initial_bits(const Initial &initial, Type type) {
  if (initial.kind == Initial::Kind::integer) {
    if (is_float(type))
      reject_error(initial.line, "Type of initial value does not match");
    return initial.value;
  }
  if (type == Type::f32 && initial.kind == Initial::Kind::real64) {
    double wide;
    std::memcpy(&wide, &initial.value, sizeof wide);
    float narrow = static_cast<float>(wide);
    uint32_t bits;
    std::memcpy(&bits, &narrow, sizeof bits);
    return bits;
  }
  if (type == Type::f64 && initial.kind == Initial::Kind::real32) {
    uint32_t bits = static_cast<uint32_t>(initial.value);
    float narrow;
    std::memcpy(&narrow, &bits, sizeof narrow);
    double wide = narrow;
    uint64_t wide_bits;
    std::memcpy(&wide_bits, &wide, sizeof wide_bits);
    return wide_bits;
  }
  return initial.value;
}

void initialise(Variable &variable, const Declaration &declaration, const ModuleNames &names) {
  uint32_t size = bytes_of(declaration.type);
  uint64_t total = declaration.bytes();
  for (const Initial &initial : declaration.initial) {
    uint64_t offset = initial.element * size;
    if (offset + size > total)
      reject_fatal(initial.line, "Greater number of elements in array initializer");
    if (offset + size > most_initial_bytes || size > 8)
      reject_error(initial.line, "Initial value too large for the emulated driver");
    if (initial.kind != Initial::Kind::symbol) {
      put(variable.initial, offset, initial_bits(initial, declaration.type), size);
      continue;
    }
    auto at = names.entries.find(initial.symbol);
    if (at == names.entries.end())
      reject_fatal(initial.line, "Invalid initial value symbol " + quoted(initial.symbol));
    if (size != 8 || is_float(declaration.type))
      reject_error(initial.line, "Type of initial value does not match");
    if (at->second.kind == ModuleNames::Entry::Kind::function) {
      put(variable.initial, offset, function_window + at->second.index + initial.value, size);
    } else if (at->second.kind == ModuleNames::Entry::Kind::variable) {
      put(variable.initial, offset, 0, size);
      variable.relocations.push_back({offset, at->second.index, static_cast<int64_t>(initial.value)});
    } else {
      reject_fatal(initial.line, "Invalid initial value symbol " + quoted(initial.symbol));
    }
  }
}

void lay_out_variables(const Module &module, ModuleNames &names, Program &program) {
  std::unordered_set<std::string_view> defined;
  for (const Declaration &declaration : module.variables)
    if (!declaration.is_extern)
      defined.insert(declaration.name);
  for (size_t i = 0; i < module.variables.size(); ++i) {
    const Declaration &declaration = module.variables[i];
    if (declaration.is_range)
      reject_error(declaration.line, "Parameterized name " + quoted(declaration.name) + " is no register");
    if (declaration.space == Space::shared) {
      add_name(names, declaration.name, ModuleNames::Entry::Kind::shared, i, declaration.line);
    } else if (declaration.space == Space::local || declaration.is_extern) {
      // A declaration of what is defined elsewhere in the text gives way to the definition.
      if (!declaration.is_extern || !defined.count(declaration.name))
        add_name(names, declaration.name, ModuleNames::Entry::Kind::unsupported, i, declaration.line);
    } else {
      add_name(names, declaration.name, ModuleNames::Entry::Kind::variable, program.variables.size(),
               declaration.line);
      Variable variable;
      variable.name = std::string(declaration.name);
      variable.space = declaration.space == Space::constant ? VariableSpace::constant : VariableSpace::global;
      variable.size = declaration.bytes();
      variable.alignment = std::max(declaration.natural_alignment(), 1u);
      program.variables.push_back(std::move(variable));
    }
  }
}

void initialise_variables(const Module &module, const ModuleNames &names, Program &program) {
  size_t next = 0;
  for (const Declaration &declaration : module.variables)
    if (!declaration.is_extern && declaration.space != Space::shared && declaration.space != Space::local)
      initialise(program.variables[next++], declaration, names);
}

void limit_threads(Kernel &kernel, const Function &function) {
  auto product = [](const uint32_t(&values)[3]) {
    uint64_t all = 1;
    for (uint32_t value : values)
      all = std::min<uint64_t>(all * value, 1 << 20);
    return all;
  };
  if (uint64_t most = product(function.max_threads))
    kernel.max_threads = static_cast<uint32_t>(std::min<uint64_t>(most, 1024));
  if (uint64_t required = product(function.required_threads)) {
    kernel.max_threads = static_cast<uint32_t>(std::min<uint64_t>(required, 1024));
    std::copy(std::begin(function.required_threads), std::end(function.required_threads), kernel.required_block);
  }
}

void make_kernel(const Module &module, const ModuleNames &names, const Function &function, Program &program,
                 DecodeState &state) {
  Kernel kernel;
  kernel.name = std::string(function.name);
  Signature signature = lay_out(function.prototype);
  if (signature.bytes > most_parameter_bytes)
    reject_error(function.line, "Formal parameter space overflowed (" + std::to_string(signature.bytes) +
                                    " bytes required, max " + std::to_string(most_parameter_bytes) +
                                    " bytes allowed) in function " + quoted(function.name));
  kernel.parameters = std::move(signature.parameters);
  kernel.parameter_bytes = signature.bytes;
  limit_threads(kernel, function);
  for (const Variable &variable : program.variables)
    if (variable.space == VariableSpace::constant)
      kernel.const_bytes += static_cast<uint32_t>(std::min<uint64_t>(variable.size, 1 << 16));
  decode_kernel(module, names, function, kernel, state);
  program.kernels.push_back(std::move(kernel));
}

// A function that no kernel reaches must still be right.
void check_unreached(const Module &module, const ModuleNames &names, const Function &function,
                     DecodeState &state) {
  Kernel discarded;
  discarded.name = std::string(function.name);
  decode_kernel(module, names, function, discarded, state);
}

std::shared_ptr<const Program> build(std::string_view text, int capability) {
  Module module = Parser(text).parse(highest_version);
  check_target(module, capability);
  auto program = std::make_shared<Program>();
  program->version_major = module.version_major;
  program->version_minor = module.version_minor;
  program->target = module.target;
  program->target_suffix = module.target_suffix;
  ModuleNames names;
  lay_out_variables(module, names, *program);
  name_functions(module, names);
  initialise_variables(module, names, *program);
  DecodeState state;
  state.reached.resize(module.functions.size());
  for (const Function &function : module.functions)
    if (function.is_entry && function.has_body)
      make_kernel(module, names, function, *program, state);
  for (size_t i = 0; i < module.functions.size(); ++i)
    if (!module.functions[i].is_entry && module.functions[i].has_body && !state.reached[i])
      check_unreached(module, names, module.functions[i], state);
  return program;
}

} // namespace

void set_highest_version(int version) { highest_version = version; }

Compilation compile(std::string_view text, int capability) {
  if (!looks_like_ptx(text))
    return {CUDA_ERROR_INVALID_IMAGE, "", nullptr};
  try {
    return {CUDA_SUCCESS, "", build(text, capability)};
  } catch (const Rejection &rejection) {
    return {rejection.status, rejection.log, nullptr};
  } catch (const std::bad_alloc &) {
    return {CUDA_ERROR_INVALID_PTX, "ptxas fatal   : Memory allocation failure", nullptr};
  } catch (const std::length_error &) {
    return {CUDA_ERROR_INVALID_PTX, "ptxas fatal   : Memory allocation failure", nullptr};
  }
}

} // namespace emulator
