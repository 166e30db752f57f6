// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend of SgmStereo.

#include <algorithm>
#include <optional>

#include "cuda/sgm/matching/bands_cuda.h"
#include "cuda/sgm/matching/match8_cuda.h"
#include "cuda/sgm/paths16/aggregate_cuda.h"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {
namespace {

class StagesCuda final : public Stages {
 public:
  StagesCuda(Device& device, const StageConfig& config, const BandPlan& bands)
      : config_(config),
        rows16_(bands.rows16),
        queue_(device.stream()),
        scratch_(device.allocate(std::max(8 * static_cast<std::size_t>(config.pixels()),
                                          SpecklesCuda::scratch_bytes(config)))),
        features_(device.allocate(2 * config.feature_map_bytes())),
        right_features_(features_.as<std::uint8_t>() + config.feature_map_bytes()),
        sums_(device.allocate(sums_bytes(config, bands))),
        filtered_(device.allocate(filtered_bytes(config))),
        noise_(device, queue_, config),
        noise_filter_(queue_, config),
        census_(queue_, config),
        filtered_census_(queue_, config),
        aggregate_(device, queue_, config, scratch_.data(), bands.rows16),
        select_(queue_, config),
        maps_(queue_, config),
        speckles_(device, queue_, config, scratch_.data()),
        holes_(queue_, config, scratch_.data()),
        refine_(queue_, config),
        sharpen_(queue_, config),
        slopes_(queue_, config, scratch_.data()),
        smooth_(queue_, config),
        temporal_(queue_, config) {
    if (bands.rows8 > 0)
      match8_.emplace(device, queue_, config, bands.rows8, sums_.as<std::uint8_t>());
  }

  void census(const SamplePlane& picture, void* features) override {
    census_.run(picture, features);
  }
  void aggregate(const SamplePlane& picture, const void* left, const void* right,
                 const Penalties& penalties, std::uint16_t* sums) override {
    aggregate_under(picture, {}, left, right, penalties, sums);
  }
  void select(const std::uint16_t* sums, float uniqueness, Subpixel subpixel,
              const WtaResult& winners) override {
    select_.run(sums, config_.height, uniqueness, subpixel, winners);
  }
  void match(const SamplePlane& left, const SamplePlane& right, const Penalties& penalties,
             float uniqueness, Subpixel subpixel, const WtaResult& winners) override {
    if (match8_ && match8_->fits(penalties)) {
      const Match8Cuda::Input to = match8_->input(left.bits, penalties);
      census_.run(left, right, to.left, to.right, to.steps);
      match8_->run({penalties, {}}, uniqueness, subpixel, winners);
      return;
    }
    census_.run(left, right, census_.dense(features_.data()), census_.dense(right_features_), {});
    match_features(left, {}, penalties, uniqueness, subpixel, winners);
  }
  void estimate_noise(const SamplePlane& picture, bool first_frame, NoiseState* state) override {
    noise_.estimate(picture, first_frame, state);
  }
  void filter_noise(const SamplePlane& picture, const NoiseSource& noise,
                    std::uint16_t* filtered) override {
    const SamplePlane* const pictures[] = {&picture};
    const FilteredPlane to = dense(filtered);
    noise_filter_.run(pictures, &to, 1, noise);
  }
  void census_filtered(const std::uint16_t* filtered, const NoiseSource& noise,
                       void* features) override {
    filtered_census_.run(dense(filtered), noise, census_.dense(features));
  }
  void aggregate_filtered(const std::uint16_t* filtered, const NoiseSource& noise, const void* left,
                          const void* right, const Penalties& penalties,
                          std::uint16_t* sums) override {
    aggregate_under(filtered_plane(config_, filtered), noise, left, right,
                    penalties_under(noise.fixed, penalties), sums);
  }
  void match_under_noise(const SamplePlane& left, const SamplePlane& right,
                         const NoiseSource& noise, const Penalties& given, float uniqueness,
                         Subpixel subpixel, const WtaResult& winners) override {
    const Penalties penalties = penalties_under(noise.fixed, given);
    const SamplePlane* const pictures[] = {&left, &right};
    const std::int64_t pitch = filtered_pitch(config_);
    auto* const first = filtered_.as<std::uint16_t>();
    const FilteredPlane filtered[] = {{first, pitch}, {first + pitch / 2 * config_.height, pitch}};
    noise_filter_.run(pictures, filtered, 2, noise);
    if (match8_ && match8_->fits(penalties)) {
      const Match8Cuda::Input to = match8_->input(filtered_bits, penalties);
      filtered_census_.run(filtered[0], filtered[1], noise, to.left, to.right, to.steps,
                           {penalties, noise});
      match8_->run({penalties, noise}, uniqueness, subpixel, winners);
      return;
    }
    filtered_census_.run(filtered[0], filtered[1], noise, census_.dense(features_.data()),
                         census_.dense(right_features_), {}, {});
    SamplePlane picture = filtered_plane(config_, first);
    picture.rows.pitch = pitch;
    match_features(picture, noise, penalties, uniqueness, subpixel, winners);
  }
  void run(std::span<const Stage> stages) override {
    while (!stages.empty())
      stages = stages.subspan(run_first(stages));
  }
  void begin_frame() override { queue_.begin_frame(); }
  void end_frame() override { queue_.end_frame(); }

