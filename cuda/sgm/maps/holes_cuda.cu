// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Fills the unknown pixels of a map on CUDA. A block fills a row; each warp holds a segment of it
// in registers. The warps share the outermost known numbers of their segments, so one barrier is
// enough. A second kernel fills rows without known pixels from other rows.

#include "cuda/core/cuda_launch.h"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {

struct HolesArguments {
  std::uint16_t* map;
  bool* has_known;  // of each row
  int width, height;
  bool vectors;  // all rows are aligned to vectors

  __device__ std::uint16_t* row(int y) const { return map + static_cast<std::int64_t>(y) * width; }
};

namespace {

constexpr int threads = 128, warps = threads / 32;
constexpr unsigned whole_warp = 0xffffffffu;
constexpr int vector_pixels = sizeof(uint4) / sizeof(std::uint16_t);
constexpr int lane_words = 8, lane_pixels = 2 * lane_words, segment_pixels = 32 * lane_pixels;
constexpr int max_segments = 65536 / segment_pixels;  // Pictures have at most 65535 columns.
static_assert(lane_pixels % vector_pixels == 0);

/// Returns the nearest known number in earlier (or later) lanes, or `beyond` if there is none.
template <bool kBefore>
__device__ std::uint16_t nearest(std::uint16_t number, std::uint16_t beyond) {
  const int lane = threadIdx.x % 32;
  const unsigned known = __ballot_sync(whole_warp, number != unknown);
  const unsigned on_side = known & (kBefore ? ~(~0u << lane) : ~1u << lane);
  const int source = kBefore ? 31 - __clz(on_side) : __ffs(on_side) - 1;
  const auto found =
      static_cast<std::uint16_t>(__shfl_sync(whole_warp, static_cast<int>(number), source & 31));
  return on_side == 0 ? beyond : found;
}

struct LanePixels {
  std::uint32_t words[lane_words];
  std::uint16_t first, last;  ///< the outermost known numbers, or unknown

  __device__ void load(const HolesArguments& a, const std::uint16_t* row, int x) {
    if (a.vectors) {
#pragma unroll
      for (int i = 0; i < lane_pixels; i += vector_pixels) {
        const uint4 vector = x + i < a.width ? *reinterpret_cast<const uint4*>(row + x + i)
                                             : uint4{~0u, ~0u, ~0u, ~0u};
        words[i / 2] = vector.x;
        words[i / 2 + 1] = vector.y;
        words[i / 2 + 2] = vector.z;
        words[i / 2 + 3] = vector.w;
      }
    } else {
#pragma unroll
      for (int i = 0; i < lane_pixels; i += 2) {
        const std::uint32_t low = x + i < a.width ? row[x + i] : unknown;
        const std::uint32_t high = x + i + 1 < a.width ? row[x + i + 1] : unknown;
        words[i / 2] = high << 16 | low;
      }
    }
    first = last = unknown;
#pragma unroll
    for (int i = 0; i < lane_pixels; ++i) {
      if (number(i) != unknown)
        last = number(i);
      if (number(lane_pixels - 1 - i) != unknown)
        first = number(lane_pixels - 1 - i);
    }
  }

  __device__ void fill(std::uint16_t before, std::uint16_t after) {
    std::uint16_t from_left[lane_pixels];
#pragma unroll
    for (int i = 0; i < lane_pixels; ++i) {
      if (number(i) != unknown)
        before = number(i);
      from_left[i] = before;
    }
#pragma unroll
    for (int i = lane_pixels - 1; i >= 0; --i) {
      if (number(i) != unknown)
        after = number(i);
      else  // unknown is the largest number, so min() ignores it
        set(i, min(from_left[i], after));
    }
  }

  __device__ void store(const HolesArguments& a, std::uint16_t* row, int x) const {
    if (a.vectors) {
#pragma unroll
      for (int i = 0; i < lane_pixels; i += vector_pixels)
        if (x + i < a.width)
          *reinterpret_cast<uint4*>(row + x + i) =
              uint4{words[i / 2], words[i / 2 + 1], words[i / 2 + 2], words[i / 2 + 3]};
    } else {
#pragma unroll
      for (int i = 0; i < lane_pixels; ++i)
        if (x + i < a.width)
          row[x + i] = number(i);
    }
  }

