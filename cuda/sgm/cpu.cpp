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
        speckles_(device, config) {}

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
    // The features of the right picture come first, because later stages need the left one.
    filter_noise(right, noise, filtered);
    census_filtered(filtered, noise, right_features);
    filter_noise(left, noise, filtered);
    census_filtered(filtered, noise, left_features);
    aggregate_filtered(filtered, noise, left_features, right_features, penalties,
                       sums_.as<std::uint16_t>());
    select(sums_.as<std::uint16_t>(), uniqueness, subpixel, winners);
  }
  void median(const std::uint16_t* from, std::uint16_t* to) override {
    median_cpu(rows_, from, to);
  }
  void check(const SamplePlane& picture, const std::uint16_t* right, bool subpixel, int max_diff,
             std::uint16_t* left) override {
    check_cpu(rows_, picture, right, subpixel, max_diff, left);
  }
  void median_and_check(const SamplePlane& picture, const std::uint16_t* left,
                        const std::uint16_t* right, bool subpixel, int max_diff, std::uint16_t* to,
                        std::uint16_t* scratch) override {
    median(left, to);
    median(right, scratch);
    check(picture, scratch, subpixel, max_diff, to);
  }
  void median_check_and_write(const SamplePlane& picture, const std::uint16_t* left,
                              const std::uint16_t* right, bool subpixel, int max_diff,
                              const DisparityScale& scale, View<std::uint8_t> disparity,
                              std::uint16_t* left_scratch, std::uint16_t* right_scratch) override {
    median_and_check(picture, left, right, subpixel, max_diff, left_scratch, right_scratch);
    write(left_scratch, scale, disparity);
  }
  void median_refine_and_check(const SamplePlane& left_picture, const SamplePlane& right_picture,
                               const std::uint16_t* left, std::uint16_t* right, int max_diff,
                               std::uint16_t* to, std::uint16_t* scratch) override {
    median(left, to);
    median(right, scratch);
    refine(right_picture, scratch, right);
    check(left_picture, right, true, max_diff, to);
  }
  void apply_mask(View<const std::uint32_t> mask, std::uint16_t* map) override {
    apply_mask_cpu(rows_, mask, map);
  }
  void remove_speckles(int size, int max_step, std::uint16_t* map) override {
    speckles_.run(rows_, size, max_step, map);
  }
  void write(const std::uint16_t* map, const DisparityScale& scale,
             View<std::uint8_t> disparity) override {
    write_cpu(rows_, map, scale, disparity);
  }
  void write_confidence(const std::uint16_t* map, const std::uint8_t* confidence,
                        View<std::uint8_t> out) override {
    keep_confident_cpu(rows_, map, confidence, 0, out, nullptr);
  }
  void keep_confident(const std::uint16_t* map, const std::uint8_t* confidence, int threshold,
                      View<std::uint8_t> out, std::uint16_t* to) override {
    keep_confident_cpu(rows_, map, confidence, threshold, out, to);
  }
  void filter_over_time(const std::uint16_t* map, const std::uint16_t* measured,
                        const TemporalFilter& filter, const History& history) override {
    filter_over_time_cpu(rows_, map, measured, filter, history);
  }
  void fill_holes(std::uint16_t* map) override {
    fill_holes_cpu(rows_, has_known_.as<bool>(), map);
  }
  void refine(const SamplePlane& picture, const std::uint16_t* from, std::uint16_t* to) override {
    refine_cpu(rows_, picture, from, to);
  }
  void refine_and_write(const SamplePlane& picture, const std::uint16_t* map,
                        const DisparityScale& scale, View<std::uint8_t> disparity,
                        std::uint16_t* scratch) override {
    refine(picture, map, scratch);
    write(scratch, scale, disparity);
  }
  void sharpen(const SamplePlane& left_picture, const SamplePlane& right_picture,
               const std::uint16_t* from, std::uint16_t* to) override {
    sharpen_cpu(rows_, left_picture, right_picture, from, to);
  }
  void fill_slopes(const std::uint16_t* from, std::uint16_t* to,
                   std::uint8_t* confidence) override {
    fill_slopes_cpu(rows_, from, has_known_.as<bool>(), to, confidence);
  }
  void refine_filled(const SamplePlane& picture, const std::uint16_t* map,
                     const std::uint16_t* filled, std::uint16_t* to) override {
    refine_filled_cpu(rows_, picture, map, filled, to);
  }
  void smooth(const SamplePlane& picture, const std::uint8_t* confidence, const std::uint16_t* from,
              std::uint16_t* to, std::uint16_t* scratch) override {
    smooth_cpu(rows_, picture, confidence, from, to, scratch);
  }
  void smooth_and_write(const SamplePlane& picture, const std::uint8_t* confidence,
                        const std::uint16_t* map, const DisparityScale& scale,
                        View<std::uint8_t> disparity, std::uint16_t* scratch,
                        std::uint16_t* other_scratch) override {
    smooth(picture, confidence, map, scratch, other_scratch);
    write(scratch, scale, disparity);
  }

 private:
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
  SpecklesCpu speckles_;
};

}  // namespace

std::unique_ptr<Stages> make_stages_cpu(Device& device, const StageConfig& config) {
  return std::make_unique<StagesCpu>(device, config);
}

}  // namespace cudavision::sgm
