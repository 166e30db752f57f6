// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sharpens a map on CUDA. A warp processes some rows of neighbouring columns, one column per lane.
// Each lane sums the contributions of its column over three rows, and exchanges these sums with the
// adjacent lanes. So each pixel is looked up in the pictures 1.6 times instead of nine times.

#include "cuda/core/cuda_launch.h"
#include "cuda/core/division.h"
#include "cuda/sgm/samples.cuh"
#include "cuda/sgm/stages_cuda.h"
#include "cuda/sgm/surfaces/arithmetic.h"

namespace cudavision::sgm {
namespace {

struct SharpenArguments {
  int width, height;
  int minimum, top;
  int tiles;  // tiles across the picture
  const std::uint16_t* from;
  std::uint16_t* to;
  Samples left_picture, right_picture;
  int shift;  // right shift from samples to 8-bit levels
};

constexpr int threads = 256, warps = threads / 32;
constexpr int columns = 32 - 2;  // columns per warp; the outermost lanes only contribute to sums
constexpr int rows = 4;          // rows per warp; two more rows only contribute to sums
constexpr int tile_width = columns, tile_height = warps * rows;

/// Sums over some pixels. e and n share a word, because n is at most 9.
struct Contribution {
  int e16_and_n = 0, g = 0, eg = 0, gg = 0;

  __device__ Contribution operator+(const Contribution& other) const {
    return {e16_and_n + other.e16_and_n, g + other.g, eg + other.eg, gg + other.gg};
  }
  __device__ Contribution with_sides() const {
    const auto sum = [](int own) {
      return own + __shfl_up_sync(whole_warp, own, 1) + __shfl_down_sync(whole_warp, own, 1);
    };
    return {sum(e16_and_n), sum(g), sum(eg), sum(gg)};
  }
  __device__ SharpeningSums sums() const { return {e16_and_n & 15, e16_and_n >> 4, g, eg, gg}; }
};

struct Pixel {
  std::uint16_t number;
  int residual, gradient;  ///< e and g; 0 for unknown pixels

  __device__ Contribution contribution() const {
    return {number == unknown ? 0 : 16 * residual + 1, gradient, residual * gradient,
            gradient * gradient};
  }
};

__device__ unsigned moved_inside(int place, int count) {
  return static_cast<unsigned>(min(max(place, 0), count - 1));
}

/// A column and its neighbours, clamped to the picture.
struct Columns {
  unsigned here, before, after;
  bool inside;

  __device__ Columns(int x, int width)
      : here(moved_inside(x, width)),
        before(moved_inside(here - 1, width)),
        after(moved_inside(here + 1, width)),
        inside(x >= 0 && x < width) {}
};

template <int kBytes>
class LevelRow {
 public:
  __device__ LevelRow(const Samples& picture, int y, int shift)
      : picture_(picture), shift_(shift), row_(picture.data + picture.pitch * y) {
    // Computing this address again for each sample would need more registers.
    asm("" : "+l"(row_));
    __builtin_assume(__isGlobal(row_));
  }

  __device__ int operator[](unsigned x) const {
    if constexpr (kBytes == 1)
      return row_[x];
    const std::uint32_t word = row_[2 * x] | static_cast<std::uint32_t>(row_[2 * x + 1]) << 8;
    return static_cast<int>(sample_value(word, picture_.shift, picture_.largest) >> shift_);
  }

 private:
  const Samples& picture_;
  int shift_;  // right shift from samples to 8-bit levels
  const std::uint8_t* row_;
};

/// All addresses are inside the picture, so that no load waits for a branch.
template <int kBytes>
__device__ Pixel load_pixel(const SharpenArguments& a, const Columns& columns, int y) {
  const int inside_y = static_cast<int>(moved_inside(y, a.height));
  const LevelRow<kBytes> left(a.left_picture, inside_y, a.shift);
  const LevelRow<kBytes> right(a.right_picture, inside_y, a.shift);
  const std::uint16_t* const map = a.from + static_cast<std::int64_t>(inside_y) * a.width;
  std::uint16_t number = map[columns.here];
  const int place = 16 * (static_cast<int>(columns.here) - a.minimum) - number;
  const int first = right[moved_inside(place >> 4, a.width)];
  const int second = right[moved_inside((place >> 4) + 1, a.width)];
  const int residual = 16 * (left[columns.here] - first) - (place & 15) * (second - first);
  const int gradient = 8 * (left[columns.after] - left[columns.before]);
  if (!columns.inside || y != inside_y)
    number = unknown;
  return {number, number == unknown ? 0 : residual, number == unknown ? 0 : gradient};
}

/// Returns the minimum number of blocks per multiprocessor. 0 leaves the choice to the compiler,
/// but before CUDA 13 it would spill 4 bytes on compute capabilities 8.6 to 8.9.
constexpr int blocks_without_spills() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ > 800 && __CUDA_ARCH__ < 900 && \
    __CUDACC_VER_MAJOR__ < 13
  return 3;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100
  return 8;
#else
  return 0;
#endif
}

template <int kBytes>  // bytes per sample of the pictures
__global__ void __launch_bounds__(threads, blocks_without_spills())
    sharpen_kernel(const __grid_constant__ SharpenArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  // The compiler does not know that threadIdx.x / 32 is uniform in a warp.
  const int warp = __shfl_sync(whole_warp, static_cast<int>(threadIdx.x) / 32, 0);
  const int x = static_cast<int>(blockIdx.x % a.tiles) * tile_width + lane - 1;
  const int first_y = static_cast<int>(blockIdx.x / a.tiles) * tile_height + warp * rows;
  const Columns around(x, a.width);
  Pixel pixels[rows + 2];
#pragma unroll
  for (int i = 0; i < rows + 2; ++i)
    pixels[i] = load_pixel<kBytes>(a, around, first_y - 1 + i);
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

void run_stage(const StageResources& resources, const Sharpen& stage) {
  const StageConfig& config = resources.config;
  SharpenArguments a{};
  a.width = config.width;
  a.height = config.height;
  a.minimum = config.minimum;
  a.top = 16 * (config.disparities - 1);
  a.tiles = divide_up(config.width, tile_width);
  a.from = stage.from;
  a.to = stage.to;
  a.left_picture = Samples(stage.left_picture);
  a.right_picture = Samples(stage.right_picture);
  a.shift = config.bits - 8;
  resources.queue.launch(config.bits == 8 ? sharpen_kernel<1> : sharpen_kernel<2>,
                         static_cast<unsigned>(a.tiles) * divide_up(config.height, tile_height),
                         threads, 0, a);
}

}  // namespace cudavision::sgm
