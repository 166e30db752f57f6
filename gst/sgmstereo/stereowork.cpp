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

}  // namespace

StereoWork::StereoWork(const DeviceSession& session, const FrameFormat& left,
                       const FrameFormat& right, const FramePacking& packing,
                       const FrameFormat& out, const StereoSettings& settings)
    : device_(session.device()),
      packing_(packing),
      output_(settings.output),
      settings_(settings),
      picture_parameters_(picture_parameters(picture_kind(output_, out), settings)),
      left_(device_, session.context(), left),
      out_(device_, session.context(), out),
      stereo_(device_, picture_layout(packing, left),
              picture_layout(packing, packing.packed() ? left : right), settings) {
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
  picture_ =
      std::make_unique<sgm::DisparityPicture>(device_, layout, settings, picture_parameters_.kind);
  picture_->set_parameters(settings, picture_parameters_);
  picture_->set_colors(color_table(settings.colormap));
}

void StereoWork::apply(const StereoSettings& settings) {
  const sgm::Parameters& sgm = settings;
  const sgm::PictureParameters picture = picture_parameters(picture_parameters_.kind, settings);
  const bool sgm_changes = sgm != settings_;
  if (sgm_changes)
    stereo_.set_parameters(sgm);
  if (picture_ && (sgm_changes || picture != picture_parameters_))
    picture_->set_parameters(sgm, picture);
  if (picture_ && settings.colormap != settings_.colormap)
    picture_->set_colors(color_table(settings.colormap));
  settings_ = settings;
  picture_parameters_ = picture;
}

void StereoWork::compute(const ConstFrame& left, const ConstFrame& right, const Frame& out,
                         bool inspect) {
  const View<std::uint8_t> map = map_ ? map_ : out.planes[0];
  const View<std::uint8_t> confidence =
      output_ == StereoOutput::confidence ? out.planes[0] : View<std::uint8_t>();
  // Without holes filled, the map itself tells which disparities are known.
  const bool fills = inspect && settings_.fill_holes;
  const View<std::uint8_t> unfilled = fills ? snapshot_->unfilled() : View<std::uint8_t>();
  stereo_.run(left, right, map, confidence, unfilled);
  if (picture_)
    picture_->run(map, out);
  if (inspect)
    snapshot_->take(stereo_.pictures(), fills ? unfilled : map);
}

void StereoWork::run(GstBuffer* left, GstBuffer* right, GstBuffer* out, bool inspect) {
  if (inspect && !snapshot_) {
    const FrameLayout layout = picture_layout(packing_, left_.format());
    snapshot_.emplace(device_, ImageSize{layout.width, layout.height, layout.bits}, settings_);
  }
  FrameMapper::Input left_input(left_, left);
  if (packing_.packed()) {
    FrameMapper::Output output(out_, out);
    const FrameLayout& whole = left_.format().layout;
    compute(half_of(packing_, whole, left_input.frame(), false),
            half_of(packing_, whole, left_input.frame(), true), output.frame(), inspect);
    output.complete(left_input);
  } else {
    FrameMapper::Input right_input(*right_, right);
    FrameMapper::Output output(out_, out);
    compute(left_input.frame(), right_input.frame(), output.frame(), inspect);
    output.complete(left_input, right_input);
  }
}

}  // namespace cudavision
