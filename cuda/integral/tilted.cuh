// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The kernels of tilted sums (diagonals.h). A first launch adds up the diagonals within each band,
// a second one adds these up from band to band, and a third makes the table, each band by itself.

#include "cuda/core/cuda_launch.h"
#include "cuda/core/warp.cuh"
#include "cuda/integral/arithmetic.h"
#include "cuda/integral/band_rows.cuh"

namespace cudavision::integral {
namespace {

constexpr int tilted_threads = 32 * tilted_warps;
/// The number of blocks that must fit on a multiprocessor. On cards of compute capability 12, the
/// kernels with sums of 64 bits need more registers than on all others.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1200
constexpr int tilted_blocks = 2;
#else
constexpr int tilted_blocks = 3;
#endif
constexpr int chain_threads = 32;
constexpr int chain_warps = 16;  // that must fit on a multiprocessor
constexpr int chain_batch = 32;  // blocks of a chain that are being loaded together

__device__ inline void store_eight(std::uint32_t* to, const std::uint32_t (&numbers)[8]) {
  reinterpret_cast<uint4*>(to)[0] = make_uint4(numbers[0], numbers[1], numbers[2], numbers[3]);
  reinterpret_cast<uint4*>(to)[1] = make_uint4(numbers[4], numbers[5], numbers[6], numbers[7]);
}
__device__ inline void load_eight(const std::uint32_t* from, std::uint32_t (&numbers)[8]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const uint4 four = reinterpret_cast<const uint4*>(from)[half];
    numbers[4 * half] = four.x;
    numbers[4 * half + 1] = four.y;
    numbers[4 * half + 2] = four.z;
    numbers[4 * half + 3] = four.w;
  }
}

template <class Value>
__global__ void __launch_bounds__(tilted_threads)
    add_diagonals_kernel(const __grid_constant__ TiltedArguments a) {
  launch_dependents();
  const BandPart part(a);
  grid_dependency_wait();
  if (part.band + 1 >= a.bands)  // no band needs the sums of the last one
    return;
  constexpr int rows_ahead = 16 / static_cast<int>(sizeof(Value));
  BandRows<Value, rows_ahead> rows(a.in, part);
  LaneDiagonals diagonals;
  diagonals.clear();
  std::uint32_t beside = 0;
  rows.follow(
      diagonals, [](int, std::uint32_t, std::uint32_t) {},
      [&](int) { beside += diagonals.rising[LaneDiagonals::columns - 1]; });
  if (part.ends_beside())
    a.beside[part.band] = beside;
  if (!part.is_right() || !part.has_columns(a))
    return;
  store_eight(part.rising_to(a), diagonals.rising);
  store_eight(part.falling_to(a), diagonals.falling);
}

/// Each warp follows one chain, with a lane for each column of its blocks.
__global__ void __launch_bounds__(chain_threads, chain_warps)
    add_bands_kernel(const __grid_constant__ TiltedArguments a) {
  // The sums of some blocks, so that each lane can add up one of them.
  __shared__ std::uint32_t shared[chain_batch][band_rows + 1];
  launch_dependents();
  const int chains = DiagonalChain::count(a.bands, a.blocks);
  const bool rises = static_cast<int>(blockIdx.x) < chains;
  const BandSums& sums = rises ? a.rising : a.falling;
  const DiagonalChain chain(static_cast<int>(blockIdx.x) - (rises ? 0 : chains), a.bands, a.blocks,
                            rises);
  const int lane = static_cast<int>(threadIdx.x);
  const std::int64_t step = a.blocks + (rises ? -1 : 1);
  std::int64_t block = static_cast<std::int64_t>(chain.band) * a.blocks + chain.block;
  std::uint32_t of_bands[chain_batch];
  // The sum of a chain's last band is not loaded, because no band follows that would need it.
  const auto load = [&](const std::uint32_t* column, int left) {
#pragma unroll
    for (int i = 0; i < chain_batch; ++i, column += step * band_rows) {
      of_bands[i] = 0;
      if (i + 1 < left)
        of_bands[i] = *column;
    }
  };
  grid_dependency_wait();
  load(sums.columns + block * band_rows + lane, chain.length);
  std::uint32_t sum = 0;
#pragma unroll 1
  for (int left = chain.length; left > 0; left -= chain_batch, block += step * chain_batch) {
    std::uint32_t above[chain_batch];
#pragma unroll
    for (int i = 0; i < chain_batch; ++i) {
      above[i] = sum;
      sum += of_bands[i];
    }
    std::uint32_t* column = sums.columns + block * band_rows + lane;
    load(column + step * band_rows * chain_batch, left - chain_batch);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < chain_batch; ++i, column += step * band_rows) {
      shared[i][lane] = above[i];
      if (i < left)
        *column = above[i];
    }
    __syncwarp();
    std::uint64_t of_block = 0;
#pragma unroll
    for (int i = 0; i < band_rows; ++i)
      of_block += shared[lane][i];
    if (lane < left)
      sums.blocks[block + step * lane] = of_block;
  }
}

/// Returns the entry of the column beside the picture, in the row above the part's band, plus the
/// difference that the columns left of the part make.
template <class Sum>
__device__ inline Sum sum_left_of(const TiltedArguments& a, const BandPart& part) {
  const std::uint64_t* rising = a.rising.blocks + part.first_block(a);
  const std::uint64_t* falling = a.falling.blocks + part.first_block(a) + 1;
  const int blocks = part.number * BandColumns::blocks;
  Sum sum = 0;
  // Both sums take each step together, so that their loads overlap.
#pragma unroll 4
  for (int i = part.lane; i < max(part.band, blocks); i += 32) {
    if (i < part.band)
      sum += static_cast<Sum>(a.beside[i]) +
             static_cast<Sum>(a.rising.blocks[static_cast<std::int64_t>(i) * a.blocks]);
    if (i < blocks)
      sum += static_cast<Sum>(rising[i] - falling[i]);
  }
  return sum_of_warp(sum);
}

