// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "../state/capture.h"
#include "call.h"
#include "graphs.h"

using namespace emulator;

namespace {

CUresult resolve_executable(Process &process, CUgraphExec handle, std::shared_ptr<GraphExec> &graph) {
  graph = process.graph_execs.find(handle);
  return graph ? CUDA_SUCCESS : refuse_graph_handle(process.graph_execs, handle);
}

CUresult check_contexts(const Process &process, const GraphExec &graph) {
  for (const GraphExec::Node &node : graph.nodes) {
    RETURN_IF_FAILED(node.work.context->fault);
    if (node.work.context->destroyed)
      return refuse(CUDA_ERROR_INVALID_HANDLE, "a node belongs to a context that is gone; " +
                                                   process.graph_execs.describe(graph.handle));
  }
  return CUDA_SUCCESS;
}

// This driver does not nest graphs: the H200 refused it too.
CUresult check_stream(const Process &process, const Stream &stream) {
  RETURN_IF_FAILED(check_use(process, stream));
  return stream.capture ? refuse_in_capture(stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                                            "a graph is launched into a capture")
                        : CUDA_SUCCESS;
}

} // namespace

DRIVER_FUNCTION cuGraphInstantiateWithFlags(CUgraphExec *handle, CUgraph graph_handle, unsigned long long flags) DRIVER_TRY {
  Call call("cuGraphInstantiate", handle, graph_handle, flags);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<Graph> graph;
  RETURN_IF_FAILED(resolve_graph(call.process, graph_handle, graph));
  // Graphs here have no memory nodes to free, and streams no priorities that count.
  constexpr unsigned long long taken =
      CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
    return refuse(CUDA_ERROR_NOT_SUPPORTED, "the emulated driver has no launch of graphs by the device");
  if (!handle || (flags & ~taken))
    return CUDA_ERROR_INVALID_VALUE;
  if (graph->capturing)
    return refuse(CUDA_ERROR_INVALID_VALUE, "the graph belongs to a capture until that ends");
  std::shared_ptr<Context> context;
  RETURN_IF_FAILED(resolve_current(call.process, context));
  RETURN_IF_FAILED(check_unsafe(call.process));
  *handle = instantiate(call.process, *graph)->handle;
  return CUDA_SUCCESS;
} DRIVER_CATCH

// Runs that have been launched go on.
DRIVER_FUNCTION cuGraphExecDestroy(CUgraphExec handle) DRIVER_TRY {
  Call call("cuGraphExecDestroy", handle);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<GraphExec> graph;
  RETURN_IF_FAILED(resolve_executable(call.process, handle, graph));
  call.process.graph_execs.erase(handle);
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuGraphLaunch(CUgraphExec handle, CUstream stream_handle) DRIVER_TRY {
  Call call("cuGraphLaunch", handle, stream_handle);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<GraphExec> graph;
  RETURN_IF_FAILED(resolve_executable(call.process, handle, graph));
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(resolve_stream(call.process, stream_handle, stream));
  RETURN_IF_FAILED(check_stream(call.process, *stream));
  RETURN_IF_FAILED(check_contexts(call.process, *graph));
  RETURN_IF_FAILED(call.wait_for_room(stream));
  // Another thread may have destroyed or reset any of it, or begun a capture, during the wait.
  RETURN_IF_FAILED(resolve_executable(call.process, handle, graph));
  RETURN_IF_FAILED(check_stream(call.process, *stream));
  RETURN_IF_FAILED(check_contexts(call.process, *graph));
  enqueue_run(call.process, *graph, *stream);
  return CUDA_SUCCESS;
} DRIVER_CATCH

// There is nothing to prepare: launches cost the same without it.
DRIVER_FUNCTION cuGraphUpload(CUgraphExec handle, CUstream stream_handle) DRIVER_TRY {
  Call call("cuGraphUpload", handle, stream_handle);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<GraphExec> graph;
  RETURN_IF_FAILED(resolve_executable(call.process, handle, graph));
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(resolve_stream(call.process, stream_handle, stream));
  RETURN_IF_FAILED(check_stream(call.process, *stream));
  return check_contexts(call.process, *graph);
} DRIVER_CATCH

// The node names what is changed, so that it has to be alive: an executable graph is of little use without its graph.
DRIVER_FUNCTION cuGraphExecKernelNodeSetParams_v2(CUgraphExec handle, CUgraphNode node_handle,
                                                  const CUDA_KERNEL_NODE_PARAMS *parameters) DRIVER_TRY {
  Call call("cuGraphExecKernelNodeSetParams", handle, node_handle, parameters);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<GraphExec> graph;
  RETURN_IF_FAILED(resolve_executable(call.process, handle, graph));
  std::shared_ptr<GraphNode> original;
  RETURN_IF_FAILED(resolve_kernel_node(call.process, node_handle, original));
  GraphExec::Node *node = graph->find(node_handle);
  if (!node)
    return refuse(CUDA_ERROR_INVALID_VALUE, "the node is of another graph, or was added after the instantiation");
  KernelLaunch launch;
  RETURN_IF_FAILED(read_kernel(call.process, parameters, node->work.kernel->cooperative, launch));
  if (launch.function->module->context != node->work.context)
    return refuse(CUDA_ERROR_INVALID_VALUE, "the context of an executable node's function can't change");
  node->work.kernel = std::move(launch);
  return CUDA_SUCCESS;
} DRIVER_CATCH
