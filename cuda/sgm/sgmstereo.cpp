// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/sgm/sgmstereo.h"

#include <cmath>
#include <utility>
#include <vector>

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/core/parallel.h"
#include "cuda/sgm/backend.h"

namespace cudavision::sgm {
namespace {

constexpr char operation[] = "semi-global matching";

void check_parameters(const Parameters& parameters, Wording word) {
  if (const std::string error = validation_error(parameters, word); !error.empty())
    refuse(operation, error);
}

void check_pair(const FrameLayout& left, const FrameLayout& right) {
  check_luminance(operation, left);
  check_luminance(operation, right);
  const auto text = [](const FrameLayout& layout) {
    return std::to_string(layout.width) + "×" + std::to_string(layout.height) + " pixels of " +
           std::to_string(layout.bits) + " bits";
  };
  if (left.width != right.width || left.height != right.height || left.bits != right.bits)
    refuse(operation, "the left picture has " + text(left) + " and the right one " + text(right) +
                          "; they must have the same size and bit depth");
}

struct Workspace {
  Workspace(Scratch& scratch, std::int64_t pixels) {
    // Multiples of 256 elements keep all arrays aligned to 256 bytes.
    const auto count = static_cast<std::size_t>(round_up(pixels, 256));
    for (std::uint16_t*& map : maps)
      map = scratch.take<std::uint16_t>(count);
    confidence = scratch.take<std::uint8_t>(count);
    history.numbers = scratch.take<std::uint16_t>(count);
    history.ages = scratch.take<std::uint8_t>(count);
    noise = scratch.take<NoiseState>(1);
  }

  /// Restores the initial addresses of the maps, so that few kernel arguments change per frame.
  void reset() {
    left = maps[0];
    other_left = maps[1];
    right = maps[2];
    other_right = maps[3];
  }

  std::uint16_t *left, *right;              ///< current maps
  std::uint16_t *other_left, *other_right;  ///< spare maps, swapped with the current maps
  std::uint16_t* maps[4];                   ///< all maps
  std::uint8_t* confidence;
  History history{};
  NoiseState* noise;
};

}  // namespace

std::unique_ptr<Stages> make_stages(Device& device, const StageConfig& config) {
  return dispatch<make_stages_cuda, make_stages_cpu>(device, config);
}

class SgmStereo::State {
 public:
  State(Device& device, const FrameLayout& left, const FrameLayout& right,
        const Parameters& parameters, Wording word)
      : left_luminance_(device, left, operation),
        right_luminance_(device, right, operation),
        areas_(device, left),
        config_(left, parameters, word),
        memory_(device.allocate(scratch_bytes<Workspace>(config_.pixels()))),
        work_(workspace_in(memory_, config_)),
        stages_(make_stages(device, config_)) {
    work_.history.area_change = areas_.change();
    list_.reserve(max_stages);
    set(resolved(parameters));
  }

  void set_parameters(const Parameters& given) {
    const Parameters parameters = resolved(given);
    if (parameters == parameters_)
      return;
    const Wording word = config_.word;
    check_parameters(parameters, word);
    const Config& fixed = parameters_;
    if (fixed != parameters)
      refuse(operation, word("disparities") + ", " + word("minimum") + ", " + word("paths") + ", " +
                            word("census") + ", " + word("compatibility") + " and " +
                            word("memory_budget") +
                            " cannot change while frames are being matched; set them before the "
                            "first frame");
    set(parameters);
  }

  void restart() noexcept { first_frame_ = first_measured_ = true; }

  void set_masks(View<const std::uint32_t> left, View<const std::uint32_t> right) {
    check_mask(left);
    check_mask(right);
    left_mask_ = left;
    right_mask_ = right;
  }

