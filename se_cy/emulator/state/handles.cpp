// SPDX-License-Identifier: Apache-2.0
#include "handles.h"

#include <cstdio>

namespace emulator {

const char *name_of(HandleKind kind) {
  switch (kind) {
  case HandleKind::context: return "context";
  case HandleKind::module: return "module";
  case HandleKind::function: return "function";
  case HandleKind::stream: return "stream";
  case HandleKind::event: return "event";
  case HandleKind::library: return "library";
  case HandleKind::kernel: return "kernel";
  case HandleKind::graph: return "graph";
  case HandleKind::graph_node: return "graph node";
  case HandleKind::graph_exec: return "executable graph";
  }
  return nullptr;
}

namespace {

std::string with_article(const std::string &name) { return (name[0] == 'e' ? "an " : "a ") + name; }

} // namespace

std::string describe_handle(HandleKind kind, uint64_t value, bool issued, const History *history) {
  const std::string name = name_of(kind);
  if (!value)
    return "the " + name + " handle is null";
  char number[24];
  std::snprintf(number, sizeof number, "0x%llx", static_cast<unsigned long long>(value));
  if (history)
    return name + " " + number + " was " + history->text();
  if (issued)
    return name + " " + number + " was released long ago";
  const bool ours = value >> 44 == handle_prefix >> 44 && value % 16 == 0;
  const char *other = ours ? name_of(static_cast<HandleKind>(value >> 40 & 0xf)) : nullptr;
  if (other && other != name)
    return std::string(number) + " is the handle of " + with_article(other) + ", not of " + with_article(name);
  return std::string(number) + " is no handle of this driver";
}

} // namespace emulator
