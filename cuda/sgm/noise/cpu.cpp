// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Noise estimate and noise filter on the CPU. Sums over windows are built from sums over columns, a
// whole row at a time, so that the compiler vectorises the loops.

#include <algorithm>

#include "cuda/noise/cpu_rows.h"
#include "cuda/sgm/stages_cpu.h"

namespace cudavision::sgm {
namespace {

constexpr int radius = 2, side = 2 * radius + 1;  // the filter's window
constexpr int estimate_radius = noise::far_spacing;

class NoiseRows {
 public:
  struct Counts {
    std::uint32_t bins[noise_spacings][noise::bins];
    std::uint32_t flat;  ///< number of flat blocks
  };

  NoiseRows(Scratch& scratch, int width)
      : counts(scratch.take<Counts>(1)),
        squares(scratch.take<std::uint32_t>(width, estimate_radius)),
        extremes(scratch.take<std::uint32_t>(width)),
        different(scratch.take<std::uint8_t>(width, estimate_radius)) {
    for (std::uint16_t*& row : sums)
      row = scratch.take<std::uint16_t>(width, estimate_radius);
    for (std::uint8_t*& row : levels_)
      row = scratch.take<std::uint8_t>(width, estimate_radius);
  }

  /// Loads row y, or the nearest row in the picture, into the ring, where it replaces row y − rows.
  void load(const SamplePlane& picture, int y) const {
    const int width = picture.width;
    std::uint8_t* const to = row(y);
    read_eight_bits(picture, std::clamp(y, 0, picture.height() - 1), to);
    for (int i = 1; i <= estimate_radius; ++i) {
      to[-i] = to[0];
      to[width - 1 + i] = to[width - 1];
    }
  }
  std::uint8_t* row(int y) const { return levels_[(y + rows) % rows]; }

  Counts* counts;
  std::uint32_t *squares, *extremes;  ///< per column: sum of squares, number of extreme levels
  std::uint16_t* sums[noise_spacings];
  std::uint8_t* different;  ///< per column: 0 if all its levels in the block are equal

