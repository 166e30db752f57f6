// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/regions/regionfinder.h"

#include <gst/video/gstvideometa.h>

#include <algorithm>

#include "gst/core/elementerror.h"

namespace cudavision {
namespace {

using regions::Box;
using regions::Parameters;

void add_box(const Box& box, int angle, Parameters& parameters) {
  if (parameters.count == Parameters::max_count)
    refuse_stream("The frame has more than " + std::to_string(Parameters::max_count) +
                  " regions: raise region-confidence, let region-types accept fewer labels, or "
                  "write fewer rectangles.");
  const auto number = static_cast<std::size_t>(parameters.count++);
  parameters.boxes[number] = box;
  parameters.angles[number] = static_cast<std::uint16_t>(angle);
}

Box box_of(const Detection& detection) {
  return box_within_limits(static_cast<double>(detection.x), static_cast<double>(detection.y),
                           static_cast<double>(detection.width),
                           static_cast<double>(detection.height));
}

int shorter_side(const Box& box) {
  return std::min(box.x1 - box.x0, box.y1 - box.y0);
}

void select_whole_frame(Parameters& parameters) {
  parameters.count = parameters.mask_count = 0;
  parameters.invert = true;
}

}  // namespace

void RegionFinder::start() {
  video_.reset();
  widest_ = 0;
  forget();
  warning_ = {};
}

void RegionFinder::set_video(const GstVideoInfo& video) {
  if (video_ && gst_video_info_is_equal(&*video_, &video))
    return;
  video_ = video;
  widest_ = 0;
  clock_.emplace(video);
  forget();
}

void RegionFinder::forget() {
  last_.clear();
  last_masks_.clear();
  if (clock_)
    clock_->reset();
}

void RegionFinder::find(const FrameInfo& frame, const RegionSettings& settings,
                        Parameters& parameters) {
  find_regions(frame, settings, parameters);
  measure(settings, parameters);
}

void RegionFinder::measure(const RegionSettings& settings, const Parameters& parameters) {
  const int of_frame = std::min(video_->width, video_->height);
  side_ = 0;
  if (!settings.in_regions())
    return;
  const Box whole{0, 0, video_->width, video_->height};
  for (std::size_t i = 0; i < static_cast<std::size_t>(parameters.count); ++i) {
    const Box& box = parameters.boxes[i];
    if (!box.empty() && overlap(box, whole))
      side_ = std::max(side_, shorter_side(box));
  }
  for (const SelectedMask& mask : masks_)
    if (overlap(mask.box, whole))
      side_ = std::max(side_, mask.side);
  side_ = std::min(side_, of_frame);
  widest_ = std::max(widest_, side_);
  if (parameters.invert)
    side_ = std::max(widest_, (of_frame + 2) / 3);
}

void RegionFinder::find_regions(const FrameInfo& frame, const RegionSettings& settings,
                                Parameters& parameters) {
  const GstClockTime elapsed = clock_->elapsed(frame.times);
  parameters.shape = settings.region_shape;
  parameters.margin = settings.region_margin;
  parameters.feather = settings.region_feather;
  parameters.invert = settings.region_invert;
  parameters.fields = frame.interlaced;
  parameters.count = parameters.mask_count = parameters.mask_growth = 0;
  masks_.clear();
  if (!settings.in_regions()) {
    last_.clear();
    last_masks_.clear();
    select_whole_frame(parameters);
    return;
  }
  for (const WrittenRectangle& rectangle : settings.regions.rectangles())
    add_box(rectangle.box_in(video_->width, video_->height), 0, parameters);
  const int first = settings.use_roi_meta ? parameters.count : 0;
  if (settings.use_roi_meta)
    find_metas(frame, settings, parameters);

  if (any_in_frame(parameters, first)) {
    warning_.saw_region();
    remember(parameters, first, settings);
    return;
  }
  warning_.saw_none(*video_, settings, parameters, first, elapsed);
  age_ += elapsed;
  if (!recall(settings, parameters) && settings.regions_missing == RegionsMissing::all)
    select_whole_frame(parameters);
}

bool RegionFinder::accepts(const RegionSettings& settings, GQuark label, double confidence) {
  if (!settings.region_types.accepts(label))
    warning_.saw_other_label(label);
  else if (confidence < settings.region_confidence)
    warning_.saw_confidence(confidence);
  else
    return true;
  return false;
}

void RegionFinder::find_metas(const FrameInfo& frame, const RegionSettings& settings,
                              Parameters& parameters) {
  find_detections(frame.buffer, settings.region_masks != RegionMasks::ignore, detections_);
  const std::vector<Detection>& objects = detections_.objects;
  accepted_.assign(objects.size(), false);
  for (std::size_t i = 0; i < objects.size(); ++i)
    accepted_[i] = accepts(settings, objects[i].label, objects[i].confidence);
  std::vector<bool> as_boxes = accepted_;
  for (std::size_t m = 0; m < detections_.masks.size(); ++m) {
    std::optional<SelectedMask> mask = select(detections_.masks[m], m, settings);
    if (!mask)
      continue;
    if (mask->known)
      for (const auto& [object, of_mask] : detections_.relations)
        if (of_mask == m)
          as_boxes[object] = false;
    add(std::move(*mask), parameters);
  }
  if (settings.region_masks == RegionMasks::only)
    return;
  for (std::size_t i = 0; i < objects.size(); ++i)
    if (as_boxes[i])
      add_box(box_of(objects[i]), objects[i].angle, parameters);
}

// Selects ids without a class if a related object is accepted or, without related objects, if every
// label is accepted.
std::optional<SelectedMask> RegionFinder::select(const DetectedMask& mask, std::size_t number,
                                                 const RegionSettings& settings) {
  int side = 0;
  bool related = false, accepted = false;
  for (const auto& [object, of_mask] : detections_.relations)
    if (of_mask == number) {
      related = true;
      accepted = accepted || accepted_[object];
      if (accepted_[object])
        side = std::max(side, shorter_side(box_of(detections_.objects[object])));
    }
  std::optional<SelectedMask> selected = select_ids(
      detections_, mask, related ? accepted : settings.region_types.accepts_all(),
      [&](const MaskRegion& region) { return accepts(settings, region.label, region.confidence); });
  if (selected)
    selected->side =
        side > 0 ? side
                 : shorter_side(regions::clipped(selected->box, video_->width, video_->height));
  return selected;
}

void RegionFinder::add(SelectedMask mask, Parameters& parameters) {
  if (parameters.mask_count == Parameters::max_masks)
    refuse_stream("The frame has more than " + std::to_string(Parameters::max_masks) +
                  " segmentation masks: raise region-confidence, let region-types accept fewer "
                  "labels, or set region-masks=ignore.");
  parameters.mask_boxes[static_cast<std::size_t>(parameters.mask_count++)] = mask.box;
  masks_.push_back(std::move(mask));
}

bool RegionFinder::any_in_frame(const Parameters& parameters, int first) const {
  const Box whole{0, 0, video_->width, video_->height};
  for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(parameters.count);
       ++i) {
    const Box& box = parameters.boxes[i];
    if (box.empty())
      continue;
    const int angle = parameters.angles[i];
    if (overlap(angle == 0 ? grown(box, parameters.margin)
                           : regions::rotated_region_of(box, angle, parameters.margin, 0).reached,
                whole))
      return true;
  }
  return std::any_of(masks_.begin(), masks_.end(), [&](const SelectedMask& mask) {
    return mask.known && overlap(mask.box, whole);
  });
}

