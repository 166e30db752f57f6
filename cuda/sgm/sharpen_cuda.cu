// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sharpens a map by the pictures, on CUDA. A warp works on neighbouring columns, one per lane, and
// some rows of them. Each lane computes what the pixels of its column contribute, and sums that
// over three rows. Then the lanes exchange these sums with those beside them. So a pixel is looked
// up in the pictures 1.3 times, not nine times, and nothing waits for other warps.

#include "cuda/core/cuda_launch.h"
#include "cuda/sgm/samples.cuh"
#include "cuda/sgm/stages_cuda.h"
#include "cuda/sgm/surface_arithmetic.h"

namespace cudavision::sgm {

struct SharpenArguments {
  int width, height;
  int minimum, top;
  int tiles;  // per row of tiles
  const std::uint16_t* from;
  std::uint16_t* to;
  Samples left_picture, right_picture;
  int shift;  // from samples to levels of 8 bits
};

namespace {

constexpr int threads = 256, warps = threads / 32;
constexpr unsigned whole_warp = 0xffffffffu;
constexpr int columns = 32 - 2;  // of a warp; the outermost lanes only contribute
constexpr int rows = 4;          // likewise
constexpr int tile_width = columns, tile_height = warps * rows;

/// The sums of a pixel or more. e and n share a word: e is at most 4080 and n at most 9.
struct Contribution {
  int e16_and_n = 0, g = 0, eg = 0, gg = 0;

  __device__ Contribution operator+(const Contribution& other) const {
    return {e16_and_n + other.e16_and_n, g + other.g, eg + other.eg, gg + other.gg};
  }
  /// Adds those of the lanes on both sides.
  __device__ Contribution with_sides() const {
    const auto sum = [](int own) {
      return own + __shfl_up_sync(whole_warp, own, 1) + __shfl_down_sync(whole_warp, own, 1);
    };
    return {sum(e16_and_n), sum(g), sum(eg), sum(gg)};
  }
  __device__ SharpeningSums sums() const { return {e16_and_n & 15, e16_and_n >> 4, g, eg, gg}; }
};

/// A pixel, which may lie outside the picture; then it is unknown.
struct Pixel {
  std::uint16_t number;
  int residual, gradient;  ///< e and g, or 0

  __device__ Contribution contribution() const {
    return {number == unknown ? 0 : 16 * residual + 1, gradient, residual * gradient,
            gradient * gradient};
  }
};

/// All addresses lie inside the picture, so that no load waits for a branch.
template <int kBytes>
__device__ Pixel load_pixel(const SharpenArguments& a, int x, int y) {
  const auto column = [&](int x) { return min(max(x, 0), a.width - 1); };
  const int inside_x = column(x), inside_y = min(max(y, 0), a.height - 1);
  const auto level = [&](Samples picture, int x) {
    picture.bytes = kBytes;
    return static_cast<int>(picture.at(column(x), inside_y) >> (kBytes == 1 ? 0 : a.shift));
  };
  std::uint16_t number = a.from[static_cast<std::uint32_t>(inside_y) * a.width + inside_x];
  const int place = 16 * (inside_x - a.minimum) - number, fraction = place & 15;
  const int residual = 16 * level(a.left_picture, inside_x) -
                       (16 - fraction) * level(a.right_picture, place >> 4) -
                       fraction * level(a.right_picture, (place >> 4) + 1);
  const int gradient =
      8 * (level(a.left_picture, inside_x + 1) - level(a.left_picture, inside_x - 1));
  if (x != inside_x || y != inside_y)
    number = unknown;
  return {number, number == unknown ? 0 : residual, number == unknown ? 0 : gradient};
}

/// The blocks that share the registers of a multiprocessor, or 0: as many as the compiler thinks
/// best. For cards of 8.6 and 8.9, CUDA toolkits before 13 then spill 4 bytes.
constexpr int blocks_without_spills() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ > 800 && __CUDA_ARCH__ < 900 && \
    __CUDACC_VER_MAJOR__ < 13
  return 3;
#else
  return 0;
#endif
}

template <int kBytes>  // per sample of the pictures
__global__ void __launch_bounds__(threads, blocks_without_spills())
    sharpen_kernel(const __grid_constant__ SharpenArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int x = static_cast<int>(blockIdx.x % a.tiles) * tile_width + lane - 1;
  const int first_y = static_cast<int>(blockIdx.x / a.tiles) * tile_height + warp * rows;
  Pixel pixels[rows + 2];
#pragma unroll
  for (int i = 0; i < rows + 2; ++i)
    pixels[i] = load_pixel<kBytes>(a, x, first_y - 1 + i);
  Contribution above = pixels[0].contribution(), here = pixels[1].contribution();
#pragma unroll
  for (int i = 1; i <= rows; ++i) {
    const Contribution below = pixels[i + 1].contribution();
    const Contribution sums = (above + here + below).with_sides();
    const int y = first_y - 1 + i;
    if (lane >= 1 && lane <= columns && x < a.width && y < a.height)
      a.to[static_cast<std::uint32_t>(y) * a.width + x] =
          pixels[i].number == unknown ? unknown : sharpened(pixels[i].number, sums.sums(), a.top);
    above = here;
    here = below;
  }
}

}  // namespace

SharpenCuda::SharpenCuda(LaunchQueue& queue, const StageConfig& config)
    : config_(config), queue_(queue) {}

void SharpenCuda::run(const SamplePlane& left_picture, const SamplePlane& right_picture,
                      const std::uint16_t* from, std::uint16_t* to) const {
  SharpenArguments a{};
  a.width = config_.width;
  a.height = config_.height;
  a.minimum = config_.minimum;
  a.top = 16 * (config_.disparities - 1);
  a.tiles = (config_.width + tile_width - 1) / tile_width;
  a.from = from;
  a.to = to;
  a.left_picture = Samples(left_picture);
  a.right_picture = Samples(right_picture);
  a.shift = left_picture.bits - 8;
  const int tile_rows = (config_.height + tile_height - 1) / tile_height;
  queue_.launch(left_picture.bits == 8 ? sharpen_kernel<1> : sharpen_kernel<2>,
                static_cast<unsigned>(a.tiles) * static_cast<unsigned>(tile_rows), threads, 0, a);
}

}  // namespace cudavision::sgm
