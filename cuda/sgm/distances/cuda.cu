// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend of Distances: one block for each box. It counts the samples in bins of 16
// numbers, finds the bins of the percentiles, and reads the samples again to count the numbers in
// these bins.

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
  SampledBox boxes[Distances::max_boxes];
};

/// Calls function(place) for each known sample of a box. Each warp reads whole rows.
template <class Function>
__device__ void for_each_known(const DistancesArguments& a, const SampledBox& box,
                               const Function& function) {
  const int lane = threadIdx.x % 32;
  for (int i = threadIdx.x / 32; i < box.y.count; i += warps) {
    const std::uint8_t* const row = a.map + a.pitch * (box.y.first + i * box.y.step) +
                                    2 * static_cast<std::int64_t>(box.x.first);
    for (int k = lane; k < box.x.count; k += 32) {
      const std::uint8_t* const from = row + 2 * static_cast<std::int64_t>(k) * box.x.step;
      const unsigned place = place_in(a.range, static_cast<std::uint16_t>(from[0] | from[1] << 8));
      if (place <= a.range.top)
        function(place);
    }
  }
}

/// The bin that holds a percentile, and the percentile's rank among the numbers in that bin.
struct PercentileBin {
  std::uint32_t bin, rank;
};

/// count is the calling thread's bin. Returns the number of known samples, in every thread.
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

__global__ void __launch_bounds__(threads)
    distances_kernel(const __grid_constant__ DistancesArguments a) {
  __shared__ std::uint32_t bins[threads];
  __shared__ std::uint32_t numbers[percentile_count][bin_numbers];
  __shared__ PercentileBin found[percentile_count];
  __shared__ std::uint16_t values[percentile_count];
  launch_dependents();
  const SampledBox& box = a.boxes[blockIdx.x];
  bins[threadIdx.x] = 0;
  if (threadIdx.x < percentile_count * bin_numbers)
    numbers[threadIdx.x / bin_numbers][threadIdx.x % bin_numbers] = 0;
  if (threadIdx.x < percentile_count)
    values[threadIdx.x] = a.range.invalid;
  __syncthreads();
  grid_dependency_wait();
  for_each_known(a, box, [&](unsigned place) { atomicAdd(&bins[place / bin_numbers], 1u); });
  __syncthreads();
  const std::uint32_t known = find_bins(bins[threadIdx.x], found);
  __syncthreads();
  if (known > 0) {
    for_each_known(a, box, [&](unsigned place) {
      for (int i = 0; i < percentile_count; ++i)
        if (place / bin_numbers == found[i].bin)
          atomicAdd(&numbers[i][place % bin_numbers], 1u);
    });
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
    a.results[blockIdx.x] = {static_cast<std::uint32_t>(box.x.count * box.y.count),
                             known,
                             values[0],
                             values[1],
                             values[2],
                             0};
}

class DistancesCuda final : public Distances::Backend {
 public:
  explicit DistancesCuda(Device& device) : launch_(device.stream(), distances_kernel) {}

  void run(View<const std::uint8_t> disparity, std::span<const SampledBox> boxes,
           const NumberRange& range, BoxDisparity* results) override {
    DistancesArguments a{disparity.data, disparity.pitch, range, results, {}};
    std::copy(boxes.begin(), boxes.end(), a.boxes);
    launch_(distances_kernel, static_cast<unsigned>(boxes.size()), threads, 0, a);
  }

 private:
  Launcher<DistancesArguments> launch_;
};

}  // namespace

std::unique_ptr<Distances::Backend> make_distances_cuda(Device& device) {
  return std::make_unique<DistancesCuda>(device);
}

}  // namespace cudavision::sgm
