// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CPU backend of DisparityPicture.

#include <array>
#include <cstring>
#include <vector>

#include "cuda/core/parallel.h"
#include "cuda/pixels/samples.h"
#include "cuda/sgm/picture/backend.h"

namespace cudavision::sgm {
namespace {

class DisparityPictureCpu final : public DisparityPicture::Backend {
 public:
  explicit DisparityPictureCpu(const PictureConfig& config)
      : config_(config),
        bands_(config.height),
        counts_(static_cast<std::size_t>(config.kind == Kind::depth ? 0 : bands_.count())) {}

  void set(const DisparityNumbers& numbers) override {
    if (numbers.bins != numbers_.bins)
      restart();
    numbers_ = numbers;
  }

  void set_colors(const ColorTable& table) override { colors_ = table; }

  void restart() noexcept override { state_ = {}; }

  void run(View<const std::uint8_t> values, View<std::uint8_t> out, int weight) override {
    LevelRange range = numbers_.range;
    if (numbers_.automatic && config_.kind != Kind::depth) {
      take_percentiles(histogram(values), weight);
      range = numbers_.automatic_range(state_);
    }
    for_rows(config_.height, [&](int y) { draw(values.row(y), range, out.row(y)); });
  }

 private:
  using Kind = DisparityPicture::Kind;
  using Histogram = std::array<std::uint32_t, RangeBins::maximum>;

  std::uint16_t number(const std::uint8_t* values, int x) const {
    return config_.reads_bytes ? values[x] : load16(values + 2 * std::ptrdiff_t{x});
  }

  const Histogram& histogram(View<const std::uint8_t> values) {
    bands_.for_each([&](const Band& band) {
      Histogram& counts = counts_[static_cast<std::size_t>(band.number)];
      counts.fill(0);
      for (int y = band.begin; y < band.end; ++y)
        for (int x = 0; x < config_.width; ++x)
          if (const int bin = numbers_.bin(number(values.row(y), x)); bin >= 0)
            ++counts[static_cast<std::size_t>(bin)];
    });
    Histogram& sum = counts_[0];
    for (std::size_t band = 1; band < counts_.size(); ++band)
      for (std::size_t bin = 0; bin < sum.size(); ++bin)
        sum[bin] += counts_[band][bin];
    return sum;
  }

  void take_percentiles(const Histogram& counts, int weight) {
    std::uint32_t all = 0;
    for (const std::uint32_t count : counts)
      all += count;
    if (all == 0)
      return;
    int low = 0, high = 0;
    std::uint32_t up_to = 0;
    for (int bin = 0; bin < RangeBins::maximum; ++bin) {
      const std::uint32_t count = counts[static_cast<std::size_t>(bin)];
      up_to += count;
      if (is_percentile(up_to, count, all, low_percentage))
        low = bin;
      if (is_percentile(up_to, count, all, high_percentage))
        high = bin;
    }
    state_.take(numbers_.bins.min_in(low), numbers_.bins.max_in(high), weight);
  }

  void draw(const std::uint8_t* values, const LevelRange& range, std::uint8_t* out) const {
    for (int x = 0; x < config_.width; ++x) {
      const std::uint16_t number_here = number(values, x);
      if (config_.kind == Kind::depth) {
        const std::uint16_t counts = numbers_.counts(number_here);
        store16(out + 2 * std::ptrdiff_t{x}, counts);
        continue;
      }
      const std::uint8_t level = numbers_.level(number_here, range);
      if (config_.kind == Kind::gray)
        out[x] = level;
      else
        put_color(level, out + config_.pixel.bytes * std::ptrdiff_t{x});
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
  Bands bands_;
  std::vector<Histogram> counts_;  // one for each band
  DisparityNumbers numbers_;
  RangeState state_;
  ColorTable colors_{};
};

}  // namespace

std::unique_ptr<DisparityPicture::Backend> make_disparity_picture_cpu(Device&,
                                                                      const PictureConfig& config) {
  return std::make_unique<DisparityPictureCpu>(config);
}

}  // namespace cudavision::sgm
