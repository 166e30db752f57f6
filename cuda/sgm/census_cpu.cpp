// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A row's features are made byte by byte: eight comparisons of all pixels at a time, each of which
// is one row of samples against another.

#include <algorithm>
#include <cstring>

#include "cuda/pixels/samples.h"
#include "cuda/sgm/stages_cpu.h"

namespace cudavision::sgm {
namespace {

using Census = Parameters::Census;

constexpr int reach_x = 4, reach_y = 3, window_rows = 2 * reach_y + 1;
constexpr int most_bits = 64;

/// Two pixels by their distance from the one whose feature is made: whether a is larger than b.
struct Comparison {
  int ax, ay, bx, by;
};

struct Comparisons {
  int count = 0;
  Comparison list[most_bits];

  void add(const Comparison& comparison) { list[count++] = comparison; }
};

Comparisons comparisons_of(Census census) {
  Comparisons all;
  const int rx = census == Census::neighbours_5x5 ? 2 : reach_x;
  const int ry = census == Census::neighbours_5x5 ? 2 : reach_y;
  for (int dy = -ry; dy <= ry; ++dy)
    for (int dx = -rx; dx <= rx; ++dx) {
      if (census != Census::symmetric_9x7 && (dy != 0 || dx != 0))
        all.add({0, 0, dx, dy});
      else if (census == Census::symmetric_9x7 && (dy < 0 || (dy == 0 && dx < 0)))
        all.add({dx, dy, -dx, -dy});
    }
  return all;
}

/// bits[x] = bits[x]·2 + (a[x] > b[x]).
template <class Value>
CUDAVISION_TARGET_CLONES void add_bit(const Value* a, const Value* b, int width,
                                      std::uint8_t* __restrict bits) {
  for (int x = 0; x < width; ++x)
    bits[x] = static_cast<std::uint8_t>((bits[x] << 1) | (a[x] > b[x]));
}

/// features[x] = features[x]·256 + bits[x].
template <class Feature>
CUDAVISION_TARGET_CLONES void add_byte(const std::uint8_t* bits, int width,
                                       Feature* __restrict features) {
  for (int x = 0; x < width; ++x)
    features[x] = features[x] << 8 | bits[x];
}

/// The rows around the one whose features are made, each continued beyond its ends.
template <class Value>
class Window {
 public:
  Window(const SamplePlane& picture, Value* memory)
      : rows_(picture), width_(picture.width), height_(picture.height()), memory_(memory) {}

  static std::size_t bytes(int width) { return window_rows * pitch(width) * sizeof(Value); }

  /// Makes way for what row y + reach_y of the picture has, and forgets the row above the window.
  void load(int y) {
    if (y < 0 || y >= height_)
      return;
    Value* const to = slot(y);
    const Value* const from = rows_.row(y, to);
    if (from != to)
      std::memcpy(to, from, sizeof(Value) * static_cast<std::size_t>(width_));
    for (int i = 1; i <= reach_x; ++i) {
      to[-i] = to[0];
      to[width_ - 1 + i] = to[width_ - 1];
    }
  }

  const Value* row(int y) const { return slot(std::clamp(y, 0, height_ - 1)); }

 private:
  static std::size_t pitch(int width) { return static_cast<std::size_t>(width) + 2 * reach_x; }
  Value* slot(int y) const { return memory_ + (y % window_rows) * pitch(width_) + reach_x; }

  PlaneRows<Value> rows_;
  int width_, height_;
  Value* memory_;
};

template <class Feature>
void clear_borders(int y, int width, int height, Feature* features) {
  const bool outer_row = y < reach_y || y >= height - reach_y;
  const int left = outer_row ? width : std::min(reach_x, width);
  std::fill_n(features, left, Feature{0});
  std::fill(features + std::max(left, width - reach_x), features + width, Feature{0});
}

template <class Value, class Feature>
void make_row(const Window<Value>& window, const Comparisons& comparisons, int y, int width,
              std::uint8_t* bits, Feature* features) {
  std::fill_n(features, width, Feature{0});
  for (int i = 0; i < comparisons.count;) {
    // The first byte takes what does not make a whole one.
    const int end = i + (comparisons.count - i - 1) % 8 + 1;
    std::fill_n(bits, width, std::uint8_t{0});
    for (; i < end; ++i) {
      const Comparison& c = comparisons.list[i];
      add_bit(window.row(y + c.ay) + c.ax, window.row(y + c.by) + c.bx, width, bits);
    }
    add_byte(bits, width, features);
  }
}

}  // namespace

CensusCpu::CensusCpu(Device& device, const Config& config)
    : config_(config), bands_(config.height) {
  for (int band = 0; band < bands_.count(); ++band)
    scratch_.push_back(device.allocate(Window<std::uint16_t>::bytes(config.width) +
                                       static_cast<std::size_t>(config.width)));
}

void CensusCpu::run(const SamplePlane& picture, void* features) const {
  if (picture.bits == 8)
    run_as<std::uint8_t>(picture, static_cast<std::uint8_t*>(features));
  else
    run_as<std::uint16_t>(picture, static_cast<std::uint8_t*>(features));
}

template <class Value>
void CensusCpu::run_as(const SamplePlane& picture, std::uint8_t* features) const {
  const Comparisons comparisons = comparisons_of(config_.census);
  const int width = config_.width;
  const auto make = [&](const Window<Value>& window, int y, std::uint8_t* bits, auto* row) {
    make_row(window, comparisons, y, width, bits, row);
    if (config_.compatibility == Parameters::Compatibility::libsgm)
      clear_borders(y, width, config_.height, row);
  };
  bands_.for_each([&](const Band& band) {
    auto* const memory = scratch_[static_cast<std::size_t>(band.number)].template as<Value>();
    auto* const bits = reinterpret_cast<std::uint8_t*>(memory) + Window<Value>::bytes(width);
    Window<Value> window(picture, memory);
    for (int y = band.begin - reach_y; y < band.begin + reach_y; ++y)
      window.load(y);
    for (int y = band.begin; y < band.end; ++y) {
      window.load(y + reach_y);
      const std::int64_t first = std::int64_t{y} * width;
      if (config_.feature_bytes() == 8)
        make(window, y, bits, reinterpret_cast<std::uint64_t*>(features) + first);
      else
        make(window, y, bits, reinterpret_cast<std::uint32_t*>(features) + first);
    }
  });
}

}  // namespace cudavision::sgm
