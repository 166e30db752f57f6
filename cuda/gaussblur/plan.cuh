// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// How the work of a frame is shared out among blocks. For gaussblur_cuda.cu.

#include <algorithm>
#include <cmath>

#include "cuda/core/cuda_check.h"
#include "cuda/gaussblur/kernels.cuh"

namespace cudavision::gaussblur {

/// A launch with its arguments, but for where the frames are.
class BlurPlan {
 public:
  BlurPlan() = default;
  BlurPlan(const BlurLaunch& launch, const BlurArguments& arguments, const BlurCode& code,
           const BlurCard& card)
      : launch(launch), arguments(arguments) {
    share_out(code, card);
  }

  BlurLaunch launch;
  BlurArguments arguments;
  unsigned blocks = 0;

 private:
  /// How wide and how high the blocks' parts of the frame are: of few blocks each repeats less work
  /// at the seams, of many the work is shared more evenly, and each can wait while others go on.
  void share_out(const BlurCode& code, const BlurCard& card) {
    int most_steps = 0;
    for (int i = 0; i < arguments.picture_count; ++i)
      most_steps = std::max(most_steps, steps_in(arguments.pictures[i]));

    constexpr int overhead = 2;     // of starting and ending a block, in steps
    constexpr int busy_warps = 16;  // keep a multiprocessor busy
    constexpr double tail = 0.5;    // of the last blocks, and of those at the edges, in rounds
    const int fixed_warps = launch.warps;
    double best = 0;
    int chosen_steps = 1;
    for (const int warps : {12, 8, 6, 4, 2, 1}) {
      if (fixed_warps != 0 && warps != fixed_warps)
        continue;
      const int shared = shared_bytes(code, launch, warps);
      if (shared > card.shared_bytes)
        continue;
      int resident = 0;
      cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, launch.kernel, warps * 32,
                                                               shared),
                 "setting up a kernel on the GPU");
      resident = std::max(resident, 1);
      for (int steps = 1;; steps += 1 + steps / 8) {
        steps = std::min(steps, most_steps);
        const double blocks = std::ceil(items(warps, steps) / launch.items_of_block(warps));
        // A last round that is not full takes less time than a full one, but more than its share.
        const double full = blocks / (static_cast<double>(resident) * card.multiprocessors);
        const double rounds = full <= 1 ? 1 : (full + std::ceil(full)) / 2;
        const double neighbours =
            std::min<double>(resident, std::ceil(blocks / card.multiprocessors));
        const double cost = (rounds + tail) * (steps + launch.leading_steps + overhead) *
                            std::max<double>(busy_warps, neighbours * warps);
        if (best == 0 || cost < best) {
          best = cost;
          chosen_steps = steps;
          launch.warps = warps;
          launch.shared_bytes = shared;
        }
        if (steps == most_steps)
          break;
      }
    }
    number_items(chosen_steps, card);
  }

  void number_items(int steps, const BlurCard& card) {
    arguments.item_rows = item_rows(steps);
    int first = 0;
    for (int i = 0; i < arguments.picture_count; ++i) {
      BlurPicture& picture = arguments.pictures[i];
      picture.strips = strips_in(picture, launch.warps);
      picture.first_item = first;
      first += picture.strips * items_below(picture, steps);
    }
    arguments.item_count = first;
    const int of_block = launch.items_of_block(launch.warps);
    blocks = (first + of_block - 1) / of_block;
    if (launch.uses_scratch)
      blocks = std::min(blocks, scratch_blocks(card));
  }

  int strips_in(const BlurPicture& picture, int warps) const {
    const int width = launch.item_width(warps);
    return (picture.row_bytes + width - 1) / width;
  }

  int steps_in(const BlurPicture& picture) const {
    return (picture.rows + launch.missing_rows + launch.step_rows - 1) / launch.step_rows;
  }

  int item_rows(int steps) const { return steps * launch.step_rows - launch.missing_rows; }

  int items_below(const BlurPicture& picture, int steps) const {
    return (picture.rows + item_rows(steps) - 1) / item_rows(steps);
  }

  double items(int warps, int steps) const {
    double items = 0;
    for (int i = 0; i < arguments.picture_count; ++i)
      items += static_cast<double>(strips_in(arguments.pictures[i], warps)) *
               items_below(arguments.pictures[i], steps);
    return items;
  }
};

}  // namespace cudavision::gaussblur