  void run(const ConstFrame& left, const ConstFrame& right, View<std::uint8_t> disparity,
           View<std::uint8_t> confidence, View<std::uint8_t> unfilled) {
    const int width = config_.width, height = config_.height;
    check_rows(operation, "disparities", disparity, height, 2 * width);
    if (confidence)
      check_rows(operation, "confidences", confidence, height, width);
    if (unfilled)
      check_rows(operation, "unfilled disparities", unfilled, height, 2 * width);
    pictures_ = {left_luminance_.of(left), right_luminance_.of(right)};
    work_.reset();
    if (filter_.is_on())
      areas_.run(left);
    stages_->begin_frame();
    if (measures_noise())
      stages_->estimate_noise(pictures_.left, std::exchange(first_measured_, false), work_.noise);
    const bool uses_confidence = confidence || parameters_.confidence_threshold > 0 || smooths();
    stages_->match(pictures_.left, pictures_.right, penalties_, noise(),
                   static_cast<float>(parameters_.uniqueness), subpixel_of(parameters_),
                   {work_.left, work_.right, uses_confidence ? work_.confidence : nullptr});
    finish(disparity, confidence, unfilled);
    stages_->end_frame();
  }

  const Pictures& pictures() const { return pictures_; }
  const NoiseState* noise_state() const { return measures_noise() ? work_.noise : nullptr; }

 private:
  static Workspace workspace_in(const Buffer& memory, const StageConfig& config) {
    Scratch scratch(memory.as<std::uint8_t>());
    return {scratch, config.pixels()};
  }

  void set(const Parameters& parameters) {
    const TemporalFilter filter = temporal_filter(parameters);
    // Restart if the history is outdated or has another scale.
    if (filter.is_on() != filter_.is_on() ||
        disparity_scale(parameters).per_pixel != disparity_scale(parameters_).per_pixel)
      restart();
    if (parameters.noise != parameters_.noise)
      first_measured_ = true;
    parameters_ = parameters;
    penalties_ = penalties_for(parameters_);
    filter_ = filter;
  }

  void check_mask(const View<const std::uint32_t>& mask) const {
    const int words = (config_.width + 31) / 32;
    if (mask && (mask.width != words || mask.height != config_.height))
      refuse(operation, "a mask must be " + text_of(config_.height) + " rows of " + text_of(words) +
                            " words of 32 bits, not " + text_of(mask.height) + " of " +
                            text_of(mask.width));
  }

  bool measures_noise() const {
    return heeds_noise(parameters_) && parameters_.noise == Parameters::automatic_noise;
  }
  NoiseSource noise() const {
    if (!heeds_noise(parameters_))
      return {};
    if (measures_noise())
      return {{}, work_.noise};
    return {noise_of_deviation(
        static_cast<std::uint32_t>(std::lround(NoiseLevel::per_level * parameters_.noise)))};
  }

  // libSGM's left-right check also removes black pixels, so it runs even if lr_max_diff is −1.
  bool checks() const { return parameters_.lr_max_diff >= 0 || config_.libsgm(); }
  bool refines() const { return parameters_.refine && !config_.libsgm(); }
  bool slants() const { return parameters_.slanted_surfaces && !config_.libsgm(); }
  bool smooths() const { return slants() && refines() && parameters_.subpixel; }

  void finish(View<std::uint8_t> disparity, View<std::uint8_t> confidence,
              View<std::uint8_t> unfilled) {
    const DisparityScale scale = disparity_scale(parameters_);
    list_.clear();
    if (right_mask_)
      add(ApplyMask{right_mask_, work_.right});
    add_check();
    add_left_mask();
    if (parameters_.speckle_size > 0)
      add(RemoveSpeckles{parameters_.speckle_size, parameters_.speckle_range * scale.per_pixel,
                         work_.left});
    const int threshold = parameters_.confidence_threshold;
    if (threshold > 0)
      to_other_left(
          KeepConfident{work_.left, work_.confidence, threshold, confidence, work_.other_left});
    else if (confidence)
      add(KeepConfident{work_.left, work_.confidence, threshold, confidence, nullptr});
    if (unfilled)
      add(Write{work_.left, scale, unfilled});
    // The later stages do not need the right map, so they reuse its memory.
    add(Write{slants() ? add_slanted() : add_plain(), scale, disparity});
    stages_->run(list_);
  }

  void add(const Stage& stage) { list_.push_back(stage); }
  void to_other_left(const Stage& stage) {
    add(stage);
    std::swap(work_.left, work_.other_left);
  }
  void add_left_mask() {
    if (left_mask_)
      add(ApplyMask{left_mask_, work_.left});
  }
  void add_refinement() {
    if (refines())
      to_other_left(Refine{pictures_.left, work_.left, work_.other_left});
  }

