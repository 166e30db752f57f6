// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/histequalize/histequalize.h"
#include "cuda/pixels/luminance.h"
#include "cuda/pixels/sample_math.h"

namespace cudavision::histequalize {

/// Interface of both backends. Callers validate layouts, frames and parameters.
class Histogram::Backend {
 public:
  virtual ~Backend() = default;

  virtual void set(const Parameters& parameters) = 0;

  /// Equalises a frame in one call. Returns false if the backend only implements the steps below.
  virtual bool run(const ConstFrame& /*in*/, const Frame& /*out*/,
                   View<std::uint32_t> /*histogram*/) {
    return false;
  }

  /// Stores the luminance histogram. The parameters have no effect.
  virtual void count(const ConstFrame& in, View<std::uint32_t> bins) = 0;

  // The other steps of run(), as separate calls, so that the caller can change histograms or tables
  // between them. Counts and tables are contiguous rows of 2^bits elements.

  /// Counts red, green and blue, with one row for each. The layout must not have luma.
  virtual void count_each(const ConstFrame& in, View<std::uint32_t> counts) = 0;

  /// Makes a table, without the blend, from each row of counts. All counts of a row may be 0.
  virtual void make_tables(View<const std::uint32_t> counts, View<std::uint16_t> tables) = 0;

  /// Equalises a frame with one table for its luminance, or with three for red, green and blue.
  virtual void look_up(const ConstFrame& in, const Frame& out,
                       View<const std::uint16_t> tables) = 0;
};

std::unique_ptr<Histogram::Backend> make_histequalize_cpu(Device& device,
                                                          const FrameLayout& layout);
std::unique_ptr<Histogram::Backend> make_histequalize_cuda(Device& device,
                                                           const FrameLayout& layout);

/// For samples of more than narrow_bits bits.
std::unique_ptr<Histogram::Backend> make_histequalize_wide_cuda(Device& device,
                                                                const FrameLayout& layout);
constexpr int narrow_bits = 10;

constexpr char operation[] = "histogram equalisation";

/// Throws invalid_argument unless bins is one aligned row of 2^bits counts.
void check_bins(const FrameLayout& layout, View<std::uint32_t> bins);

/// The samples that a RegionHistogram counts.
struct MaskedSamples {
  SamplePlane plane;
  int step;                       ///< bytes from one sample to the next
  View<const std::uint8_t> mask;  ///< 0 for samples that are not counted
  std::uint32_t* bins;            ///< result: 2^bits counts

  CUDAVISION_HOST_DEVICE std::uint32_t value(int x, int y) const {
    const std::uint8_t* sample = plane.rows.row(y) + static_cast<std::ptrdiff_t>(step) * x;
    if (plane.bits == 8)
      return *sample;
    const std::uint32_t word = sample[0] | static_cast<std::uint32_t>(sample[1]) << 8;
    return sample_value(word, plane.shift, (1u << plane.bits) - 1);
  }
};

void count_masked_cpu(Device& device, const MaskedSamples& samples);
void count_masked_cuda(Device& device, const MaskedSamples& samples);

}  // namespace cudavision::histequalize