void RegionFinder::remember(const Parameters& parameters, int first,
                            const RegionSettings& settings) {
  last_.clear();
  last_masks_.clear();
  age_ = 0;
  if (settings.region_persistence == 0)
    return;
  last_.reserve(Parameters::max_count);
  for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(parameters.count);
       ++i)
    if (!parameters.boxes[i].empty())
      last_.push_back({parameters.boxes[i], parameters.angles[i]});
  for (const SelectedMask& mask : masks_)
    if (mask.known)
      last_masks_.push_back(mask.copy());
}

// The object may have moved meanwhile, so its region grows by the margin. With region-invert, the
// region does not grow, because fewer pixels around the object would be processed.
bool RegionFinder::recall(const RegionSettings& settings, Parameters& parameters) {
  if ((last_.empty() && last_masks_.empty()) || age_ > settings.region_persistence)
    return false;
  const int growth = settings.region_invert ? 0 : settings.region_margin;
  for (const Found& found : last_) {
    const Box whole = grown(found.box, growth);
    add_box(box_within_limits(whole.x0, whole.y0, whole.x1 - whole.x0, whole.y1 - whole.y0),
            found.angle, parameters);
  }
  for (const SelectedMask& mask : last_masks_)
    add(mask.copy(), parameters);
  parameters.mask_growth = growth;
  return true;
}

}  // namespace cudavision
