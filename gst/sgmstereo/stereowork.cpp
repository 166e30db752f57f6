// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/stereowork.h"

#include <algorithm>

namespace cudavision {
namespace {

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

// Returns the kind of picture into which a map of disparities is turned for an output in these
// frames; nullopt if it is no such picture.
std::optional<sgm::PictureParameters::Kind> picture_kind(StereoOutput output,
                                                         const FrameFormat& format) {
  using Kind = sgm::PictureParameters::Kind;
  switch (output) {
    case StereoOutput::depth:
      return Kind::depth;
    case StereoOutput::confidence:
    case StereoOutput::points:
      return std::nullopt;
    case StereoOutput::disparity:
      break;
  }
  if (format.layout.bits > 8)
    return std::nullopt;
  return format.layout.channel_count > 1 ? Kind::color : Kind::gray;
}

}  // namespace

StereoWork::StereoWork(const DeviceSession& session, const FrameFormat& left,
                       const FrameFormat& right, const FramePacking& packing,
                       const StereoSettings& settings,
                       const std::optional<Rectification>& rectification)
    : session_(session),
      device_(session.device()),
      packing_(packing),
      settings_(settings),
      left_(device_, session.context(), left),
      left_rectifier_(make_rectifier(device_, picture_layout(packing, left),
                                     rectification ? &rectification->left : nullptr)),
      right_rectifier_(make_rectifier(device_,
                                      picture_layout(packing, packing.packed() ? left : right),
                                      rectification ? &rectification->right : nullptr)),
      stereo_(device_, left_rectifier_ ? left_rectifier_->layout() : picture_layout(packing, left),
              right_rectifier_ ? right_rectifier_->layout()
                               : picture_layout(packing, packing.packed() ? left : right),
              settings) {
  if (rectification) {
    center_ = {rectification->center_x, rectification->center_y};
    stereo_.set_masks(left_rectifier_->unseen(), right_rectifier_->unseen());
  }
  if (!packing.packed())
    right_.emplace(device_, session.context(), right);
}

FrameLayout StereoWork::picture() const {
  return picture_layout(packing_, left_.format());
}

sgm::Reprojection StereoWork::reprojection(const StereoSettings& given) const {
  const StereoSettings settings = given.with_calibrated_lengths();
  const FrameLayout layout = picture();
  sgm::Reprojection q =
      sgm::reprojection_of(settings.focal_length, settings.baseline, layout.width, layout.height);
  if (center_) {
    q[0][3] = -(*center_)[0];
    q[1][3] = -(*center_)[1];
  }
  return q;
}

void StereoWork::apply(const StereoSettings& settings) {
  const sgm::Parameters& sgm = settings;
  const bool sgm_changes = sgm != settings_;
  if (sgm_changes)
    stereo_.set_parameters(sgm);
  for (std::optional<Output>& output : outputs_) {
    if (output && output->picture) {
      const auto kind = *picture_kind(output->kind, output->mapper.format());
      const sgm::PictureParameters picture = picture_parameters(kind, settings);
      if (sgm_changes || picture != picture_parameters(kind, settings_))
        output->picture->set_parameters(sgm, picture);
      if (settings.colormap != settings_.colormap)
        output->picture->set_colors(color_table(settings.colormap));
    }
    if (output && output->points &&
        (sgm_changes || reprojection(settings) != reprojection(settings_)))
      output->points->set(sgm, reprojection(settings));
  }
  settings_ = settings;
}

void StereoWork::prepare(SourcePad pad, StereoOutput kind, const FrameFormat& format) {
  Output& output = outputs_[index_of(pad)].emplace(device_, session_.context(), format, kind);
  if (kind == StereoOutput::points) {
    const FrameLayout layout = picture();
    output.points = std::make_unique<sgm::Points>(device_, layout.width, layout.height, settings_,
                                                  reprojection(settings_));
  } else if (const auto picture = picture_kind(kind, format)) {
    output.picture =
        std::make_unique<sgm::DisparityPicture>(device_, format.layout, settings_, *picture);
    output.picture->set_parameters(settings_, picture_parameters(*picture, settings_));
    output.picture->set_colors(color_table(settings_.colormap));
  }
}

bool StereoWork::measures_depth() const noexcept {
  return std::any_of(outputs_.begin(), outputs_.end(), [](const std::optional<Output>& output) {
    return output && output->kind == StereoOutput::depth;
  });
}

// Returns where the matching can write this kind of output itself: the frame of the first pad that
// takes it as it is. Returns an empty view if there is none.
View<std::uint8_t> StereoWork::plane_for(StereoOutput kind, const Frames& out) const {
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i] && outputs_[i]->kind == kind && outputs_[i]->is_direct())
      return out[i]->frame().planes[0];
  return {};
}

View<std::uint8_t> StereoWork::own_map() {
  if (!map_) {
    const FrameLayout layout = picture();
    memory_ = device_.allocate(static_cast<std::size_t>(2) * layout.width * layout.height);
    map_ = {memory_.as<std::uint8_t>(), 2 * layout.width, layout.height, 2 * layout.width};
  }
  return map_;
}

void StereoWork::compute(const ConstFrame& left, const ConstFrame& right, const Frames& out,
                         bool inspect) {
  View<std::uint8_t> map = plane_for(StereoOutput::disparity, out);
  if (!map)
    map = own_map();
  const View<std::uint8_t> confidence = plane_for(StereoOutput::confidence, out);
  // Without these, the map itself tells which disparities are known.
  const bool adds_disparities = settings_.fill_holes || settings_.temporal_persistence > 0;
  const View<std::uint8_t> unfilled =
      inspect && adds_disparities ? snapshot_->unfilled() : View<std::uint8_t>();
  if (left_rectifier_)
    stereo_.run(left_rectifier_->run(left), right_rectifier_->run(right), map, confidence,
                unfilled);
  else
    stereo_.run(left, right, map, confidence, unfilled);
  if (inspect)
    snapshot_->take(stereo_.pictures(), unfilled ? unfilled : map);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!out[i])
      continue;
    const Frame& frame = out[i]->frame();
    if (outputs_[i]->picture)
      outputs_[i]->picture->run(map, frame);
    else if (outputs_[i]->points)
      outputs_[i]->points->run(map, frame.planes[0]);
    else if (outputs_[i]->kind == StereoOutput::confidence &&
             frame.planes[0].data != confidence.data)
      device_.copy(confidence, frame.planes[0]);
  }
}

void StereoWork::run(GstBuffer* left, GstBuffer* right, const Buffers& out, bool inspect) {
  if (inspect && !snapshot_) {
    const FrameLayout layout = picture();
    snapshot_.emplace(device_, ImageSize{layout.width, layout.height, layout.bits}, settings_);
  }
  FrameMapper::Input left_input(left_, left);
  std::optional<FrameMapper::Input> right_input;
  if (!packing_.packed())
    right_input.emplace(*right_, right);
  Frames frames;
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i])
      frames[i].emplace(outputs_[i]->mapper, out[i]);

  const FrameLayout& whole = left_.format().layout;
  if (packing_.packed())
    compute(half_of(packing_, whole, left_input.frame(), false),
            half_of(packing_, whole, left_input.frame(), true), frames, inspect);
  else
    compute(left_input.frame(), right_input->frame(), frames, inspect);

  for (auto& frame : frames)
    if (frame)
      frame->download();
  device_.finish();
  left_input.completed();
  if (right_input)
    right_input->completed();
  for (auto& frame : frames)
    if (frame)
      frame->completed();
}

}  // namespace cudavision
