// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend of Distances, with one block per box. First, each thread finds which of its
// samples the box's mask selects. Then the block counts samples in bins of 16 map values, finds the
// bins of the percentiles, and reads the samples again to count the single values in these bins.

#include <algorithm>

#include "cuda/core/cuda_launch.h"
#include "cuda/core/warp.cuh"
#include "cuda/sgm/distances/backend.h"

namespace cudavision::sgm {
namespace {

constexpr int threads = 1024, warps = threads / 32, bin_numbers = 16;
constexpr int percentile_count = 3;
static_assert(threads * bin_numbers == number_places, "a thread has one bin");

struct DistancesArguments {
  const std::uint8_t* map;
  std::int64_t pitch;
  NumberRange range;
  BoxDisparity* results;
  BoxMasks masks;
  MeasuredBox boxes[Distances::max_boxes];
};
static_assert(sizeof(DistancesArguments) <= 4096, "PTX for older GPUs has no more");

constexpr int columns_per_thread = Distances::max_columns / 32;
static_assert(Distances::max_rows / warps * columns_per_thread == 64, "one bit for each sample");

/// Returns the bit index of a thread's sample in row i and column k of the sample grid.
__device__ int bit_of(int i, int k) {
  return i / warps * columns_per_thread + k / 32;
}

/// Calls function() with place_in() of each known sample of a box. Each warp reads whole rows. With
/// kSelected, skips samples whose bit in `selected` is 0 (see bit_of()).
template <bool kSelected, class Function>
__device__ void for_each_known(const DistancesArguments& a, const SampledBox& box,
                               std::uint64_t selected, const Function& function) {
  const int lane = threadIdx.x % 32;
  for (int i = threadIdx.x / 32; i < box.y.count; i += warps) {
    const std::uint8_t* const row = a.map + a.pitch * (box.y.first + i * box.y.step) +
                                    2 * static_cast<std::int64_t>(box.x.first);
    for (int k = lane; k < box.x.count; k += 32) {
      if (kSelected && (selected >> bit_of(i, k) & 1) == 0)
        continue;
      const std::uint8_t* const from = row + 2 * static_cast<std::int64_t>(k) * box.x.step;
      const unsigned place = place_in(a.range, static_cast<std::uint16_t>(from[0] | from[1] << 8));
      if (place <= a.range.top)
        function(place);
    }
  }
}

/// Returns the bits of the calling thread's samples of the visible box that the mask selects.
__device__ std::uint64_t selected_samples(const BoxMasks& masks, const MeasuredBox& box) {
  __shared__ int columns[Distances::max_columns];  // mask columns of the samples; -1: outside
  const regions::MaskPlane mask = masks.planes[box.mask];
  const SampledAxis &xs = box.visible.x, &ys = box.visible.y;
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < Distances::max_columns) {
    const int x = xs.first + static_cast<int>(threadIdx.x) * xs.step;
    const bool inside = threadIdx.x < xs.count && x >= mask.box.x0 && x < mask.box.x1;
    columns[threadIdx.x] = inside ? mask_column(mask, x) : -1;
  }
  __syncthreads();
  std::uint64_t selected = 0;
  for (int i = threadIdx.x / 32; i < ys.count; i += warps) {
    const int y = ys.first + i * ys.step;
    if (masks.rectifying) {
      for (int k = lane; k < xs.count; k += 32)
        if (selects(mask, masks.rectifying, xs.first + k * xs.step, y))
          selected |= std::uint64_t{1} << bit_of(i, k);
    } else if (y >= mask.box.y0 && y < mask.box.y1) {
      const std::uint8_t* const row = mask_row(mask, y);
      CUDAVISION_UNROLL
      for (int k = 0; k < Distances::max_columns; k += 32) {
        // This code has no branch, so that the look-ups overlap.
        const int column = columns[k + lane];
        const bool counts = has_selected_id(mask, row, max(column, 0)) && column >= 0;
        selected |= static_cast<std::uint64_t>(counts) << bit_of(i, k);
      }
    }
  }
  return selected;
}

/// The bin that holds a percentile, and the percentile's rank among the samples in this bin.
struct PercentileBin {
  std::uint32_t bin, rank;
};

/// count belongs to the calling thread's bin. Returns the total of known samples in every thread.
__device__ std::uint32_t find_bins(std::uint32_t count, PercentileBin (&found)[percentile_count]) {
  constexpr int percentiles[percentile_count] = {
      Distances::low_percentile, Distances::middle_percentile, Distances::high_percentile};
  __shared__ std::uint32_t of_warp[warps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  std::uint32_t up_to = inclusive_scan(count);
  if (lane == 31)
    of_warp[warp] = up_to;
  __syncthreads();
  const std::uint32_t up_to_warp = inclusive_scan(of_warp[lane]);
  const std::uint32_t known = __shfl_sync(~0u, up_to_warp, 31);
  if (warp > 0)
    up_to += __shfl_sync(~0u, up_to_warp, warp - 1);
  CUDAVISION_UNROLL
  for (int i = 0; i < percentile_count; ++i) {
    const std::uint32_t rank = percentile_rank(percentiles[i], known);
    if (up_to - count < rank && rank <= up_to)
      found[i] = {threadIdx.x, rank - (up_to - count)};
  }
  return known;
}

/// Without kMasked, no box has a mask.
template <bool kMasked>
__global__ void __launch_bounds__(threads)
    distances_kernel(const __grid_constant__ DistancesArguments a) {
  __shared__ std::uint32_t bins[threads];
  __shared__ std::uint32_t numbers[percentile_count][bin_numbers];
  __shared__ PercentileBin found[percentile_count];
  __shared__ std::uint16_t values[percentile_count];
  __shared__ std::uint32_t mask_samples;
  launch_dependents();
  const MeasuredBox& box = a.boxes[blockIdx.x];
  bins[threadIdx.x] = 0;
  if (threadIdx.x < percentile_count * bin_numbers)
    numbers[threadIdx.x / bin_numbers][threadIdx.x % bin_numbers] = 0;
  if (threadIdx.x < percentile_count)
    values[threadIdx.x] = a.range.invalid;
  if (threadIdx.x == 0)
    mask_samples = 0;
  __syncthreads();
  grid_dependency_wait();
  const auto count_bin = [&](unsigned place) { atomicAdd(&bins[place / bin_numbers], 1u); };
  std::uint64_t selected = ~std::uint64_t{0};
  bool masked = false;
  if (kMasked && box.mask >= 0) {
    const std::uint64_t bits = selected_samples(a.masks, box);
    const std::uint32_t of_warp = inclusive_scan(static_cast<std::uint32_t>(__popcll(bits)));
    if (threadIdx.x % 32 == 31)
      atomicAdd(&mask_samples, of_warp);
    __syncthreads();
    masked = mask_samples > 0;
    if (masked)
      selected = bits;
  }
  const SampledBox& sampled = masked ? box.visible : box.inner;
  for_each_known<kMasked>(a, sampled, selected, count_bin);
  __syncthreads();
  const std::uint32_t known = find_bins(bins[threadIdx.x], found);
  __syncthreads();
  if (known > 0) {
    const auto count_number = [&](unsigned place) {
      for (int i = 0; i < percentile_count; ++i)
        if (place / bin_numbers == found[i].bin)
          atomicAdd(&numbers[i][place % bin_numbers], 1u);
    };
    for_each_known<kMasked>(a, sampled, selected, count_number);
    __syncthreads();
    if (threadIdx.x < percentile_count) {
      std::uint32_t number = 0;
      for (std::uint32_t up_to = numbers[threadIdx.x][0]; up_to < found[threadIdx.x].rank;)
        up_to += numbers[threadIdx.x][++number];
      values[threadIdx.x] =
          static_cast<std::uint16_t>(a.range.first + found[threadIdx.x].bin * bin_numbers + number);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0)
    a.results[blockIdx.x] = {
        masked ? mask_samples : static_cast<std::uint32_t>(sampled.x.count * sampled.y.count),
        known,
        values[0],
        values[1],
        values[2],
        masked};
}

class DistancesCuda final : public Distances::Backend {
 public:
  explicit DistancesCuda(Device& device) : launch_(device.stream(), distances_kernel<false>) {}

  void run(View<const std::uint8_t> disparity, std::span<const MeasuredBox> boxes,
           const BoxMasks& masks, const NumberRange& range, BoxDisparity* results) override {
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
