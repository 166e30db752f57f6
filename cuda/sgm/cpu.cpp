// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CPU backend of SgmStereo.

#include <algorithm>

#include "cuda/sgm/stages_cpu.h"

namespace cudavision::sgm {
namespace {

class StagesCpu final : public Stages {
 public:
  StagesCpu(Device& device, const StageConfig& config)
      : rows_{config, Bands(device, config.height, scratch_of(config))},
        features_(device.allocate(2 * config.feature_map_bytes())),
        sums_(device.allocate(sizeof(std::uint16_t) * config.sums())),
        filtered_(
            device.allocate(sizeof(std::uint16_t) * static_cast<std::size_t>(config.pixels()))),
        has_known_(device.allocate(static_cast<std::size_t>(config.height))),
        aggregate_(device, config),
        speckles_(device, config.pixels()) {}

  void census(const SamplePlane& picture, void* features) override {
    census_cpu(rows_, picture, features);
  }
  void aggregate(const SamplePlane& picture, const void* left, const void* right,
                 const Penalties& penalties, std::uint16_t* sums) override {
    aggregate_.run(rows_, picture, left, right, penalties, sums);
  }
  void select(const std::uint16_t* sums, float uniqueness, Subpixel subpixel,
              const WtaResult& winners) override {
    select_cpu(rows_, sums, uniqueness, subpixel, winners);
  }
  void match(const SamplePlane& left, const SamplePlane& right, const Penalties& penalties,
             float uniqueness, Subpixel subpixel, const WtaResult& winners) override {
    void* const left_features = features_.data();
    void* const right_features = features_.as<std::uint8_t>() + rows_.config.feature_map_bytes();
    census(left, left_features);
    census(right, right_features);
    aggregate(left, left_features, right_features, penalties, sums_.as<std::uint16_t>());
    select(sums_.as<std::uint16_t>(), uniqueness, subpixel, winners);
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
  void aggregate_filtered(const std::uint16_t* filtered, const NoiseSource& noise, const void* left,
                          const void* right, const Penalties& penalties,
                          std::uint16_t* sums) override {
    aggregate(filtered_plane(rows_.config, filtered), left, right,
              penalties_under(noise.level(), penalties), sums);
  }
  void match_under_noise(const SamplePlane& left, const SamplePlane& right,
                         const NoiseSource& noise, const Penalties& penalties, float uniqueness,
                         Subpixel subpixel, const WtaResult& winners) override {
    void* const left_features = features_.data();
    void* const right_features = features_.as<std::uint8_t>() + rows_.config.feature_map_bytes();
    auto* const filtered = filtered_.as<std::uint16_t>();
    // The right picture comes first, because aggregate_filtered() needs the filtered left one.
    filter_noise(right, noise, filtered);
    census_filtered(filtered, noise, right_features);
    filter_noise(left, noise, filtered);
    census_filtered(filtered, noise, left_features);
    aggregate_filtered(filtered, noise, left_features, right_features, penalties,
                       sums_.as<std::uint16_t>());
    select(sums_.as<std::uint16_t>(), uniqueness, subpixel, winners);
  }
  void run(std::span<const Stage> stages) override {
    for (const Stage& stage : stages)
      std::visit([this](const auto& one) { run(one); }, stage);
  }

 private:
  void run(const Median& s) { median_cpu(rows_, s.from, s.to); }
  void run(const Check& s) { check_cpu(rows_, s.picture, s.right, s.subpixel, s.max_diff, s.left); }
  void run(const ApplyMask& s) { apply_mask_cpu(rows_, s.mask, s.map); }
  void run(const RemoveSpeckles& s) {
    remove_speckles_cpu(rows_, speckles_, s.size, s.max_step, s.map);
  }
  void run(const Write& s) { write_cpu(rows_, s.map, s.scale, s.disparity); }
  void run(const WriteConfidence& s) {
    keep_confident_cpu(rows_, s.map, s.confidence, 0, s.out, nullptr);
  }
  void run(const KeepConfident& s) {
    keep_confident_cpu(rows_, s.map, s.confidence, s.threshold, s.out, s.to);
  }
  void run(const FillHoles& s) { fill_holes_cpu(rows_, has_known_.as<bool>(), s.map); }
  void run(const Refine& s) { refine_cpu(rows_, s.picture, s.from, s.to); }
  void run(const Sharpen& s) { sharpen_cpu(rows_, s.left_picture, s.right_picture, s.from, s.to); }
  void run(const FillSlopes& s) {
    fill_slopes_cpu(rows_, s.from, has_known_.as<bool>(), s.to, s.confidence);
  }
  void run(const RefineFilled& s) { refine_filled_cpu(rows_, s.picture, s.map, s.filled, s.to); }
  void run(const Smooth& s) { smooth_cpu(rows_, s.picture, s.confidence, s.from, s.to, s.scratch); }
  void run(const FilterOverTime& s) {
    filter_over_time_cpu(rows_, s.map, s.measured, s.filter, s.history);
  }

  static std::size_t scratch_of(const StageConfig& config) {
    return std::max({census_scratch(config), noise_scratch(config), paths_scratch(config),
                     winners_scratch(config), speckles_scratch(config), samples_scratch(config),
                     sharpen_scratch(config)});
  }

  StageRows rows_;
  Buffer features_, sums_;  // of match()
  Buffer filtered_;         // one picture
  Buffer has_known_;        // one flag per row
  AggregateCpu aggregate_;
  speckles::RunMemory speckles_;
};

}  // namespace

std::unique_ptr<Stages> make_stages_cpu(Device& device, const StageConfig& config) {
  return std::make_unique<StagesCpu>(device, config);
}

}  // namespace cudavision::sgm
