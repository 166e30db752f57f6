// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Noise filter on CUDA. A thread filters four neighbouring pixels, and moves down a strip of rows.
// It keeps the sums of five rows, and loads the next row in each step. Without noise, it copies.

#include <algorithm>

#include "cuda/core/division.h"
#include "cuda/sgm/census/tile.cuh"
#include "cuda/sgm/noise/filter_arithmetic.h"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {
namespace {

struct NoiseFilterArguments {
  Samples pictures[2];
  bool aligned[2];  // see Samples::has_words_of_four()
  int shift;        // right shift from samples to 8-bit levels
  NoiseSource noise;
  FilteredPlane filtered[2];
  bool words[2];     // true if four samples can be stored at once
  int strips, rows;  // strips across the picture, rows per strip
  int blocks;        // blocks per picture
};

constexpr int threads = 128, pixels = 4, strip_width = 32 * pixels;
constexpr int radius = 2, side = 2 * radius + 1;

struct Levels {
  std::uint32_t before, own, after;
};

/// Reads a thread's strip. With kWords, rows are whole aligned words of 8-bit samples.
template <bool kWords>
class LevelRows {
 public:
  __device__ LevelRows(const NoiseFilterArguments& a, int which, int x)
      : picture_(a.pictures[which]),
        own_(picture_.data + x),
        shift_(a.shift),
        x_(x),
        aligned_(a.aligned[which]),
        is_first_(x == 0),
        is_last_(x + pixels >= picture_.width) {}

  __device__ Levels read(int y) const {
    if constexpr (kWords) {
      const auto* const from = reinterpret_cast<const std::uint32_t*>(
          own_ + picture_.pitch * min(max(y, 0), picture_.height - 1));
      return {from[is_first_ ? 0 : -1], *from, from[is_last_ ? 0 : 1]};
    } else {
      return {gradient::load_four_levels(picture_, shift_, aligned_, x_ - pixels, y),
              gradient::load_four_levels(picture_, shift_, aligned_, x_, y),
              gradient::load_four_levels(picture_, shift_, aligned_, x_ + pixels, y)};
    }
  }

  /// Replicates the picture beyond its edges. This waits for the loads of read(), so call it late.
  __device__ Levels replicated(const Levels& levels) const {
    if constexpr (!kWords)
      return levels;
    return {__byte_perm(levels.before, 0, is_first_ ? 0x0000 : 0x3210), levels.own,
            __byte_perm(levels.after, 0, is_last_ ? 0x3333 : 0x3210)};
  }

 private:
  const Samples& picture_;
  const std::uint8_t* own_;
  int shift_, x_;
  bool aligned_, is_first_, is_last_;
};

struct RowSums {
  std::uint32_t sums[pixels], squares[pixels];
  std::uint32_t levels;

  __device__ explicit RowSums(const Levels& row) : levels(row.own) {
    const std::uint32_t before = row.before, own = row.own, after = row.after;
    const std::uint32_t all = __dp4a(own, 0x01010101u, 0u), all_squares = __dp4a(own, own, 0u);
    sums[0] = __dp4a(before, 0x01010000u, __dp4a(own, 0x00010101u, 0u));
    sums[1] = __dp4a(before, 0x01000000u, all);
    sums[2] = __dp4a(after, 0x00000001u, all);
    sums[3] = __dp4a(after, 0x00000101u, __dp4a(own, 0x01010100u, 0u));
    squares[0] = __dp4a(before & 0xffff0000, before, __dp4a(own & 0x00ffffff, own, 0u));
    squares[1] = __dp4a(before & 0xff000000, before, all_squares);
    squares[2] = __dp4a(after & 0x000000ff, after, all_squares);
    squares[3] = __dp4a(after & 0x0000ffff, after, __dp4a(own & 0xffffff00, own, 0u));
  }
  RowSums() = default;
};

template <int kByte>
__device__ int difference_of(std::uint32_t levels, std::uint32_t sum) {
  int difference;
  asm("dp4a.u32.s32 %0, %1, %2, %3;"
      : "=r"(difference)
      : "r"(levels), "n"((256 - 25) << 8 * kByte), "r"(sum));
  return difference;
}

class Windows {
 public:
  __device__ void add(const RowSums& row) {
#pragma unroll
    for (int i = 0; i < pixels; ++i) {
      sums_[i] += row.sums[i];
      squares_[i] -= 25 * row.squares[i];
    }
  }
  __device__ void replace(const RowSums& last, const RowSums& row) {
#pragma unroll
    for (int i = 0; i < pixels; ++i) {
      sums_[i] += row.sums[i] - last.sums[i];
      squares_[i] += 25 * (last.squares[i] - row.squares[i]);
    }
  }

  /// Returns two filtered samples per word. weight_of_mean() describes noise_256.
  __device__ uint2 filtered(std::uint32_t levels, float noise_256) const {
    const std::uint32_t words[pixels] = {
        blended_sample<0>(levels, noise_256), blended_sample<1>(levels, noise_256),
        blended_sample<2>(levels, noise_256), blended_sample<3>(levels, noise_256)};
    // The sums below fit their halves, so there is no borrow between halves.
    constexpr std::uint32_t offset = filtered_offset * 0x00010001u - (0x00010001u << 14);
    return {__byte_perm(words[0], words[1], 0x6521) + __byte_perm(levels, 0, 0x4140) * 16 + offset,
            __byte_perm(words[2], words[3], 0x6521) + __byte_perm(levels, 0, 0x4342) * 16 + offset};
  }

