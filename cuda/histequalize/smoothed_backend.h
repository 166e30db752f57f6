// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/histequalize/smoothedequalize.h"

namespace cudavision::histequalize {

/// The steps of smoothedequalize.h that depend on the kind of device, apart from averages and
/// hysteresis. Callers have validated all arguments. Counts and tables are rows of 2^bits elements
/// that lie next to each other.
class SmoothedEqualize::Backend {
 public:
  virtual ~Backend() = default;

  /// Counts red, green and blue into a row each.
  virtual void count_each(const ConstFrame& in, View<std::uint32_t> counts) = 0;

  /// Makes a table from each row of counts.
  virtual void make_tables(View<const std::uint32_t> counts, const Parameters& parameters,
                           View<std::uint16_t> tables) = 0;

  /// Equalises a frame with one table for its luminance, or with three for red, green and blue.
  virtual void look_up(const ConstFrame& in, const Frame& out, View<const std::uint16_t> tables,
                       const Parameters& parameters) = 0;
};

std::unique_ptr<SmoothedEqualize::Backend> make_smoothed_equalize_cpu(Device& device,
                                                                      const FrameLayout& layout);
std::unique_ptr<SmoothedEqualize::Backend> make_smoothed_equalize_cuda(Device& device,
                                                                       const FrameLayout& layout);

/// The part of make_smoothed_equalize_cuda() for samples of more than narrow_bits bits.
std::unique_ptr<SmoothedEqualize::Backend> make_smoothed_equalize_wide_cuda(
    Device& device, const FrameLayout& layout);

}  // namespace cudavision::histequalize
