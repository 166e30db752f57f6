// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CPU backend of DisparityPicture.

#include <cstring>

#include "cuda/core/parallel.h"
#include "cuda/pixels/samples.h"
#include "cuda/sgm/disparitypicture_backend.h"

namespace cudavision::sgm {
namespace {

class DisparityPictureCpu final : public DisparityPicture::Backend {
 public:
  DisparityPictureCpu(int width, DisparityPicture::Kind kind, const PackedPixel& pixel)
      : width_(width), kind_(kind), pixel_(pixel) {}

  void set(const DisparityNumbers& numbers) override { numbers_ = numbers; }
  void set_colors(const ColorTable& table) override { colors_ = table; }

  void run(View<const std::uint8_t> disparity, View<std::uint8_t> out) override {
    Bands(disparity.height).for_each([&](const Band& band) {
      for (int y = band.begin; y < band.end; ++y)
        draw(disparity.row(y), out.row(y));
    });
  }

 private:
  using Kind = DisparityPicture::Kind;

  void draw(const std::uint8_t* map, std::uint8_t* out) const {
    for (int x = 0; x < width_; ++x) {
      const std::uint16_t number = load16(map + 2 * std::ptrdiff_t{x});
      if (kind_ == Kind::depth) {
        const std::uint16_t counts = numbers_.counts(number);
        std::memcpy(out + 2 * std::ptrdiff_t{x}, &counts, sizeof counts);
      } else if (kind_ == Kind::gray) {
        out[x] = numbers_.gray(number);
      } else {
        put_color(numbers_.gray(number), out + pixel_.bytes * std::ptrdiff_t{x});
      }
    }
  }

  void put_color(std::uint8_t level, std::uint8_t* pixel) const {
    constexpr std::array<std::uint8_t, 3> black{};
    const auto& [red, green, blue] = level == 0 ? black : colors_[level];
    std::memset(pixel, 0xff, static_cast<std::size_t>(pixel_.bytes));
    pixel[pixel_.red] = red;
    pixel[pixel_.green] = green;
    pixel[pixel_.blue] = blue;
  }

  int width_;
  Kind kind_;
  PackedPixel pixel_;
  DisparityNumbers numbers_;
  ColorTable colors_{};
};

}  // namespace

std::unique_ptr<DisparityPicture::Backend> make_disparity_picture_cpu(Device&, int width,
                                                                      DisparityPicture::Kind kind,
                                                                      const PackedPixel& pixel) {
  return std::make_unique<DisparityPictureCpu>(width, kind, pixel);
}

}  // namespace cudavision::sgm
