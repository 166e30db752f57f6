// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The stages that visit each pixel of a map once, on CUDA: the median, the left-right check and the
// output.

#include "cuda/core/cuda_launch.h"
#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/samples.cuh"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {

struct MapArguments {
  int width, height;
  int blocks_per_row;
  const std::uint16_t* from;  // the map; for the check the right one
  std::uint16_t* to;
  bool libsgm;

  // Only the check uses these.
  Samples picture;
  int shift, max_diff;

  // Only the output uses these.
  const std::uint8_t* confidence;
  std::uint8_t* out;
  std::int64_t out_pitch;
  bool out_even;  // words lie at even addresses
  std::uint16_t added, invalid;
};

namespace {

constexpr int threads = 256;

/// The pixel of a thread; x may lie beyond the end of the row.
struct MapPixel {
  int x, y;
  std::int64_t row;

  __device__ explicit MapPixel(const MapArguments& a)
      : x(static_cast<int>(blockIdx.x % a.blocks_per_row) * threads + threadIdx.x),
        y(static_cast<int>(blockIdx.x / a.blocks_per_row)),
        row(static_cast<std::int64_t>(y) * a.width) {}
};

__global__ void __launch_bounds__(threads) median_kernel(const __grid_constant__ MapArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const MapPixel at(a);
  if (at.x >= a.width)
    return;
  std::uint16_t value = a.libsgm ? 0 : unknown;
  if (at.x > 0 && at.x < a.width - 1 && at.y > 0 && at.y < a.height - 1) {
    const std::uint16_t* const here = a.from + at.row + at.x;
    const std::uint16_t* const above = here - a.width;
    const std::uint16_t* const below = here + a.width;
    value = median_of_9(above[-1], above[0], above[1], here[-1], here[0], here[1], below[-1],
                        below[0], below[1]);
  }
  a.to[at.row + at.x] = value;
}

__global__ void __launch_bounds__(threads) check_kernel(const __grid_constant__ MapArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const MapPixel at(a);
  if (at.x >= a.width)
    return;
  const std::uint16_t value = a.to[at.row + at.x];
  const std::uint16_t* const right = a.from + at.row;
  const bool confirmed = a.libsgm ? is_confirmed_by_libsgm(value, a.picture.at(at.x, at.y), at.x,
                                                           a.width, right, a.shift, a.max_diff)
                                  : is_confirmed(value, at.x, a.width, right, a.max_diff);
  if (!confirmed)
    a.to[at.row + at.x] = unknown;
}

__global__ void __launch_bounds__(threads) write_kernel(const __grid_constant__ MapArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const MapPixel at(a);
  if (at.x >= a.width)
    return;
  const std::uint16_t value = a.from[at.row + at.x];
  const auto number = static_cast<std::uint16_t>(value == unknown ? a.invalid : value + a.added);
  std::uint8_t* const to = a.out + a.out_pitch * at.y + 2 * static_cast<std::int64_t>(at.x);
  if (a.out_even) {
    *reinterpret_cast<std::uint16_t*>(to) = number;
  } else {
    to[0] = static_cast<std::uint8_t>(number);
    to[1] = static_cast<std::uint8_t>(number >> 8);
  }
}

__global__ void __launch_bounds__(threads)
    confidence_kernel(const __grid_constant__ MapArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const MapPixel at(a);
  if (at.x >= a.width)
    return;
  a.out[a.out_pitch * at.y + at.x] =
      a.from[at.row + at.x] == unknown ? 0 : a.confidence[at.row + at.x];
}

}  // namespace

MapsCuda::MapsCuda(Device& device, const StageConfig& config)
    : config_(config), launch_(device.stream(), median_kernel) {}

MapArguments MapsCuda::arguments() const {
  MapArguments a{};
  a.width = config_.width;
  a.height = config_.height;
  a.blocks_per_row = (config_.width + threads - 1) / threads;
  a.libsgm = config_.libsgm();
  return a;
}

void MapsCuda::launch(Launcher<MapArguments>::Kernel kernel, const MapArguments& a) const {
  launch_(kernel, static_cast<unsigned>(a.blocks_per_row) * a.height, threads, 0, a);
}

void MapsCuda::median(const std::uint16_t* from, std::uint16_t* to) const {
  MapArguments a = arguments();
  a.from = from;
  a.to = to;
  launch(median_kernel, a);
}

void MapsCuda::check(const SamplePlane& picture, const std::uint16_t* right, bool subpixel,
                     int max_diff, std::uint16_t* left) const {
  MapArguments a = arguments();
  a.from = right;
  a.to = left;
  a.picture = Samples(picture);
  a.shift = subpixel ? 4 : 0;
  a.max_diff = max_diff;
  launch(check_kernel, a);
}

void MapsCuda::write(const std::uint16_t* map, const DisparityScale& scale,
                     View<std::uint8_t> disparity) const {
  MapArguments a = arguments();
  a.from = map;
  a.out = disparity.data;
  a.out_pitch = disparity.pitch;
  a.out_even =
      reinterpret_cast<std::uintptr_t>(disparity.data) % 2 == 0 && disparity.pitch % 2 == 0;
  a.added = static_cast<std::uint16_t>(config_.minimum * scale.per_pixel);
  a.invalid = scale.invalid;
  launch(write_kernel, a);
}

void MapsCuda::write_confidence(const std::uint16_t* map, const std::uint8_t* confidence,
                                View<std::uint8_t> out) const {
  MapArguments a = arguments();
  a.from = map;
  a.confidence = confidence;
  a.out = out.data;
  a.out_pitch = out.pitch;
  launch(confidence_kernel, a);
}

}  // namespace cudavision::sgm
