// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Plans a launch: chooses the cheapest kernel for the depth of samples and coefficients and the
// sizes of the Gaussians, and divides the work.

#include <algorithm>
#include <cmath>
#include <vector>

#include "cuda/core/cuda_check.h"
#include "cuda/core/cuda_launch.h"
#include "cuda/core/division.h"
#include "cuda/gaussblur/direct.cuh"
#include "cuda/gaussblur/large.cuh"
#include "cuda/gaussblur/pixels.cuh"
#include "cuda/gaussblur/small.cuh"
#include "cuda/gaussblur/tables.h"

namespace cudavision::gaussblur {

using KernelFunction = Launcher<Arguments>::Kernel;

/// Even number of slices that covers a halo of `halo` bytes.
inline int row_slices_for(int halo) {
  return 2 + 2 * ((halo + slice_length - 1) / slice_length);
}

// largest_chunk_pairs is used if shared memory then suffices for fewest_warps_beside warps. A stage
// of a whole window along x contains the source of every byte that is mirrored at an edge.
constexpr int largest_chunk_pairs = 32;
constexpr int usual_chunk_pairs = 16;
constexpr int fewest_warps_beside = 2;
constexpr int max_cell_steps = 8;

struct Gpu {
  int multiprocessors = multiprocessor_count();
  int shared_bytes =  ///< maximum per block
      device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, "the shared memory");

  Gpu() {
    // Tests lower the limit to the smallest GPU's limit, to cover the kernel with scratch memory.
#ifdef CUDAVISION_TEST_SHARED_BYTES
    shared_bytes = std::min(shared_bytes, CUDAVISION_TEST_SHARED_BYTES);
#endif
  }
};

inline unsigned scratch_blocks(const Gpu& gpu) {
  return gpu.multiprocessors * scratch_blocks_per_multiprocessor;
}

struct Launch {
  KernelFunction kernel = nullptr;
  KernelFunction in_cells = nullptr;  ///< for launches over active cells only
  int row_slices = 0;
  int column_slices = 0;
  int max_halo = 0;  ///< maximum halo along x in bytes, for kernels with fixed slices
  int chunk_pairs = 0;
  bool of_pixels = false;
  int width = 0;          ///< bytes of a work item; 0: one tile per warp of the block
  int stage_bytes = 0;    ///< per stage of a warp if warps work independently, otherwise 0
  int step_rows = 0;      ///< output rows per step
  int missing_rows = 0;   ///< rows that the first step with output omits
  int warm_up_steps = 0;  ///< steps before the first step with output
  int warps = 0;          ///< per block; 0: any number
  int shared_bytes = 0;
  bool uses_scratch = false;

  bool is_small() const { return stage_bytes > 0; }
  int item_width(int warps) const { return width > 0 ? width : warps * tile_bytes; }
  int items_of_block(int warps) const { return is_small() ? warps : 1; }
};

template <class Depth, int kRowSlices, int kColumnSlices, int kTiles, int kBlocks>
inline Launch small() {
  constexpr int halo = window_halo(kRowSlices), width = kTiles * tile_bytes;
  return {.kernel = blur_small<Depth, kRowSlices, kColumnSlices, kTiles, kBlocks, true>,
          .in_cells = blur_small<Depth, kRowSlices, kColumnSlices, kTiles, kBlocks, false>,
          .row_slices = kRowSlices,
          .column_slices = kColumnSlices,
          .max_halo = halo,
          .width = width,
          .stage_bytes = tile_rows * stage_pitch(chunks_for(width, halo)),
          .step_rows = tile_rows,
          .warm_up_steps = kColumnSlices - 1,
          .warps = small_warps};
}

template <int kRowSlices, int kColumnSlices>
inline Launch of_pixels() {
  return {.kernel = blur_pixels<kRowSlices, kColumnSlices>,
          .in_cells = blur_pixels<kRowSlices, kColumnSlices>,
          .row_slices = kRowSlices,
          .column_slices = kColumnSlices,
          .max_halo = pixel_bytes * column_halo(kRowSlices),
          .of_pixels = true,
          .width = pixel_tile_bytes,
          .stage_bytes = tile_rows * pixel_pitch(kRowSlices),
          .step_rows = tile_rows,
          .warm_up_steps = kColumnSlices - 1,
          .warps = small_warps};
}

