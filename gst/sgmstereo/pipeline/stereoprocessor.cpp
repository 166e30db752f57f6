// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pipeline/stereoprocessor.h"

#include <algorithm>

#include "gst/sgmstereo/outputs/colormaps.h"

namespace cudavision {
namespace {

FrameLayout picture_layout(const FramePacking& packing, const FrameFormat& frames) {
  return packing.packed() ? half_layout(packing, frames.layout) : frames.layout;
}

// Returns nullptr if pictures are not rectified.
std::unique_ptr<Rectifier> make_rectifier(Device& device, const FrameLayout& camera,
                                          const std::optional<Rectification>& rectification,
                                          RectifyingMap Rectification::*map) {
  return rectification && !((*rectification).*map).places.empty()
             ? std::make_unique<Rectifier>(device, camera, (*rectification).*map)
             : nullptr;
}

// Returns nullopt if the output is not an sgm::DisparityPicture.
std::optional<sgm::PictureParameters> kind_and_quantity(StereoOutput output,
                                                        const FrameFormat& format) {
  using Kind = sgm::PictureParameters::Kind;
  using Quantity = sgm::PictureParameters::Quantity;
  const FrameLayout& layout = format.layout;
  const Kind levels = layout.channel_count > 1 ? Kind::color : Kind::gray;
  if (output == StereoOutput::disparity && layout.bits <= 8)
    return sgm::PictureParameters{levels, Quantity::disparity};
  if (output == StereoOutput::depth)
    return sgm::PictureParameters{layout.bits > 8 ? Kind::depth : levels, Quantity::depth};
  if (output == StereoOutput::confidence && levels == Kind::color)
    return sgm::PictureParameters{levels, Quantity::confidence};
  return std::nullopt;
}

}  // namespace

StereoProcessor::StereoProcessor(const DeviceSession& session, const FrameFormat& left,
                                 const FrameFormat& right, const FramePacking& packing,
                                 const StereoSettings& settings,
                                 const std::optional<Rectification>& rectification,
                                 std::size_t max_in_flight)
    : device_(session.device()),
      packing_(packing),
      settings_(settings),
      slots_(session.queues(max_in_flight), session.context(), session.page_locks(), max_in_flight),
      right_layout_(picture_layout(packing, packing.packed() ? left : right)),
      left_rectifier_(make_rectifier(device_, picture_layout(packing, left), rectification,
                                     &Rectification::left)),
      right_rectifier_(
          make_rectifier(device_, right_layout_, rectification, &Rectification::right)),
      stereo_(device_, left_rectifier_ ? left_rectifier_->layout() : picture_layout(packing, left),
              right_rectifier_ ? right_rectifier_->layout() : right_layout_, settings,
              property_word) {
  if (left_rectifier_)
    left_camera_ = rectification->left_camera;
  if (rectification) {
    right_camera_ = rectification->right_camera;
    mask_unseen();
  }
  slots_.set_input(0, left);
  if (!packing.packed())
    slots_.set_input(1, right);
  if (settings.detections) {
    const FrameLayout map = picture();
    distances_.emplace(session, PictureSize{map.width, map.height}, settings, max_in_flight);
  }
}

void StereoProcessor::mask_unseen() {
  stereo_.set_masks(left_rectifier_ ? left_rectifier_->unseen() : View<const std::uint32_t>(),
                    right_rectifier_->unseen());
}

void StereoProcessor::set_right_map(const RectifyingMap& map) {
  finish();  // the device may still use the old map
  right_rectifier_ = std::make_unique<Rectifier>(device_, right_layout_, map);
  mask_unseen();
}

FrameLayout StereoProcessor::picture() const {
  return picture_layout(packing_, left_format());
}

void StereoProcessor::restart() noexcept {
  stereo_.restart();
  for (std::optional<Output>& output : outputs_)
    if (output && output->picture)
      output->picture->restart();
}

sgm::Reprojection StereoProcessor::reprojection(const StereoSettings& given) const {
  const StereoSettings settings = given.with_calibrated_lengths();
  const FrameLayout layout = picture();
  sgm::Reprojection q =
      sgm::reprojection_of(settings.focal_length, settings.baseline, layout.width, layout.height);
  if (left_camera_) {
    q[0][3] = -left_camera_->rectification.projection[2];
    q[1][3] = -left_camera_->rectification.projection[6];
  }
  return q;
}

void StereoProcessor::apply(const StereoSettings& settings) {
  const sgm::Parameters &sgm = settings, &last = settings_;
  const bool sgm_changes = sgm != last;
  if (sgm_changes)
    stereo_.set_parameters(sgm);
  if (sgm_changes && distances_)
    distances_->set_parameters(sgm);
  for (std::optional<Output>& output : outputs_) {
    if (output && output->picture) {
      const auto kind = *kind_and_quantity(output->kind, output->format);
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

void StereoProcessor::prepare(SourcePad pad, StereoOutput kind, const FrameFormat& format) {
  slots_.set_output(index_of(pad), format);
  Output& output = outputs_[index_of(pad)].emplace(kind, format);
  if (kind == StereoOutput::points) {
    const FrameLayout layout = picture();
    output.points = std::make_unique<sgm::Points>(device_, layout.width, layout.height, settings_,
                                                  reprojection(settings_));
  } else if (kind == StereoOutput::rectified) {
    output.rectified = std::make_unique<RectifiedPicture>(device_, packing_, left_format(), format,
                                                          left_camera_ ? &*left_camera_ : nullptr);
  } else if (const auto picture = kind_and_quantity(kind, format)) {
    output.picture = std::make_unique<sgm::DisparityPicture>(device_, format.layout, settings_,
                                                             picture->kind, picture->quantity);
    output.picture->set_parameters(settings_, picture_parameters(*picture, settings_));
    output.picture->set_colors(color_table(settings_.colormap));
  }
}

void StereoProcessor::forget(SourcePad pad) {
  outputs_[index_of(pad)].reset();
  slots_.clear_output(index_of(pad));
}

bool StereoProcessor::measures_depth() const noexcept {
  return std::any_of(outputs_.begin(), outputs_.end(), [](const std::optional<Output>& output) {
    return output && output->kind == StereoOutput::depth && output->format.layout.bits > 8;
  });
}

// Returns the first output frame into which the matching can write directly, or an empty view.
View<std::uint8_t> StereoProcessor::plane_for(StereoOutput kind, const PendingGpuWork& pair) const {
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (const Frame* frame = pair.output(i);
        frame && outputs_[i]->kind == kind && outputs_[i]->is_direct())
      return frame->planes[0];
  return {};
}

void StereoProcessor::compute(const PendingGpuWork& pair, double seconds, bool inspect,
                              PairDetections* detections) {
  const FrameLayout layout = picture();
  View<std::uint8_t> map = plane_for(StereoOutput::disparity, pair);
  if (!map)
    map = allocated_rows(device_, map_memory_, 2 * layout.width, layout.height);
  View<std::uint8_t> confidence = plane_for(StereoOutput::confidence, pair);
  bool shows_confidence = false;
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    shows_confidence |= pair.output(i) && outputs_[i]->kind == StereoOutput::confidence;
  if (!confidence && shows_confidence)
    confidence = allocated_rows(device_, confidence_memory_, layout.width, layout.height);
  ConstFrame left = pair.input(0), right;
  if (packing_.packed()) {
    right = half_of(packing_, layout, left, true);
    left = half_of(packing_, layout, left, false);
  } else {
    right = pair.input(1);
  }
  // If neither is on, the output map already marks invalid disparities.
  const bool adds_disparities = settings_.fill_holes || settings_.temporal_persistence > 0;
  const View<std::uint8_t> unfilled =
      inspect && adds_disparities ? snapshot_->unfilled() : View<std::uint8_t>();
  stereo_.run(left_rectifier_ ? left_rectifier_->run(left) : left,
              right_rectifier_ ? right_rectifier_->run(right) : right, map, confidence, unfilled);
  if (detections)
    distances_->run(map, *detections, left_rectifier_ ? left_rectifier_->map() : remap::MapView{});
  if (inspect)
    snapshot_->take(stereo_.pictures(), unfilled ? unfilled : map, stereo_.noise_state());
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (!pair.output(i))
      continue;
    Output& output = *outputs_[i];
    const Frame& frame = *pair.output(i);
    const bool of_confidence = output.kind == StereoOutput::confidence;
    if (output.picture)
      output.picture->run(of_confidence ? confidence : map, frame, seconds);
    else if (output.points)
      output.points->run(map, frame.planes[0]);
    else if (output.rectified)
      output.rectified->run(pair.stored_input(0), stereo_.pictures().left, frame);
    else if (of_confidence && frame.planes[0].data != confidence.data)
      device_.copy(confidence, frame.planes[0]);
  }
}

PendingGpuWork StereoProcessor::start(GstBuffer* left, GstBuffer* right, const Buffers& out,
                                      double seconds, bool inspect, PairDetections* detections) {
  const FrameLayout layout = picture();
  if (detections) {
    detections->find(left, packing_, {layout.width, layout.height},
                     left_camera_ ? &*left_camera_ : nullptr);
    detections->scale = sgm::disparity_scale(settings_);
    const StereoSettings lengths = settings_.with_calibrated_lengths();
    if (lengths.focal_length > 0 && lengths.baseline > 0)
      detections->reprojection = reprojection(settings_);
  }
  if (inspect && !snapshot_)
    snapshot_.emplace(device_, PlaneSize{layout.width, layout.height, layout.bits});
  PendingGpuWork pair = slots_.map({left, packing_.packed() ? nullptr : right}, out);
  compute(pair, seconds, inspect, detections);
  pair.end(inspect || (detections && !detections->visible.empty()));
  return pair;
}

}  // namespace cudavision