  void add_check() {
    const auto replace_right = [&](const Stage& stage) {
      add(stage);
      std::swap(work_.right, work_.other_right);
    };
    if (checks() && parameters_.median)
      replace_right(Median{work_.right, work_.other_right});
    if (checks() && slants())
      replace_right(Refine{pictures_.right, work_.right, work_.other_right});
    if (parameters_.median)
      to_other_left(Median{work_.left, work_.other_left});
    if (checks())
      add(Check{pictures_.left, work_.right, parameters_.subpixel, parameters_.lr_max_diff,
                work_.left});
  }

  const std::uint16_t* add_plain() {
    std::uint16_t* measured = nullptr;
    if (parameters_.fill_holes) {
      if (filter_.is_on()) {
        measured = work_.right;
        add(Write{work_.left,
                  {0, unknown},
                  contiguous_rows(reinterpret_cast<std::uint8_t*>(measured), 2 * config_.width,
                                  config_.height)});
      }
      add(FillHoles{work_.left});
      add_left_mask();
    }
    add_refinement();
    return over_time(work_.left, measured);
  }

  const std::uint16_t* add_slanted() {
    if (smooths())
      to_other_left(Sharpen{pictures_.left, pictures_.right, work_.left, work_.other_left});
    add_refinement();
    const std::uint16_t* measured = nullptr;
    if (parameters_.fill_holes) {
      add_slopes();
      measured = work_.other_left;
    }
    if (!smooths())
      return over_time(work_.left, measured);
    add(Smooth{pictures_.left, work_.confidence, work_.left, work_.right, work_.other_right});
    return over_time(work_.right, measured);
  }

  // After this call, other_left holds the map before it was filled.
  void add_slopes() {
    std::uint8_t* const confidence = smooths() ? work_.confidence : nullptr;
    if (refines()) {
      add(FillSlopes{work_.left, work_.right, confidence});
      to_other_left(RefineFilled{pictures_.left, work_.left, work_.right, work_.other_left});
    } else {
      to_other_left(FillSlopes{work_.left, work_.other_left, confidence});
    }
    add_left_mask();
  }

  // The temporal filter comes last, because noise in the luminance would make later stages flicker.
  const std::uint16_t* over_time(const std::uint16_t* map, const std::uint16_t* measured) {
    if (!filter_.is_on())
      return map;
    work_.history.first_frame = std::exchange(first_frame_, false);
    add(FilterOverTime{map, measured, filter_, work_.history});
    return work_.history.numbers;
  }

  Luminance left_luminance_, right_luminance_;
  scenecut::AreaMeans areas_;  // means of the left picture; run only for the temporal filter
  Pictures pictures_;
  StageConfig config_;
  Buffer memory_;
  Workspace work_;
  std::unique_ptr<Stages> stages_;
  static constexpr std::size_t max_stages = 17;  // reserved, so that run() allocates nothing
  std::vector<Stage> list_;                      // stages after the matching
  Parameters parameters_;
  Penalties penalties_;
  TemporalFilter filter_;
  bool first_frame_ = true;     // the next frame starts a sequence
  bool first_measured_ = true;  // the next noise estimate is the first one
  View<const std::uint32_t> left_mask_, right_mask_;
};

SgmStereo::SgmStereo(Device& device, const FrameLayout& left, const FrameLayout& right,
                     const Parameters& parameters, Wording word) {
  check_pair(left, right);
  check_parameters(parameters, word);
  state_ = std::make_unique<State>(device, left, right, parameters, word);
}

SgmStereo::~SgmStereo() = default;

void SgmStereo::set_parameters(const Parameters& parameters) {
  state_->set_parameters(parameters);
}

void SgmStereo::restart() noexcept {
  state_->restart();
}

void SgmStereo::set_masks(View<const std::uint32_t> left, View<const std::uint32_t> right) {
  state_->set_masks(left, right);
}

void SgmStereo::run(const ConstFrame& left, const ConstFrame& right, View<std::uint8_t> disparity,
                    View<std::uint8_t> confidence, View<std::uint8_t> unfilled) {
  state_->run(left, right, disparity, confidence, unfilled);
}

SgmStereo::Pictures SgmStereo::pictures() const {
  return state_->pictures();
}

const NoiseState* SgmStereo::noise_state() const {
  return state_->noise_state();
}

}  // namespace cudavision::sgm