inline Launch direct() {
  return {.kernel = blur_direct,
          .in_cells = blur_direct,
          .width = 32 * direct_bytes,
          .step_rows = 2 * direct_warps,
          .warm_up_steps = DirectPlane::max_radius,
          .warps = direct_warps};
}

/// Writes the tables of a plane after the first `used` words.
template <class Depth>
void make_tables(const Launch& launch, const RowKernels& along_x, const GaussKernel& along_y,
                 Plane& plane, std::uint32_t* words, std::uint32_t& used) {
  const int row_slices = launch.row_slices, column_slices = launch.column_slices;
  plane.factors = used;
  if (launch.of_pixels) {
    make_pixel_factors(*along_x.kernel[0], row_slices, along_y, column_slices, words + used);
    used += LaneFactors<PixelDepth>::words(row_slices, column_slices);
    return;
  }
  if (launch.is_small())
    used += LaneFactors<Depth>::words(row_slices, column_slices);
  plane.row_table = used;
  plane.column_table = used + ToeplitzTable<Depth>::row_words(row_slices);
  make_row_table<Depth>(along_x, row_slices, words + plane.row_table);
  make_column_table<Depth>(along_y, column_slices, words + plane.column_table);
  if (launch.is_small())  // the tables are temporary, so `used` excludes them
    make_factors<Depth>(words + plane.row_table, row_slices, words + plane.column_table,
                        column_slices, words + plane.factors);
  else
    used = plane.column_table + ToeplitzTable<Depth>::column_words(column_slices);
}

/// All kernels for one depth of samples and coefficients, except the direct kernel.
struct KernelSet {
  std::vector<Launch> small;          ///< cheapest first
  std::vector<Launch> of_pixels;      ///< for pixels of four bytes, cheapest first; may be empty
  KernelFunction large;               ///< for Gaussians of any size
  KernelFunction large_with_scratch;  ///< for Gaussians of any size, if shared memory is too small

  decltype(&make_tables<SampleDepth<1, 1>>) fill_tables;
  int (*table_words)(int row_slices, int column_slices);
  int (*large_shared)(int row_slices, int column_slices, int chunk_pairs, int warps, bool all);
  int (*large_scratch)(int row_slices, int column_slices);
};

template <class Depth>
inline KernelSet kernel_set_of(std::vector<Launch> small, std::vector<Launch> of_pixels = {}) {
  return {
      .small = std::move(small),
      .of_pixels = std::move(of_pixels),
      .large = blur_large<Depth, true>,
      .large_with_scratch = blur_large<Depth, false>,
      .fill_tables = make_tables<Depth>,
      .table_words =
          [](int row_slices, int column_slices) {
            return ToeplitzTable<Depth>::row_words(row_slices) +
                   ToeplitzTable<Depth>::column_words(column_slices);
          },
      .large_shared =
          [](int row_slices, int column_slices, int chunk_pairs, int warps, bool all) {
            return LargeMemory<Depth>(row_slices, column_slices, chunk_pairs, warps).shared(all);
          },
      .large_scratch =
          [](int row_slices, int column_slices) {
            return LargeMemory<Depth>(row_slices, column_slices, 1, scratch_warps).scratch();
          },
  };
}

inline const KernelSet& kernel_set_for(int sample_bytes, bool fine) {
  using Bytes = SampleDepth<1, 1>;
  using FineBytes = SampleDepth<1, 2>;
  using Words = SampleDepth<2, 2>;
  static const KernelSet bytes = kernel_set_of<Bytes>(
      {small<Bytes, 3, 2, 2, 4>(), small<Bytes, 4, 2, 2, 3>(), small<Bytes, 4, 3, 2, 3>(),
       small<Bytes, 6, 2, 2, 3>(), small<Bytes, 6, 3, 2, 3>(), small<Bytes, 10, 3, 1, 3>()},
      {of_pixels<2, 2>(), of_pixels<3, 3>()});
  static const KernelSet fine_bytes =
      kernel_set_of<FineBytes>({small<FineBytes, 4, 2, 1, 3>(), small<FineBytes, 4, 3, 1, 3>()});
  static const KernelSet words = kernel_set_of<Words>(
      {small<Words, 4, 2, 1, 3>(), small<Words, 4, 3, 1, 3>(), small<Words, 6, 3, 1, 3>()});
  return sample_bytes == 2 ? words : fine ? fine_bytes : bytes;
}