 private:
  /// Runs the first stage, or merges the first two or three into one launch. Returns their number.
  std::size_t run_first(std::span<const Stage> stages) {
    const auto* const median = stage_at<Median>(stages, 0);
    const auto* const check = stage_at<Check>(stages, 1);
    if (median && check && check->left == median->to && check->right != median->to) {
      const Write* const write = last_write(stages, 2, check->left);
      maps_.median_and_check(check->picture, median->from, check->right, check->subpixel,
                             check->max_diff,
                             write ? to_disparities(*write) : NumbersOut(config_, check->left));
      return write ? 3 : 2;
    }
    if (const auto* refine = stage_at<Refine>(stages, 0))
      if (const Write* write = last_write(stages, 1, refine->to)) {
        refine_.run(refine->picture, refine->from, to_disparities(*write));
        return 2;
      }
    if (const auto* smooth = stage_at<Smooth>(stages, 0))
      if (const Write* write = last_write(stages, 1, smooth->to)) {
        smooth_.run(smooth->picture, smooth->confidence, smooth->from, to_disparities(*write),
                    smooth->to, smooth->scratch);
        return 2;
      }
    std::visit([this](const auto& one) { run(one); }, stages.front());
    return 1;
  }

  template <class T>
  static const T* stage_at(std::span<const Stage> stages, std::size_t index) {
    return index < stages.size() ? std::get_if<T>(&stages[index]) : nullptr;
  }
  static const Write* last_write(std::span<const Stage> stages, std::size_t index,
                                 const std::uint16_t* map) {
    const auto* const write = stage_at<Write>(stages, index);
    return write && index + 1 == stages.size() && write->map == map ? write : nullptr;
  }
  NumbersOut to_disparities(const Write& s) const { return {config_, s.scale, s.disparity}; }

  void run(const Median& s) const { maps_.median(s.from, s.to); }
  void run(const Check& s) const {
    maps_.check(s.picture, s.right, s.subpixel, s.max_diff, s.left);
  }
  void run(const ApplyMask& s) { apply_mask_cuda(queue_, config_, s.mask, s.map); }
  void run(const RemoveSpeckles& s) const { speckles_.run(s.size, s.max_step, s.map); }
  void run(const Write& s) const { maps_.write(s.map, to_disparities(s)); }
  void run(const WriteConfidence& s) const { refine_.write_confidence(s.map, s.confidence, s.out); }
  void run(const KeepConfident& s) const {
    refine_.keep_confident(s.map, s.confidence, s.threshold, s.out, s.to);
  }
  void run(const FillHoles& s) const { holes_.run(s.map); }
  void run(const Refine& s) const { refine_.run(s.picture, s.from, {config_, s.to}); }
  void run(const Sharpen& s) const { sharpen_.run(s.left_picture, s.right_picture, s.from, s.to); }
  void run(const FillSlopes& s) const { slopes_.run(s.from, s.to, s.confidence); }
  void run(const RefineFilled& s) const { refine_.run_filled(s.picture, s.map, s.filled, s.to); }
  void run(const Smooth& s) const {
    smooth_.run(s.picture, s.confidence, s.from, {config_, s.to}, s.to, s.scratch);
  }
  void run(const FilterOverTime& s) const {
    temporal_.filter(s.map, s.measured, s.filter, s.history);
  }

