// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>

#include "cuda/core/division.h"
#include "cuda/sgm/launchqueue_cuda.h"

namespace cudavision::sgm {
namespace {

__global__ void empty_kernel() {}

cudaKernelNodeParams node_parameters(const KernelLaunch& launch, void** arguments) {
  cudaKernelNodeParams parameters{};
  parameters.func = const_cast<void*>(launch.kernel);
  parameters.gridDim = dim3(launch.blocks);
  parameters.blockDim = dim3(launch.threads);
  parameters.sharedMemBytes = static_cast<unsigned>(launch.shared_bytes);
  parameters.kernelParams = arguments;
  return parameters;
}

void add_edge(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to, bool overlapping) {
  cudaError_t status;
#if CUDART_VERSION >= 12030
  cudaGraphEdgeData edge{};
  if (overlapping) {
    edge.from_port = cudaGraphKernelNodePortProgrammatic;
    edge.type = cudaGraphDependencyTypeProgrammatic;
  }
#if CUDART_VERSION >= 13000
  status = cudaGraphAddDependencies(graph, &from, &to, &edge, 1);
#else
  status = cudaGraphAddDependencies_v2(graph, &from, &to, &edge, 1);
#endif
#else
  static_cast<void>(overlapping);
  status = cudaGraphAddDependencies(graph, &from, &to, 1);
#endif
  cuda_check(status, "adding a dependency to a CUDA graph");
}

}  // namespace

void LaunchQueue::Predecessors::add(const Predecessors& others) {
  if (count + others.count > static_cast<int>(std::size(numbers)))
    throw std::logic_error("a launch can wait for 2 launches, not " +
                           std::to_string(count + others.count) +
                           ": do not nest run_concurrently()");
  std::copy_n(others.numbers, others.count, numbers + count);
  count += others.count;
}

LaunchQueue::LaunchQueue(cudaStream_t stream)
    : stream_(stream), overlapping_(can_overlap(reinterpret_cast<const void*>(empty_kernel))) {}

void LaunchQueue::begin_frame() {
  now_.launches.clear();
  now_.arguments.clear();
  tails_ = {};
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  cuda_check(cudaStreamIsCapturing(stream_, &capture), "querying the capture state of a stream");
  recording_ = capture == cudaStreamCaptureStatusNone;
}

void LaunchQueue::add(const KernelLaunch& launch, const void* argument, std::size_t bytes) {
  if (!recording_) {
    launch_kernel(stream_, launch, argument);
    return;
  }
  const std::size_t begin = round_up(now_.arguments.size(), alignof(std::max_align_t));
  now_.arguments.resize(begin + bytes);
  std::memcpy(now_.arguments.data() + begin, argument, bytes);
  now_.launches.push_back({launch, tails_, begin, bytes});
  tails_ = {{static_cast<int>(now_.launches.size()) - 1}, 1};
}

void LaunchQueue::end_frame() {
  if (!std::exchange(recording_, false) || now_.launches.empty())
    return;
  if (executable_ && now_.launches == last_.launches)
    update_graph();
  else
    build_graph();
  std::swap(now_, last_);
  cuda_check(cudaGraphLaunch(executable_.get(), stream_), "launching a CUDA graph");
}

void LaunchQueue::build_graph() {
  constexpr char action[] = "building a CUDA graph";
  executable_.reset();
  nodes_.clear();
  cudaGraph_t graph = nullptr;
  cuda_check(cudaGraphCreate(&graph, 0), action);
  graph_.reset(graph);
  for (const Recorded& recorded : now_.launches) {
    void* arguments[] = {now_.argument_of(recorded)};
    const cudaKernelNodeParams parameters = node_parameters(recorded.launch, arguments);
    cudaGraphNode_t node = nullptr;
    cuda_check(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &parameters), action);
    // A kernel can start early only if it waits for a single kernel.
    const bool overlapping = recorded.launch.overlapping && recorded.after.count == 1;
    for (int i = 0; i < recorded.after.count; ++i)
      add_edge(graph, nodes_[static_cast<std::size_t>(recorded.after.numbers[i])], node,
               overlapping);
    nodes_.push_back(node);
  }
  cudaGraphExec_t executable = nullptr;
  cuda_check(cudaGraphInstantiate(&executable, graph, 0), action);
  executable_.reset(executable);
}

void LaunchQueue::update_graph() {
  // If an update throws, the graph has only some of the new arguments, so it is destroyed.
  Owned<cudaGraphExec_t> executable = std::move(executable_);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Recorded& recorded = now_.launches[i];
    void* arguments[] = {now_.argument_of(recorded)};
    if (std::memcmp(arguments[0], last_.argument_of(last_.launches[i]), recorded.argument_bytes) ==
        0)
      continue;
    const cudaKernelNodeParams parameters = node_parameters(recorded.launch, arguments);
    cuda_check(cudaGraphExecKernelNodeSetParams(executable.get(), nodes_[i], &parameters),
               "updating the arguments of a CUDA graph");
  }
  executable_ = std::move(executable);
}

}  // namespace cudavision::sgm
