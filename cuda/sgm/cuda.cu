// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend of SgmStereo.

#include <algorithm>
#include <optional>

#include "cuda/sgm/aggregate/cuda.h"
#include "cuda/sgm/bytesums/cuda.h"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {
namespace {

class StagesCuda final : public Stages {
 public:
  StagesCuda(Device& device, const StageConfig& config, int band_rows)
      : config_(config),
        band_rows_(band_rows),
        scratch_(device.allocate(8 * static_cast<std::size_t>(config.pixels()))),
        features_(device.allocate(2 * config.feature_map_bytes())),
        right_features_(features_.as<std::uint8_t>() + config.feature_map_bytes()),
        sums_(allocate_sums(device, config, band_rows)),
        census_(device, config),
        aggregate_(device, config, scratch_.data(), band_rows),
        select_(device, config),
        maps_(device, config),
        speckles_(device, config, scratch_.data()),
        holes_(device, config, scratch_.data()),
        refine_(device, config) {
    if (ByteSumsCuda::supports(config) && sums_.size() >= ByteSumsCuda::volume_bytes(config))
      byte_sums_.emplace(device, config, sums_.as<std::uint8_t>());
  }

  void census(const SamplePlane& picture, void* features) override {
    census_.run(picture, features);
  }
  void aggregate(const SamplePlane& picture, const void* left, const void* right,
                 const Penalties& penalties, std::uint16_t* sums) override {
    aggregate_.begin(picture, left, right, penalties);
    for_each_band([&](const RowBand& band) {
      aggregate_.run(left, right, penalties, band,
                     sums + pixels_before(band) * config_.disparities);
    });
  }
  void select(const std::uint16_t* sums, float uniqueness, Subpixel subpixel,
              const Winners& winners) override {
    select_.run(sums, config_.height, uniqueness, subpixel, winners);
  }
  void match(const SamplePlane& left, const SamplePlane& right, const Penalties& penalties,
             float uniqueness, Subpixel subpixel, const Winners& winners) override {
    if (byte_sums_ && byte_sums_->fits(penalties)) {
      byte_sums_->run(census_, left, right, penalties, uniqueness, subpixel, winners);
      return;
    }
    census_.run(left, right, census_.dense(features_.data()), census_.dense(right_features_), {});
    aggregate_.begin(left, features_.data(), right_features_, penalties);
    for_each_band([&](const RowBand& band) {
      auto* const sums = sums_.as<std::uint16_t>();
      aggregate_.run(features_.data(), right_features_, penalties, band, sums);
      const std::int64_t before = pixels_before(band);
      select_.run(sums, band.rows(), uniqueness, subpixel,
                  {winners.left + before, winners.right + before,
                   winners.confidence ? winners.confidence + before : nullptr});
    });
  }
  void median(const std::uint16_t* from, std::uint16_t* to) override { maps_.median(from, to); }
  void check(const SamplePlane& picture, const std::uint16_t* right, bool subpixel, int max_diff,
             std::uint16_t* left) override {
    maps_.check(picture, right, subpixel, max_diff, left);
  }
  void median_and_check(const SamplePlane& picture, const std::uint16_t* left,
                        const std::uint16_t* right, bool subpixel, int max_diff, std::uint16_t* to,
                        std::uint16_t*) override {
    maps_.median_and_check(picture, left, right, subpixel, max_diff, to);
  }
  void remove_speckles(int size, int most_step, std::uint16_t* map) override {
    speckles_.run(size, most_step, map);
  }
  void write(const std::uint16_t* map, const DisparityScale& scale,
             View<std::uint8_t> disparity) override {
    maps_.write(map, scale, disparity);
  }
  void write_confidence(const std::uint16_t* map, const std::uint8_t* confidence,
                        View<std::uint8_t> out) override {
    refine_.write_confidence(map, confidence, out);
  }
  void fill_holes(std::uint16_t* map) override { holes_.run(map); }
  void refine(const SamplePlane& picture, const std::uint16_t* from, std::uint16_t* to) override {
    refine_.run(picture, from, to);
  }

 private:
  template <class Work>
  void for_each_band(const Work& work) const {
    for (int begin = 0; begin < config_.height; begin += band_rows_)
      work(RowBand{begin, std::min(begin + band_rows_, config_.height)});
  }
  std::int64_t pixels_before(const RowBand& band) const {
    return static_cast<std::int64_t>(band.begin) * config_.width;
  }

  /// Allocates room for a band's sums of 16 bits and, if the card has it, for those in bytes. With
  /// 8 paths, these take twice as much.
  static Buffer allocate_sums(Device& device, const StageConfig& config, int band_rows) {
    const std::size_t words = sizeof(std::uint16_t) * static_cast<std::size_t>(config.width) *
                              static_cast<std::size_t>(band_rows) *
                              static_cast<std::size_t>(config.disparities);
    if (ByteSumsCuda::supports(config)) {
      try {
        return device.allocate(std::max(words, ByteSumsCuda::volume_bytes(config)));
      } catch (const Error& error) {
        if (error.kind() != Error::Kind::out_of_memory)
          throw;
      }
    }
    return device.allocate(words);
  }

  StageConfig config_;
  int band_rows_;           // of the sums of 16 bits
  Buffer scratch_;          // shared by the stages, which run one after the other
  Buffer features_, sums_;  // of match()
  void* right_features_;
  CensusCuda census_;
  AggregateCuda aggregate_;
  SelectCuda select_;
  MapsCuda maps_;
  SpecklesCuda speckles_;
  HolesCuda holes_;
  RefineCuda refine_;
  std::optional<ByteSumsCuda> byte_sums_;
};

}  // namespace

std::unique_ptr<Stages> make_stages_cuda(Device& device, const StageConfig& config) {
  return make_stages_cuda(device, config, config.height);
}

std::unique_ptr<Stages> make_stages_cuda(Device& device, const StageConfig& config, int band_rows) {
  return std::make_unique<StagesCuda>(device, config, band_rows);
}

}  // namespace cudavision::sgm
