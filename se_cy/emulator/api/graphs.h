// SPDX-License-Identifier: Apache-2.0
// From graph handles and kernel parameters to what they stand for. The driver calls a wrong handle of this family an
// invalid value.
#pragma once

#include <memory>

#include <cuda.h>

#include "../state/graph.h"
#include "../state/resolve.h"

namespace emulator {

template <class Table, class Handle> CUresult refuse_graph_handle(const Table &table, Handle handle) {
  return refuse(CUDA_ERROR_INVALID_VALUE, table.describe(handle));
}

CUresult resolve_graph(Process &process, CUgraph handle, std::shared_ptr<Graph> &graph);
CUresult resolve_kernel_node(Process &process, CUgraphNode handle, std::shared_ptr<GraphNode> &node);
// Checks a kernel node's parameters as a launch's, and copies the arguments.
CUresult read_kernel(Process &process, const CUDA_KERNEL_NODE_PARAMS *parameters, bool cooperative,
                     KernelLaunch &launch);

} // namespace emulator
