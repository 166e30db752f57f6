// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Census features on the CPU. Each comparison is a loop over two rows, so that the compiler
// vectorises it. For census_gradient, means and derivatives are built from column sums and steps.

#include <algorithm>

#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/stages_cpu.h"

namespace cudavision::sgm {
namespace {

using Census = Config::Census;

constexpr int radius_x = 4, radius_y = 3, window_rows = 2 * radius_y + 1;
constexpr int margin = std::max(radius_x, gradient_radius_x);
constexpr int max_bits = 64;
static_assert(radius_y == gradient_radius_y);

/// A bit of a feature: 1 if the sample at offset a is larger than the sample at offset b.
struct Comparison {
  int ax, ay, bx, by;
};

struct Comparisons {
  int count = 0;
  Comparison list[max_bits];

  void add(const Comparison& comparison) { list[count++] = comparison; }
};

Comparisons comparisons_of(Census census) {
  Comparisons all;
  const int rx = census == Census::neighbours_5x5 ? 2 : radius_x;
  const int ry = census == Census::neighbours_5x5 ? 2 : radius_y;
  for (int dy = -ry; dy <= ry; ++dy)
    for (int dx = -rx; dx <= rx; ++dx) {
      if (census != Census::symmetric_9x7 && (dy != 0 || dx != 0))
        all.add({0, 0, dx, dy});
      else if (census == Census::symmetric_9x7 && (dy < 0 || (dy == 0 && dx < 0)))
        all.add({dx, dy, -dx, -dy});
    }
  return all;
}

template <class Value>
CUDAVISION_TARGET_CLONES void add_bit(const Value* a, const Value* b, int width,
                                      std::uint8_t* __restrict bits) {
  for (int x = 0; x < width; ++x)
    bits[x] = static_cast<std::uint8_t>((bits[x] << 1) | (a[x] > b[x]));
}

template <class Feature>
CUDAVISION_TARGET_CLONES void add_byte(const std::uint8_t* bits, int width,
                                       Feature* __restrict features) {
  for (int x = 0; x < width; ++x)
    features[x] = features[x] << 8 | bits[x];
}

/// A ring buffer of the rows around the current row. Copies of the end samples pad each row.
template <class Value>
class Window {
 public:
  Window(const SamplePlane& picture, Value* const (&rows)[window_rows])
      : picture_(picture), rows_(rows) {}

  void load(int y) {
    if (y < 0 || y >= picture_.height())
      return;
    Value* const to = slot(y);
    if constexpr (sizeof(Value) == 1)
      read_eight_bits(picture_, y, to);
    else
      PlaneRows<std::uint16_t>(picture_).row(y, reinterpret_cast<std::uint16_t*>(to));
    for (int i = 1; i <= margin; ++i) {
      to[-i] = to[0];
      to[picture_.width - 1 + i] = to[picture_.width - 1];
    }
  }

  const Value* row(int y) const { return slot(std::clamp(y, 0, picture_.height() - 1)); }

 private:
  Value* slot(int y) const { return rows_[y % window_rows]; }

  SamplePlane picture_;
  Value* const (&rows_)[window_rows];
};

template <class Feature>
void clear_borders(int y, int width, int height, Feature* features) {
  const bool outer_row = y < radius_y || y >= height - radius_y;
  const int left = outer_row ? width : std::min(radius_x, width);
  std::fill_n(features, left, Feature{0});
  std::fill(features + std::max(left, width - radius_x), features + width, Feature{0});
}

template <class Value, class Feature>
void make_row(const Window<Value>& window, const Comparisons& comparisons, int y, int width,
              std::uint8_t* bits, Feature* features) {
  std::fill_n(features, width, Feature{0});
  for (int i = 0; i < comparisons.count;) {
    // The highest byte comes first, and may have fewer than 8 bits.
    const int end = i + (comparisons.count - i - 1) % 8 + 1;
    std::fill_n(bits, width, std::uint8_t{0});
    for (; i < end; ++i) {
      const Comparison& c = comparisons.list[i];
      add_bit(window.row(y + c.ay) + c.ax, window.row(y + c.by) + c.bx, width, bits);
    }
    add_byte(bits, width, features);
  }
}

/// Scratch memory of a band. columns and steps have `beyond` more columns at each end.
template <class Value>
struct CensusMemory {
  static constexpr int beyond = 2;

  CensusMemory(Scratch& scratch, int width)
      : columns(scratch.take<std::int16_t>(width, beyond)),
        steps(scratch.take<std::int16_t>(width, beyond)),
        means(scratch.take<Value>(width)),
        bits(scratch.take<std::uint8_t>(width)) {
    for (Value*& row : rows)
      row = scratch.take<Value>(width, margin);
  }

