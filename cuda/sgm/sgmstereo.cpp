// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/sgm/sgmstereo.h"

#include <utility>

#include "cuda/core/layoutcheck.h"
#include "cuda/sgm/backend.h"

namespace cudavision::sgm {
namespace {

constexpr char operation[] = "semi-global matching";

[[noreturn]] void refuse(const std::string& what) {
  cudavision::refuse(operation, what);
}

void check_parameters(const Parameters& parameters) {
  if (const std::string error = validation_error(parameters); !error.empty())
    refuse(error);
}

void check_pair(const FrameLayout& left, const FrameLayout& right) {
  check_luminance(operation, left);
  check_luminance(operation, right);
  const auto text = [](const FrameLayout& layout) {
    return std::to_string(layout.width) + "×" + std::to_string(layout.height) + " pixels of " +
           std::to_string(layout.bits) + " bits";
  };
  if (left.width != right.width || left.height != right.height || left.bits != right.bits)
    refuse("the left picture has " + text(left) + " and the right one " + text(right) +
           "; they must have the same size and depth");
}

/// The results that stages pass to later stages, in a single allocation.
class Workspace {
 public:
  Workspace(Device& device, const StageConfig& config) {
    const auto pixels = static_cast<std::size_t>(config.pixels());
    const std::size_t maps_at[] = {reserve(2 * pixels), reserve(2 * pixels), reserve(2 * pixels),
                                   reserve(2 * pixels)};
    const std::size_t confidence_at = reserve(pixels);
    memory_ = device.allocate(bytes_);
    left = at<std::uint16_t>(maps_at[0]);
    right = at<std::uint16_t>(maps_at[1]);
    other_left = at<std::uint16_t>(maps_at[2]);
    other_right = at<std::uint16_t>(maps_at[3]);
    confidence = at<std::uint8_t>(confidence_at);
  }

  std::uint16_t *left, *right;              ///< maps
  std::uint16_t *other_left, *other_right;  ///< room for the medians of the maps
  std::uint8_t* confidence;

 private:
  static constexpr std::size_t alignment = 256;

  std::size_t reserve(std::size_t bytes) {
    const std::size_t begin = bytes_;
    bytes_ += (bytes + alignment - 1) / alignment * alignment;
    return begin;
  }
  template <class T>
  T* at(std::size_t byte) const {
    return reinterpret_cast<T*>(memory_.as<std::uint8_t>() + byte);
  }

  std::size_t bytes_ = 0;
  Buffer memory_;
};

}  // namespace

std::unique_ptr<Stages> make_stages(Device& device, const StageConfig& config) {
  return device.kind() == DeviceKind::cuda ? make_stages_cuda(device, config)
                                           : make_stages_cpu(device, config);
}

class SgmStereo::State {
 public:
  State(Device& device, const FrameLayout& left, const FrameLayout& right,
        const Parameters& parameters)
      : left_luminance_(device, left, operation),
        right_luminance_(device, right, operation),
        config_(left, parameters),
        work_(device, config_),
        stages_(make_stages(device, config_)) {
    set(parameters);
  }

  const Parameters& parameters() const { return parameters_; }

  void set(const Parameters& parameters) {
    parameters_ = resolved(parameters);
    penalties_ = penalties_for(parameters_);
  }

  void run(const ConstFrame& left, const ConstFrame& right, View<std::uint8_t> disparity,
           View<std::uint8_t> confidence, View<std::uint8_t> unfilled) {
    check_output(disparity, 2, "disparities");
    if (confidence)
      check_output(confidence, 1, "confidences");
    if (unfilled)
      check_output(unfilled, 2, "unfilled disparities");
    pictures_ = {left_luminance_.of(left), right_luminance_.of(right)};
    stages_->begin_frame();
    match(pictures_.left, pictures_.right, confidence ? work_.confidence : nullptr);
    finish(pictures_.left, disparity, confidence, unfilled);
    stages_->end_frame();
  }

  const Pictures& pictures() const { return pictures_; }

