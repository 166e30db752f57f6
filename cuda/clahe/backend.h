// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/clahe/clahe.h"

namespace cudavision::clahe {

/// Implements clahe.h on one kind of device. Its callers validate layouts, frames and parameters.
class Clahe::Backend {
 public:
  virtual ~Backend() = default;

  /// Must be called before the first run().
  virtual void set(const Parameters& parameters) = 0;

  virtual void run(const ConstFrame& in, const Frame& out) = 0;

  // These are the steps of run(), for counts or tables that change in between. They take place in
  // this order for each frame. Counts and tables are rows of 2^bits elements that lie next to each
  // other, one for each tile, row by row: of one grid, or of red's, green's and blue's one after
  // the other.

  /// Counts the tiles.
  virtual View<const std::uint32_t> count(const ConstFrame& in) = 0;

  /// Makes a table from each row of averages, and copies every byte of the frame that no table
  /// changes.
  virtual View<const std::uint16_t> make_tables(View<const std::uint32_t> averages,
                                                const ConstFrame& in, const Frame& out) = 0;

  /// Gives the pixels of the frame that was counted last their levels.
  virtual void apply(const ConstFrame& in, const Frame& out, View<const std::uint16_t> tables) = 0;
};

/// Without averages, only run() may be called.
std::unique_ptr<Clahe::Backend> make_clahe_cpu(Device& device, const FrameLayout& layout,
                                               const Tiles& tiles, Averages averages);
std::unique_ptr<Clahe::Backend> make_clahe_cuda(Device& device, const FrameLayout& layout,
                                                const Tiles& tiles, Averages averages);

}  // namespace cudavision::clahe
