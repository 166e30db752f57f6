// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/clahe/clahe.h"

namespace cudavision::clahe {

/// Interface of both backends. Callers validate layouts, frames and parameters.
class Clahe::Backend {
 public:
  virtual ~Backend() = default;

  virtual void set(const Parameters& parameters) = 0;

  virtual void run(const ConstFrame& in, const Frame& out) = 0;

  // The steps of run() as separate calls, so that the caller can change counts or tables. Order for
  // each frame: count(), make_tables(), apply(). Counts and tables are contiguous rows of 2^bits
  // elements, one row per tile: of one grid, or of three grids for red, green and blue.

  virtual View<const std::uint32_t> count(const ConstFrame& in) = 0;

  /// Makes one table per row of averages. Copies bytes that no table changes, unless apply() does.
  virtual View<const std::uint16_t> make_tables(View<const std::uint32_t> averages,
                                                const ConstFrame& in, const Frame& out) = 0;

  /// in must be the frame of the last count().
  virtual void apply(const ConstFrame& in, const Frame& out, View<const std::uint16_t> tables) = 0;
};

std::unique_ptr<Clahe::Backend> make_clahe_cpu(Device& device, const FrameLayout& layout,
                                               const Tiles& tiles);
std::unique_ptr<Clahe::Backend> make_clahe_cuda(Device& device, const FrameLayout& layout,
                                                const Tiles& tiles);

}  // namespace cudavision::clahe
