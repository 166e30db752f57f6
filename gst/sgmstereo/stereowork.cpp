// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/stereowork.h"

namespace cudavision {
namespace {

// Returns the kind of picture into which a map of disparities is turned for these output frames.
sgm::PictureParameters::Kind picture_kind(StereoOutput output, const FrameFormat& out) {
  using Kind = sgm::PictureParameters::Kind;
  if (output == StereoOutput::depth)
    return Kind::depth;
  return out.layout.channel_count > 1 ? Kind::color : Kind::gray;
}

FrameLayout picture_layout(const FramePacking& packing, const FrameFormat& frames) {
  return packing.packed() ? half_layout(packing, frames.layout) : frames.layout;
}

// map: nullptr if frames are rectified.
std::optional<Rectifier> make_rectifier(Device& device, const FrameLayout& camera,
                                        const RectifyingMap* map) {
  if (!map)
    return std::nullopt;
  return std::optional<Rectifier>(std::in_place, device, camera, *map);
}

}  // namespace

StereoWork::StereoWork(const DeviceSession& session, const FrameFormat& left,
                       const FrameFormat& right, const FramePacking& packing,
                       const FrameFormat& out, const StereoSettings& settings,
                       const std::optional<Rectification>& rectification)
    : device_(session.device()),
      packing_(packing),
      output_(settings.output),
      sgm_parameters_(settings),
      picture_parameters_(picture_parameters(picture_kind(output_, out), settings)),
      colormap_(settings.colormap),
      left_(device_, session.context(), left),
      out_(device_, session.context(), out),
      left_rectifier_(make_rectifier(device_, picture_layout(packing, left),
                                     rectification ? &rectification->left : nullptr)),
      right_rectifier_(make_rectifier(device_,
                                      picture_layout(packing, packing.packed() ? left : right),
                                      rectification ? &rectification->right : nullptr)),
      stereo_(device_, left_rectifier_ ? left_rectifier_->layout() : picture_layout(packing, left),
              right_rectifier_ ? right_rectifier_->layout()
                               : picture_layout(packing, packing.packed() ? left : right),
              sgm_parameters_) {
  if (left_rectifier_)
    stereo_.set_masks(left_rectifier_->unseen(), right_rectifier_->unseen());
  if (!packing.packed())
    right_.emplace(device_, session.context(), right);
  const bool is_map = output_ == StereoOutput::disparity && out.layout.bits > 8;
  if (is_map)
    return;
  const FrameLayout& layout = out.layout;
  memory_ = device_.allocate(static_cast<std::size_t>(2) * layout.width * layout.height);
  map_ = {memory_.as<std::uint8_t>(), 2 * layout.width, layout.height, 2 * layout.width};
  if (output_ == StereoOutput::confidence)
    return;
  picture_ = std::make_unique<sgm::DisparityPicture>(device_, layout, sgm_parameters_,
                                                     picture_parameters_.kind);
  picture_->set_parameters(sgm_parameters_, picture_parameters_);
  picture_->set_colors(color_table(colormap_));
}

void StereoWork::apply(const StereoSettings& settings) {
  const sgm::Parameters& sgm = settings;
  const sgm::PictureParameters picture = picture_parameters(picture_parameters_.kind, settings);
  const bool sgm_changes = sgm != sgm_parameters_;
  if (sgm_changes)
    stereo_.set_parameters(sgm);
  if (picture_ && (sgm_changes || picture != picture_parameters_))
    picture_->set_parameters(sgm, picture);
  if (picture_ && settings.colormap != colormap_)
    picture_->set_colors(color_table(settings.colormap));
  sgm_parameters_ = sgm;
  picture_parameters_ = picture;
  colormap_ = settings.colormap;
}

void StereoWork::compute(const ConstFrame& left, const ConstFrame& right, const Frame& out) {
  if (left_rectifier_)
    match(left_rectifier_->run(left), right_rectifier_->run(right), out);
  else
    match(left, right, out);
}

void StereoWork::match(const ConstFrame& left, const ConstFrame& right, const Frame& out) {
  if (output_ == StereoOutput::confidence) {
    stereo_.run(left, right, map_, out.planes[0]);
  } else if (picture_) {
    stereo_.run(left, right, map_);
    picture_->run(map_, out);
  } else {
    stereo_.run(left, right, out.planes[0]);
  }
}

void StereoWork::run(GstBuffer* left, GstBuffer* right, GstBuffer* out) {
  FrameMapper::Input left_input(left_, left);
  if (packing_.packed()) {
    FrameMapper::Output output(out_, out);
    const FrameLayout& whole = left_.format().layout;
    compute(half_of(packing_, whole, left_input.frame(), false),
            half_of(packing_, whole, left_input.frame(), true), output.frame());
    output.complete(left_input);
  } else {
    FrameMapper::Input right_input(*right_, right);
    FrameMapper::Output output(out_, out);
    compute(left_input.frame(), right_input.frame(), output.frame());
    output.complete(left_input, right_input);
  }
}

}  // namespace cudavision
