// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Plans a launch: chooses the kernel for the sizes of the Gaussians, and divides the work.

#include <algorithm>
#include <cmath>

#include "cuda/core/cuda_check.h"
#include "cuda/gaussblur/kernels.cuh"

namespace cudavision::gaussblur {

/// Even number of slices whose windows cover a halo of this many bytes.
inline int row_slices_for(int halo) {
  return 2 + 2 * ((halo + slice_length - 1) / slice_length);
}

// Windows are staged as a whole if memory remains for at least a few warps. Every byte beyond an
// edge then has its mirror image in the same stage.
constexpr int largest_chunk_pairs = 32;
constexpr int usual_chunk_pairs = 16;
constexpr int fewest_warps_beside = 2;
constexpr int max_cell_steps = 8;

struct Card {
  int multiprocessors = multiprocessor_count();
  int shared_bytes =  ///< maximum of a block
      device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, "the shared memory");

  Card() {
    // Tests limit the size to the smallest card's, to cover the scratch memory.
#ifdef CUDAVISION_TEST_SHARED_BYTES
    shared_bytes = std::min(shared_bytes, CUDAVISION_TEST_SHARED_BYTES);
#endif
  }
};

/// Each block of a launch with scratch memory has its own part of it.
inline unsigned scratch_blocks(const Card& card) {
  return card.multiprocessors * scratch_blocks_per_multiprocessor;
}

struct Launch {
  KernelFunction kernel = nullptr;
  KernelFunction in_cells = nullptr;  ///< for active cells only
  int row_slices = 0;
  int column_slices = 0;
  int chunk_pairs = 0;
  bool of_pixels = false;
  int width = 0;          ///< of a work item, in bytes; 0: a tile for each warp of the block
  int stage_bytes = 0;    ///< of one stage of a warp if warps work independently, else 0
  int step_rows = 0;      ///< output rows of one step
  int missing_rows = 0;   ///< rows that the first step lacks
  int warm_up_steps = 0;  ///< steps before the first one with output
  int warps = 0;          ///< of a block; 0: any number
  int shared_bytes = 0;
  bool uses_scratch = false;

  bool is_small() const { return stage_bytes > 0; }
  int item_width(int warps) const { return width > 0 ? width : warps * tile_bytes; }
  int items_of_block(int warps) const { return is_small() ? warps : 1; }
};

inline int shared_bytes(const KernelSet& kernels, const Launch& launch, int warps) {
  if (launch.width > 0)
    return warps * small_stages * launch.stage_bytes;
  return kernels.large_shared(launch.row_slices, launch.column_slices, launch.chunk_pairs, warps,
                              !launch.uses_scratch);
}

inline Launch direct_launch() {
  Launch launch;
  launch.kernel = launch.in_cells = blur_direct;
  launch.width = 32 * direct_bytes;
  launch.step_rows = 2 * direct_warps;
  launch.warm_up_steps = DirectPlane::max_radius;
  launch.warps = direct_warps;
  return launch;
}

/// Chooses the cheapest kernel for the largest halo and radius. LaunchPlan chooses the number of
/// warps, unless it is fixed.
inline Launch choose_launch(const KernelSet& kernels, const Card& card, int halo, int radius,
                            bool of_pixels) {
  Launch launch;
  launch.of_pixels = of_pixels && !kernels.of_pixels.empty();
  for (const SmallKernel& small : launch.of_pixels ? kernels.of_pixels : kernels.small) {
    if (small.halo < halo || column_halo(small.column_slices) < radius)
      continue;
    launch.kernel = small.kernel;
    launch.in_cells = small.in_cells;
    launch.row_slices = small.row_slices;
    launch.column_slices = small.column_slices;
    launch.width = small.width;
    launch.stage_bytes = small.stage_bytes;
    launch.step_rows = tile_rows;
    launch.warm_up_steps = small.column_slices - 1;
    launch.warps = small_warps;
    return launch;
  }

  launch.of_pixels = false;
  launch.kernel = launch.in_cells = kernels.large;
  launch.row_slices = row_slices_for(halo);
  launch.column_slices = large_column_slices(radius);
  launch.chunk_pairs = std::min(launch.row_slices / 2, largest_chunk_pairs);
  if (shared_bytes(kernels, launch, fewest_warps_beside) > card.shared_bytes)
    launch.chunk_pairs = std::min(launch.row_slices / 2, usual_chunk_pairs);
  launch.step_rows = large_rows;
  launch.missing_rows = lower_tile_first(launch.column_slices) ? tile_rows : 0;
  launch.warm_up_steps = large_warm_up_steps(launch.column_slices);
  const auto shrink_to = [&](int warps) {
    while (launch.chunk_pairs > 1 && shared_bytes(kernels, launch, warps) > card.shared_bytes)
      launch.chunk_pairs /= 2;
  };
  shrink_to(1);
  launch.uses_scratch = shared_bytes(kernels, launch, 1) > card.shared_bytes;
  if (!launch.uses_scratch)
    return launch;
  launch.kernel = launch.in_cells = kernels.large_with_scratch;
  launch.warps = scratch_warps;
  shrink_to(scratch_warps);
  return launch;
}

/// Bytes of a plane's row, from first_byte_of_cell() on, for a cell of `width` pixels.
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

/// A launch with its arguments, except the addresses of the frames.
class LaunchPlan {
 public:
  LaunchPlan() = default;
  LaunchPlan(const Launch& launch, const Arguments& arguments, const KernelSet& kernels,
             const Card& card)
      : launch(launch), arguments(arguments) {
    share_out(kernels, card);
  }