  __device__ bool has_unknown() const {
    bool has = false;
#pragma unroll
    for (int i = 0; i < lane_pixels; ++i)
      has |= number(i) == unknown;
    return has;
  }

 private:
  __device__ std::uint16_t number(int i) const {
    return static_cast<std::uint16_t>(words[i / 2] >> 16 * (i % 2));
  }
  __device__ void set(int i, std::uint16_t number) {
    words[i / 2] = __byte_perm(words[i / 2], number, i % 2 == 0 ? 0x3254 : 0x5410);
  }
};

__global__ void __launch_bounds__(threads) rows_kernel(const __grid_constant__ HolesArguments a) {
  __shared__ std::uint16_t first[max_segments], last[max_segments];  // known numbers of segments
  launch_dependents();
  grid_dependency_wait();
  const int y = static_cast<int>(blockIdx.x);
  std::uint16_t* const row = a.row(y);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int segments = (a.width + segment_pixels - 1) / segment_pixels;
  const auto column = [=](int segment) { return segment * segment_pixels + lane * lane_pixels; };

  LanePixels pixels;
  for (int segment = warp; segment < segments; segment += warps) {
    pixels.load(a, row, column(segment));
    const std::uint16_t before_end = nearest<true>(pixels.last, unknown);
    const std::uint16_t after_begin = nearest<false>(pixels.first, unknown);
    if (lane == 31)
      last[segment] = pixels.last == unknown ? before_end : pixels.last;
    if (lane == 0)
      first[segment] = pixels.first == unknown ? after_begin : pixels.first;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    bool has_known = false;
    for (int segment = 0; segment < segments; ++segment)
      has_known |= first[segment] != unknown;
    a.has_known[y] = has_known;
  }
  for (int segment = warp; segment < segments; segment += warps) {
    if (segments > warps)  // else a warp still has the pixels of its only segment
      pixels.load(a, row, column(segment));
    if (!__any_sync(whole_warp, pixels.has_unknown()))
      continue;
    std::uint16_t before = unknown, after = unknown;
    for (int other = segment - 1; other >= 0 && before == unknown; --other)
      before = last[other];
    for (int other = segment + 1; other < segments && after == unknown; ++other)
      after = first[other];
    pixels.fill(nearest<true>(pixels.last, before), nearest<false>(pixels.first, after));
    pixels.store(a, row, column(segment));
  }
}

/// Returns the first row from y on, in steps of kStep, that has a known pixel, or −1.
template <int kStep>
__device__ int row_with_known(const HolesArguments& a, int y) {
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
    empty_rows_kernel(const __grid_constant__ HolesArguments a) {
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
  const auto copy = [](const auto* from, auto* to, int count) {
    for (int i = static_cast<int>(threadIdx.x); i < count; i += threads)
      to[i] = from[i];
  };
  if (a.vectors)
    copy(reinterpret_cast<const uint4*>(a.row(from)), reinterpret_cast<uint4*>(a.row(y)),
         a.width / vector_pixels);
  else
    copy(a.row(from), a.row(y), a.width);
}

HolesArguments holes_arguments(const StageConfig& config, bool* has_known, std::uint16_t* map) {
  const bool vectors = reinterpret_cast<std::uintptr_t>(map) % sizeof(uint4) == 0 &&
                       config.width % vector_pixels == 0;
  return {map, has_known, config.width, config.height, vectors};
}

}  // namespace

HolesCuda::HolesCuda(LaunchQueue& queue, const StageConfig& config, void* scratch)
    : config_(config), scratch_(scratch), queue_(queue) {}

void HolesCuda::run(std::uint16_t* map) const {
  const HolesArguments a = holes_arguments(config_, static_cast<bool*>(scratch_), map);
  queue_.launch(rows_kernel, static_cast<unsigned>(a.height), threads, 0, a);
  fill_empty_rows_cuda(queue_, config_, a.has_known, map);
}

void fill_empty_rows_cuda(LaunchQueue& queue, const StageConfig& config, bool* has_known,
                          std::uint16_t* map) {
  const HolesArguments a = holes_arguments(config, has_known, map);
  queue.launch(empty_rows_kernel, static_cast<unsigned>(a.height), threads, 0, a);
}

}  // namespace cudavision::sgm
