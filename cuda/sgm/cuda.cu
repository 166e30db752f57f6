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
  StagesCuda(Device& device, const StageConfig& config)
      : config_(config),
        scratch_(device.allocate(8 * static_cast<std::size_t>(config.pixels()))),
        features_(device.allocate(2 * config.feature_map_bytes())),
        right_features_(features_.as<std::uint8_t>() + config.feature_map_bytes()),
        sums_(allocate_sums(device, config)),
        census_(device, config),
        aggregate_(device, config, scratch_.data()),
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
    aggregate_.run(picture, left, right, penalties, sums);
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
    aggregate(left, features_.data(), right_features_, penalties, sums_.as<std::uint16_t>());
    select(sums_.as<std::uint16_t>(), uniqueness, subpixel, winners);
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
  /// Allocates room for sums of 16 bits and, if the card has it, for those in bytes. With 8 paths,
  /// these take twice as much.
  static Buffer allocate_sums(Device& device, const StageConfig& config) {
    const std::size_t words = sizeof(std::uint16_t) * config.sums();
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
  return std::make_unique<StagesCuda>(device, config);
}

}  // namespace cudavision::sgm
