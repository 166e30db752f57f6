// SPDX-License-Identifier: LGPL-2.1-or-later
//
// FillHoles and FillSlopes on CUDA. A block fills a row. It marks the known pixels by bits. A
// thread per word of bits finds the known pixels nearest to the word. For FillSlopes, it also lists
// the runs that begin in the word, and threads measure their slopes. Finally, each pixel finds the
// ends of its run by bit operations. A second kernel fills rows without known pixels.

#include <algorithm>

#include "cuda/core/cuda_launch.h"
#include "cuda/core/division.h"
#include "cuda/sgm/stages_cuda.h"
#include "cuda/sgm/surfaces/arithmetic.h"

namespace cudavision::sgm {
namespace {

struct FillArguments {
  const std::uint16_t* from;
  std::uint16_t* to;         // may equal `from` in FillHoles
  std::uint8_t* confidence;  // may be null
  std::uint32_t* slopes;     // packed slopes, each at the first pixel of its run
  bool* has_known;           // one flag per row
  int width, height, top;
};

constexpr int threads = 128, warps = threads / 32;

/// Packs a slope into 4 bytes: |sum| is below 2^17, count is at most 5, and step is 8, 16 or 32.
__device__ std::uint32_t packed(const Slope& slope) {
  return static_cast<std::uint32_t>(slope.sum) << 6 |
         static_cast<std::uint32_t>(slope.count << 3 | slope.step >> 3);
}
__device__ Slope unpacked(std::uint32_t slope) {
  return {static_cast<int>(slope) >> 6, static_cast<int>(slope >> 3 & 7),
          static_cast<int>(slope & 7) << 3};
}

struct Run {
  int before_column, after_column;
  std::uint16_t before, after;  // values at these columns; unknown outside the picture
};

template <bool kSlopes>
class RunRow {
 public:
  __device__ RunRow(const FillArguments& a, int y, std::uint32_t* memory)
      : a_(a),
        y_(y),
        words_(divide_up(a.width, 32)),
        row_(a.from + static_cast<std::int64_t>(y) * a.width),
        slopes_(a.slopes + static_cast<std::int64_t>(y) * a.width),
        known_(memory),
        beyond_(memory + words_),
        runs_(reinterpret_cast<std::uint16_t*>(memory + 2 * words_)) {}

  static std::size_t bytes(int width) {
    // At most 16 runs begin in a word.
    return 2 * sizeof(std::uint32_t) * static_cast<std::size_t>(divide_up(width, 32)) +
           16 * sizeof(std::uint16_t) *
               static_cast<std::size_t>(std::min(divide_up(width, 32), threads));
  }

  /// Returns true in all threads if the row has a known pixel.
  __device__ bool mark_known() const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    bool has_known = false;
    for (int word = static_cast<int>(threadIdx.x) / 32; word < words_; word += warps) {
      const int x = 32 * word + lane;
      const unsigned bits = __ballot_sync(whole_warp, x < a_.width && row_[x] != unknown);
      if (lane == 0)
        known_[word] = bits;
      has_known |= bits != 0;
    }
    return __syncthreads_or(has_known) != 0;
  }

  __device__ void find_ends() const {
    for (int word = static_cast<int>(threadIdx.x); word < words_; word += threads)
      find_beyond(word);
    __syncthreads();
  }

  __device__ void measure_slopes() const {
    __shared__ int run_count;
    for (int first = 0; first < words_; first += threads) {
      if (threadIdx.x == 0)
        run_count = 0;
      __syncthreads();
      if (const int word = first + static_cast<int>(threadIdx.x); word < words_) {
        find_beyond(word);
        const bool follows_known = word == 0 || known_[word - 1] >> 31 != 0;
        const std::uint32_t known = known_[word];
        std::uint32_t begins = ~known & (known << 1 | (follows_known ? 1u : 0u));
        if (begins != 0)
          for (int i = atomicAdd(&run_count, __popc(begins)); begins != 0; begins &= begins - 1)
            runs_[i++] =
                static_cast<std::uint16_t>(32 * word + __ffs(static_cast<int>(begins)) - 1);
      }
      __syncthreads();
      for (int i = static_cast<int>(threadIdx.x); i < run_count; i += threads)
        if (runs_[i] < a_.width)
          measure_slope(runs_[i]);
      __syncthreads();
    }
  }

  /// Call find_ends() or, with kSlopes, measure_slopes() first.
  __device__ std::uint16_t filled(int x) const {
    const Run run = run_at(x);
    if constexpr (kSlopes)
      return filled_along_surface(run, x).within(a_.top);
    else  // unknown is the largest value, so min() ignores it
      return min(run.before, run.after);
  }

 private:
  /// Finds the known pixels nearest to a word on both sides. There are fewer than 2^16 columns, so
  /// beyond_ holds the left column + 1 in its lower half and the right column in its upper half.
  __device__ void find_beyond(int word) const {
    int before = word - 1, after = word + 1;
    while (before >= 0 && known_[before] == 0)
      --before;
    while (after < words_ && known_[after] == 0)
      ++after;
    const int next_to_before =
        before < 0 ? 0 : 32 * before + 32 - __clz(static_cast<int>(known_[before]));
    const int column_after =
        after == words_ ? a_.width : 32 * after + __ffs(static_cast<int>(known_[after])) - 1;
    beyond_[word] = static_cast<std::uint32_t>(column_after) << 16 | next_to_before;
  }

