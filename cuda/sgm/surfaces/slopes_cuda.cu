// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Fills the unknown pixels of a map on CUDA: FillHoles and, along adjacent surfaces, FillSlopes. A
// block fills a row. It first marks the known pixels by bits. Then a thread per word of bits finds
// the known pixels nearest to the word, and lists the runs that begin in it. Threads measure the
// slopes of these runs, once per run instead of once per pixel. Finally each pixel finds the ends
// of its run by bit operations. A second kernel fills rows without known pixels from other rows.

#include <algorithm>

#include "cuda/core/cuda_launch.h"
#include "cuda/sgm/stages_cuda.h"
#include "cuda/sgm/surfaces/arithmetic.h"

namespace cudavision::sgm {
namespace {

struct FillArguments {
  const std::uint16_t* from;
  std::uint16_t* to;         // FillHoles: may be `from`
  std::uint8_t* confidence;  // or null
  std::uint32_t* slopes;     // of the runs, packed, each at the first pixel of its run
  bool* has_known;           // of each row
  int width, height, top;
};

constexpr int threads = 128, warps = threads / 32;
constexpr unsigned whole_warp = 0xffffffffu;

/// A slope takes 4 bytes: |sum| is below 2^17, count at most 5, step 8, 16 or 32.
__device__ std::uint32_t packed(const Slope& slope) {
  return static_cast<std::uint32_t>(slope.sum) << 6 |
         static_cast<std::uint32_t>(slope.count << 3 | slope.step >> 3);
}
__device__ Slope unpacked(std::uint32_t slope) {
  return {static_cast<int>(slope) >> 6, static_cast<int>(slope >> 3 & 7),
          static_cast<int>(slope & 7) << 3};
}

/// slope_at() with all loads in flight at once. slope_at() itself stops early, so its loads wait.
__device__ Slope measured_slope(const FillArguments& a, int x, int y, int outwards) {
  constexpr int rows = 5, columns = 5;  // at the distances 0, 4, 8, 16 and 32
  int numbers[columns][rows];
#pragma unroll
  for (int i = 0; i < columns; ++i)
#pragma unroll
    for (int j = 0; j < rows; ++j) {
      const int column = x + outwards * (i == 0 ? 0 : 2 << i), row = y - 8 + 4 * j;
      const bool inside = column >= 0 && column < a.width && row >= 0 && row < a.height;
      numbers[i][j] = inside ? a.from[static_cast<std::int64_t>(row) * a.width + column] : unknown;
    }
  Slope slope;
#pragma unroll
  for (int i = 2; i < columns; ++i) {
    Slope at_step{0, 0, 2 << i};
#pragma unroll
    for (int j = 0; j < rows; ++j) {
      const int v0 = numbers[0][j], v1 = numbers[i - 1][j], v2 = numbers[i][j];
      const bool is_straight =
          v0 != unknown && v1 != unknown && v2 != unknown && distance_of(v0 + v2, 2 * v1) <= 8;
      at_step.sum += is_straight ? v0 - v2 : 0;
      at_step.count += is_straight ? 1 : 0;
    }
    if (at_step.count > 0)  // The largest step comes last.
      slope = at_step;
  }
  return slope;
}

struct Run {
  int before_column, after_column;
  std::uint16_t before, after;

  __device__ bool is_one_surface() const { return sgm::is_one_surface(before, after); }
  /// Returns true if the surface before the run continues. unknown is the largest number.
  __device__ bool continues_before() const { return before < after; }
};

template <bool kSlopes>
class RunRow {
 public:
  __device__ RunRow(const FillArguments& a, int y, std::uint32_t* memory)
      : a_(a),
        y_(y),
        words_(words(a.width)),
        row_(a.from + static_cast<std::int64_t>(y) * a.width),
        slopes_(a.slopes + static_cast<std::int64_t>(y) * a.width),
        known_(memory),
        beyond_(memory + words_),
        runs_(reinterpret_cast<std::uint16_t*>(memory + 2 * words_)) {}

  static std::size_t bytes(int width) {
    // A word has at most 16 beginnings of runs.
    return 2 * sizeof(std::uint32_t) * static_cast<std::size_t>(words(width)) +
           16 * sizeof(std::uint16_t) * static_cast<std::size_t>(std::min(words(width), threads));
  }

  /// Marks the known pixels. Returns, in all threads, whether there are any.
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

  /// Prepares filled() without slopes.
  __device__ void find_ends() const {
    for (int word = static_cast<int>(threadIdx.x); word < words_; word += threads)
      find_beyond(word);
    __syncthreads();
  }

  /// Prepares filled() with slopes.
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

  /// Returns the number for the unknown pixel x.
  __device__ std::uint16_t filled(int x) const {
    const Run run = run_at(x);
    if constexpr (kSlopes)
      return filled_along_surface(run, x).within(a_.top);
    else  // unknown is the largest number, so min() ignores it
      return min(run.before, run.after);
  }

 private:
  __host__ __device__ static int words(int width) { return (width + 31) / 32; }

  /// Finds the known pixels nearest to a word, on both sides. There are fewer than 2^16 columns, so
  /// one word holds both: the right column, and the left column + 1.
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
    if (run.is_one_surface())
      return interpolated(run.before, run.after, to_before, to_after);
    const Slope slope = unpacked(slopes_[run.before_column + 1]);
    return run.continues_before() ? extrapolated(run.before, slope, to_before)
                                  : extrapolated(run.after, slope, to_after);
  }

  __device__ void measure_slope(int x) const {
    const Run run = run_at(x);
    if (run.is_one_surface())
      return;
    const bool before = run.continues_before();
    slopes_[x] = packed(
        measured_slope(a_, before ? run.before_column : run.after_column, y_, before ? -1 : 1));
  }

  const FillArguments& a_;
  const int y_, words_;
  const std::uint16_t* const row_;
  std::uint32_t *const slopes_, *const known_, *const beyond_;
  std::uint16_t* const runs_;  // first pixels of the runs that begin in some words
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