  Launch launch;
  Arguments arguments;
  unsigned blocks = 0;

  /// The plan for blurring only the active cells, of which there is at least one. Its work items
  /// are smaller, so that they occupy the whole GPU.
  LaunchPlan limited_to(const regions::ActiveCells& active, const Card& card) const {
    LaunchPlan plan = *this;
    plan.launch.kernel = launch.in_cells;
    plan.arguments.everywhere = false;
    plan.number_items_of_cells(active, card);
    return plan;
  }

 private:
  /// Chooses the width and height of the blocks' parts of the frame. Fewer blocks repeat less work
  /// at the seams. More blocks balance the load, and some can compute while others wait for memory.
  void share_out(const KernelSet& kernels, const Card& card) {
    int max_steps = 0;
    for (int i = 0; i < arguments.plane_count; ++i)
      max_steps = std::max(max_steps, steps_in(arguments.planes[i]));

    const int fixed_warps = launch.warps;
    double best = 0;
    int chosen_steps = 1;
    for (const int warps : {12, 8, 6, 4, 2, 1}) {
      if (fixed_warps != 0 && warps != fixed_warps)
        continue;
      const int shared = shared_bytes(kernels, launch, warps);
      if (shared > card.shared_bytes)
        continue;
      int resident = 0;
      cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, launch.kernel, warps * 32,
                                                               shared),
                 "setting up a kernel on the GPU");
      resident = std::max(resident, 1);
      for (int steps = 1;; steps += 1 + steps / 8) {
        steps = std::min(steps, max_steps);
        const double blocks = std::ceil(items(warps, steps) / launch.items_of_block(warps));
        const double cost = cost_of(blocks, steps, warps, resident, card);
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
    number_items(chosen_steps, card);
  }

  double cost_of(double blocks, int steps, int warps, int resident, const Card& card) const {
    constexpr int overhead = 2;     // of starting and ending a block, in steps
    constexpr int busy_warps = 16;  // keep a multiprocessor busy
    constexpr double tail = 0.5;    // of the last blocks and of edge blocks, in rounds
    // A partial last round costs less than a full one, but more than in proportion to its blocks.
    const double full = blocks / (static_cast<double>(resident) * card.multiprocessors);
    const double rounds = full <= 1 ? 1 : (full + std::ceil(full)) / 2;
    const double neighbours = std::min<double>(resident, std::ceil(blocks / card.multiprocessors));
    return (rounds + tail) * (steps + launch.warm_up_steps + overhead) *
           std::max<double>(busy_warps, neighbours * warps);
  }

  void number_items(int steps, const Card& card) {
    arguments.item_rows = item_rows(steps);
    int first = 0;
    for (int i = 0; i < arguments.plane_count; ++i) {
      Plane& plane = arguments.planes[i];
      plane.strips = strips_in(plane, launch.warps);
      plane.first_item = first;
      first += plane.strips * items_below(plane, steps);
    }
    set_item_count(first, card);
  }

  /// Joins cells until an item fits. Items that do not divide a cell overlap and write equal
  /// results. Steps are powers of two, as most cells' heights are.
  void number_items_of_cells(const regions::ActiveCells& active, const Card& card) {
    double best = 0;
    int chosen_steps = 1;
    for (int steps = 1; steps <= max_cell_steps; steps *= 2) {
      const double blocks = std::ceil(number_items_of_cells(active, steps) /
                                      static_cast<double>(launch.items_of_block(launch.warps)));
      const double cost = cost_of(blocks, steps, launch.warps, resident_, card);
      if (best == 0 || cost < best) {
        best = cost;
        chosen_steps = steps;
      }
    }
    set_item_count(number_items_of_cells(active, chosen_steps), card);
  }

  int number_items_of_cells(const regions::ActiveCells& active, int steps) {
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

    int first = 0;
    for (Plane* plane = arguments.planes; plane != end; ++plane) {
      const int bytes = bytes_of_cell(arguments.active.width(), *plane);
      plane->strips = (bytes + width - 1) / width;
      plane->cell_rows = rows_of_cell(arguments.active.height(), *plane);
      plane->cell_items =
          plane->strips * ((plane->cell_rows + arguments.item_rows - 1) / arguments.item_rows);
      plane->first_item = first;
      first += arguments.active.count() * plane->cell_items;
    }
    return first;
  }

  void set_item_count(int count, const Card& card) {
    arguments.item_count = count;
    const int of_block = launch.items_of_block(launch.warps);
    blocks = (count + of_block - 1) / of_block;
    if (launch.uses_scratch)
      blocks = std::min(blocks, scratch_blocks(card));
  }

  int strips_in(const Plane& plane, int warps) const {
    const int width = launch.item_width(warps);
    return (plane.row_bytes + width - 1) / width;
  }

  int steps_in(const Plane& plane) const {
    return (plane.rows + launch.missing_rows + launch.step_rows - 1) / launch.step_rows;
  }

  int item_rows(int steps) const { return steps * launch.step_rows - launch.missing_rows; }

  int items_below(const Plane& plane, int steps) const {
    return (plane.rows + item_rows(steps) - 1) / item_rows(steps);
  }

  double items(int warps, int steps) const {
    double items = 0;
    for (int i = 0; i < arguments.plane_count; ++i)
      items += static_cast<double>(strips_in(arguments.planes[i], warps)) *
               items_below(arguments.planes[i], steps);
    return items;
  }

  int resident_ = 1;  // blocks per multiprocessor
};

}  // namespace cudavision::gaussblur
