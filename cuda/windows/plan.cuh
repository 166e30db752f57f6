// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Host code that divides pictures among the blocks of windows_kernel.

#include <algorithm>

#include "cuda/core/cuda_check.h"
#include "cuda/windows/windows.cuh"

namespace cudavision::windows {

template <class Arguments>
struct PassKernels {
  using Kernel = typename Launcher<Arguments>::Kernel;

  Kernel of_warps = nullptr, of_blocks = nullptr, column_sums = nullptr;
  int max_threads = 0;  ///< maximum number of threads per block
  int columns = 0;      ///< columns per thread
  int entry_bytes = 0, table_groups = 0;
  int (*block_bytes)(int threads) = nullptr;  ///< size of a block's running sums
  int window_bytes = 0;                       ///< size of Pass::Window in shared memory
  bool gap = false;
  int warp_bytes = 0;  ///< size of a warp's running sums
};

/// Returns the kernels of a pass. kWarps: a group of threads may be a warp.
template <class Pass, bool kWarps>
PassKernels<typename Pass::Arguments> kernels_of() {
  using AnySums = typename Pass::AnySums;
  PassKernels<typename Pass::Arguments> kernels{
      .of_blocks = windows_kernel<Pass, true>,
      .column_sums = column_sums_kernel<typename Pass::Arguments, typename Pass::Element, AnySums,
                                        Pass::kColumns>,
      .max_threads = max_threads<Pass, true>(),
      .columns = Pass::kColumns,
      .entry_bytes = sizeof(AnySums),
      .table_groups = groups_of_table_block<AnySums>,
      .block_bytes = RunningSums<AnySums, Pass::kColumns, true>::bytes,
      .window_bytes = Pass::kWindowTable ? sizeof(typename Pass::Window) : 0,
      .gap = Pass::kGap};
  if constexpr (kWarps) {
    kernels.of_warps = windows_kernel<Pass, false>;
    kernels.warp_bytes = RunningSums<AnySums, Pass::kColumns, false>::bytes(32);
  }
  return kernels;
}

/// Memory for the tables of column sums of one channel.
class TableMemory {
 public:
  TableMemory() = default;
  /// entry_bytes sets the size. Larger entries fit too, but need bands of more rows: min_rows().
  TableMemory(Device& device, int width, int height, int entry_bytes)
      : pitch_(round_up(width, 32)),
        bytes_(static_cast<std::int64_t>(pitch_) * entry_bytes *
               (std::min(max_groups, divide_up(height, min_band_rows) + 1) + 1)),
        buffer_(device.allocate(static_cast<std::size_t>(bytes_))) {}

  int pitch() const { return pitch_; }
  void* data() const { return buffer_.data(); }
  /// Returns the minimum number of rows per band for which the table fits into the memory.
  int min_rows(int height, int entry_bytes) const {
    const auto groups = bytes_ / (std::int64_t{pitch_} * entry_bytes) - 1;
    return divide_up(height, static_cast<int>(std::max<std::int64_t>(groups - 1, 1)));
  }

  static constexpr int min_band_rows = 4;

 private:
  static constexpr int max_groups = 384;

  int pitch_ = 0;
  std::int64_t bytes_ = 0;
  Buffer buffer_;
};

/// The launches of one pass. The caller sets the pictures, including the pointers.
template <class Arguments>
class Plan {
 public:
  Arguments arguments{};

  int columns_of_thread() const { return kernels_.columns; }

