// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Smooths planes on CUDA. A block loads a tile and the pixels around it into shared memory. A
// thread works on two neighbouring pixels at once, one in each half of a word, with the arithmetic
// for pairs of 16-bit floats. The samples of both are always in the same words, because all
// distances are even. Every operation on floats is exact, apart from two whose rounding is part of
// a division.

#include "cuda/core/cuda_launch.h"
#include "cuda/sgm/halfpairs.cuh"
#include "cuda/sgm/samples.cuh"
#include "cuda/sgm/stages_cuda.h"
#include "cuda/sgm/surface_arithmetic.h"

namespace cudavision::sgm {

struct SmoothArguments {
  int width, height;
  int tiles;  // per row of tiles
  const std::uint16_t* from;
  bool even;  // rows of the map begin at addresses of whole words
  const std::uint8_t* confidence;
  Samples picture;
  int shift;  // from samples to levels of 8 bits
  NumbersOut out;
};

namespace {

constexpr int threads = 256, warps = threads / 32;
// In the first pass, the samples around a tile are 1.25 times as many as its pixels.
constexpr int tile_width = 64, tile_height = 64;
static_assert(tile_width == 2 * 32);  // A warp works on a row of the tile.

/// The pixels that a block loads.
template <int kStep>
struct Tile {
  static constexpr int halo = 2 * kStep;
  static constexpr int pitch = (tile_width + 2 * halo) / 2;  // in pairs
  static constexpr int size = pitch * (tile_height + 2 * halo);

  static __device__ constexpr int place_of(int x, int y) { return y * pitch + x / 2; }
};

/// Loads the pixels at the columns x and x + 1 of row y. Unknown pixels, and those outside the
/// picture, have the number 0 and a luminance without weight. With kEven, rows of the map begin at
/// addresses of whole words.
template <int kBytes, bool kEven>
__device__ Pair load_pair(const SmoothArguments& a, int x, int y) {
  Samples picture = a.picture;
  picture.bytes = kBytes;
  const bool inside_row = y >= 0 && y < a.height;
  const std::uint16_t* const row = a.from + static_cast<std::int64_t>(y) * a.width;
  std::uint32_t numbers = 0xffffffff, levels = 0;
  if constexpr (kEven)
    if (inside_row && x >= 0 && x < a.width)
      numbers = *reinterpret_cast<const std::uint32_t*>(row + x);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int column = x + half;
    if (!inside_row || column < 0 || column >= a.width)
      continue;
    levels |= picture.at(column, y) >> (kBytes == 1 ? 0 : a.shift) << 16 * half;
    if constexpr (!kEven)
      numbers ^= (std::uint32_t{row[column]} ^ unknown) << 16 * half;
  }
  // Only unknown has the highest bit.
  const std::uint32_t is_unknown = (numbers >> 15 & 0x00010001) * 0xffff;
  return {numbers & ~is_unknown, ((luminance_0 * 0x00010001 + levels) & ~is_unknown) |
                                     (unknown_luminance * 0x00010001 & is_unknown)};
}

/// Loads the pixels of a tile and around it, of which (x, y) is the first.
template <int kBytes, bool kEven, int kStep>
__device__ void load_tile(const SmoothArguments& a, int x, int y, Pair* samples) {
  using Loaded = Tile<kStep>;
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x); i < Loaded::size; i += threads) {
    const int row = i / Loaded::pitch;
    samples[i] = load_pair<kBytes, kEven>(a, x + 2 * (i - row * Loaded::pitch), y + row);
  }
  __syncthreads();
}

/// The constants for a confidence. The unit of reach and bend is 2^-24, the smallest float, so that
/// integers of 16 bits are floats without a conversion.
struct Cut {
  std::uint16_t reach;   ///< 2·cut + 1
  std::uint16_t bias;    ///< a float
  std::uint32_t factor;  ///< likewise, 2^15 / 2cut
};

