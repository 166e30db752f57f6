// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/stereowork.h"

#include "gst/sgmstereo/stereocaps.h"

namespace cudavision {
namespace {

FrameLayout picture_layout(const FramePacking& packing, const FrameFormat& frames) {
  return packing.packed() ? half_layout(packing, frames.layout) : frames.layout;
}

bool same_picture(const sgm::PictureParameters& a, const sgm::PictureParameters& b) {
  return a.kind == b.kind && a.focal_length == b.focal_length && a.baseline == b.baseline &&
         a.unit == b.unit;
}

}  // namespace

StereoWork::StereoWork(const DeviceSession& session, const FrameFormat& left,
                       const FrameFormat& right, const FramePacking& packing,
                       const FrameFormat& out, const StereoSettings& settings)
    : device_(session.device()),
      packing_(packing),
      output_(settings.output),
      sgm_parameters_(sgm_parameters(settings)),
      picture_parameters_(picture_parameters(picture_kind(output_, out), settings)),
      colormap_(settings.colormap),
      left_(device_, session.context(), left),
      out_(device_, session.context(), out),
      stereo_(device_, picture_layout(packing, left),
              picture_layout(packing, packing.packed() ? left : right), sgm_parameters_) {
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
  const sgm::Parameters sgm = sgm_parameters(settings);
  const sgm::PictureParameters picture = picture_parameters(picture_parameters_.kind, settings);
  const bool sgm_changes = sgm != sgm_parameters_;
  if (sgm_changes)
    stereo_.set_parameters(sgm);
  if (picture_ && (sgm_changes || !same_picture(picture, picture_parameters_)))
    picture_->set_parameters(sgm, picture);
  if (picture_ && settings.colormap != colormap_)
    picture_->set_colors(color_table(settings.colormap));
  sgm_parameters_ = sgm;
  picture_parameters_ = picture;
  colormap_ = settings.colormap;
}

void StereoWork::compute(const ConstFrame& left, const ConstFrame& right, const Frame& out) {
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
  FrameMapper::Input first(left_, left);
  if (packing_.packed()) {
    FrameMapper::Output output(out_, out);
    const FrameLayout& whole = left_.format().layout;
    compute(half_of(packing_, whole, first.frame(), false),
            half_of(packing_, whole, first.frame(), true), output.frame());
    output.complete(first);
  } else {
    FrameMapper::Input second(*right_, right);
    FrameMapper::Output output(out_, out);
    compute(first.frame(), second.frame(), output.frame());
    output.complete(first, second);
  }
}

}  // namespace cudavision
