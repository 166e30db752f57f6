// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The noise of frames on the CPU. Rows of blocks are shared out over the threads, which have a
// histogram each. Sums are made column by column for a whole row of blocks.

#include <algorithm>
#include <vector>

#include "cuda/core/parallel.h"
#include "cuda/noise/backend.h"
#include "cuda/noise/blocks.h"
#include "cuda/noise/cpu_rows.h"
#include "cuda/pixels/sample_math.h"
#include "cuda/pixels/samples.h"

namespace cudavision::noise {
namespace {

/// What a thread counts.
struct Counts {
  std::uint32_t bins[classes][noise::bins];
  std::uint32_t constant;
};

/// The memory of a thread.
class Scratch {
 public:
  static std::size_t bytes(int width) {
    return sizeof(Counts) +
           pitch(width) * (sizeof(std::uint32_t) + 2 * sizeof(std::uint16_t) + 1 + rows);
  }

  Scratch(std::uint8_t* memory, int width) : counts(*reinterpret_cast<Counts*>(memory)) {
    const std::size_t columns = pitch(width);
    extremes = reinterpret_cast<std::uint32_t*>(memory + sizeof(Counts));
    sums = reinterpret_cast<std::uint16_t*>(extremes + columns);
    levels = sums + columns;
    different = reinterpret_cast<std::uint8_t*>(levels + columns);
    for (int i = 0; i < rows; ++i)
      row[i] = different + static_cast<std::size_t>(1 + i) * columns + 1;
  }

  static constexpr int rows = block_side + 2;  // with those above and below

  Counts& counts;
  std::uint32_t* extremes;
  std::uint16_t *sums, *levels;  ///< of |N|, and of the levels
  std::uint8_t* different;       ///< not 0 in columns whose levels are not all those of the first
  std::uint8_t* row[rows];

 private:
  static std::size_t pitch(int width) { return static_cast<std::size_t>(width) + 2; }
};

class EstimateCpu final : public Estimate::Backend {
 public:
  EstimateCpu(Device& device, const FrameLayout& layout) : layout_(layout), bands_(layout.height) {
    for (int band = 0; band < bands_.count(); ++band)
      scratch_.push_back(device.allocate(Scratch::bytes(layout.width)));
  }

  void run(const ConstFrame& in, bool first_frame, State* states) override {
    for (int c = 0; c < layout_.channel_count; ++c) {
      if (layout_.channels[c].role == Role::alpha)
        continue;
      if (first_frame)
        states[c] = {};
      const Measurement measured = measure(layout_.channels[c], in);
      if (measured.tells)
        states[c].take(measured.variance);
    }
  }

 private:
  Scratch scratch_of(int band, int width) const {
    return {scratch_[static_cast<std::size_t>(band)].as<std::uint8_t>(), width};
  }

  Measurement measure(const Channel& channel, const ConstFrame& in) const {
    const int rows = channel.height / block_side;
    const int step = row_step(std::int64_t{channel.width} * channel.height);
    bands_.for_each([&](const Band& band) {
      Scratch memory = scratch_of(band.number, channel.width);
      memory.counts = {};
      const int end = bands_.first_of(rows, band.number + 1);
      for (int row = bands_.first_of(rows, band.number); row < end; ++row)
        if (row % step == 0)
          count_blocks(channel, in, row * block_side, memory);
    });
    ClassNoise by_class[classes];
    std::uint32_t constant = 0;
    for (int i = 0; i < classes; ++i)
      by_class[i] = noise_of_class(i, channel.width);
    for (int band = 0; band < bands_.count(); ++band)
      constant += scratch_of(band, channel.width).counts.constant;
    return measurement_of(by_class, constant);
  }

  ClassNoise noise_of_class(int number, int width) const {
    const auto blocks_in = [&](int bin) {
      std::uint32_t count = 0;
      for (int band = 0; band < bands_.count(); ++band)
        count += scratch_of(band, width).counts.bins[number][bin];
      return count;
    };
    ClassNoise noise;
    for (int bin = 0; bin < noise::bins; ++bin)
      noise.blocks += blocks_in(bin);
    if (noise.blocks == 0)
      return noise;
    int bin = 0;
    for (std::uint32_t up_to = blocks_in(0); up_to <= noise.blocks / quantile;)
      up_to += blocks_in(++bin);
    noise.variance = variance_of_bin(bin);
    return noise;
  }

  /// Counts the blocks whose first row is `top`.
  void count_blocks(const Channel& channel, const ConstFrame& in, int top, Scratch& memory) const {
    const int width = channel.width / block_side * block_side;
    std::fill_n(memory.extremes, width, 0u);
    std::fill_n(memory.sums, width, std::uint16_t{0});
    std::fill_n(memory.levels, width, std::uint16_t{0});
    std::fill_n(memory.different, width, std::uint8_t{0});
    for (int i = 0; i < Scratch::rows; ++i)
      load(channel, in, std::clamp(top + i - 1, 0, channel.height - 1), memory.row[i]);
    for (int i = 1; i <= block_side; ++i) {
      add_second_differences(memory.row[i - 1], memory.row[i], memory.row[i + 1], 1, width,
                             memory.sums);
      count_extremes(memory.row[i], width, memory.extremes);
      add_levels(memory.row[i], width, memory.levels);
      find_differences(memory.row[i], memory.row[1], width, memory.different);
    }
    for (int x = 0; x < width; x += block_side) {
      if (sum_of_block(memory.extremes + x) > max_extreme_pixels)
        continue;
      const std::uint8_t* const first = memory.row[1] + x;
      const bool equal = sum_of_block(memory.different + x) == 0 &&
                         std::all_of(first, first + block_side,
                                     [&](std::uint8_t level) { return level == *first; });
      if (equal)
        ++memory.counts.constant;
      else
        ++memory.counts.bins[class_of(sum_of_block(memory.levels + x))]
                            [bin_of(sum_of_block(memory.sums + x))];
    }
  }

  /// Loads row y as levels of 8 bits, with one more at both ends.
  void load(const Channel& channel, const ConstFrame& in, int y, std::uint8_t* levels) const {
    const std::uint8_t* from =
        in.planes[channel.plane].row(y) + channel.offset * layout_.sample_bytes();
    const std::ptrdiff_t step = std::ptrdiff_t{channel.step} * layout_.sample_bytes();
    const std::uint32_t largest = (1u << layout_.bits) - 1;
    for (int x = 0; x < channel.width; ++x, from += step)
      levels[x] =
          layout_.bits == 8
              ? *from
              : static_cast<std::uint8_t>(sample_value(load16(from), layout_.shift, largest) >>
                                          (layout_.bits - 8));
    levels[-1] = levels[0];
    levels[channel.width] = levels[channel.width - 1];
  }

  FrameLayout layout_;
  Bands bands_;
  std::vector<Buffer> scratch_;
};

}  // namespace

std::unique_ptr<Estimate::Backend> make_estimate_cpu(Device& device, const FrameLayout& layout) {
  return std::make_unique<EstimateCpu>(device, layout);
}

}  // namespace cudavision::noise