/// With W = 64 >> …, a pair weighs w = W·room div 2cut, and a rounded quotient has to be w. So the
/// bias lowers W·room by a quarter less than half of 2cut, and the factor is the float after the
/// nearest one. With these, the rounding of bias + W·room and of the factor does no harm, for all
/// cuts from 8 to 18 and all W and rooms.
__device__ Cut cut_for(int confidence) {
  const int cut = smoothing_cut(confidence);
  const auto bits = [](float number) { return __half_as_ushort(__float2half_rn(number)); };
  constexpr float unit = 1.0f / (1 << 17);  // a quarter of that of W·room below
  return {static_cast<std::uint16_t>(2 * cut + 1), bits(-unit * static_cast<float>(4 * cut - 1)),
          bits(__fdiv_rn(1 << 14, static_cast<float>(cut))) + 1u};
}

/// The sums of two pixels.
class PairSums {
 public:
  __device__ PairSums(const Pair& pixels, const Cut& first, const Cut& second)
      : luminances_(floats_of(pixels.luminances)),
        base_(0x80008000 - 2 * pixels.numbers),
        reach_(once(static_cast<std::uint32_t>(second.reach) << 16 | first.reach)),
        offset_(once(reach_ | 0x80008000)),
        bias_(floats_of(once(static_cast<std::uint32_t>(second.bias) << 16 | first.bias))),
        factor_(floats_of(second.factor << 16 | first.factor)) {}

  __device__ void add(const Pair& q, const Pair& r) {
    // Numbers have 14 bits, so each half of the sum is a bend + 2^15, and has no carry. Those out
    // of reach become ± reach, which has no room.
    const __half2 reach = floats_of(reach_);
    const __half2 bend = __hsub2_rn(
        floats_of(__viaddmin_s16x2_relu(q.numbers + r.numbers + base_, offset_, 2 * reach_)),
        reach);
    const __half2 room = __hsub2_rn(reach, __habs2(bend));
    const __half2 differences = __hmax2(__habs2(__hsub2_rn(luminances_, floats_of(q.luminances))),
                                        __habs2(__hsub2_rn(luminances_, floats_of(r.luminances))));
    // 2^9·W, except that W is a half instead of 0, with which w is 0 as well. Then room·2^9·W has
    // the unit 2^-15.
    const __half2 weight =
        floats_of((nearness_of(differences) << 10) + (23u * 0x04000400 - (bits_of_128 << 10)));
    // Floats from 1024 to 2048 are integers, so the addition rounds the quotient.
    const __half2 before = half_t_;
    half_t_ = __hfma2(__hfma2(weight, room, bias_), factor_, before);
    s_ = __hfma2(__hsub2_rn(half_t_, before), bend, s_);
  }

  /// Floats are exact up to 2048, which the bends of three pairs do not reach.
  static constexpr int pairs_at_once = 3;
  __device__ void flush() {
    first_s_ += __low2float(s_);
    second_s_ += __high2float(s_);
    s_ = floats_of(0);
  }

  /// Returns how the numbers change.
  __device__ int first_change() const { return change(first_s_, __low2float(half_t_) - 1024); }
  __device__ int second_change() const { return change(second_s_, __high2float(half_t_) - 1024); }

 private:
  /// Keeps the compiler from making a word again for each pair.
  static __device__ std::uint32_t once(std::uint32_t word) {
    asm("" : "+r"(word));
    return word;
  }

  /// (2S + T) / 2T, rounded down. The half keeps the quotient at least 1/3400 away from integers,
  /// of which it reaches at most ±19. __fdividef() is wrong by at most 2 units in the last place
  /// (CUDA C++ Programming Guide), which is less than 1/250000 there.
  static __device__ int change(float s, float half_t) {
    constexpr float unit = 1 << 24;
    return __float2int_rd(__fdividef(s * unit + half_t + 0.5f, 2 * half_t));
  }

  __half2 luminances_;
  std::uint32_t base_, reach_, offset_;
  __half2 bias_, factor_;
  __half2 s_ = floats_of(0), half_t_ = twice(0x6420);  // 1024 + 32; T/2 is at most 848
  float first_s_ = 0, second_s_ = 0;
};

/// The distance between the pixels of a pair and the one between them, in steps.
struct PairOffset {
  int i, j;
};
__device__ constexpr PairOffset pair_offset(int number) {
  return number < 2 ? PairOffset{number + 1, 0}
                    : PairOffset{(number - 2) % 5 - 2, (number - 2) / 5 + 1};
}