 private:
  static constexpr int rows =
      noise::block_side + 2 * estimate_radius;  // of a block and its margins
  std::uint8_t* levels_[rows];
};

void count_blocks(const NoiseRows& memory, const SamplePlane& picture, const Band& rows,
                  int row_step) {
  const int width = picture.width / noise::block_side * noise::block_side;
  *memory.counts = {};
  for (int row_of_blocks = rows.begin; row_of_blocks < rows.end; ++row_of_blocks) {
    if (row_of_blocks / 2 % row_step != 0)
      continue;
    const int top = row_of_blocks * noise::block_side;
    std::fill_n(memory.extremes, width, 0u);
    std::fill_n(memory.different - estimate_radius, width + 2 * estimate_radius, std::uint8_t{0});
    for (std::uint16_t* sums : memory.sums)
      std::fill_n(sums, width, std::uint16_t{0});
    for (int y = top - estimate_radius; y < top + estimate_radius; ++y)
      memory.load(picture, y);
    for (int y = top; y < top + noise::block_side; ++y) {
      memory.load(picture, y + estimate_radius);
      const std::uint8_t* const row = memory.row(y);
      for (int i = 0; i < noise_spacings; ++i) {
        const int spacing = noise_spacing(i);
        noise::add_second_differences(memory.row(y - spacing), row, memory.row(y + spacing),
                                      spacing, width, memory.sums[i]);
      }
      noise::count_extremes(row, width, memory.extremes);
      noise::find_differences(row - estimate_radius, memory.row(top) - estimate_radius,
                              width + 2 * estimate_radius, memory.different - estimate_radius);
    }
    const std::uint8_t* const above = memory.row(top - estimate_radius);
    const std::uint8_t* const below = memory.row(top + noise::block_side - 1 + estimate_radius);
    for (int x = 0; x < width; x += noise::block_side) {
      if (noise::sum_of_block(memory.extremes + x) > noise::max_extreme_pixels)
        continue;
      if (noise::sum_of_block(memory.sums[0] + x) == 0 ||
          noise::is_at_bar(above, below, memory.different, x))
        ++memory.counts->flat;
      else
        for (int i = 0; i < noise_spacings; ++i)
          ++memory.counts->bins[i][noise::bin_of(noise::sum_of_block(memory.sums[i] + x))];
    }
  }
}

CUDAVISION_TARGET_CLONES
void sum_columns(const std::uint8_t* const (&rows)[side], int width, std::uint16_t* __restrict sums,
                 std::uint32_t* __restrict squares) {
  for (int x = -radius; x < width + radius; ++x) {
    std::uint32_t sum = 0, square = 0;
    for (const std::uint8_t* row : rows) {
      sum += row[x];
      square += static_cast<std::uint32_t>(row[x] * row[x]);
    }
    sums[x] = static_cast<std::uint16_t>(sum);
    squares[x] = square;
  }
}

CUDAVISION_TARGET_CLONES
void filter_row(const std::uint8_t* row, const std::uint16_t* sums, const std::uint32_t* squares,
                std::uint32_t noise, int width, std::uint16_t* __restrict filtered) {
  for (int x = 0; x < width; ++x) {
    std::uint32_t sum = 0, square = 0;
    for (int i = -radius; i <= radius; ++i) {
      sum += sums[x + i];
      square += squares[x + i];
    }
    filtered[x] = filtered_sample(row[x], sum, window_variance(sum, square), noise);
  }
}

}  // namespace

std::size_t noise_scratch(const StageConfig& config) {
  return scratch_bytes<NoiseRows>(config.width);
}

void estimate_noise_cpu(const StageRows& rows, const SamplePlane& picture, bool first_frame,
                        NoiseState* state) {
  if (first_frame)
    *state = {};
  rows.bands.for_each([&](Band& band) {
    count_blocks(NoiseRows(band.scratch, picture.width), picture,
                 band.of(picture.height() / noise::block_side),
                 noise_row_step(rows.config.pixels()));
  });
  const auto sum_over_bands = [&](const auto& count) {
    std::uint32_t sum = 0;
    for (int band = 0; band < rows.bands.count(); ++band)
      sum += count(*rows.bands.band(band).scratch.take<NoiseRows::Counts>(1));
    return sum;
  };
  const std::uint32_t flat = sum_over_bands([](const auto& counts) { return counts.flat; });
  std::uint32_t variance = 0;
  for (int i = 0; i < noise_spacings; ++i) {
    const auto blocks_in = [&](int bin) {
      return sum_over_bands([&](const auto& counts) { return counts.bins[i][bin]; });
    };
    std::uint32_t all = 0, up_to = 0;
    for (int bin = 0; bin < noise::bins; ++bin)
      all += blocks_in(bin);
    if (is_flat_picture(flat, all))
      break;
    if (all < min_noise_blocks)
      return;
    int bin = 0;
    while ((up_to += blocks_in(bin)) <= all / noise::quantile)
      ++bin;
    variance = std::max(variance, noise_variance_of(i, bin));
  }
  state->take(variance);
}

void filter_noise_cpu(const StageRows& rows, const SamplePlane& picture, const NoiseLevel& noise,
                      std::uint16_t* filtered) {
  const int width = picture.width;
  rows.bands.for_each([&](Band& band) {
    const NoiseRows memory(band.scratch, width);
    for (int y = band.begin - radius; y < band.begin + radius; ++y)
      memory.load(picture, y);
    for (int y = band.begin; y < band.end; ++y) {
      memory.load(picture, y + radius);
      const std::uint8_t* const window[side] = {memory.row(y - 2), memory.row(y - 1), memory.row(y),
                                                memory.row(y + 1), memory.row(y + 2)};
      sum_columns(window, width, memory.sums[0], memory.squares);
      filter_row(memory.row(y), memory.sums[0], memory.squares, noise_in_window(noise), width,
                 rows.row(filtered, y));
    }
  });
}

}  // namespace cudavision::sgm
