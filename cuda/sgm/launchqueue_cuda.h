// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: launches a frame's kernels as a CUDA graph. The host of an H200 needs 1 to 15 µs
// for a graph, and 24 to 56 µs to launch the same kernels one by one.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "cuda/core/cuda_launch.h"

namespace cudavision::sgm {

template <class Arguments>
using Kernel = void (*)(Arguments);

enum class Start : std::uint8_t {
  overlapping,  ///< may start before the previous launch ends; must call grid_dependency_wait()
  in_order,     ///< starts after the previous launch has ended
};

/// Launches kernels on a stream, in order. Launches between begin_frame() and end_frame() become a
/// graph. If the next frame has the same launches, only the arguments in the graph are replaced.
class LaunchQueue {
 public:
  explicit LaunchQueue(cudaStream_t stream);

  template <class Arguments>
  void launch(Kernel<Arguments> kernel, unsigned blocks, unsigned threads, std::size_t shared_bytes,
              const Arguments& arguments, Start start = Start::overlapping) {
    static_assert(std::is_trivially_copyable_v<Arguments>);
    add({reinterpret_cast<const void*>(kernel), blocks, threads, shared_bytes,
         start == Start::overlapping && overlapping_},
        &arguments, sizeof arguments);
  }

  /// Calls both functions, whose launches may run concurrently. Do not nest calls.
  template <class First, class Second>
  void run_concurrently(const First& first, const Second& second) {
    const Predecessors before = tails_;
    first();
    const Predecessors ends = std::exchange(tails_, before);
    second();
    if (recording_)
      tails_.add(ends);
  }

  /// Begins to record, and drops a frame that was not ended. If the stream is being captured,
  /// nothing is recorded and launches go to the stream directly.
  void begin_frame();
  /// Launches the recorded graph. Call it before enqueuing other work on the stream.
  void end_frame();

 private:
  /// Indices (into Recording::launches) of the launches that a recorded launch must wait for.
  struct Predecessors {
    int numbers[2]{};
    int count = 0;

    void add(const Predecessors& others);
    bool operator==(const Predecessors&) const = default;
  };
  struct Recorded {
    KernelLaunch launch;
    Predecessors after;
    std::size_t argument;  ///< byte offset in Recording::arguments
    std::size_t argument_bytes;

    bool operator==(const Recorded&) const = default;
  };
  struct Recording {
    std::vector<Recorded> launches;
    std::vector<std::byte> arguments;

    void* argument_of(const Recorded& recorded) { return arguments.data() + recorded.argument; }
  };
  struct Destroy {
    void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
    void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
  };
  template <class Handle>
  using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy>;

  void add(const KernelLaunch& launch, const void* argument, std::size_t bytes);
  void build_graph();
  void update_graph();

  cudaStream_t stream_;
  bool overlapping_;
  bool recording_ = false;
  Recording now_, last_;  // this frame's launches, and the launches in the graph
  Predecessors tails_;    // launches that the next launch must wait for
  Owned<cudaGraph_t> graph_;
  std::vector<cudaGraphNode_t> nodes_;
  Owned<cudaGraphExec_t> executable_;
};

}  // namespace cudavision::sgm
