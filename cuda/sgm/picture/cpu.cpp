// SPDX-License-Identifier: LGPL-2.1-or-later
#include <array>
#include <cstring>
#include <utility>

#include "cuda/core/parallel.h"
#include "cuda/pixels/samples.h"
#include "cuda/sgm/picture/backend.h"

namespace cudavision::sgm {
namespace {

class DisparityPictureCpu final : public DisparityPicture::Backend {
 public:
  explicit DisparityPictureCpu(const PictureConfig& config) : config_(config) {}

  void set_colors(const ColorTable& table) override { colors_ = table; }

  void run(View<const std::uint8_t> values, View<std::uint8_t> out, int weight) override {
    const LevelRange range = numbers_.automatic ? automatic_range(values, weight) : numbers_.range;
    for_rows(config_.height, [&](int y) { draw(values.row(y), range, out.row(y)); });
  }

 private:
  using Kind = DisparityPicture::Kind;

  std::uint16_t number(const std::uint8_t* values, int x) const {
    return config_.reads_bytes ? values[x] : load16(values + 2 * std::ptrdiff_t{x});
  }

  LevelRange automatic_range(View<const std::uint8_t> values, int weight) {
    std::array<std::uint32_t, RangeBins::count> counts{};
    for (int y = 0; y < config_.height; ++y)
      for (int x = 0; x < config_.width; ++x)
        if (const int bin = numbers_.bin(number(values.row(y), x)); bin >= 0)
          ++counts[static_cast<std::size_t>(bin)];
    return numbers_.next_range(state_, counts.data(), weight, std::exchange(first_frame_, false));
  }

  void draw(const std::uint8_t* values, const LevelRange& range, std::uint8_t* out) const {
    for (int x = 0; x < config_.width; ++x) {
      const std::uint16_t value = number(values, x);
      if (config_.kind == Kind::depth)
        store16(out + 2 * std::ptrdiff_t{x}, numbers_.depth_of(value));
      else if (config_.kind == Kind::gray)
        out[x] = numbers_.level(value, range);
      else
        put_color(numbers_.level(value, range), out + config_.pixel.bytes * std::ptrdiff_t{x});
    }
  }

  void put_color(std::uint8_t level, std::uint8_t* pixel) const {
    constexpr std::array<std::uint8_t, 3> black{};
    const auto& [red, green, blue] = level == 0 ? black : colors_[level];
    std::memset(pixel, 0xff, static_cast<std::size_t>(config_.pixel.bytes));
    pixel[config_.pixel.red] = red;
    pixel[config_.pixel.green] = green;
    pixel[config_.pixel.blue] = blue;
  }

  PictureConfig config_;
  RangeState state_{};
  ColorTable colors_{};
};

}  // namespace

std::unique_ptr<DisparityPicture::Backend> make_disparity_picture_cpu(Device&,
                                                                      const PictureConfig& config) {
  return std::make_unique<DisparityPictureCpu>(config);
}

}  // namespace cudavision::sgm
