// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "cuda/sgm/stages_cpu.h"

namespace cudavision::sgm {
namespace {

class StagesCpu final : public Stages {
 public:
  StagesCpu(Device& device, const StageConfig& config)
      : rows_{config, Bands(device, config.height, scratch_of(config)),
              device.allocate(static_cast<std::size_t>(config.height)),
              speckles::RunMemory(device, config.pixels())},
        features_(device.allocate(2 * config.feature_map_bytes())),
        right_features_(features_.as<std::uint8_t>() + config.feature_map_bytes()),
        sums_(device.allocate(sizeof(std::uint16_t) * config.sums())),
        filtered_(
            device.allocate(sizeof(std::uint16_t) * static_cast<std::size_t>(config.pixels()))),
        vertical_paths_(make_vertical_paths(device, config)) {}

  void census(const SamplePlane& picture, void* features) override {
    if (is_gradient()) {
      filter_noise(picture, {}, filtered_.as<std::uint16_t>());
      census_filtered(filtered_.as<std::uint16_t>(), {}, features);
    } else {
      census_cpu(rows_, picture, features);
    }
  }
  void aggregate(const SamplePlane& picture, const void* left, const void* right,
                 const Penalties& penalties, const NoiseSource& noise,
                 std::uint16_t* sums) override {
    aggregate_cpu(rows_, *vertical_paths_, picture, left, right,
                  penalties_under(noise.level(), penalties), sums);
  }
  void select(const std::uint16_t* sums, float uniqueness, Subpixel subpixel,
              const WtaResult& winners) override {
    select_cpu(rows_, sums, uniqueness, subpixel, winners);
  }
  void match(const SamplePlane& left, const SamplePlane& right, const Penalties& penalties,
             const NoiseSource& noise, float uniqueness, Subpixel subpixel,
             const WtaResult& winners) override {
    auto* const filtered = filtered_.as<std::uint16_t>();
    SamplePlane picture = left;
    if (is_gradient()) {
      // The left picture is filtered last, because the aggregation also reads it.
      filter_noise(right, noise, filtered);
      census_filtered(filtered, noise, right_features_);
      filter_noise(left, noise, filtered);
      census_filtered(filtered, noise, features_.data());
      picture = filtered_plane(rows_.config, filtered);
    } else {
      census(left, features_.data());
      census(right, right_features_);
    }
    auto* const sums = sums_.as<std::uint16_t>();
    aggregate(picture, features_.data(), right_features_, penalties, noise, sums);
    select(sums, uniqueness, subpixel, winners);
  }
  void estimate_noise(const SamplePlane& picture, bool first_frame, NoiseState* state) override {
    estimate_noise_cpu(rows_, picture, first_frame, state);
  }
  void filter_noise(const SamplePlane& picture, const NoiseSource& noise,
                    std::uint16_t* filtered) override {
    filter_noise_cpu(rows_, picture, noise.level(), filtered);
  }
  void census_filtered(const std::uint16_t* filtered, const NoiseSource& noise,
                       void* features) override {
    census_filtered_cpu(rows_, filtered_plane(rows_.config, filtered), noise.level(), features);
  }
  void run(std::span<const Stage> stages) override {
    for (const Stage& stage : stages)
      std::visit([this](const auto& one) { run_stage(rows_, one); }, stage);
  }

 private:
  bool is_gradient() const { return rows_.config.census == Config::Census::census_gradient; }

  static std::size_t scratch_of(const StageConfig& config) {
    return std::max({census_scratch(config), noise_scratch(config), paths_scratch(config),
                     winners_scratch(config), speckles_scratch(config), samples_scratch(config),
                     sharpen_scratch(config)});
  }

  StageRows rows_;
  Buffer features_;
  void* right_features_;  // second half of features_
  Buffer sums_;
  Buffer filtered_;  // samples of one filtered picture
  std::shared_ptr<VerticalPathsCpu> vertical_paths_;
};

}  // namespace

std::unique_ptr<Stages> make_stages_cpu(Device& device, const StageConfig& config) {
  return std::make_unique<StagesCpu>(device, config);
}

}  // namespace cudavision::sgm
