// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/regions/regionfinder.h"

#include <string>

#include "gst/base/regions/framedetections.h"
#include "gst/core/elementerror.h"

namespace cudavision {
namespace {

using regions::Box;
using regions::Parameters;

void add(const Box& box, int angle, Parameters& parameters) {
  if (parameters.count == Parameters::max_count)
    refuse_stream("the frame has more than " + std::to_string(Parameters::max_count) +
                  " regions: name the kinds that count in region-types, or give fewer regions.");
  const auto number = static_cast<std::size_t>(parameters.count++);
  parameters.boxes[number] = box;
  parameters.angles[number] = static_cast<std::uint16_t>(angle);
}

Box box_of(const Detection& detection) {
  return box_within_limits(static_cast<double>(detection.x), static_cast<double>(detection.y),
                           static_cast<double>(detection.width),
                           static_cast<double>(detection.height));
}

void select_whole_frame(Parameters& parameters) {
  parameters.count = 0;
  parameters.invert = true;
}

}  // namespace

void RegionFinder::start() {
  video_.reset();
  forget();
  warning_ = {};
}

void RegionFinder::set_video(const GstVideoInfo& video) {
  if (video_ && gst_video_info_is_equal(&*video_, &video))
    return;
  video_ = video;
  clock_.emplace(video);
  forget();
}

void RegionFinder::forget() {
  last_.clear();
  if (clock_)
    clock_->reset();
}

void RegionFinder::find(const FrameInfo& frame, const RegionSettings& settings,
                        Parameters& parameters) {
  const GstClockTime elapsed = clock_->elapsed(frame.times);
  parameters.shape = settings.region_shape;
  parameters.margin = settings.region_margin;
  parameters.feather = settings.region_feather;
  parameters.invert = settings.region_invert;
  parameters.fields = frame.interlaced;
  parameters.count = 0;
  if (!settings.in_regions()) {
    last_.clear();
    select_whole_frame(parameters);
    return;
  }
  for (const WrittenRectangle& rectangle : settings.regions.rectangles())
    add(rectangle.box_in(video_->width, video_->height), 0, parameters);
  const int first = settings.use_roi_meta ? parameters.count : 0;
  if (settings.use_roi_meta)
    for_each_detection(frame.buffer, [&](const Detection& detection) {
      if (!settings.region_types.accepts(detection.label))
        warning_.saw_other_label(detection.label);
      else if (detection.confidence < settings.region_confidence)
        warning_.saw_confidence(detection.confidence);
      else
        add(box_of(detection), detection.angle, parameters);
    });

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

bool RegionFinder::any_in_frame(const Parameters& parameters, int first) const {
  const Box whole{0, 0, video_->width, video_->height};
  for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(parameters.count);
       ++i) {
    const Box& box = parameters.boxes[i];
    if (box.empty())
      continue;
    const int angle = parameters.angles[i];
    if (overlap(angle == 0 ? grown(box, parameters.margin)
                           : regions::turned_region_of(box, angle, parameters.margin, 0).reached,
                whole))
      return true;
  }
  return false;
}

void RegionFinder::remember(const Parameters& parameters, int first,
                            const RegionSettings& settings) {
  last_.clear();
  age_ = 0;
  if (settings.region_persistence == 0)
    return;
  last_.reserve(Parameters::max_count);
  for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(parameters.count);
       ++i)
    if (!parameters.boxes[i].empty())
      last_.push_back({parameters.boxes[i], parameters.angles[i]});
}

// The contents of a region may have moved since, so the region grows. Inverted regions don't,
// because that would uncover their surroundings.
bool RegionFinder::recall(const RegionSettings& settings, Parameters& parameters) {
  if (last_.empty() || age_ > settings.region_persistence)
    return false;
  const int growth = settings.region_invert ? 0 : settings.region_margin;
  for (const Found& found : last_) {
    const Box whole = grown(found.box, growth);
    add(box_within_limits(whole.x0, whole.y0, whole.x1 - whole.x0, whole.y1 - whole.y0),
        found.angle, parameters);
  }
  return true;
}

}  // namespace cudavision