template <int kBytes, int kStep>  // per sample of the picture, between samples of the map
__global__ void __launch_bounds__(threads, 4)
    smooth_kernel(const __grid_constant__ SmoothArguments a) {
  using Loaded = Tile<kStep>;
  __shared__ Pair samples[Loaded::size];
  __shared__ Cut cuts[256];
  static_assert(threads == 256);
  const int thread = static_cast<int>(threadIdx.x);
  cuts[thread] = cut_for(thread);
  launch_dependents();
  grid_dependency_wait();

  const int first_x = static_cast<int>(blockIdx.x % a.tiles) * tile_width;
  const int first_y = static_cast<int>(blockIdx.x / a.tiles) * tile_height;
  if (a.even)
    load_tile<kBytes, true, kStep>(a, first_x - Loaded::halo, first_y - Loaded::halo, samples);
  else
    load_tile<kBytes, false, kStep>(a, first_x - Loaded::halo, first_y - Loaded::halo, samples);

  const int x = first_x + 2 * (thread % 32);
  if (x >= a.width)
    return;
  const int end = min(tile_height, a.height - first_y);
#pragma unroll 1
  for (int row = thread / 32; row < end; row += warps) {
    const int y = first_y + row;
    const std::uint8_t* const confidence =
        a.confidence + static_cast<std::int64_t>(y) * a.width + x;
    const Pair* const pixels =
        samples + Loaded::place_of(Loaded::halo + x - first_x, Loaded::halo + row);
    PairSums sums(*pixels, cuts[confidence[0]], cuts[x + 1 < a.width ? confidence[1] : 0]);
#pragma unroll
    for (int i = 0; i < smoothing_pairs; i += PairSums::pairs_at_once) {
#pragma unroll
      for (int k = i; k < i + PairSums::pairs_at_once; ++k) {
        const int place = Loaded::place_of(kStep * pair_offset(k).i, kStep * pair_offset(k).j);
        sums.add(pixels[place], pixels[-place]);
      }
      sums.flush();
    }
    const auto number = [&](int half, int change) {
      return (pixels->luminances >> 16 * half & 0xffff) == unknown_luminance
                 ? std::uint32_t{unknown}
                 : (pixels->numbers >> 16 * half & 0xffff) + change;
    };
    a.out.write_pair(x, y, a.width,
                     number(1, sums.second_change()) << 16 | number(0, sums.first_change()));
  }
}

template <int kBytes>
Kernel<SmoothArguments> kernel_for(int pass) {
  static_assert(smoothing_passes == 3);
  constexpr Kernel<SmoothArguments> kernels[] = {smooth_kernel<kBytes, smoothing_step(0)>,
                                                 smooth_kernel<kBytes, smoothing_step(1)>,
                                                 smooth_kernel<kBytes, smoothing_step(2)>};
  return kernels[pass];
}

}  // namespace

SmoothCuda::SmoothCuda(LaunchQueue& queue, const StageConfig& config)
    : config_(config), queue_(queue) {}

void SmoothCuda::run(const SamplePlane& picture, const std::uint8_t* confidence,
                     const std::uint16_t* from, const NumbersOut& out, std::uint16_t* scratch,
                     std::uint16_t* other_scratch) const {
  SmoothArguments a{};
  a.width = config_.width;
  a.height = config_.height;
  a.tiles = (config_.width + tile_width - 1) / tile_width;
  a.confidence = confidence;
  a.picture = Samples(picture);
  a.shift = picture.bits - 8;
  const unsigned blocks = static_cast<unsigned>(a.tiles) *
                          static_cast<unsigned>((config_.height + tile_height - 1) / tile_height);
  const std::uint16_t* const maps[] = {from, scratch, other_scratch};
  const NumbersOut outs[] = {{config_, scratch}, {config_, other_scratch}, out};
  for (int pass = 0; pass < smoothing_passes; ++pass) {
    a.from = maps[pass];
    a.even = config_.width % 2 == 0 && reinterpret_cast<std::uintptr_t>(a.from) % 4 == 0;
    a.out = outs[pass];
    queue_.launch(picture.bits == 8 ? kernel_for<1>(pass) : kernel_for<2>(pass), blocks, threads, 0,
                  a);
  }
}

}  // namespace cudavision::sgm
