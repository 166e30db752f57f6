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
  bool vectors;  // four pixels can be loaded at once, of the map and of the picture
  const std::uint8_t* confidence;
  Samples picture;
  int shift;  // from samples to levels of 8 bits
  NumbersOut out;
};

namespace {

constexpr int threads = 256, warps = threads / 32;
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

/// Returns two pixels, by the numbers and the levels in the halves of words. Unknown pixels have
/// the number 0 and a luminance without weight.
__device__ Pair pair_of(std::uint32_t numbers, std::uint32_t levels) {
  // Only unknown has the highest bit.
  const std::uint32_t is_unknown = (numbers >> 15 & 0x00010001) * 0xffff;
  return {numbers & ~is_unknown, ((luminance_0 * 0x00010001 + levels) & ~is_unknown) |
                                     (unknown_luminance * 0x00010001 & is_unknown)};
}

/// Four neighbouring pixels of a row as they are in memory: of a map, and of the picture.
template <int kBytes>
struct FourPixels {
  std::uint32_t numbers[2] = {0xffffffff, 0xffffffff};  ///< unknown
  std::uint32_t samples[kBytes] = {};

  /// Loads the pixels from column x, a multiple of 4, of row y. Those outside the picture stay
  /// unknown. With kVectors, all four can be loaded at once.
  template <bool kVectors>
  __device__ void load(const SmoothArguments& a, int x, int y) {
    if (y < 0 || y >= a.height || x < 0 || x >= a.width)
      return;
    const std::uint16_t* const row = a.from + static_cast<std::int64_t>(y) * a.width + x;
    const std::uint8_t* const picture =
        a.picture.data + a.picture.pitch * y + static_cast<std::int64_t>(kBytes) * x;
    if constexpr (kVectors) {
      const uint2 four = *reinterpret_cast<const uint2*>(row);
      numbers[0] = four.x, numbers[1] = four.y;
      if constexpr (kBytes == 1) {
        samples[0] = *reinterpret_cast<const std::uint32_t*>(picture);
      } else {
        const uint2 words = *reinterpret_cast<const uint2*>(picture);
        samples[0] = words.x, samples[1] = words.y;
      }
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (x + i >= a.width)
          break;
        numbers[i / 2] ^= (std::uint32_t{row[i]} ^ unknown) << 16 * (i % 2);
#pragma unroll
        for (int byte = i * kBytes; byte < (i + 1) * kBytes; ++byte)
          samples[byte / 4] |= std::uint32_t{picture[byte]} << 8 * (byte % 4);
      }
    }
  }

  __device__ uint4 pairs(const SmoothArguments& a) const {
    std::uint32_t levels[2];
    if constexpr (kBytes == 1) {
      levels[0] = __byte_perm(samples[0], 0, 0x4140);
      levels[1] = __byte_perm(samples[0], 0, 0x4342);
    } else {
      const auto level = [&](std::uint32_t word) {
        return sample_value(word & 0xffff, a.picture.shift, a.picture.largest) >> a.shift;
      };
#pragma unroll
      for (int i = 0; i < 2; ++i)
        levels[i] = level(samples[i]) | level(samples[i] >> 16) << 16;
    }
    const Pair first = pair_of(numbers[0], levels[0]), second = pair_of(numbers[1], levels[1]);
    return {first.numbers, first.luminances, second.numbers, second.luminances};
  }
};

/// Loads the pixels of a tile and around it, of which (x, y) is the first. All loads of a thread
/// are under way at once.
template <int kBytes, bool kVectors, int kStep>
__device__ void load_tile(const SmoothArguments& a, int x, int y, Pair* samples) {
  using Loaded = Tile<kStep>;
  static_assert(Loaded::pitch % 2 == 0 && Loaded::halo % 4 == 0);
  constexpr int row_vectors = Loaded::pitch / 2, vectors = Loaded::size / 2;
  constexpr int turns = (vectors + threads - 1) / threads;
  const int thread = static_cast<int>(threadIdx.x);
  FourPixels<kBytes> loaded[turns];
#pragma unroll
  for (int i = 0; i < turns; ++i) {
    const int vector = thread + i * threads, row = vector / row_vectors;
    if (vectors % threads == 0 || vector < vectors)
      loaded[i].template load<kVectors>(a, x + 4 * (vector - row * row_vectors), y + row);
  }
#pragma unroll
  for (int i = 0; i < turns; ++i)
    if (const int vector = thread + i * threads; vectors % threads == 0 || vector < vectors)
      reinterpret_cast<uint4*>(samples)[vector] = loaded[i].pairs(a);
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
  __shared__ __align__(16) Pair samples[Loaded::size];
  __shared__ Cut cuts[256];
  static_assert(threads == 256);
  const int thread = static_cast<int>(threadIdx.x);
  cuts[thread] = cut_for(thread);
  launch_dependents();
  grid_dependency_wait();

  const int first_x = static_cast<int>(blockIdx.x % a.tiles) * tile_width;
  const int first_y = static_cast<int>(blockIdx.x / a.tiles) * tile_height;
  if (a.vectors)
    load_tile<kBytes, true, kStep>(a, first_x - Loaded::halo, first_y - Loaded::halo, samples);
  else
    load_tile<kBytes, false, kStep>(a, first_x - Loaded::halo, first_y - Loaded::halo, samples);

  const int x = first_x + 2 * (thread % 32);
  if (x >= a.width)
    return;
  const int end = min(tile_height, a.height - first_y);
  // Those of a row are loaded while the row before it is worked on.
  const auto confidences_at = [&](int row) {
    const std::uint8_t* const from =
        a.confidence + static_cast<std::int64_t>(first_y + row) * a.width + x;
    return row >= end ? uchar2{} : uchar2{from[0], x + 1 < a.width ? from[1] : from[0]};
  };
  uchar2 next = confidences_at(thread / 32);
#pragma unroll 1
  for (int row = thread / 32; row < end; row += warps) {
    const int y = first_y + row;
    const uchar2 confidences = next;
    next = confidences_at(row + warps);
    const Pair* const pixels =
        samples + Loaded::place_of(Loaded::halo + x - first_x, Loaded::halo + row);
    PairSums sums(*pixels, cuts[confidences.x], cuts[confidences.y]);
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
    const auto samples = reinterpret_cast<std::uintptr_t>(a.picture.data) |
                         static_cast<std::uintptr_t>(a.picture.pitch);
    a.vectors = config_.width % 4 == 0 && reinterpret_cast<std::uintptr_t>(a.from) % 8 == 0 &&
                samples % (4 * static_cast<unsigned>(a.picture.bytes)) == 0;
    a.out = outs[pass];
    queue_.launch(picture.bits == 8 ? kernel_for<1>(pass) : kernel_for<2>(pass), blocks, threads, 0,
                  a);
  }
}

}  // namespace cudavision::sgm
