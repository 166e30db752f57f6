// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend of Distances, with one block per box. The block counts the samples of each map
// value, and finds the percentiles from the running totals of these counts.

#include <algorithm>
#include <type_traits>

#include "cuda/core/cuda_launch.h"
#include "cuda/core/warp.cuh"
#include "cuda/sgm/distances/backend.h"

namespace cudavision::sgm {
namespace {

constexpr int threads = 1024, warps = threads / 32;
constexpr int percentile_count = 3;

struct DistancesArguments {
  const std::uint8_t* map;
  std::int64_t pitch;
  ValueRange range;
  BoxDisparity* results;
  BoxMasks masks;
  MeasuredBox boxes[Distances::max_boxes];
};
static_assert(sizeof(DistancesArguments) <= 4096, "PTX for older GPUs has no more");

/// The counts of one box, in shared memory.
struct SampleCounts {
  std::uint32_t samples, known;
  /// One counter of 16 bits for each offset_in(). A counter overflows only if a box has max_samples
  /// samples and all are equal.
  std::uint32_t counters[max_offsets / 2];
  static_assert(Distances::max_samples == 1 << 16);

  __device__ void add(unsigned offset) {
    atomicAdd(&counters[offset / 2], 1u << (16 * (offset % 2)));
  }
  __device__ std::uint32_t of(unsigned offset) const {
    return counters[offset / 2] >> (16 * (offset % 2)) & 0xffff;
  }
};

__device__ std::uint16_t load_value(const std::uint8_t* from) {
  return static_cast<std::uint16_t>(from[0] | from[1] << 8);
}

__device__ const std::uint8_t* sample_row(const DistancesArguments& a, const SampledBox& box,
                                          int i) {
  return a.map + a.pitch * (box.y.first + i * box.y.step) +
         2 * static_cast<std::int64_t>(box.x.first);
}

/// Counts the selected samples of a box. selects_in(i) returns a function that takes a column of
/// the sample grid and returns true if the mask selects the sample in this column and row i.
template <class SelectsIn>
__device__ void count_samples(const DistancesArguments& a, const SampledBox& box,
                              SampleCounts& counts, const SelectsIn& selects_in) {
  constexpr int columns_at_once = 4;  // their loads overlap
  const int lane = threadIdx.x % 32;
  std::uint32_t samples = 0, known = 0;
  for (int first = lane; first < box.x.count; first += 32 * columns_at_once) {
    for (int i = threadIdx.x / 32; i < box.y.count; i += warps) {
      const std::uint8_t* const row = sample_row(a, box, i);
      const auto selects = selects_in(i);
      unsigned offsets[columns_at_once];
      CUDAVISION_UNROLL
      for (int n = 0; n < columns_at_once; ++n) {
        const int column = min(first + 32 * n, box.x.count - 1);
        const unsigned offset = offset_in(a.range, load_value(row + 2 * column * box.x.step));
        const bool selected = selects(column) && first + 32 * n < box.x.count;
        samples += selected;
        offsets[n] = selected ? offset : ~0u;
      }
      CUDAVISION_UNROLL
      for (int n = 0; n < columns_at_once; ++n)
        if (offsets[n] <= a.range.top) {
          ++known;
          counts.add(offsets[n]);
        }
    }
  }
  samples = sum_of_warp(samples);
  known = sum_of_warp(known);
  if (lane == 0) {
    atomicAdd(&counts.samples, samples);
    atomicAdd(&counts.known, known);
  }
  __syncthreads();
}

/// Counts the samples of the visible box that the mask selects.
__device__ void count_masked_samples(const DistancesArguments& a, const MeasuredBox& box,
                                     SampleCounts& counts) {
  __shared__ int columns[Distances::max_columns];            // of the mask
  __shared__ const std::uint8_t* rows[Distances::max_rows];  // of the mask
  static_assert(threads >= Distances::max_columns + Distances::max_rows);
  const regions::MaskPlane mask = a.masks.planes[box.mask];
  const SampledAxis &xs = box.masked.x, &ys = box.masked.y;
  if (a.masks.rectifying) {
    count_samples(a, box.masked, counts, [&](int i) {
      return [&, y = ys.first + i * ys.step](int column) {
        return selects(mask, a.masks.rectifying, xs.first + column * xs.step, y);
      };
    });
    return;
  }
  const int thread = threadIdx.x, row_thread = thread - Distances::max_columns;
  if (thread < xs.count)
    columns[thread] = mask_column(mask, xs.first + thread * xs.step);
  if (row_thread >= 0 && row_thread < ys.count)
    rows[row_thread] = mask_row(mask, ys.first + row_thread * ys.step);
  __syncthreads();
  const auto count_by = [&](auto bytes) {
    count_samples(a, box.masked, counts, [&](int i) {
      return [&, row = rows[i]](int column) {
        return has_selected_id<bytes>(mask, row, columns[column]);
      };
    });
  };
  if (mask.sample_bytes == 1)
    count_by(std::integral_constant<int, 1>());
  else
    count_by(std::integral_constant<int, 2>());
}

/// Finds the percentiles if any samples are known. Returns the sum of the counters.
__device__ std::uint32_t find_percentiles(const SampleCounts& counts, const ValueRange& range,
                                          std::uint16_t (&values)[percentile_count]) {
  __shared__ std::uint32_t of_warp[warps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned per_thread = range.top / threads + 1;
  const unsigned begin = threadIdx.x * per_thread, end = min(begin + per_thread, range.top + 1u);
  std::uint32_t count = 0;
  for (unsigned offset = begin; offset < end; ++offset)
    count += counts.of(offset);
  const std::uint32_t up_to_lane = inclusive_scan(count);
  if (lane == 31)
    of_warp[warp] = up_to_lane;
  __syncthreads();
  const std::uint32_t up_to_warp = inclusive_scan(of_warp[lane]);
  const std::uint32_t warps_below = __shfl_sync(~0u, up_to_warp, max(warp - 1, 0));
  const std::uint32_t ranks[percentile_count] = {
      percentile_rank(Distances::low_percentile, counts.known),
      percentile_rank(Distances::middle_percentile, counts.known),
      percentile_rank(Distances::high_percentile, counts.known)};
  std::uint32_t below = (warp > 0 ? warps_below : 0) + up_to_lane - count;
  for (unsigned offset = begin; offset < end; ++offset) {
    const std::uint32_t up_to = below + counts.of(offset);
    CUDAVISION_UNROLL
    for (int i = 0; i < percentile_count; ++i)
      if (below < ranks[i] && ranks[i] <= up_to)
        values[i] = static_cast<std::uint16_t>(range.first + offset);
    below = up_to;
  }
  return __shfl_sync(~0u, up_to_warp, 31);
}

/// Without kMasked, no box has a mask.
template <bool kMasked>
__global__ void __launch_bounds__(threads)
    distances_kernel(const __grid_constant__ DistancesArguments a) {
  __shared__ SampleCounts counts;
  __shared__ std::uint16_t values[percentile_count];
  launch_dependents();
  const MeasuredBox& box = a.boxes[blockIdx.x];
  for (int i = threadIdx.x; i <= a.range.top / 2; i += threads)
    counts.counters[i] = 0;
  if (threadIdx.x < percentile_count)
    values[threadIdx.x] = a.range.invalid;
  if (threadIdx.x == 0)
    counts.samples = counts.known = 0;
  __syncthreads();
  grid_dependency_wait();
  bool masked = false;
  if (kMasked && box.mask >= 0) {
    count_masked_samples(a, box, counts);
    masked = __syncthreads_or(counts.samples > 0) != 0;
  }
  const SampledBox& sampled = masked ? box.masked : box.inner;
  if (!masked)
    count_samples(a, sampled, counts, [](int) { return [](int) { return true; }; });
  const std::uint32_t counted = find_percentiles(counts, a.range, values);
  if (counted != counts.known && threadIdx.x < percentile_count)  // a counter overflowed
    values[threadIdx.x] = load_value(sample_row(a, sampled, 0));
  __syncthreads();
  if (threadIdx.x == 0)
    a.results[blockIdx.x] = {counts.samples, counts.known, values[0], values[1], values[2], masked};
}

class DistancesCuda final : public Distances::Backend {
 public:
  explicit DistancesCuda(Device& device) : launch_(device.stream(), distances_kernel<false>) {}

  void run(View<const std::uint8_t> disparity, std::span<const MeasuredBox> boxes,
           const BoxMasks& masks, const ValueRange& range, BoxDisparity* results) override {
    DistancesArguments a{disparity.data, disparity.pitch, range, results, masks, {}};
    std::copy(boxes.begin(), boxes.end(), a.boxes);
    launch_(masks.planes ? distances_kernel<true> : distances_kernel<false>,
            static_cast<unsigned>(boxes.size()), threads, 0, a);
  }

 private:
  Launcher<DistancesArguments> launch_;
};

}  // namespace

std::unique_ptr<Distances::Backend> make_distances_cuda(Device& device) {
  return std::make_unique<DistancesCuda>(device);
}

}  // namespace cudavision::sgm