inline int shared_bytes(const KernelSet& kernels, const Launch& launch, int warps) {
  if (launch.width > 0)
    return warps * small_stages * launch.stage_bytes;
  return kernels.large_shared(launch.row_slices, launch.column_slices, launch.chunk_pairs, warps,
                              !launch.uses_scratch);
}

/// Chooses the cheapest kernel. LaunchPlan chooses the number of warps, unless the kernel fixes it.
inline Launch choose_launch(const KernelSet& kernels, const Gpu& gpu, int halo, int radius,
                            bool of_pixels) {
  for (const Launch& launch :
       of_pixels && !kernels.of_pixels.empty() ? kernels.of_pixels : kernels.small)
    if (launch.max_halo >= halo && column_halo(launch.column_slices) >= radius)
      return launch;

  Launch launch;
  launch.kernel = launch.in_cells = kernels.large;
  launch.row_slices = row_slices_for(halo);
  launch.column_slices = large_column_slices(radius);
  launch.chunk_pairs = std::min(launch.row_slices / 2, largest_chunk_pairs);
  if (shared_bytes(kernels, launch, fewest_warps_beside) > gpu.shared_bytes)
    launch.chunk_pairs = std::min(launch.row_slices / 2, usual_chunk_pairs);
  launch.step_rows = large_rows;
  launch.missing_rows = lower_tile_first(launch.column_slices) ? tile_rows : 0;
  launch.warm_up_steps = large_warm_up_steps(launch.column_slices);
  const auto shrink_to = [&](int warps) {
    while (launch.chunk_pairs > 1 && shared_bytes(kernels, launch, warps) > gpu.shared_bytes)
      launch.chunk_pairs /= 2;
  };
  shrink_to(1);
  launch.uses_scratch = shared_bytes(kernels, launch, 1) > gpu.shared_bytes;
  if (!launch.uses_scratch)
    return launch;
  launch.kernel = launch.in_cells = kernels.large_with_scratch;
  launch.warps = scratch_warps;
  shrink_to(scratch_warps);
  return launch;
}

/// Bytes of each row that cover a cell of `width` pixels, from first_byte_of_cell() on.
inline int bytes_of_cell(int width, const Plane& plane) {
  const int periods = (width + plane.period_pixels - 1) / plane.period_pixels;
  const int bytes = periods * plane.period;
  const bool begins_there = width % plane.period_pixels == 0 && bytes % cell_alignment == 0;
  return begins_there ? bytes : bytes + plane.period + cell_alignment - 1;
}

inline int rows_of_cell(int height, const Plane& plane) {
  const int rows = (height + plane.row_pixels - 1) / plane.row_pixels;
  return height % plane.row_pixels == 0 ? rows : rows + 1;
}

/// A launch with all arguments except the addresses of the frames.
class LaunchPlan {
 public:
  LaunchPlan() = default;
  LaunchPlan(const Launch& launch, const Arguments& arguments, const KernelSet& kernels,
             const Gpu& gpu)
      : launch(launch), arguments(arguments) {
    divide_planes(kernels, gpu);
  }

  Launch launch;
  Arguments arguments;
  unsigned blocks = 0;

  /// Returns the plan for the active cells only. At least one cell must be active. Work items
  /// have few steps, to occupy the whole GPU: a power of two, like most cells' heights.
  LaunchPlan limited_to(const regions::ActiveCells& active, const Gpu& gpu) const {
    LaunchPlan best;
    double best_cost = 0;
    for (int steps = 1; steps <= max_cell_steps; steps *= 2) {
      LaunchPlan plan = *this;
      plan.launch.kernel = launch.in_cells;
      plan.arguments.everywhere = false;
      plan.number_items_of_cells(active, steps);
      const double cost =
          plan.cost_of(plan.arguments.item_count, steps, launch.warps, resident_, gpu);
      if (best_cost == 0 || cost < best_cost) {
        best_cost = cost;
        best = plan;
      }
    }
    best.set_blocks(gpu);
    return best;
  }

