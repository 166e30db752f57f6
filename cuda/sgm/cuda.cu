// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <limits>
#include <optional>

#include "cuda/core/division.h"
#include "cuda/sgm/matching/match8_cuda.h"
#include "cuda/sgm/paths16/aggregate_cuda.h"
#include "cuda/sgm/stages_cuda.h"

namespace cudavision::sgm {
namespace {

/// Rows per band. If the sums of the whole picture exceed the budget, bands are matched one after
/// the other, in the same memory.
struct BandPlan {
  int rows8;   ///< rows for Match8Cuda; 0 if it does not support the config
  int rows16;  ///< rows for AggregateCuda
};

/// Returns the rows per band if the picture is divided into as few bands as the budget allows. If
/// there are several bands, the rows per band are a multiple of unit.
template <class BytesOf>
int band_rows_within(double budget, const StageConfig& config, int unit, const BytesOf& bytes_of) {
  constexpr int fewest_rows = 16;
  const auto rows_of = [&](int bands) {
    const int rows = divide_up(config.height, bands);
    return bands == 1 ? rows : round_up(rows, unit);
  };
  std::size_t minimum = std::numeric_limits<std::size_t>::max();
  for (int bands = 1;; ++bands) {
    minimum = std::min(minimum, bytes_of(rows_of(bands)));
    if (static_cast<double>(minimum) <= budget)
      return rows_of(bands);
    if (rows_of(bands) <= std::max(fewest_rows, unit))
      throw Error(Error::Kind::out_of_memory,
                  "SgmStereo: the sums of path costs of " + std::to_string(config.width) + "×" +
                      std::to_string(config.height) + " pixels with " +
                      std::to_string(config.disparities) + " disparities take at least " +
                      std::to_string(minimum) + " bytes, but " + config.word("memory_budget") +
                      " allows " + std::to_string(static_cast<std::uint64_t>(budget)) +
                      " bytes: raise the budget, or lower " + config.word("disparities"));
  }
}

std::size_t sums16_bytes(const StageConfig& config, int rows) {
  return sizeof(std::uint16_t) * static_cast<std::size_t>(config.width) *
         static_cast<std::size_t>(config.disparities) * static_cast<std::size_t>(rows);
}

/// Returns the largest bands within Config::memory_budget. Throws Error if no band size fits it.
BandPlan bands_within_budget(const StageConfig& config) {
  double budget = config.memory_budget;
  if (budget <= 1) {
    std::size_t free = 0, total = 0;
    cuda_check(cudaMemGetInfo(&free, &total), "querying the free GPU memory");
    budget *= static_cast<double>(free);
  }
  BandPlan bands{};
  bands.rows16 = band_rows_within(budget, config, AggregateCuda::row_unit(config), [&](int rows) {
    return sums16_bytes(config, rows) + AggregateCuda::extra_bytes(config, rows);
  });
  if (Match8Cuda::supports(config))
    bands.rows8 = band_rows_within(budget, config, MatchExtent::row_unit, [&](int rows) {
      return Match8Cuda::volume_bytes(config, rows) + Match8Cuda::state_bytes(config, rows);
    });
  return bands;
}

class StagesCuda final : public Stages {
 public:
  StagesCuda(Device& device, const StageConfig& config, const BandPlan& bands)
      : config_(config),
        rows16_(bands.rows16),
        queue_(device.stream()),
        scratch_(device.allocate(std::max(8 * static_cast<std::size_t>(config.pixels()),
                                          speckles_scratch_bytes(config)))),
        resources_{config, queue_, scratch_.data(), resident_filter_strips(),
                   smooth_tile_rows_for(config)},
        features_(device.allocate(2 * config.feature_map_bytes())),
        right_features_(features_.as<std::uint8_t>() + config.feature_map_bytes()),
        sums_(device.allocate(sums_bytes(config, bands))),
        filtered_(device.allocate(filtered_bytes(config))),
        noise_counts_(make_noise_counts(device)),
        aggregate_(device, resources_, bands.rows16) {
    if (bands.rows8 > 0)
      match8_.emplace(device, queue_, config, bands.rows8, sums_.as<std::uint8_t>());
  }