/// Loads the sums of the diagonals above a band, and finds the table's entries there.
template <class Sum>
__device__ inline void begin_band(const TiltedArguments& a, const BandPart& part,
                                  LaneDiagonals& diagonals,
                                  Sum (&entries)[LaneDiagonals::columns]) {
  if (part.has_columns(a)) {
    load_eight(part.rising_from(a), diagonals.rising);
    load_eight(part.falling_from(a), diagonals.falling);
  }
  Sum own = 0;
  if (part.lane * BandColumns::of_lane >= BandColumns::first_right)
#pragma unroll
    for (int i = 0; i < LaneDiagonals::columns; ++i)
      own += static_cast<Sum>(diagonals.rising[i]) - static_cast<Sum>(diagonals.falling[i]);
  Sum sum = own;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const Sum before = __shfl_up_sync(~0u, sum, distance);
    if (part.lane >= distance)
      sum += before;
  }
  sum += sum_left_of<Sum>(a, part) - own;
#pragma unroll
  for (int i = 0; i < LaneDiagonals::columns; ++i) {
    entries[i] = sum += static_cast<Sum>(diagonals.rising[i]);
    sum -= static_cast<Sum>(diagonals.falling[i]);
  }
}

/// Where a lane writes entries of the table: those of neighbouring columns by neighbouring lanes,
/// whatever the table's alignment, through a line in shared memory.
template <class Element, bool kWhole>
class RowWriter {
 public:
  static constexpr int quads = LaneDiagonals::columns / quad_pixels;
  using Line = TileLine<Element, quads>;

  /// With two lines, writing one overlaps reading the other. kWhole: the part does not end beyond
  /// the picture.
  __device__ RowWriter(const TiltedArguments& a, const BandPart& part, Line (&lines)[2])
      : part_(part),
        lines_(lines),
        pitch_(a.table_pitch),
        rows_(kWhole ? band_rows : a.in.height - part.band * band_rows),
        columns_(a.in.width - BandColumns::first(part.number) - part.lane),
        writes_beside_(a.padding && part.ends_beside()) {
    row_ = a.table + pitch_ * (part.band * band_rows + a.padding) +
           static_cast<std::int64_t>(sizeof(Element)) *
               (BandColumns::first(part.number) + part.lane + a.padding);
    if (a.padding && part.band == 0)
      write_row(
          row_ - pitch_, [](int) { return Element{0}; }, Element{0});
  }

  template <class Sum>
  __device__ void write(int r, const Sum (&entries)[LaneDiagonals::columns]) {
    if (!kWhole && r >= rows_)
      return;
    Line& line = lines_[r % 2];
#pragma unroll
    for (int q = 0; q < quads; ++q) {
      FourOf<Element> four;
#pragma unroll
      for (int i = 0; i < quad_pixels; ++i)
        four.numbers[i] = table_element<Element>(entries[q * quad_pixels + i]);
      line.quad(part_.lane, q) = four;
    }
    __syncwarp();
    const Element* entry = &line.column(part_.lane);
    write_row(
        row_, [&](int block) { return entry[Line::step_of_32_columns * block]; },
        table_element<Element>(entries[LaneDiagonals::columns - 1]));
    row_ += pitch_;
  }

 private:
  /// entry(i) is the entry 32·i columns from the lane's first, beside that of the column X = 0.
  template <class Entry>
  __device__ void write_row(std::uint8_t* row, const Entry& entry, Element beside) const {
    Element* to = reinterpret_cast<Element*>(row);
#pragma unroll
    for (int i = BandColumns::first_right / 32; i < BandColumns::end_right / 32; ++i)
      if (kWhole || 32 * i < columns_)
        __stcs(to + 32 * i, entry(i));
    if (writes_beside_)
      to[BandColumns::first_right - 1 - part_.lane] = beside;
  }

  const BandPart& part_;
  Line (&lines_)[2];
  const std::int64_t pitch_;
  const int rows_, columns_;
  const bool writes_beside_;
  std::uint8_t* row_;
};

template <class Value, class Element>
__global__ void __launch_bounds__(tilted_threads, tilted_blocks)
    tilted_kernel(const __grid_constant__ TiltedArguments a) {
  using Sum = SumOf<Element>;
  constexpr int rows_ahead = 8 / static_cast<int>(sizeof(Value));
  __shared__ typename RowWriter<Element, true>::Line lines[tilted_warps][2];

  launch_dependents();
  const BandPart part(a);
  grid_dependency_wait();
  if (part.band >= a.bands)
    return;
  BandRows<Value, rows_ahead> rows(a.in, part);
  LaneDiagonals diagonals;
  diagonals.clear();
  Sum entries[LaneDiagonals::columns]{};
  if (part.band > 0)
    begin_band(a, part, diagonals, entries);
  const auto make_rows = [&](auto writer) {
    rows.follow(
        diagonals,
        [&](int i, std::uint32_t rising, std::uint32_t falling) {
          entries[i] += static_cast<Sum>(rising) + static_cast<Sum>(falling);
        },
        [&](int r) { writer.write(r, entries); });
  };
  auto& of_warp = lines[threadIdx.x / 32];
  if (BandColumns::first(part.number) + BandColumns::end_right <= a.in.width &&
      (part.band + 1) * band_rows <= a.in.height)
    make_rows(RowWriter<Element, true>(a, part, of_warp));
  else
    make_rows(RowWriter<Element, false>(a, part, of_warp));
}

}  // namespace
}  // namespace cudavision::integral