  __device__ Run run_at(int x) const {
    const int word = x / 32, bit = x % 32;
    const std::uint32_t known = known_[word], beyond = beyond_[word];
    const std::uint32_t below = known & ~(~0u << bit), above = known & ~1u << bit;
    Run run{};
    run.before_column = below != 0 ? 32 * word + 31 - __clz(static_cast<int>(below))
                                   : static_cast<int>(beyond & 0xffff) - 1;
    run.after_column = above != 0 ? 32 * word + __ffs(static_cast<int>(above)) - 1
                                  : static_cast<int>(beyond >> 16);
    run.before = run.before_column >= 0 ? row_[run.before_column] : unknown;
    run.after = run.after_column < a_.width ? row_[run.after_column] : unknown;
    return run;
  }

  __device__ FilledNumber filled_along_surface(const Run& run, int x) const {
    const int to_before = x - run.before_column, to_after = run.after_column - x;
    if (is_one_surface(run.before, run.after))
      return interpolated(run.before, run.after, to_before, to_after);
    const Slope slope = unpacked(slopes_[run.before_column + 1]);
    return run.before < run.after ? extrapolated(run.before, slope, to_before)
                                  : extrapolated(run.after, slope, to_after);
  }

  __device__ void measure_slope(int x) const {
    const Run run = run_at(x);
    if (is_one_surface(run.before, run.after))
      return;
    const bool before = run.before < run.after;
    slopes_[x] =
        packed(slope_at(a_.from, a_.width, a_.height, before ? run.before_column : run.after_column,
                        y_, before ? -1 : 1));
  }

  const FillArguments& a_;
  const int y_, words_;
  const std::uint16_t* const row_;
  std::uint32_t *const slopes_, *const known_, *const beyond_;
  std::uint16_t* const runs_;  // first pixels of the runs that begin in this pass's words
};

template <bool kSlopes>
__global__ void __launch_bounds__(threads) fill_kernel(const __grid_constant__ FillArguments a) {
  extern __shared__ std::uint32_t memory[];
  launch_dependents();
  grid_dependency_wait();
  const int y = static_cast<int>(blockIdx.x);
  const RunRow<kSlopes> row(a, y, memory);
  const bool has_known = row.mark_known();
  if (threadIdx.x == 0)
    a.has_known[y] = has_known;
  if (has_known) {
    if constexpr (kSlopes)
      row.measure_slopes();
    else
      row.find_ends();
  }
  const std::int64_t first = static_cast<std::int64_t>(y) * a.width;
  for (int x = static_cast<int>(threadIdx.x); x < a.width; x += threads) {
    std::uint16_t number = a.from[first + x];
    if (number == unknown) {
      if (a.confidence)
        a.confidence[first + x] = 0;
      if (has_known)
        number = row.filled(x);
    }
    a.to[first + x] = number;
  }
}

/// Returns the first row from y on, in steps of kStep, that has a known pixel, or −1.
template <int kStep>
__device__ int row_with_known(const FillArguments& a, int y) {
  const int lane = threadIdx.x % 32;
  for (; y >= 0 && y < a.height; y += 32 * kStep) {
    const int own = y + lane * kStep;
    const bool has_known = own >= 0 && own < a.height && a.has_known[own];
    if (const unsigned rows = __ballot_sync(whole_warp, has_known); rows != 0)
      return y + (__ffs(static_cast<int>(rows)) - 1) * kStep;
  }
  return -1;
}

__global__ void __launch_bounds__(threads)
    empty_rows_kernel(const __grid_constant__ FillArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const int y = static_cast<int>(blockIdx.x);
  if (a.has_known[y])
    return;
  int from = row_with_known<-1>(a, y - 1);
  if (from < 0)
    from = row_with_known<1>(a, y + 1);
  if (from < 0)
    return;
  const std::uint16_t* const row = a.to + static_cast<std::int64_t>(from) * a.width;
  for (int x = static_cast<int>(threadIdx.x); x < a.width; x += threads)
    a.to[static_cast<std::int64_t>(y) * a.width + x] = row[x];
}

template <bool kSlopes>
void fill(const StageResources& resources, const std::uint16_t* from, std::uint16_t* to,
          std::uint8_t* confidence) {
  const StageConfig& config = resources.config;
  FillArguments a{};
  a.from = from;
  a.to = to;
  a.confidence = confidence;
  a.slopes = static_cast<std::uint32_t*>(resources.scratch);
  a.has_known = reinterpret_cast<bool*>(a.slopes + config.pixels());
  a.width = config.width;
  a.height = config.height;
  a.top = 16 * (config.disparities - 1);
  const auto blocks = static_cast<unsigned>(a.height);
  resources.queue.launch(fill_kernel<kSlopes>, blocks, threads, RunRow<kSlopes>::bytes(a.width), a);
  resources.queue.launch(empty_rows_kernel, blocks, threads, 0, a);
}

}  // namespace

void run_stage(const StageResources& resources, const FillHoles& stage) {
  fill<false>(resources, stage.map, stage.map, nullptr);
}

void run_stage(const StageResources& resources, const FillSlopes& stage) {
  fill<true>(resources, stage.from, stage.to, stage.confidence);
}

}  // namespace cudavision::sgm