  void census(const SamplePlane& picture, void* features) override {
    if (config_.census == Config::Census::census_gradient) {
      const FilteredPlane filtered = filtered_pictures()[0];
      filter_noise_cuda(resources_, {{picture, filtered}}, {});
      census_filtered_cuda(resources_, {{plane_of(filtered), dense(features)}}, {});
    } else {
      census_cuda(resources_, {{picture, dense(features)}});
    }
  }
  void aggregate(const SamplePlane& picture, const void* left, const void* right,
                 const Penalties& penalties, const NoiseSource& noise,
                 std::uint16_t* sums) override {
    const PathInput input =
        aggregate_.begin(picture, left, right, penalties_under(noise.fixed, penalties), noise);
    for_each_band([&](const RowBand& band, std::int64_t first_pixel) {
      aggregate_.run(input, band, sums + first_pixel * config_.disparities);
    });
  }
  void select(const std::uint16_t* sums, float uniqueness, Subpixel subpixel,
              const WtaResult& winners) override {
    select16_cuda(resources_, sums, config_.height, uniqueness, subpixel, winners);
  }
  void match(const SamplePlane& left, const SamplePlane& right, const Penalties& given,
             const NoiseSource& noise, float uniqueness, Subpixel subpixel,
             const WtaResult& winners) override {
    const Penalties penalties = penalties_under(noise.fixed, given);
    if (config_.census != Config::Census::census_gradient) {
      const MatchInput to = input_of_match(left.bits, penalties);
      census_cuda(resources_, {{left, to.left}, {right, to.right}}, to.steps);
      return match_features(left, noise, penalties, uniqueness, subpixel, winners);
    }
    const std::array<FilteredPlane, 2> outputs = filtered_pictures();
    filter_noise_cuda(resources_, {{left, outputs[0]}, {right, outputs[1]}}, noise);
    const SamplePlane filtered_left = plane_of(outputs[0]), filtered_right = plane_of(outputs[1]);
    const MatchInput to = input_of_match(filtered_bits, penalties);
    census_filtered_cuda(resources_, {{filtered_left, to.left}, {filtered_right, to.right}}, noise,
                         to.steps, {penalties, noise});
    match_features(filtered_left, noise, penalties, uniqueness, subpixel, winners);
  }
  void estimate_noise(const SamplePlane& picture, bool first_frame, NoiseState* state) override {
    estimate_noise_cuda(resources_, noise_counts_.as<NoiseCounts>(), picture, first_frame, state);
  }
  void filter_noise(const SamplePlane& picture, const NoiseSource& noise,
                    std::uint16_t* filtered) override {
    filter_noise_cuda(resources_, {{picture, {filtered, 2 * std::int64_t{config_.width}}}}, noise);
  }
  void census_filtered(const std::uint16_t* filtered, const NoiseSource& noise,
                       void* features) override {
    census_filtered_cuda(resources_, {{filtered_plane(config_, filtered), dense(features)}}, noise);
  }
  void run(std::span<const Stage> stages) override {
    while (!stages.empty())
      stages = stages.subspan(run_first(stages));
  }
  void begin_frame() override { queue_.begin_frame(); }
  void end_frame() override { queue_.end_frame(); }

