// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The noise estimator on the CPU. Each thread measures some rows of blocks and has its own
// histograms. A row of blocks is summed column by column.

#include <algorithm>
#include <functional>
#include <numeric>

#include "cuda/core/parallel.h"
#include "cuda/noise/backend.h"
#include "cuda/noise/cpu_rows.h"
#include "cuda/noise/measurement.h"
#include "cuda/pixels/samples.h"

namespace cudavision::noise {
namespace {

CUDAVISION_TARGET_CLONES
void add_levels(const std::uint8_t* row, int width, std::uint16_t* __restrict sums,
                std::uint32_t* __restrict squares) {
  for (int x = 0; x < width; ++x) {
    sums[x] = static_cast<std::uint16_t>(sums[x] + row[x]);
    squares[x] += static_cast<std::uint32_t>(row[x] * row[x]);
  }
}

/// Histograms of one thread.
struct Counts {
  std::uint32_t near[classes][bins], far[classes][bins];
  std::uint32_t spread[classes + 1][spread_bins];  ///< the last histogram is for extreme blocks
  std::uint32_t constant, flat;
};

template <int kBins>
Quietest quietest_of(const std::uint32_t (&histogram)[kBins]) {
  const std::uint32_t blocks = std::accumulate(histogram, histogram + kBins, 0u);
  int bin = 0;
  for (std::uint32_t up_to = histogram[0]; blocks > 0 && up_to <= blocks / quantile;)
    up_to += histogram[++bin];
  return {blocks, bin};
}

/// A thread's memory. Rows of levels have far_spacing additional columns at both ends.
class BlockMemory {
 public:
  BlockMemory(Scratch& scratch, int width)
      : counts(scratch.take<Counts>(1)),
        extremes(scratch.take<std::uint32_t>(width)),
        squares(scratch.take<std::uint32_t>(width)),
        near_sums(scratch.take<std::uint16_t>(width)),
        far_sums(scratch.take<std::uint16_t>(width)),
        levels(scratch.take<std::uint16_t>(width)),
        different(scratch.take<std::uint8_t>(width, far_spacing)) {
    for (std::uint8_t*& row : rows_)
      row = scratch.take<std::uint8_t>(width, far_spacing);
  }

  /// Returns a row of levels. y is relative to the row of blocks.
  std::uint8_t* row(int y) const { return rows_[y + far_spacing]; }

  Counts* counts;
  // One element per column of a row of blocks:
  std::uint32_t* extremes;              ///< counts of samples near black or white
  std::uint32_t* squares;               ///< sums of squared levels
  std::uint16_t *near_sums, *far_sums;  ///< sums of |N| for both spacings
  std::uint16_t* levels;                ///< sums of levels
  std::uint8_t* different;              ///< 0 if all levels equal the level in the first row

 private:
  std::uint8_t* rows_[block_side + 2 * far_spacing];
};

class EstimateCpu final : public Estimate::Backend {
 public:
  EstimateCpu(Device& device, const FrameLayout& layout)
      : layout_(layout), bands_(device, layout.height, scratch_bytes<BlockMemory>(layout.width)) {}

  void run(const ConstFrame& in, bool first_frame, State* states) override {
    for (int c = 0; c < layout_.channel_count; ++c) {
      if (layout_.channels[c].role == Role::alpha)
        continue;
      if (first_frame)
        states[c] = {};
      const Measurement measured = measure(layout_.channels[c], in);
      if (measured.valid)
        states[c].take(measured.variance, measured.uncertain);
    }
  }

 private:
  Measurement measure(const Channel& channel, const ConstFrame& in) const {
    const int rows = channel.height / block_side;
    const int step = row_step(std::int64_t{channel.width} * channel.height);
    bands_.for_each([&](Band& band) {
      const BlockMemory memory(band.scratch, channel.width);
      *memory.counts = {};
      const Band share = band.of(rows);
      for (int row = share.begin; row < share.end; ++row)
        if (row % step == 0)
          count_blocks(channel, in, row * block_side, memory);
    });
    const Counts& counts = add_to_first_band();
    ClassNoises by_class;
    for (int i = 0; i < classes; ++i) {
      const Quietest near = quietest_of(counts.near[i]), far = quietest_of(counts.far[i]);
      by_class[i] = noise_of_class(near.blocks, variance_of_bins(near.bin, far.bin),
                                   quietest_of(counts.spread[i]).bin);
    }
    const Quietest extremes = quietest_of(counts.spread[classes]);
    by_class[classes] = noise_of_extremes(extremes.blocks, extremes.bin);
    Rank ranks[classes + 1];
    for (int i = 0; i <= classes; ++i)
      ranks[i] = rank_of(by_class, i);
    return measurement_of(by_class, ranks, counts.constant, counts.flat);
  }

