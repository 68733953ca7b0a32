// SPDX-License-Identifier: Apache-2.0
#include "graphs.h"

#include <algorithm>
#include <utility>

#include "call.h"

using namespace emulator;

namespace emulator {

CUresult resolve_graph(Process &process, CUgraph handle, std::shared_ptr<Graph> &graph) {
  graph = process.graphs.find(handle);
  return graph ? CUDA_SUCCESS : refuse_graph_handle(process.graphs, handle);
}

CUresult resolve_kernel_node(Process &process, CUgraphNode handle, std::shared_ptr<GraphNode> &node) {
  node = process.graph_nodes.find(handle);
  if (!node)
    return refuse_graph_handle(process.graph_nodes, handle);
  return node->work.kernel ? CUDA_SUCCESS : refuse(CUDA_ERROR_INVALID_VALUE, "the node is no kernel node");
}

CUresult read_kernel(Process &process, const CUDA_KERNEL_NODE_PARAMS *parameters, bool cooperative,
                     KernelLaunch &launch) {
  if (!parameters || (!parameters->func && !parameters->kern) || (cooperative && parameters->extra))
    return CUDA_ERROR_INVALID_VALUE;
  if (!parameters->func)
    return refuse(CUDA_ERROR_NOT_SUPPORTED, "the emulated driver has no libraries whose kernels a node could run");
  std::shared_ptr<Function> function;
  RETURN_IF_FAILED(resolve_function(process, parameters->func, function));
  const LaunchRequest request{{parameters->gridDimX, parameters->gridDimY, parameters->gridDimZ},
                              {parameters->blockDimX, parameters->blockDimY, parameters->blockDimZ},
                              parameters->sharedMemBytes,
                              parameters->kernelParams,
                              parameters->extra,
                              cooperative};
  RETURN_IF_FAILED(request.check(*function));
  return request.prepare(function, launch);
}

} // namespace emulator

namespace {

CUresult read_dependencies(Process &process, const Graph &graph, const CUgraphNode *given, size_t count,
                           std::vector<CUgraphNode> &dependencies) {
  if (count && !given)
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    const auto node = process.graph_nodes.find(given[i]);
    if (!node)
      return refuse_graph_handle(process.graph_nodes, given[i]);
    if (node->graph != graph.handle)
      return refuse(CUDA_ERROR_INVALID_VALUE, "a node would depend on one of another graph");
    if (std::find(dependencies.begin(), dependencies.end(), given[i]) != dependencies.end())
      return refuse(CUDA_ERROR_INVALID_VALUE, "the dependencies name a node twice");
    dependencies.push_back(given[i]);
  }
  return CUDA_SUCCESS;
}

} // namespace

DRIVER_FUNCTION cuGraphCreate(CUgraph *handle, unsigned int flags) DRIVER_TRY {
  Call call("cuGraphCreate", handle, flags);
  RETURN_IF_FAILED(call.begin());
  if (!handle || flags)
    return CUDA_ERROR_INVALID_VALUE;
  *handle = create_graph(call.process)->handle;
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuGraphDestroy(CUgraph handle) DRIVER_TRY {
  Call call("cuGraphDestroy", handle);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<Graph> graph;
  RETURN_IF_FAILED(resolve_graph(call.process, handle, graph));
  if (graph->capturing)
    return refuse(CUDA_ERROR_INVALID_VALUE, "the graph belongs to a capture until that ends");
  destroy_graph(call.process, *graph);
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuGraphAddKernelNode_v2(CUgraphNode *handle, CUgraph graph_handle, const CUgraphNode *dependencies,
                                        size_t count, const CUDA_KERNEL_NODE_PARAMS *parameters) DRIVER_TRY {
  Call call("cuGraphAddKernelNode", handle, graph_handle, dependencies, count, parameters);
  RETURN_IF_FAILED(call.begin());
  if (!handle)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Graph> graph;
  RETURN_IF_FAILED(resolve_graph(call.process, graph_handle, graph));
  std::vector<CUgraphNode> before;
  RETURN_IF_FAILED(read_dependencies(call.process, *graph, dependencies, count, before));
  KernelLaunch launch;
  RETURN_IF_FAILED(read_kernel(call.process, parameters, false, launch));
  const std::shared_ptr<Context> context = launch.function->module->context;
  *handle = add_node(call.process, *graph, {CU_GRAPH_NODE_TYPE_KERNEL, context, std::move(launch), {}},
                     std::move(before))
                ->handle;
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuGraphGetNodes(CUgraph handle, CUgraphNode *nodes, size_t *count) DRIVER_TRY {
  Call call("cuGraphGetNodes", handle, nodes, count);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<Graph> graph;
  RETURN_IF_FAILED(resolve_graph(call.process, handle, graph));
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  if (nodes)
    for (size_t i = 0; i < *count; ++i)
      nodes[i] = i < graph->nodes.size() ? graph->nodes[i]->handle : nullptr;
  *count = nodes ? std::min(*count, graph->nodes.size()) : graph->nodes.size();
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType *type) DRIVER_TRY {
  Call call("cuGraphNodeGetType", handle, type);
  RETURN_IF_FAILED(call.begin());
  const auto node = call.process.graph_nodes.find(handle);
  if (!node)
    return refuse_graph_handle(call.process.graph_nodes, handle);
  if (!type)
    return CUDA_ERROR_INVALID_VALUE;
  *type = node->work.type;
  return CUDA_SUCCESS;
} DRIVER_CATCH

// What the answer points to is the node's own.
DRIVER_FUNCTION cuGraphKernelNodeGetParams_v2(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS *parameters) DRIVER_TRY {
  Call call("cuGraphKernelNodeGetParams", handle, parameters);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<GraphNode> node;
  RETURN_IF_FAILED(resolve_kernel_node(call.process, handle, node));
  if (!parameters)
    return CUDA_ERROR_INVALID_VALUE;
  KernelLaunch &launch = *node->work.kernel;
  node->parameters.clear();
  for (const auto &parameter : launch.function->kernel->parameters)
    node->parameters.push_back(launch.arguments.data() + parameter.offset);
  *parameters = {};
  parameters->func = launch.function->handle;
  parameters->gridDimX = launch.grid.x;
  parameters->gridDimY = launch.grid.y;
  parameters->gridDimZ = launch.grid.z;
  parameters->blockDimX = launch.block.x;
  parameters->blockDimY = launch.block.y;
  parameters->blockDimZ = launch.block.z;
  parameters->sharedMemBytes = launch.dynamic_shared_bytes;
  parameters->kernelParams = node->parameters.empty() ? nullptr : node->parameters.data();
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuGraphKernelNodeSetParams_v2(CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS *parameters) DRIVER_TRY {
  Call call("cuGraphKernelNodeSetParams", handle, parameters);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<GraphNode> node;
  RETURN_IF_FAILED(resolve_kernel_node(call.process, handle, node));
  KernelLaunch launch;
  RETURN_IF_FAILED(read_kernel(call.process, parameters, node->work.kernel->cooperative, launch));
  node->work.context = launch.function->module->context;
  node->work.kernel = std::move(launch);
  return CUDA_SUCCESS;
} DRIVER_CATCH