 private:
  /// Runs the first stage, merged with one or two more if possible. Returns how many stages ran.
  std::size_t run_first(std::span<const Stage> stages) {
    const auto* const median = stage_at<Median>(stages, 0);
    const auto* const check = stage_at<Check>(stages, 1);
    if (median && check && check->left == median->to && check->right != median->to) {
      const Write* const write = last_write(stages, 2, check->left);
      median_and_check(resources_, *median, *check,
                       write ? NumbersOut(config_, *write) : NumbersOut(config_, check->left));
      return write ? 3 : 2;
    }
    if (const auto* stage = stage_at<Refine>(stages, 0))
      if (const Write* write = last_write(stages, 1, stage->to)) {
        refine(resources_, *stage, {config_, *write});
        return 2;
      }
    if (const auto* stage = stage_at<Smooth>(stages, 0))
      if (const Write* write = last_write(stages, 1, stage->to)) {
        smooth(resources_, *stage, {config_, *write});
        return 2;
      }
    std::visit([this](const auto& stage) { run_stage(resources_, stage); }, stages.front());
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

  void match_features(const SamplePlane& picture, const NoiseSource& noise,
                      const Penalties& penalties, float uniqueness, Subpixel subpixel,
                      const WtaResult& winners) const {
    if (has_sums_of_bytes(penalties))
      return match8_->run({penalties, noise}, uniqueness, subpixel, winners);
    const PathInput input =
        aggregate_.begin(picture, features_.data(), right_features_, penalties, noise);
    for_each_band([&](const RowBand& band, std::int64_t first_pixel) {
      auto* const sums = sums_.as<std::uint16_t>();
      aggregate_.run(input, band, sums);
      select16_cuda(resources_, sums, band.rows(), uniqueness, subpixel,
                    winners.from_pixel(first_pixel));
    });
  }

  bool has_sums_of_bytes(const Penalties& penalties) const {
    return match8_ && match8_->fits(penalties);
  }
  MatchInput input_of_match(int bits, const Penalties& penalties) const {
    if (has_sums_of_bytes(penalties))
      return match8_->input(bits, penalties);
    return {dense(features_.data()), dense(right_features_), {}};
  }

  FeaturePlane dense(void* features) const { return {config_, features}; }
  SamplePlane plane_of(const FilteredPlane& filtered) const {
    SamplePlane plane = filtered_plane(config_, filtered.data);
    plane.rows.pitch = filtered.pitch;
    return plane;
  }
  static std::int64_t filtered_pitch(const StageConfig& config) {
    return round_up(2 * static_cast<std::int64_t>(config.width), 16);
  }
  std::array<FilteredPlane, 2> filtered_pictures() const {
    const std::int64_t pitch = filtered_pitch(config_);
    auto* const first = filtered_.as<std::uint16_t>();
    return {{{first, pitch}, {first + pitch / 2 * config_.height, pitch}}};
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
      work(RowBand{begin, std::min(begin + rows16_, config_.height)},
           static_cast<std::int64_t>(begin) * config_.width);
  }

  static std::size_t sums_bytes(const StageConfig& config, const BandPlan& bands) {
    const std::size_t words = sums16_bytes(config, bands.rows16);
    return bands.rows8 > 0 ? std::max(words, Match8Cuda::volume_bytes(config, bands.rows8)) : words;
  }

  StageConfig config_;
  int rows16_;  // rows per band of 16-bit sums
  LaunchQueue queue_;
  Buffer scratch_;
  StageResources resources_;
  Buffer features_, sums_;  // for match()
  void* right_features_;
  Buffer filtered_;  // both pictures; empty without census_gradient
  Buffer noise_counts_;
  AggregateCuda aggregate_;
  std::optional<Match8Cuda> match8_;
};

}  // namespace

std::unique_ptr<Stages> make_stages_cuda(Device& device, const StageConfig& config) {
  return std::make_unique<StagesCuda>(device, config, bands_within_budget(config));
}

std::unique_ptr<Stages> make_stages_in_bands_cuda(Device& device, const StageConfig& config,
                                                  int band_rows) {
  const bool fits8 = Match8Cuda::supports(config);
  return std::make_unique<StagesCuda>(
      device, config, BandPlan{fits8 ? round_up(band_rows, MatchExtent::row_unit) : 0, band_rows});
}

}  // namespace cudavision::sgm