  const Counts& add_to_first_band() const {
    static_assert(alignof(Counts) == sizeof(std::uint32_t), "all counts are words");
    constexpr std::size_t words = sizeof(Counts) / sizeof(std::uint32_t);
    auto* const total = bands_.band(0).scratch.take<std::uint32_t>(words);
    for (int band = 1; band < bands_.count(); ++band) {
      const auto* const counts = bands_.band(band).scratch.take<std::uint32_t>(words);
      std::transform(total, total + words, counts, total, std::plus<>());
    }
    return *bands_.band(0).scratch.take<Counts>(1);
  }

  void count_blocks(const Channel& channel, const ConstFrame& in, int top,
                    const BlockMemory& memory) const {
    const int width = channel.width / block_side * block_side;
    std::fill_n(memory.extremes, width, 0u);
    std::fill_n(memory.near_sums, width, std::uint16_t{0});
    std::fill_n(memory.far_sums, width, std::uint16_t{0});
    std::fill_n(memory.levels, width, std::uint16_t{0});
    std::fill_n(memory.squares, width, 0u);
    std::fill_n(memory.different - far_spacing, width + 2 * far_spacing, std::uint8_t{0});
    for (int y = -far_spacing; y < block_side + far_spacing; ++y)
      load(channel, in, std::clamp(top + y, 0, channel.height - 1), memory.row(y));
    for (int y = 0; y < block_side; ++y) {
      const std::uint8_t* const row = memory.row(y);
      add_differences<near_spacing>(memory.row(y - near_spacing), row, memory.row(y + near_spacing),
                                    width, memory.near_sums);
      add_differences<far_spacing>(memory.row(y - far_spacing), row, memory.row(y + far_spacing),
                                   width, memory.far_sums);
      count_extremes(row, width, memory.extremes);
      add_levels(row, width, memory.levels, memory.squares);
      find_differences(row - far_spacing, memory.row(0) - far_spacing, width + 2 * far_spacing,
                       memory.different - far_spacing);
    }
    const std::uint8_t* const above = memory.row(-far_spacing);
    const std::uint8_t* const below = memory.row(block_side - 1 + far_spacing);
    for (int x = 0; x < width; x += block_side) {
      const bool has_extremes = sum_of_block(memory.extremes + x) > max_extreme_pixels;
      const bool constant = sum_of_block(memory.different + x) == 0 && is_flat(memory.row(0) + x);
      if (constant || is_at_bar(above, below, memory.different, x)) {
        memory.counts->constant += constant && !has_extremes ? 1 : 0;
        memory.counts->flat += has_extremes ? 0 : 1;
        continue;
      }
      const std::uint32_t levels = sum_of_block(memory.levels + x);
      const int brightness = has_extremes ? classes : class_of(levels);
      ++memory.counts->spread[brightness]
                             [bin_of_spread(spread_of(levels, sum_of_block(memory.squares + x)))];
      if (has_extremes)
        continue;
      ++memory.counts->near[brightness][bin_of(sum_of_block(memory.near_sums + x))];
      ++memory.counts->far[brightness][bin_of(sum_of_block(memory.far_sums + x))];
    }
  }

  /// Loads row y as levels of 8 bits. The end levels are replicated beyond the ends.
  void load(const Channel& channel, const ConstFrame& in, int y, std::uint8_t* levels) const {
    gather_levels(in.planes[channel.plane].row(y) + channel.offset * layout_.sample_bytes(),
                  channel.step, channel.width, layout_.bits, layout_.shift, levels);
    std::fill_n(levels - far_spacing, far_spacing, levels[0]);
    std::fill_n(levels + channel.width, far_spacing, levels[channel.width - 1]);
  }

  FrameLayout layout_;
  Bands bands_;
};

}  // namespace

std::unique_ptr<Estimate::Backend> make_estimate_cpu(Device& device, const FrameLayout& layout) {
  return std::make_unique<EstimateCpu>(device, layout);
}

}  // namespace cudavision::noise