  // The next two functions take penalties of penalties_under(noise.fixed).
  void aggregate_under(const SamplePlane& picture, const NoiseSource& noise, const void* left,
                       const void* right, const Penalties& penalties, std::uint16_t* sums) const {
    aggregate_.begin(picture, left, right, penalties, noise);
    for_each_band([&](const RowBand& band) {
      aggregate_.run(left, right, {penalties, noise}, band,
                     sums + pixels_before(band) * config_.disparities);
    });
  }
  void match_features(const SamplePlane& picture, const NoiseSource& noise,
                      const Penalties& penalties, float uniqueness, Subpixel subpixel,
                      const WtaResult& winners) const {
    aggregate_.begin(picture, features_.data(), right_features_, penalties, noise);
    for_each_band([&](const RowBand& band) {
      auto* const sums = sums_.as<std::uint16_t>();
      aggregate_.run(features_.data(), right_features_, {penalties, noise}, band, sums);
      select_.run(sums, band.rows(), uniqueness, subpixel, winners.from_pixel(pixels_before(band)));
    });
  }

  FilteredPlane dense(const std::uint16_t* filtered) const {
    return {const_cast<std::uint16_t*>(filtered), 2 * static_cast<std::int64_t>(config_.width)};
  }
  /// Row pitch of filtered pictures in bytes, so that kernels can access each row in words.
  static std::int64_t filtered_pitch(const StageConfig& config) {
    return (2 * static_cast<std::int64_t>(config.width) + 15) / 16 * 16;
  }
  static std::size_t filtered_bytes(const StageConfig& config) {
    return config.census == Config::Census::census_gradient
               ? 2 * static_cast<std::size_t>(filtered_pitch(config)) *
                     static_cast<std::size_t>(config.height)
               : 0;
  }

  template <class Work>
  void for_each_band(const Work& work) const {
    for (int begin = 0; begin < config_.height; begin += rows16_)
      work(RowBand{begin, std::min(begin + rows16_, config_.height)});
  }
  std::int64_t pixels_before(const RowBand& band) const {
    return static_cast<std::int64_t>(band.begin) * config_.width;
  }

  static std::size_t sums_bytes(const StageConfig& config, const BandPlan& bands) {
    const std::size_t words = sums16_bytes(config, bands.rows16);
    return bands.rows8 > 0 ? std::max(words, Match8Cuda::volume_bytes(config, bands.rows8)) : words;
  }

  StageConfig config_;
  int rows16_;  // of a band of 16-bit sums
  LaunchQueue queue_;
  Buffer scratch_;          // shared by stages, which run one after the other
  Buffer features_, sums_;  // of match()
  void* right_features_;
  Buffer filtered_;  // both pictures; none without census_gradient
  NoiseCuda noise_;
  NoiseFilterCuda noise_filter_;
  CensusCuda census_;
  FilteredCensusCuda filtered_census_;
  AggregateCuda aggregate_;
  Select16Cuda select_;
  MapsCuda maps_;
  SpecklesCuda speckles_;
  HolesCuda holes_;
  RefineCuda refine_;
  SharpenCuda sharpen_;
  SlopesCuda slopes_;
  SmoothCuda smooth_;
  TemporalCuda temporal_;
  std::optional<Match8Cuda> match8_;
};

}  // namespace

std::unique_ptr<Stages> make_stages_cuda(Device& device, const StageConfig& config) {
  return std::make_unique<StagesCuda>(device, config, bands_within_budget(config));
}

std::unique_ptr<Stages> make_stages_in_bands_cuda(Device& device, const StageConfig& config,
                                                  int band_rows) {
  return std::make_unique<StagesCuda>(device, config, bands_of(config, band_rows));
}

}  // namespace cudavision::sgm
