// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Census features. A comparison is done for all pixels of a row at once, as a comparison of two
// shifted rows of samples, which the compiler vectorises. Eight comparisons make a byte of the
// features.

#include <algorithm>
#include <cstring>

#include "cuda/pixels/samples.h"
#include "cuda/sgm/stages_cpu.h"

namespace cudavision::sgm {
namespace {

using Census = Config::Census;

constexpr int radius_x = 4, radius_y = 3, window_rows = 2 * radius_y + 1;
constexpr int most_bits = 64;

/// One bit of a feature, which is 1 if sample a is larger than sample b. Both samples are given by
/// their offset from the pixel.
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

/// The rows of samples around the current row, each replicated beyond its ends.
template <class Value>
class Window {
 public:
  Window(const SamplePlane& picture, Value* memory)
      : rows_(picture), width_(picture.width), height_(picture.height()), memory_(memory) {}

  static std::size_t bytes(int width) { return window_rows * pitch(width) * sizeof(Value); }

  /// Loads row y of the picture in place of the row that is window_rows above it.
  void load(int y) {
    if (y < 0 || y >= height_)
      return;
    Value* const to = slot(y);
    const Value* const from = rows_.row(y, to);
    if (from != to)
      std::memcpy(to, from, sizeof(Value) * static_cast<std::size_t>(width_));
    for (int i = 1; i <= radius_x; ++i) {
      to[-i] = to[0];
      to[width_ - 1 + i] = to[width_ - 1];
    }
  }

  const Value* row(int y) const { return slot(std::clamp(y, 0, height_ - 1)); }

 private:
  static std::size_t pitch(int width) { return static_cast<std::size_t>(width) + 2 * radius_x; }
  Value* slot(int y) const { return memory_ + (y % window_rows) * pitch(width_) + radius_x; }

  PlaneRows<Value> rows_;
  int width_, height_;
  Value* memory_;
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
    // The first, highest byte takes the bits that do not fill a whole byte.
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

CensusCpu::CensusCpu(Device& device, const StageConfig& config)
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
    if (config_.libsgm())
      clear_borders(y, width, config_.height, row);
  };
  bands_.for_each([&](const Band& band) {
    auto* const memory = scratch_[static_cast<std::size_t>(band.number)].template as<Value>();
    auto* const bits = reinterpret_cast<std::uint8_t*>(memory) + Window<Value>::bytes(width);
    Window<Value> window(picture, memory);
    for (int y = band.begin - radius_y; y < band.begin + radius_y; ++y)
      window.load(y);
    for (int y = band.begin; y < band.end; ++y) {
      window.load(y + radius_y);
      const std::int64_t first = std::int64_t{y} * width;
      if (config_.feature_bytes() == 8)
        make(window, y, bits, reinterpret_cast<std::uint64_t*>(features) + first);
      else
        make(window, y, bits, reinterpret_cast<std::uint32_t*>(features) + first);
    }
  });
}

}  // namespace cudavision::sgm
