// SPDX-License-Identifier: Apache-2.0
#include "graph.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "process.h"

namespace emulator {

namespace {

// A graph does not keep its kernels' modules: unloading one makes its run a fault.
class LostKernel : public Action {
public:
  explicit LostKernel(std::string message) : message_(std::move(message)) {}
  bool run(uint64_t) override { return true; }
  Fault fault() const override { return {CUDA_ERROR_ILLEGAL_ADDRESS, message_}; }

private:
  std::string message_;
};

} // namespace

std::unique_ptr<Action> NodeWork::action(const Process &process) const {
  if (!kernel)
    return make();
  const Function &function = *kernel->function;
  if (process.functions.find(function.handle) == kernel->function)
    return make_action(*kernel);
  return std::make_unique<LostKernel>("a graph runs kernel " + function.kernel->name + ", whose module is gone: " +
                                      process.modules.describe(function.module->handle));
}

GraphExec::Node *GraphExec::find(CUgraphNode original) {
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [&](const Node &node) { return node.original == original; });
  return found == nodes.end() ? nullptr : &*found;
}

std::shared_ptr<Graph> create_graph(Process &process) {
  auto graph = std::make_shared<Graph>(Graph{process.graphs.reserve()});
  process.graphs.put(graph->handle, graph);
  return graph;
}

std::shared_ptr<GraphNode> add_node(Process &process, Graph &graph, NodeWork work,
                                    std::vector<CUgraphNode> dependencies) {
  std::shared_ptr<GraphNode> node(
      new GraphNode{process.graph_nodes.reserve(), graph.handle, std::move(work), std::move(dependencies)});
  process.graph_nodes.put(node->handle, node);
  graph.nodes.push_back(node);
  return node;
}

void destroy_graph(Process &process, const Graph &graph) {
  for (const auto &node : graph.nodes)
    process.graph_nodes.erase(node->handle);
  process.graphs.erase(graph.handle);
}

std::shared_ptr<GraphExec> instantiate(Process &process, const Graph &graph) {
  auto executable = std::make_shared<GraphExec>(GraphExec{process.graph_execs.reserve(), {}});
  std::unordered_map<CUgraphNode, size_t> position;
  for (const auto &node : graph.nodes) {
    std::vector<size_t> dependencies;
    for (const CUgraphNode before : node->dependencies)
      dependencies.push_back(position.at(before));
    position[node->handle] = executable->nodes.size();
    executable->nodes.push_back({node->handle, node->work, std::move(dependencies)});
  }
  process.graph_execs.put(executable->handle, executable);
  return executable;
}

void enqueue_run(Process &process, GraphExec &graph, Stream &stream) {
  const WorkPointer head = stream.enqueue(process.scheduler, nullptr, {graph.last_run});
  std::vector<WorkPointer> works;
  for (const GraphExec::Node &node : graph.nodes) {
    auto work = std::make_shared<Work>();
    work->context = node.work.context;
    work->action = node.work.action(process);
    work->takes_place = false; // a launch takes one, however many nodes it runs
    for (const size_t before : node.dependencies)
      work->predecessors.push_back(works[before]);
    if (node.dependencies.empty())
      work->predecessors.push_back(head);
    process.scheduler.enqueue(work);
    works.push_back(work);
  }
  graph.last_run = stream.enqueue(process.scheduler, nullptr, works);
}

} // namespace emulator