  /// Chooses the groups of threads and the strips. The caller must have set the sizes and radii.
  void choose(const PassKernels<Arguments>& kernels) {
    kernels_ = kernels;
    has_tables_ = false;
    int max_radius = 0;
    for (int c = 0; c < arguments.picture_count; ++c) {
      has_tables_ = has_tables_ || arguments.pictures[c].radius_y > max_own_radius;
      max_radius = std::max(max_radius, arguments.pictures[c].radius_x);
    }
    choose_groups();
    arguments.group_bytes =
        round_up((of_blocks_ ? kernels_.block_bytes(group_threads_) : kernels_.warp_bytes) +
                     kernels_.window_bytes * (max_radius + 1),
                 16);
    int resident = 0;
    cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                   &resident, kernel(), block_threads_, static_cast<std::size_t>(shared_bytes())),
               "querying the occupancy of a kernel");
    resident_groups_ = std::max(1, resident) * multiprocessor_count() * groups_of_block();
    for (int c = 0; c < arguments.picture_count; ++c)
      divide_columns(of_blocks_, group_threads_, arguments.pictures[c]);
  }

  /// Computes the results in the given rows. rows and tables have one element per picture.
  void launch(const Launcher<Arguments>& launcher, const RowRange* rows,
              const TableMemory* tables) {
    const unsigned blocks = divide_rows(rows, tables);
    if (has_tables_)
      launcher(kernels_.column_sums, table_blocks(), 32 * table_warps, 0, arguments);
    launcher(kernel(), blocks, static_cast<unsigned>(block_threads_),
             static_cast<std::size_t>(shared_bytes()), arguments);
  }

 private:
  typename PassKernels<Arguments>::Kernel kernel() const {
    return of_blocks_ ? kernels_.of_blocks : kernels_.of_warps;
  }
  int groups_of_block() const { return block_threads_ / group_threads_; }
  int shared_bytes() const { return groups_of_block() * arguments.group_bytes; }

  /// Chooses warps or blocks as groups of threads, and the block size, by the number of columns to
  /// sum. Adds block_percent to the columns of blocks, because their warps wait for each other.
  void choose_groups() {
    std::int64_t fewest = 0;
    const auto consider = [&](bool of_blocks, int threads, int block_threads) {
      std::int64_t columns = 0;
      for (int c = 0; c < arguments.picture_count; ++c) {
        Picture picture = arguments.pictures[c];
        divide_columns(of_blocks, threads, picture);
        const int half = threads * kernels_.columns / 2;
        const int gap = std::max(0, picture.right - picture.left - half);
        if (gap > 0 && !(of_blocks && kernels_.gap))
          return;
        columns += std::int64_t{picture.strips} * picture.height * (2 * half + gap);
      }
      if (of_blocks)
        columns += columns * block_percent / 100;
      if (block_threads_ > 0 && columns >= fewest)
        return;
      fewest = columns;
      of_blocks_ = of_blocks;
      group_threads_ = threads;
      block_threads_ = block_threads;
    };
    block_threads_ = 0;
    if (kernels_.of_warps && !has_tables_)
      consider(false, 32, warp_block_threads);
    for (int threads = 64; threads <= kernels_.max_threads; threads *= 2)
      consider(true, threads, threads);
  }

  /// Divides a picture into strips. The columns that a group of threads sums include a radius on
  /// both sides of its strip, except if one block sums the whole width.
  void divide_columns(bool of_blocks, int threads, Picture& picture) const {
    const int columns = threads * kernels_.columns, half = columns / 2;
    const auto rounded_down = [this](int number) {
      return number >= 0 ? number / kernels_.columns * kernels_.columns
                         : -round_up(-number, kernels_.columns);
    };
    picture.strips = 1;
    picture.strip_width = columns;
    picture.left = 0;
    picture.right = half;
    if (of_blocks && picture.width <= columns)
      return;
    picture.left = rounded_down(-picture.radius_x);
    picture.right = picture.left + half;
    int width = rounded_down(columns + picture.left - picture.radius_x);
    if (width < half - kernels_.columns) {
      width = half - kernels_.columns;
      picture.right = std::max(picture.right, rounded_down(picture.radius_x));
    }
    picture.strips = divide_up(picture.width, width);
    picture.strip_width = round_up(divide_up(picture.width, picture.strips), kernels_.columns);
  }

  /// Divides the rows into bands that fill the GPU once. Returns the number of blocks.
  unsigned divide_rows(const RowRange* rows, const TableMemory* tables) {
    std::int64_t samples = 0;
    for (int c = 0; c < arguments.picture_count; ++c)
      samples += std::int64_t{arguments.pictures[c].width} * (rows[c].end - rows[c].begin);
    unsigned blocks = 0;
    for (int c = 0; c < arguments.picture_count; ++c) {
      Picture& picture = arguments.pictures[c];
      picture.begin = rows[c].begin;
      picture.end = rows[c].end;
      const int count = picture.end - picture.begin;
      const auto share =
          resident_groups_ * (std::int64_t{picture.width} * count) / (samples * picture.strips);
      // Rounds down to whole blocks, because all blocks should be resident at once.
      const int groups = groups_of_block();
      const auto whole = share < groups ? share : share / groups * groups;
      const int bands = static_cast<int>(
          std::clamp<std::int64_t>(whole, 1, std::max(count / TableMemory::min_band_rows, 1)));
      // Without tables, the first and last bands have fewer rows, as clipped windows take longer.
      const int margin = has_tables_ ? 0 : std::min(picture.radius_y, count / bands) / 2;
      picture.first_row = picture.begin - margin;
      picture.band_rows = divide_up(count + 2 * margin, bands);
      if (has_tables_)
        picture.band_rows =
            std::max(picture.band_rows, tables[c].min_rows(picture.height, kernels_.entry_bytes));
      picture.bands = divide_up(count + margin, picture.band_rows);
      picture.first_block = blocks;
      blocks += static_cast<unsigned>(picture.strips * divide_up(picture.bands, groups));
      picture.table = nullptr;
      if (has_tables_) {
        const int window_groups = divide_up(2 * picture.radius_y + 1, picture.band_rows);
        picture.table = tables[c].data();
        picture.table_pitch = tables[c].pitch();
        picture.groups = RowGroups(picture.band_rows, picture.begin, picture.radius_y,
                                   picture.height, picture.bands + window_groups);
      }
    }
    return blocks;
  }

  unsigned table_blocks() const {
    unsigned blocks = 0;
    for (int c = 0; c < arguments.picture_count; ++c) {
      const Picture& picture = arguments.pictures[c];
      blocks += static_cast<unsigned>(divide_up(picture.width, table_columns_of_block) *
                                      divide_up(picture.groups.count, kernels_.table_groups));
    }
    return blocks;
  }

  static constexpr int warp_block_threads = 128;
  static constexpr int block_percent = 15;
  static constexpr int max_own_radius = 31;  // larger radii use tables

  PassKernels<Arguments> kernels_;
  bool has_tables_ = false, of_blocks_ = false;
  int group_threads_ = 0, block_threads_ = 0;
  int resident_groups_ = 0;
};

}  // namespace cudavision::windows
