// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Fills the unknown pixels of a map on CUDA. A warp walks along a row and stores the nearest known
// number at or to the left of each pixel, then walks back with the nearest one to the right. A
// second kernel fills the rows without known pixels from other rows.

#include "cuda/core/cuda_launch.h"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {

struct HolesArguments {
  std::uint16_t* map;
  std::uint16_t* known_left;  // the nearest known number at or to the left of each pixel
  int width, height;
};

namespace {

constexpr int threads = 128;
constexpr unsigned whole_warp = 0xffffffffu;

/// Returns, for 32 neighbouring pixels, one per lane, the nearest known number at or before each
/// pixel (kFromLeft) or at or after it. carried holds the result for the adjacent pixel on that
/// side and receives the result for the last of these pixels.
template <bool kFromLeft>
__device__ std::uint16_t nearest(std::uint16_t value, std::uint16_t& carried) {
  const int lane = threadIdx.x % 32;
  const unsigned known = __ballot_sync(whole_warp, value != unknown);
  const unsigned on_side = known & (kFromLeft ? ~0u >> (31 - lane) : ~0u << lane);
  const int source = on_side == 0 ? lane : kFromLeft ? 31 - __clz(on_side) : __ffs(on_side) - 1;
  const auto found =
      static_cast<std::uint16_t>(__shfl_sync(whole_warp, static_cast<int>(value), source));
  const std::uint16_t result = on_side == 0 ? carried : found;
  carried = static_cast<std::uint16_t>(
      __shfl_sync(whole_warp, static_cast<int>(result), kFromLeft ? 31 : 0));
  return result;
}

__global__ void __launch_bounds__(threads) rows_kernel(const __grid_constant__ HolesArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const int y = static_cast<int>(blockIdx.x) * (threads / 32) + threadIdx.x / 32;
  if (y >= a.height)
    return;
  const int lane = threadIdx.x % 32;
  std::uint16_t* const map = a.map + static_cast<std::int64_t>(y) * a.width;
  std::uint16_t* const known_left = a.known_left + static_cast<std::int64_t>(y) * a.width;
  const int last = (a.width - 1) / 32 * 32;

  std::uint16_t carried = unknown;
  std::uint16_t next = lane < a.width ? map[lane] : unknown;
  for (int x = lane; x < last + 32; x += 32) {
    const std::uint16_t value = next;
    next = x + 32 < a.width ? map[x + 32] : unknown;
    const std::uint16_t found = nearest<true>(value, carried);
    if (x < a.width)
      known_left[x] = found;
  }
  // A lane visits the pixels that it wrote known_left for, so no synchronisation is needed.
  carried = unknown;
  for (int x = last + lane; x >= 0; x -= 32) {
    const std::uint16_t value = x < a.width ? map[x] : unknown;
    const std::uint16_t found = nearest<false>(value, carried);
    // unknown is the largest number, so min() takes the known one.
    if (x < a.width && value == unknown)
      map[x] = min(known_left[x], found);
  }
}

/// Fills the rows without known pixels. After the first kernel, a row is known everywhere or
/// nowhere.
__global__ void __launch_bounds__(threads)
    empty_rows_kernel(const __grid_constant__ HolesArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const int y = static_cast<int>(blockIdx.x);
  const auto row = [&](int number) { return a.map + static_cast<std::int64_t>(number) * a.width; };
  // This reads known_left and not the map, because other blocks may be filling their rows of the
  // map at this moment.
  const auto has_known = [&](int number) {
    return a.known_left[static_cast<std::int64_t>(number + 1) * a.width - 1] != unknown;
  };
  if (has_known(y))
    return;
  int from = y - 1;
  while (from >= 0 && !has_known(from))
    --from;
  if (from < 0)
    for (from = y + 1; from < a.height && !has_known(from);)
      ++from;
  if (from >= a.height)
    return;
  for (int x = threadIdx.x; x < a.width; x += threads)
    row(y)[x] = row(from)[x];
}

}  // namespace

HolesCuda::HolesCuda(Device& device, const StageConfig& config, void* scratch)
    : config_(config), scratch_(scratch), launch_(device.stream(), rows_kernel) {}

void HolesCuda::run(std::uint16_t* map) const {
  const HolesArguments a{map, static_cast<std::uint16_t*>(scratch_), config_.width, config_.height};
  constexpr int rows = threads / 32;
  launch_(rows_kernel, static_cast<unsigned>((a.height + rows - 1) / rows), threads, 0, a);
  launch_(empty_rows_kernel, static_cast<unsigned>(a.height), threads, 0, a);
}

}  // namespace cudavision::sgm
