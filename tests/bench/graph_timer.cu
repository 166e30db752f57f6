// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <chrono>
#include <memory>
#include <type_traits>
#include <vector>

#include "cuda/core/cuda_check.h"
#include "tests/bench/graph_timer.h"

namespace cudavision::bench {
namespace {

struct Destroy {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
  void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
  void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
};
template <class Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy>;

Owned<cudaEvent_t> record_event(cudaStream_t stream) {
  cudaEvent_t event = nullptr;
  cuda_check(cudaEventCreate(&event), "creating an event");
  Owned<cudaEvent_t> owned(event);
  cuda_check(cudaEventRecord(event, stream), "recording an event");
  return owned;
}

double time_of(cudaStream_t stream, const std::function<void()>& enqueue) {
  const Owned<cudaEvent_t> start = record_event(stream);
  enqueue();
  const Owned<cudaEvent_t> stop = record_event(stream);
  cuda_check(cudaEventSynchronize(stop.get()), "the work on the GPU");
  float milliseconds = 0;
  cuda_check(cudaEventElapsedTime(&milliseconds, start.get(), stop.get()), "reading the time");
  return milliseconds * 1000.0;
}

double median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

using Graph = Owned<cudaGraphExec_t>;

Graph capture(cudaStream_t stream, const std::function<void()>& work, int repeats) {
  cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
             "beginning a capture");
  for (int i = 0; i < repeats; ++i)
    work();
  cudaGraph_t captured = nullptr;
  cuda_check(cudaStreamEndCapture(stream, &captured), "ending a capture");
  const Owned<cudaGraph_t> owned(captured);
  cudaGraphExec_t graph = nullptr;
  cuda_check(cudaGraphInstantiate(&graph, captured, 0), "instantiating a graph");
  return Graph(graph);
}

double median_replay(cudaStream_t stream, const Graph& graph, int replays) {
  std::vector<double> times;
  for (int i = 0; i < replays; ++i)
    times.push_back(time_of(
        stream, [&] { cuda_check(cudaGraphLaunch(graph.get(), stream), "launching a graph"); }));
  return median(times);
}

__global__ void plain_copy_kernel(const uint4* from, uint4* to, std::size_t count) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count)
    to[i] = from[i];
}

}  // namespace

double graph_time(CudaStream stream, const std::function<void()>& work) {
  work();  // loads the kernels, which a capture does not allow
  cuda_check(cudaStreamSynchronize(stream), "the work on the GPU");

  // A replay is long enough to hide the cost of a launch, and short enough to be repeated often.
  constexpr double replay_microseconds = 4000;
  constexpr int probe_repeats = 10, replays = 51;
  const double once =
      median_replay(stream, capture(stream, work, probe_repeats), 5) / probe_repeats;
  const int repeats = static_cast<int>(std::clamp(replay_microseconds / once, 10.0, 2000.0));
  const Graph graph = capture(stream, work, repeats);
  median_replay(stream, graph, 5);
  return median_replay(stream, graph, replays) / repeats;
}

LaunchedTime launched_time(CudaStream stream, const std::function<void()>& work) {
  constexpr double run_microseconds = 10000;
  constexpr int probe_repeats = 10, runs = 31;
  double host_microseconds = 0;
  const auto time_repeated = [&](int repeats) {
    return time_of(stream, [&] {
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < repeats; ++i)
        work();
      const std::chrono::duration<double, std::micro> host =
          std::chrono::steady_clock::now() - begin;
      host_microseconds = host.count();
    });
  };
  time_repeated(1);  // loads the kernels and builds the graph
  time_repeated(probe_repeats);
  const double once = time_repeated(probe_repeats) / probe_repeats;
  const int repeats = static_cast<int>(std::clamp(run_microseconds / once, 10.0, 200.0));
  std::vector<double> times, host_times;
  for (int i = 0; i < runs; ++i) {
    times.push_back(time_repeated(repeats));
    host_times.push_back(host_microseconds);
  }
  return {median(times) / repeats, median(host_times) / repeats};
}

void enqueue_plain_copy(CudaStream stream, const void* from, void* to, std::size_t bytes) {
  constexpr unsigned threads = 256;
  const std::size_t count = bytes / sizeof(uint4);
  const auto blocks = static_cast<unsigned>((count + threads - 1) / threads);
  plain_copy_kernel<<<blocks, threads, 0, stream>>>(static_cast<const uint4*>(from),
                                                    static_cast<uint4*>(to), count);
  cuda_check(cudaGetLastError(), "launching the plain copy");
}

}  // namespace cudavision::bench
