// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: the kernel of both passes. A block takes a strip of a picture and a band of its
// rows. Each thread holds the sums of a few neighbouring columns over the rows of a window and
// moves them down through the band. So a row costs the same for every radius; only the first row
// of a band costs more for larger ones.

#include <cuda_runtime.h>

#include "cuda/core/cuda_launch.h"
#include "cuda/guided/passes.cuh"

namespace cudavision::guided {

template <class Pass>
constexpr int max_threads = sizeof(typename Pass::Sum) == 4 ? 256 : 128;

template <class Pass>
__global__ void __launch_bounds__(max_threads<Pass>, 2)
    filter_rows(const __grid_constant__ GuidedArguments a) {
  using Sum = typename Pass::Sum;
  using Element = typename Pass::Element;
  using RowWindow = std::conditional_t<Pass::kNarrow, ReciprocalWindow, Window<false>>;
  constexpr int kGroups = thread_columns / 4;
  extern __shared__ uint4 memory[];
  __shared__ WarpSums<Sum> warp_sums;
  RunningSums<Sum> running(memory);
  launch_dependents();
  grid_dependency_wait();

  const FilteredPicture& picture = picture_of_block(a, &FilteredPicture::first_block);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const int block = static_cast<int>(blockIdx.x - picture.first_block);
  const int strip_x = block % picture.strips * picture.strip_width;
  const int first = picture.begin + block / picture.strips * picture.band_rows;
  const int end = min(first + picture.band_rows, picture.end);
  const int strip_end = min(strip_x + picture.strip_width, picture.width);
  if (!is_active(a, picture, strip_x, first, strip_end, end))
    return;
  const int reach_x = picture.reach_x, reach_y = picture.reach_y;
  const int half = static_cast<int>(blockDim.x) * thread_columns / 2;
  const int own = thread * thread_columns;
  const int column = strip_x + (own < half ? picture.left + own : picture.right + own - half);
  const bool inside = column >= 0 && column < picture.width;
  const bool has_gap = picture.right > picture.left + half;
  const int gap_begin = max(strip_x + picture.left + half, 0);
  const int gap_end = min(strip_x + picture.right, picture.width);
  const auto row_of = [&](int y) { return Pass::elements(picture, y); };

  ThreadColumns<Element, Sum> columns;
  SumPair<Sum> gap{0, 0};
  // Returns the elements of a row at one place, or zeros if there is no such row.
  const auto load = [&](int y) {
    return load_elements(row_of(y), column, inside && y >= 0 && y < picture.height);
  };
  const auto move_gap = [&](int gained, int lost) {
    const bool gains = gained < picture.height, loses = lost >= 0;
    for (int c = gap_begin + thread; c < gap_end; c += static_cast<int>(blockDim.x)) {
      const std::uint32_t gain = gains ? row_of(gained)[c] : 0, loss = loses ? row_of(lost)[c] : 0;
      gap.first += static_cast<Sum>(gain) - loss;
      if constexpr (sizeof(Element) == 4)
        gap.second += static_cast<Sum>(gain >> 16) - (loss >> 16);
      else
        gap.second += static_cast<Sum>(gain * gain) - static_cast<Sum>(loss * loss);
    }
  };

  {
    const int top = max(first - reach_y, 0), bottom = min(first + reach_y + 1, picture.height);
    // The loads of some rows are on their way before the first of them is used.
    constexpr int kBatch = 4;
#pragma unroll 1
    for (int y = top; y < bottom; y += kBatch) {
      Elements<Element> rows[kBatch];
#pragma unroll
      for (int i = 0; i < kBatch; ++i)
        rows[i] = load_elements(row_of(y + i), column, inside && y + i < bottom);
#pragma unroll
      for (int i = 0; i < kBatch; ++i)
        columns.add(rows[i]);
    }
    if (has_gap)
#pragma unroll 1
      for (int y = top; y < bottom; ++y)
        move_gap(y, -1);
  }
  SumPair<Sum> before = warp_sums.publish(0, columns.total(), gap, has_gap);
  Elements<Element> gained = load(first + 1 + reach_y), lost = load(first - reach_y);

  // A warp writes groups of 128 samples, and each of its lanes four neighbouring ones.
  const int warp_x = strip_x + thread / 32 * 32 * thread_columns;
  const int x = warp_x + 4 * lane;
  const int to_left = -reach_x - 1 - (strip_x + picture.left);
  const int to_right = reach_x - (strip_x + picture.right) + half;
  const int side = 2 * reach_x + 1;
  unsigned whole_groups = 0;
#pragma unroll
  for (int k = 0; k < kGroups; ++k) {
    const int group_x = warp_x + 128 * k;
    if (group_x >= reach_x && group_x + 128 + reach_x <= picture.width &&
        group_x + 128 <= strip_end)
      whole_groups |= 1u << k;
  }
  int left_places[4], right_places[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    left_places[j] = running.place(x + j + to_left);
    right_places[j] = running.place(x + j + to_right);
  }
  RowWindow row_window;
  int rows_of_windows = 0;
  __syncthreads();

  for (int y = first, parity = 0; y < end; ++y, parity ^= 1) {
    {
      SumPair<Sum> sums[thread_columns];
      before += warp_sums.before(parity, has_gap);
      columns.add_up(before, sums);
      running.store(parity, sums);
    }
    typename Pass::Samples samples[kGroups];
#pragma unroll
    for (int k = 0; k < kGroups; ++k)
      if (whole_groups >> k & 1)
        samples[k] = Pass::samples(picture, x + 128 * k, y);
    if (y + 1 < end) {
      columns.move(gained, lost);
      if (has_gap)
        move_gap(y + 1 + reach_y, y - reach_y);
      gained = load(y + 2 + reach_y);
      lost = load(y + 1 - reach_y);
      before = warp_sums.publish(parity ^ 1, columns.total(), gap, has_gap);
    }
    const int rows = min(y + reach_y + 1, picture.height) - max(y - reach_y, 0);
    if (rows != rows_of_windows && side <= picture.width) {
      rows_of_windows = rows;
      row_window = RowWindow(static_cast<std::uint32_t>(rows) * side, a.scale);
    }
    __syncthreads();

    const int row = parity * running.row_places();
#pragma unroll
    for (int k = 0; k < kGroups; ++k)
      if (whole_groups >> k & 1) {
        std::uint32_t values[4];
#pragma unroll
        for (int j = 0; j < 4; ++j)
          values[j] = Pass::value(samples[k].at(j),
                                  running.at(row + right_places[j] + 32 * k) -
                                      running.at(row + left_places[j] + 32 * k),
                                  row_window, a.scale.bits);
        Pass::store(a, picture, x + 128 * k, y, values);
      }
    if (whole_groups == (1u << kGroups) - 1)
      continue;
#pragma unroll 1
    for (int k = 0; k < 4 * kGroups; ++k) {
      const int one_x = warp_x + 32 * k + lane;
      if (whole_groups >> (k / 4) & 1 || one_x >= strip_end)
        continue;
      const SumPair<Sum> sums =
          running.at(row + running.place(min(one_x + to_right, 2 * half - 1))) -
          running.at(row + running.place(max(one_x + to_left, -1)));
      const int window_columns = min(one_x + reach_x + 1, picture.width) - max(one_x - reach_x, 0);
      const auto value = [&](const auto& window) {
        return Pass::value(Pass::sample(picture, one_x, y), sums, window, a.scale.bits);
      };
      Pass::store_one(a, picture, one_x, y,
                      window_columns == side
                          ? value(row_window)
                          : value(Window<Pass::kNarrow>(
                                static_cast<std::uint32_t>(rows) * window_columns, a.scale)));
    }
  }
}

}  // namespace cudavision::guided
