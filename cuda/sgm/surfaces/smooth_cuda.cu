// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Smooth on CUDA. A block loads a tile with a halo into shared memory. A thread processes two
// neighbouring pixels as pairs of 16-bit floats. All results, also of divisions, are exact.

#include "cuda/core/cuda_launch.h"
#include "cuda/core/division.h"
#include "cuda/sgm/maps/pair_tile.cuh"
#include "cuda/sgm/stages_cuda.h"
#include "cuda/sgm/surfaces/arithmetic.h"

namespace cudavision::sgm {
namespace {

struct SmoothArguments {
  PairSource source;
  int tiles;      // tiles across the picture
  int tile_rows;  // rows per tile, at most SmoothingTile::height
  const std::uint8_t* confidence;
  NumbersOut out;
};

constexpr int threads = 256, warps = threads / 32;
template <int kStep>
using SmoothingTile = PairTile<64, 64, 2 * kStep>;
static_assert(SmoothingTile<2>::width == 2 * 32);  // A warp works on a row of the tile.

/// The constants for a confidence. limit and bends, v(q) + v(r) − 2·v(p), have the unit 2^-24, the
/// smallest 16-bit float, so that the bits of an integer are a float without conversion.
struct alignas(8) Cut {
  std::uint16_t limit;   ///< 2·cut + 1
  std::uint16_t bias;    ///< bits of a 16-bit float, see cut_for()
  std::uint32_t factor;  ///< bits of a 16-bit float: 2^15 / 2cut
};

/// In Smooth, a pair has the weight w = W·room div 2cut, with W = 64 >> … and room = 2cut + 1 − c.
/// The kernel multiplies by a float near 1/2cut and rounds. To round down, bias lowers W·room by
/// cut − 1/4, and factor is the float after the one nearest to 1/2cut. bias + W·room and factor are
/// rounded, but w is exact for all cuts from 8 to 18, all W and all rooms.
__device__ Cut cut_for(int confidence) {
  const int cut = smoothing_cut(confidence);
  const auto bits = [](float number) { return __half_as_ushort(__float2half_rn(number)); };
  constexpr float unit = 1.0f / (1 << 17);  // a quarter of 2^-15, the unit of weight·room
  return {static_cast<std::uint16_t>(2 * cut + 1), bits(-unit * static_cast<float>(4 * cut - 1)),
          bits(__fdiv_rn(1 << 14, static_cast<float>(cut))) + 1u};
}

class PairSums {
 public:
  __device__ PairSums(const Pair& pixels, const Cut& first, const Cut& second)
      : luminances_(floats_of(pixels.luminances)),
        base_(0x80008000 - 2 * pixels.numbers),
        limit_(once(static_cast<std::uint32_t>(second.limit) << 16 | first.limit)),
        offset_(once(limit_ | 0x80008000)),
        bias_(floats_of(once(static_cast<std::uint32_t>(second.bias) << 16 | first.bias))),
        factor_(floats_of(second.factor << 16 | first.factor)) {}

  __device__ void add(const Pair& q, const Pair& r) {
    // Map values have 14 bits, so bend + 2^15 fits a half. A bend clamped to ±limit has room 0.
    const __half2 limit = floats_of(limit_);
    const __half2 bend = __hsub2_rn(
        floats_of(__viaddmin_s16x2_relu(q.numbers + r.numbers + base_, offset_, 2 * limit_)),
        limit);
    const __half2 room = __hsub2_rn(limit, __habs2(bend));
    const __half2 differences = __hmax2(__habs2(__hsub2_rn(luminances_, floats_of(q.luminances))),
                                        __habs2(__hsub2_rn(luminances_, floats_of(r.luminances))));
    // weight is 2^9·W. W = 1/2 replaces W = 0: both give w = 0. weight·room has the unit 2^-15.
    const __half2 weight =
        floats_of((nearness_of(differences) << 10) + (23u * 0x04000400 - (bits_of_128 << 10)));
    // 16-bit floats from 1024 to 2048 are integers, so the addition rounds the quotient.
    const __half2 before = half_t_;
    half_t_ = __hfma2(__hfma2(weight, room, bias_), factor_, before);
    s_ = __hfma2(__hsub2_rn(half_t_, before), bend, s_);
  }

  /// Three pairs add less than 2048 to S, up to which 16-bit floats represent integers exactly.
  static constexpr int pairs_at_once = 3;
  __device__ void flush() {
    first_s_ += __low2float(s_);
    second_s_ += __high2float(s_);
    s_ = floats_of(0);
  }

  /// Unknown pixels have the value 0 and do not change.
  __device__ std::uint32_t smoothed(std::uint32_t numbers) const {
    // Neither half becomes negative, so halves do not borrow.
    return numbers + static_cast<std::uint32_t>(change(first_s_, __low2float(half_t_))) +
           (static_cast<std::uint32_t>(change(second_s_, __high2float(half_t_))) << 16);
  }

 private:
  /// Prevents the compiler from computing a word again for each pair.
  static __device__ std::uint32_t once(std::uint32_t word) {
    asm("" : "+r"(word));
    return word;
  }

  /// Returns (2S + T) / 2T, rounded down. Adding 0.5 keeps the quotient at least 1/3400 away from
  /// integers. The quotient is within ±19, so the division's error of at most 2 units in the last
  /// place (PTX ISA, div.approx) is below 1/250000. half_t is T/2 + 1024; s has the unit 2^-24.
  static __device__ int change(float s, float half_t) {
    const float dividend = __fmaf_rn(s, 1 << 24, half_t - 1023.5f);
    const float divisor = __fmaf_rn(half_t, 2, -2048);
    float quotient;
    asm("div.approx.ftz.f32 %0, %1, %2;" : "=f"(quotient) : "f"(dividend), "f"(divisor));
    return __float2int_rd(quotient);
  }