 private:
  void check_output(const View<std::uint8_t>& out, int bytes, const char* name) const {
    if (!out || out.width != bytes * config_.width || out.height != config_.height)
      refuse(std::string("the ") + name + " need " + std::to_string(config_.height) + " rows of " +
             std::to_string(bytes * config_.width) + " bytes");
  }

  void match(const SamplePlane& left, const SamplePlane& right, std::uint8_t* confidence) {
    stages_->match(left, right, penalties_, static_cast<float>(parameters_.uniqueness),
                   subpixel_of(parameters_), {work_.left, work_.right, confidence});
  }

  // libSGM's check also removes black pixels, even if it compares nothing.
  bool checks() const { return parameters_.lr_max_diff >= 0 || config_.libsgm(); }
  bool refines() const { return parameters_.refine && !config_.libsgm(); }
  bool cleans() const { return parameters_.speckle_size > 0 || parameters_.fill_holes; }

  void finish(const SamplePlane& picture, View<std::uint8_t> disparity,
              View<std::uint8_t> confidence, View<std::uint8_t> unfilled) {
    const DisparityScale scale = disparity_scale(parameters_);
    if (parameters_.median && checks() && !confidence && !unfilled && !cleans() && !refines()) {
      stages_->median_check_and_write(picture, work_.left, work_.right, parameters_.subpixel,
                                      parameters_.lr_max_diff, scale, disparity, work_.other_left,
                                      work_.other_right);
      return;
    }
    clean(picture);
    if (confidence)
      stages_->write_confidence(work_.left, work_.confidence, confidence);
    if (unfilled)
      stages_->write(work_.left, scale, unfilled);
    if (parameters_.fill_holes)
      stages_->fill_holes(work_.left);
    if (refines())
      stages_->refine_and_write(picture, work_.left, scale, disparity, work_.other_left);
    else
      stages_->write(work_.left, scale, disparity);
  }

  void clean(const SamplePlane& picture) {
    if (parameters_.median) {
      if (checks())
        stages_->median_and_check(picture, work_.left, work_.right, parameters_.subpixel,
                                  parameters_.lr_max_diff, work_.other_left, work_.other_right);
      else
        stages_->median(work_.left, work_.other_left);
      std::swap(work_.left, work_.other_left);
    } else if (checks()) {
      stages_->check(picture, work_.right, parameters_.subpixel, parameters_.lr_max_diff,
                     work_.left);
    }
    if (parameters_.speckle_size > 0)
      stages_->remove_speckles(parameters_.speckle_size,
                               parameters_.speckle_range * disparity_scale(parameters_).per_pixel,
                               work_.left);
  }

  Luminance left_luminance_, right_luminance_;
  Pictures pictures_;
  StageConfig config_;
  Workspace work_;
  std::unique_ptr<Stages> stages_;
  Parameters parameters_;
  Penalties penalties_;
};

SgmStereo::SgmStereo(Device& device, const FrameLayout& left, const FrameLayout& right,
                     const Parameters& parameters) {
  check_pair(left, right);
  check_parameters(parameters);
  state_ = std::make_unique<State>(device, left, right, parameters);
}

SgmStereo::~SgmStereo() = default;

void SgmStereo::set_parameters(const Parameters& given) {
  const Parameters parameters = resolved(given);
  if (parameters == state_->parameters())
    return;
  check_parameters(parameters);
  const Config& fixed = state_->parameters();
  if (fixed != parameters)
    refuse(
        "num-disparities, min-disparity, paths, census, compatibility and memory-budget cannot "
        "change while frames are being matched; set them before the first frame");
  state_->set(parameters);
}

void SgmStereo::run(const ConstFrame& left, const ConstFrame& right, View<std::uint8_t> disparity,
                    View<std::uint8_t> confidence, View<std::uint8_t> unfilled) {
  state_->run(left, right, disparity, confidence, unfilled);
}

SgmStereo::Pictures SgmStereo::pictures() const {
  return state_->pictures();
}

}  // namespace cudavision::sgm