 private:
  /// Chooses the size of the work items. With large items, fewer rows are computed twice. Small
  /// items balance the load, and some blocks compute while others wait for memory.
  void divide_planes(const KernelSet& kernels, const Gpu& gpu) {
    int max_steps = 0;
    for (int i = 0; i < arguments.plane_count; ++i)
      max_steps = std::max(
          max_steps, divide_up(arguments.planes[i].rows + launch.missing_rows, launch.step_rows));

    const int fixed_warps = launch.warps;
    double best = 0;
    int chosen_steps = 1;
    for (const int warps : {12, 8, 6, 4, 2, 1}) {
      if (fixed_warps != 0 && warps != fixed_warps)
        continue;
      const int shared = shared_bytes(kernels, launch, warps);
      if (shared > gpu.shared_bytes)
        continue;
      int resident = 0;
      cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, launch.kernel, warps * 32,
                                                               shared),
                 "querying the occupancy of a kernel");
      resident = std::max(resident, 1);
      for (int steps = 1;; steps += 1 + steps / 8) {
        steps = std::min(steps, max_steps);
        const double cost = cost_of(count_items(warps, steps), steps, warps, resident, gpu);
        if (best == 0 || cost < best) {
          best = cost;
          chosen_steps = steps;
          launch.warps = warps;
          launch.shared_bytes = shared;
          resident_ = resident;
        }
        if (steps == max_steps)
          break;
      }
    }
    arguments.item_rows = item_rows(chosen_steps);
    for (int i = 0; i < arguments.plane_count; ++i) {
      Plane& plane = arguments.planes[i];
      plane.strips = divide_up(plane.row_bytes, launch.item_width(launch.warps));
      plane.first_item = arguments.item_count;
      arguments.item_count += plane.strips * divide_up(plane.rows, arguments.item_rows);
    }
    set_blocks(gpu);
  }

  /// Estimates the run time of a launch, to compare sizes of work items. The unit is arbitrary.
  double cost_of(int items, int steps, int warps, int resident, const Gpu& gpu) const {
    constexpr int overhead = 2;     // steps to start and end a block
    constexpr int busy_warps = 16;  // enough to keep a multiprocessor busy
    constexpr double tail = 0.5;    // additional rounds for the last blocks and for edge blocks
    const double blocks = divide_up(items, launch.items_of_block(warps));
    // A partial last round costs less than a full one, but more than its share of the blocks.
    const double full = blocks / (static_cast<double>(resident) * gpu.multiprocessors);
    const double rounds = full <= 1 ? 1 : (full + std::ceil(full)) / 2;
    const double neighbours = std::min<double>(resident, std::ceil(blocks / gpu.multiprocessors));
    return (rounds + tail) * (steps + launch.warm_up_steps + overhead) *
           std::max<double>(busy_warps, neighbours * warps);
  }

  int item_rows(int steps) const { return steps * launch.step_rows - launch.missing_rows; }

  int count_items(int warps, int steps) const {
    int count = 0;
    for (int i = 0; i < arguments.plane_count; ++i)
      count += divide_up(arguments.planes[i].row_bytes, launch.item_width(warps)) *
               divide_up(arguments.planes[i].rows, item_rows(steps));
    return count;
  }

  /// Joins adjacent cells until a cell holds a whole item. Overlapping items write equal results.
  void number_items_of_cells(const regions::ActiveCells& active, int steps) {
    arguments.item_rows = item_rows(steps);
    const int width = launch.item_width(launch.warps);
    Plane* const end = arguments.planes + arguments.plane_count;
    const auto any_plane = [&](const auto& condition) {
      return std::any_of(arguments.planes, end, condition);
    };
    int cell_width = 1, cell_height = 1;
    while (
        !any_plane([&](const Plane& plane) { return bytes_of_cell(cell_width, plane) >= width; }))
      cell_width *= 2;
    while (!any_plane([&](const Plane& plane) {
      return rows_of_cell(cell_height, plane) >= arguments.item_rows;
    }))
      cell_height *= 2;
    arguments.active = regions::NumberedCells(active, cell_width, cell_height);

    arguments.item_count = 0;
    for (Plane* plane = arguments.planes; plane != end; ++plane) {
      const int bytes = bytes_of_cell(arguments.active.width(), *plane);
      plane->strips = divide_up(bytes, width);
      plane->cell_rows = rows_of_cell(arguments.active.height(), *plane);
      plane->cell_items = plane->strips * divide_up(plane->cell_rows, arguments.item_rows);
      plane->first_item = arguments.item_count;
      arguments.item_count += arguments.active.count() * plane->cell_items;
    }
  }

  void set_blocks(const Gpu& gpu) {
    blocks = divide_up(arguments.item_count, launch.items_of_block(launch.warps));
    if (launch.uses_scratch)
      blocks = std::min(blocks, scratch_blocks(gpu));
  }

  int resident_ = 1;  // blocks per multiprocessor
};

}  // namespace cudavision::gaussblur