  __half2 luminances_;
  std::uint32_t base_, limit_, offset_;
  __half2 bias_, factor_;
  __half2 s_ = floats_of(0), half_t_ = twice(0x6420);  // half_t_ is 1024 + T/2, T/2 32 to 848
  float first_s_ = 0, second_s_ = 0;
};

/// The offset of a pair's first pixel from the middle pixel, in steps.
struct PairOffset {
  int i, j;
};
__device__ constexpr PairOffset pair_offset(int number) {
  return number < 2 ? PairOffset{number + 1, 0}
                    : PairOffset{(number - 2) % 5 - 2, (number - 2) / 5 + 1};
}

template <int kBytes, int kStep>  // bytes per picture sample, pixels between map samples
__global__ void __launch_bounds__(threads, 4)
    smooth_kernel(const __grid_constant__ SmoothArguments a) {
  using Tile = SmoothingTile<kStep>;
  __shared__ __align__(16) Pair samples[Tile::size];
  __shared__ Cut cuts[256];
  static_assert(threads == 256);
  const int thread = static_cast<int>(threadIdx.x);
  cuts[thread] = cut_for(thread);
  launch_dependents();
  grid_dependency_wait();

  const int first_x = static_cast<int>(blockIdx.x % a.tiles) * Tile::width;
  const int first_y = static_cast<int>(blockIdx.x / a.tiles) * a.tile_rows;
  Tile::template load<threads, kBytes, 0>(a.source, first_x, first_y, a.tile_rows, samples);

  const int width = a.source.width, x = first_x + 2 * (thread % 32);
  if (x >= width)
    return;
  const int end = min(a.tile_rows, a.source.height - first_y);
  // A row's confidences are loaded during the previous row.
  const auto confidences_at = [&](int row) {
    const std::uint8_t* const from =
        a.confidence + static_cast<std::int64_t>(first_y + row) * width + x;
    return row >= end ? uchar2{} : uchar2{from[0], x + 1 < width ? from[1] : from[0]};
  };
  uchar2 next = confidences_at(thread / 32);
#pragma unroll 1
  for (int row = thread / 32; row < end; row += warps) {
    const int y = first_y + row;
    const uchar2 confidences = next;
    next = confidences_at(row + warps);
    const Pair* const pixels = samples + Tile::index_of(Tile::halo + x - first_x, Tile::halo + row);
    PairSums sums(*pixels, cuts[confidences.x], cuts[confidences.y]);
#pragma unroll
    for (int i = 0; i < smoothing_pairs; i += PairSums::pairs_at_once) {
#pragma unroll
      for (int k = i; k < i + PairSums::pairs_at_once; ++k) {
        const int place = Tile::index_of(kStep * pair_offset(k).i, kStep * pair_offset(k).j);
        sums.add(pixels[place], pixels[-place]);
      }
      sums.flush();
    }
    // Only infinity, the luminance of unknown pixels, has both of the highest exponent bits.
    const std::uint32_t is_unknown =
        halves_with_sign(pixels->luminances << 1 & pixels->luminances << 2);
    a.out.write_pair(x, y, width, sums.smoothed(pixels->numbers) | is_unknown);
  }
}

Kernel<SmoothArguments> kernel_for(const StageConfig& config, int pass) {
  constexpr Kernel<SmoothArguments> kernels[smoothing_passes][2] = {
      {smooth_kernel<1, smoothing_step(0)>, smooth_kernel<2, smoothing_step(0)>},
      {smooth_kernel<1, smoothing_step(1)>, smooth_kernel<2, smoothing_step(1)>},
      {smooth_kernel<1, smoothing_step(2)>, smooth_kernel<2, smoothing_step(2)>}};
  return kernels[pass][config.bits == 8 ? 0 : 1];
}

int tiles_per_row(const StageConfig& config) {
  return divide_up(config.width, SmoothingTile<smoothing_step(0)>::width);
}

/// Returns the fewest rows per tile, in multiples of `warps`, with the fewest waves of blocks.
int rows_of_tiles(const StageConfig& config, int pass) {
  const int tiles = tiles_per_row(config),
            blocks =
                resident_blocks(reinterpret_cast<const void*>(kernel_for(config, pass)), threads);
  for (int waves = divide_up(tiles, blocks);; ++waves) {
    const int rows = divide_up(config.height, waves * blocks / tiles);
    if (rows <= SmoothingTile<smoothing_step(0)>::height)
      return round_up(rows, warps);
  }
}

}  // namespace

std::array<int, 3> smooth_tile_rows_for(const StageConfig& config) {
  return {rows_of_tiles(config, 0), rows_of_tiles(config, 1), rows_of_tiles(config, 2)};
}

void smooth(const StageResources& resources, const Smooth& stage, const NumbersOut& out) {
  const StageConfig& config = resources.config;
  SmoothArguments a{};
  a.tiles = tiles_per_row(config);
  a.confidence = stage.confidence;
  const std::uint16_t* const maps[] = {stage.from, stage.to, stage.scratch};
  const NumbersOut outs[] = {{config, stage.to}, {config, stage.scratch}, out};
  for (int pass = 0; pass < smoothing_passes; ++pass) {
    a.source = {config, stage.picture, maps[pass]};
    a.tile_rows = resources.smooth_tile_rows[pass];
    a.out = outs[pass];
    resources.queue.launch(kernel_for(config, pass),
                           static_cast<unsigned>(a.tiles) * divide_up(config.height, a.tile_rows),
                           threads, 0, a);
  }
}

void run_stage(const StageResources& resources, const Smooth& stage) {
  smooth(resources, stage, {resources.config, stage.to});
}

}  // namespace cudavision::sgm
