// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/clahe/smoothedclahe.h"

namespace cudavision::clahe {

/// The steps of smoothedclahe.h that depend on the kind of device, apart from averages and
/// hysteresis. They take place in this order for each frame. Callers have validated all arguments.
/// Counts and tables are rows of 2^bits elements that lie next to each other, one for each tile,
/// row by row: of one grid, or of red's, green's and blue's one after the other.
class SmoothedClahe::Backend {
 public:
  virtual ~Backend() = default;

  /// Must be called before the first frame.
  virtual void set(const Parameters& parameters) = 0;

  /// Counts the tiles.
  virtual View<const std::uint32_t> count(const ConstFrame& in) = 0;

  /// Makes a table from each row of averages, and copies every byte of the frame that no table
  /// changes.
  virtual View<const std::uint16_t> make_tables(View<const std::uint32_t> averages,
                                                const ConstFrame& in, const Frame& out) = 0;

  /// Gives the pixels of the frame that was counted last their levels.
  virtual void apply(const ConstFrame& in, const Frame& out, View<const std::uint16_t> tables) = 0;
};

std::unique_ptr<SmoothedClahe::Backend> make_smoothed_clahe_cpu(Device& device,
                                                                const FrameLayout& layout,
                                                                const Tiles& tiles);
std::unique_ptr<SmoothedClahe::Backend> make_smoothed_clahe_cuda(Device& device,
                                                                 const FrameLayout& layout,
                                                                 const Tiles& tiles);

}  // namespace cudavision::clahe
