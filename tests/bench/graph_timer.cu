// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <chrono>
#include <vector>

#include "cuda/core/cuda_check.h"
#include "tests/bench/graph_timer.h"

namespace cudavision::bench {
namespace {

/// Two events that time what is enqueued between them.
class EventPair {
 public:
  explicit EventPair(cudaStream_t stream) : stream_(stream) {
    cuda_check(cudaEventCreate(&start_), "creating an event");
    cuda_check(cudaEventCreate(&stop_), "creating an event");
  }
  ~EventPair() {
    if (stop_)
      cudaEventDestroy(stop_);
    if (start_)
      cudaEventDestroy(start_);
  }
  EventPair(const EventPair&) = delete;
  EventPair& operator=(const EventPair&) = delete;

  /// Returns the time of the GPU in microseconds.
  double time(const std::function<void()>& enqueue) const {
    cuda_check(cudaEventRecord(start_, stream_), "recording an event");
    enqueue();
    cuda_check(cudaEventRecord(stop_, stream_), "recording an event");
    cuda_check(cudaEventSynchronize(stop_), "the work on the GPU");
    float milliseconds = 0;
    cuda_check(cudaEventElapsedTime(&milliseconds, start_, stop_), "reading the time");
    return milliseconds * 1000.0;
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

double median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

/// A graph that repeats some work.
class RepeatGraph {
 public:
  RepeatGraph(cudaStream_t stream, const std::function<void()>& work, int repeats)
      : stream_(stream), events_(stream) {
    cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
               "beginning a capture");
    cudaGraph_t graph = nullptr;
    try {
      for (int i = 0; i < repeats; ++i)
        work();
    } catch (...) {
      cudaStreamEndCapture(stream, &graph);
      if (graph)
        cudaGraphDestroy(graph);
      throw;
    }
    cuda_check(cudaStreamEndCapture(stream, &graph), "ending a capture");
    const cudaError_t status = cudaGraphInstantiate(&executable_, graph, 0);
    cudaGraphDestroy(graph);
    cuda_check(status, "instantiating a graph");
  }

  ~RepeatGraph() {
    if (executable_)
      cudaGraphExecDestroy(executable_);
  }
  RepeatGraph(const RepeatGraph&) = delete;
  RepeatGraph& operator=(const RepeatGraph&) = delete;

  /// Replays the graph once and returns the time in microseconds.
  double replay() const {
    return events_.time(
        [&] { cuda_check(cudaGraphLaunch(executable_, stream_), "launching a graph"); });
  }

  double median_replay(int replays) const {
    std::vector<double> times;
    for (int i = 0; i < replays; ++i)
      times.push_back(replay());
    return median(times);
  }

 private:
  cudaStream_t stream_;
  cudaGraphExec_t executable_ = nullptr;
  EventPair events_;
};

__global__ void plain_copy_kernel(const uint4* from, uint4* to, std::size_t count) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count)
    to[i] = from[i];
}

}  // namespace

void GraphTimer::warm_up(const std::function<void()>& work) const {
  const RepeatGraph graph(stream_, work, 100);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  while (std::chrono::steady_clock::now() < end)
    graph.replay();
}

double GraphTimer::microseconds(const std::function<void()>& work) const {
  work();  // loads the kernels, which must happen outside of a capture
  cuda_check(cudaStreamSynchronize(stream_), "the work on the GPU");

  // Replays take long enough for their launch not to matter, and are short enough to run many.
  constexpr double replay_microseconds = 4000;
  constexpr int probe_repeats = 10, replays = 51;
  const double once = RepeatGraph(stream_, work, probe_repeats).median_replay(5) / probe_repeats;
  const int repeats = static_cast<int>(std::clamp(replay_microseconds / once, 10.0, 2000.0));
  const RepeatGraph graph(stream_, work, repeats);
  graph.median_replay(5);
  return graph.median_replay(replays) / repeats;
}

GraphTimer::Launched GraphTimer::launched(const std::function<void()>& work) const {
  constexpr double run_microseconds = 10000;
  constexpr int probe_repeats = 10, runs = 31;
  const EventPair events(stream_);
  const auto repeat = [&](int repeats) {
    for (int i = 0; i < repeats; ++i)
      work();
  };
  repeat(1);  // loads the kernels and builds the graph
  events.time([&] { repeat(probe_repeats); });
  const double once = events.time([&] { repeat(probe_repeats); }) / probe_repeats;
  const int repeats = static_cast<int>(std::clamp(run_microseconds / once, 10.0, 200.0));
  std::vector<double> times, host_times;
  for (int i = 0; i < runs; ++i)
    times.push_back(events.time([&] {
      const auto begin = std::chrono::steady_clock::now();
      repeat(repeats);
      host_times.push_back(
          std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
              .count());
    }));
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
