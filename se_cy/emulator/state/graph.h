// SPDX-License-Identifier: Apache-2.0
// Graphs, made by hand or by a capture, and executable ones, which are copies that no longer see their graph.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <cuda.h>

#include "launch_request.h"
#include "work.h"

namespace emulator {

class Process;
struct Stream;

// What a node does in each run of its graph.
struct NodeWork {
  using Make = std::function<std::unique_ptr<Action>()>;

  CUgraphNodeType type;
  std::shared_ptr<Context> context;
  std::optional<KernelLaunch> kernel;
  Make make; // for a node that is no kernel

  std::unique_ptr<Action> action(const Process &process) const;
};

struct GraphNode {
  CUgraphNode handle;
  CUgraph graph;
  NodeWork work;
  std::vector<CUgraphNode> dependencies; // earlier ones of the graph
  std::vector<void *> parameters = {};   // where each of the kernel's lies, for who asks
};

struct Graph {
  CUgraph handle;
  std::vector<std::shared_ptr<GraphNode>> nodes = {}; // each behind those it depends on
  bool capturing = false; // a capture still adds to it
};

struct GraphExec {
  struct Node {
    CUgraphNode original;
    NodeWork work;
    std::vector<size_t> dependencies;
  };

  CUgraphExec handle;
  std::vector<Node> nodes;
  WorkPointer last_run = nullptr; // runs do not overlap, whatever their streams

  Node *find(CUgraphNode original);
};

std::shared_ptr<Graph> create_graph(Process &process);
std::shared_ptr<GraphNode> add_node(Process &process, Graph &graph, NodeWork work,
                                    std::vector<CUgraphNode> dependencies);
void destroy_graph(Process &process, const Graph &graph);
std::shared_ptr<GraphExec> instantiate(Process &process, const Graph &graph);
void enqueue_run(Process &process, GraphExec &graph, Stream &stream);

} // namespace emulator