  Value* rows[window_rows];
  std::int16_t* columns;  ///< F(x, y − 1) + 2·F(x, y) + F(x, y + 1)
  std::int16_t* steps;    ///< F(x, y + 1) − F(x, y − 1)
  Value* means;
  std::uint8_t* bits;  ///< one byte per feature
};

using Filtered = std::int16_t;  // sample of a filtered picture
using GradientMemory = CensusMemory<Filtered>;

CUDAVISION_TARGET_CLONES
void sum_columns(const Filtered* above, const Filtered* row, const Filtered* below, int width,
                 std::int16_t* __restrict columns, std::int16_t* __restrict steps) {
  constexpr int beyond = GradientMemory::beyond;
  for (int x = -beyond; x < width + beyond; ++x) {
    columns[x] = static_cast<std::int16_t>(above[x] + 2 * row[x] + below[x]);
    steps[x] = static_cast<std::int16_t>(below[x] - above[x]);
  }
}

/// Computes the means M, plus filtered_offset, which the samples include, minus the dead zone.
CUDAVISION_TARGET_CLONES
void find_means(const std::int16_t* columns, int width, int dead_zone, Filtered* __restrict means) {
  for (int x = 0; x < width; ++x) {
    const int mean = (columns[x - 1] + 2 * columns[x] + columns[x + 1]) >> 8;
    means[x] = static_cast<Filtered>(filtered_unit * mean + filtered_offset - dead_zone);
  }
}

/// Returns a code whose bit 7 − i % 8 is 1 if the value exceeds threshold i, for i in [first, end).
template <int first, int end>
[[gnu::always_inline]] inline std::int16_t unary_code(std::int16_t value) {
  std::int16_t code = 0;
  for (int i = first; i < end; ++i)
    code |= mask_of<std::int16_t>(value > filtered_unit * gradient_threshold(i)) & (0x80 >> i % 8);
  return code;
}

CUDAVISION_TARGET_CLONES
void code_slope(const std::int16_t* columns, int width, std::uint8_t* __restrict bits) {
  for (int x = 0; x < width; ++x) {
    const auto sx = static_cast<std::int16_t>(columns[x + 1] - columns[x - 1]);
    bits[x] = static_cast<std::uint8_t>(unary_code<0, 8>(sx));
  }
}

CUDAVISION_TARGET_CLONES
void code_curvature(const std::int16_t* columns, const std::int16_t* steps, int width,
                    std::uint8_t* __restrict bits) {
  for (int x = 0; x < width; ++x) {
    const auto sy = static_cast<std::int16_t>(steps[x - 1] + 2 * steps[x] + steps[x + 1]);
    const auto dxx = static_cast<std::int16_t>(2 * columns[x] - columns[x - 2] - columns[x + 2]);
    bits[x] = static_cast<std::uint8_t>(unary_code<8, 12>(sy) | unary_code<12, 16>(dxx));
  }
}

void make_gradient_row(const Window<Filtered>& window, const GradientMemory& memory, int y,
                       int width, int dead_zone, std::uint32_t* features) {
  std::uint8_t* const bits = memory.bits;
  sum_columns(window.row(y - 1), window.row(y), window.row(y + 1), width, memory.columns,
              memory.steps);
  find_means(memory.columns, width, dead_zone, memory.means);
  std::fill_n(features, width, 0u);
  for (int i = 0; i < gradient_neighbours;) {
    std::fill_n(bits, width, std::uint8_t{0});
    for (const int end = i + 8; i < end; ++i) {
      const auto [dx, dy] = gradient_neighbour(i);
      add_bit(memory.means, window.row(y + dy) + dx, width, bits);
    }
    add_byte(bits, width, features);
  }
  code_slope(memory.columns, width, bits);
  add_byte(bits, width, features);
  code_curvature(memory.columns, memory.steps, width, bits);
  add_byte(bits, width, features);
}

template <class Value, class Make>
void for_windows(const StageRows& rows, const SamplePlane& picture, const Make& make) {
  rows.bands.for_each([&](Band& band) {
    const CensusMemory<Value> memory(band.scratch, picture.width);
    Window<Value> window(picture, memory.rows);
    for (int y = band.begin - radius_y; y < band.begin + radius_y; ++y)
      window.load(y);
    for (int y = band.begin; y < band.end; ++y) {
      window.load(y + radius_y);
      make(window, memory, y);
    }
  });
}

template <class Feature>
void make_features(const StageRows& rows, const SamplePlane& picture, Feature* features) {
  const Comparisons comparisons = comparisons_of(rows.config.census);
  const auto make = [&](const auto& window, const auto& memory, int y) {
    Feature* const row = rows.row(features, y);
    make_row(window, comparisons, y, picture.width, memory.bits, row);
    if (rows.config.libsgm())
      clear_borders(y, picture.width, picture.height(), row);
  };
  if (picture.bits == 8)
    for_windows<std::uint8_t>(rows, picture, make);
  else
    for_windows<std::uint16_t>(rows, picture, make);
}

}  // namespace

std::size_t census_scratch(const StageConfig& config) {
  return scratch_bytes<GradientMemory>(config.width);
}

void census_cpu(const StageRows& rows, const SamplePlane& picture, void* features) {
  if (rows.config.feature_bytes() == 8)
    make_features(rows, picture, static_cast<std::uint64_t*>(features));
  else
    make_features(rows, picture, static_cast<std::uint32_t*>(features));
}

void census_filtered_cpu(const StageRows& rows, const SamplePlane& filtered,
                         const NoiseLevel& noise, void* features) {
  const int zone = dead_zone(noise);
  for_windows<Filtered>(rows, filtered, [&](const auto& window, const auto& memory, int y) {
    make_gradient_row(window, memory, y, filtered.width, zone,
                      rows.row(static_cast<std::uint32_t*>(features), y));
  });
}

}  // namespace cudavision::sgm