 private:
  template <int kByte>
  __device__ std::uint32_t blended_sample(std::uint32_t levels, float noise_256) const {
    // The magnitude is below 2^24, so a float represents it exactly.
    const auto minus_variance =
        static_cast<float>(static_cast<int>(sums_[kByte] * sums_[kByte] + squares_[kByte]));
    const float reciprocal = approximate_reciprocal(fabsf(minus_variance));
    return blended(weight_of_mean(minus_variance, reciprocal, noise_256),
                   static_cast<float>(difference_of<kByte>(levels, sums_[kByte])));
  }

  std::uint32_t sums_[pixels]{};
  std::uint32_t squares_[pixels]{};  // sums of squares times −25, modulo 2^32
};

__device__ void store_filtered(const FilteredPlane& plane, bool words, int x, int y, int width,
                               uint2 samples) {
  std::uint16_t* const to = reinterpret_cast<std::uint16_t*>(
                                reinterpret_cast<std::uint8_t*>(plane.data) + y * plane.pitch) +
                            x;
  if (words) {
    *reinterpret_cast<uint2*>(to) = samples;
    return;
  }
#pragma unroll
  for (int i = 0; i < pixels; ++i)
    if (x + i < width)
      to[i] = static_cast<std::uint16_t>((i < 2 ? samples.x : samples.y) >> 16 * (i % 2));
}

template <bool kWords>
__device__ void filter_strip(const NoiseFilterArguments& a, int which, int x, int top, int end,
                             float noise_256) {
  const LevelRows<kWords> picture(a, which, x);
  RowSums rows[side];
  Windows windows;
  Levels first[side];
#pragma unroll
  for (int j = 0; j < side; ++j)
    first[j] = picture.read(top + j - radius);
#pragma unroll
  for (int j = 0; j < side; ++j) {
    rows[j] = RowSums(picture.replicated(first[j]));
    windows.add(rows[j]);
  }
  int y = top;
  while (true) {
#pragma unroll
    for (int j = 0; j < side; ++j) {
      const Levels next = picture.read(y + radius + 1);
      store_filtered(a.filtered[which], a.words[which], x, y, a.pictures[which].width,
                     windows.filtered(rows[(j + radius) % side].levels, noise_256));
      if (++y >= end)
        return;
      const RowSums row(picture.replicated(next));
      windows.replace(rows[j], row);
      rows[j] = row;
    }
  }
}

__device__ void copy_strip(const NoiseFilterArguments& a, int which, int x, int top, int end) {
  const Samples& picture = a.pictures[which];
#pragma unroll 4
  for (int y = top; y < end; ++y) {
    const std::uint32_t levels =
        gradient::load_four_levels(picture, a.shift, a.aligned[which], x, y);
    constexpr std::uint32_t offset = filtered_offset * 0x00010001u;
    static_assert(filtered_unit == 16);
    store_filtered(a.filtered[which], a.words[which], x, y, picture.width,
                   {__byte_perm(levels, 0, 0x4140) * filtered_unit + offset,
                    __byte_perm(levels, 0, 0x4342) * filtered_unit + offset});
  }
}

template <bool kWords>
__global__ void __launch_bounds__(threads, kWords ? 5 : 4)
    noise_filter_kernel(const __grid_constant__ NoiseFilterArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const int number = static_cast<int>(blockIdx.x) % a.blocks;
  const int which = static_cast<int>(blockIdx.x) / a.blocks;
  const Samples& picture = a.pictures[which];
  const int strip = number * (threads / 32) + static_cast<int>(threadIdx.x) / 32;
  const int x = strip % a.strips * strip_width + static_cast<int>(threadIdx.x) % 32 * pixels;
  const int top = strip / a.strips * a.rows, end = min(top + a.rows, picture.height);
  if (x >= picture.width || top >= end)
    return;
  const NoiseLevel level = a.noise.level();
  const float noise_256 = 256 * static_cast<float>(noise_in_window(level));
  if (level.variance == 0)
    copy_strip(a, which, x, top, end);
  else
    filter_strip<kWords>(a, which, x, top, end, noise_256);
}

}  // namespace

int resident_filter_strips() {
  return resident_blocks(reinterpret_cast<const void*>(noise_filter_kernel<true>), threads) *
         (threads / 32);
}

void filter_noise_cuda(const StageResources& resources, std::initializer_list<FilterTask> tasks,
                       const NoiseSource& noise) {
  const StageConfig& config = resources.config;
  NoiseFilterArguments a{};
  int count = 0;
  for (const auto& [picture, filtered] : tasks) {
    a.pictures[count] = Samples(picture);
    a.aligned[count] = a.pictures[count].has_words_of_four();
    a.filtered[count] = filtered;
    const auto places = reinterpret_cast<std::uintptr_t>(filtered.data) |
                        static_cast<std::uintptr_t>(filtered.pitch);
    a.words[count++] = places % 8 == 0 && filtered.pitch >= 2 * round_up(config.width, pixels);
  }
  const bool words =
      config.bits == 8 && config.width % pixels == 0 && a.aligned[0] && a.aligned[count - 1];
  a.shift = config.bits - 8;
  a.noise = noise;
  a.strips = divide_up(config.width, strip_width);
  // If possible, all strips run at once. Strips lower than the window would mostly repeat sums.
  const int bands = std::max(1, resources.filter_strips / (count * a.strips));
  a.rows = std::max(side, divide_up(config.height, bands));
  a.blocks = divide_up(a.strips * divide_up(config.height, a.rows), threads / 32);
  resources.queue.launch(words ? noise_filter_kernel<true> : noise_filter_kernel<false>,
                         static_cast<unsigned>(count * a.blocks), threads, 0, a);
}

}  // namespace cudavision::sgm
