// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: the launches of a frame as a CUDA graph. On the host of an H200, a frame's
// launches took 24 to 56 µs one by one, and take 1 to 15 µs as a graph.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "cuda/core/cuda_launch.h"

namespace cudavision::sgm {

template <class Arguments>
using Kernel = void (*)(Arguments);

/// How a kernel starts.
enum class Start : std::uint8_t {
  overlapping,  ///< while the launch before it drains; the kernel calls grid_dependency_wait()
  in_order,     ///< after the launch before it
};

/// Launches kernels on a stream, one after the other. Those between begin_frame() and end_frame()
/// become a graph, which end_frame() launches. The graph of the last frame is kept. A frame with
/// the same kernels and shapes only replaces the arguments that differ, such as the addresses of
/// its pictures.
class LaunchQueue {
 public:
  explicit LaunchQueue(cudaStream_t stream);

  /// Launches a kernel, or records its launch for end_frame(). Copies the arguments.
  template <class Arguments>
  void launch(Kernel<Arguments> kernel, unsigned blocks, unsigned threads, std::size_t shared_bytes,
              const Arguments& arguments, Start start = Start::overlapping) {
    static_assert(std::is_trivially_copyable_v<Arguments>);
    add({reinterpret_cast<const void*>(kernel), blocks, threads, shared_bytes,
         start == Start::overlapping && overlapping_},
        &arguments, sizeof arguments);
  }

  /// Between fork() and join() there are two branches, which may run at the same time.
  /// next_branch() ends the first one. Launches outside a frame stay in order.
  void fork();
  void next_branch();
  void join();

  /// Begins a frame, and drops one that has not been ended. If the stream is being captured, the
  /// launches go to it one by one.
  void begin_frame();
  /// Launches what is recorded so far, and the rest of this frame one by one. Call it before other
  /// work goes to the stream.
  void end_frame();

 private:
  /// The numbers of the launches that a recorded launch must wait for.
  struct Predecessors {
    int numbers[2];
    int count = 0;
    void add(int number) { numbers[count++] = number; }
  };
  struct Recorded {
    KernelLaunch launch;
    Predecessors after;
    std::size_t argument;  ///< where its bytes begin
    std::size_t argument_bytes;
  };
  struct Recording {
    std::vector<Recorded> launches;
    std::vector<std::byte> arguments;

    void clear();
    void* argument_of(const Recorded& recorded);
    bool has_shape_of(const Recording& other) const;
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
  Recording now_, last_;                    // last_ is what the graph contains
  Predecessors tails_, forked_, branched_;  // of the branch, before it, and of the first branch
  Owned<cudaGraph_t> graph_;
  std::vector<cudaGraphNode_t> nodes_;
  Owned<cudaGraphExec_t> executable_;
};

}  // namespace cudavision::sgm
