// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/regions/regionwarning.h"

#include <utility>

#include "gst/base/warningtimeout.h"
#include "gst/core/elementerror.h"

namespace cudavision {
namespace {

using regions::Box;

// Maximum number of labels in a warning. A few are enough to show a mistake.
constexpr std::size_t max_labels = 8;

// Returns how frames without a region are processed.
std::string consequence(const RegionSettings& settings) {
  const bool all = settings.regions_missing == RegionsMissing::all;
  if (!all && settings.use_roi_meta && !settings.regions.empty())
    return settings.region_invert ? "frames are processed except in the rectangles of regions"
                                  : "frames are processed in the rectangles of regions only";
  return all || settings.region_invert ? "frames are processed as a whole"
                                       : "frames pass unchanged";
}

std::string outside_text(const GstVideoInfo& video, const RegionSettings& settings,
                         const Box& box) {
  const std::string size = std::to_string(video.width) + "x" + std::to_string(video.height);
  const std::string where = std::to_string(box.x0) + "," + std::to_string(box.y0) + "," +
                            std::to_string(box.x1 - box.x0) + "," + std::to_string(box.y1 - box.y0);
  return std::string(settings.use_roi_meta ? "No region in the metas" : "No region") +
         " intersects the " + size + " frame (the first is " + where + "); " +
         consequence(settings) + ". " +
         (settings.use_roi_meta
              ? "Scale frames before the detector, so that it processes frames of this size."
              : "Write regions as x,y,width,height in pixels of this frame or, with decimal "
                "points, in fractions of the frame (0.5,0.5,0.25,0.25).");
}

std::string labels_text(const RegionSettings& settings, const std::vector<GQuark>& seen) {
  std::string names;
  for (const GQuark label : seen)
    names += std::string(names.empty() ? "" : ", ") + text_of(g_quark_to_string(label));
  return std::string("No region has a label from region-types=") + settings.region_types.c_str() +
         " (seen: " + names + "); " + consequence(settings) +
         ". Correct region-types, or leave it empty to accept all labels.";
}

std::string confidence_text(const RegionSettings& settings, double largest) {
  return "No detection reaches region-confidence=" + text_of(settings.region_confidence) +
         " (the largest seen is " + text_of(largest) + "); " + consequence(settings) +
         ". Lower region-confidence.";
}

std::string metas_text(const RegionSettings& settings) {
  return "use-roi-meta=true, but no frame has had a region of interest in its metas for 5 s "
         "(with region-masks=only, boxes do not count); " +
         consequence(settings) +
         ". If the detector finds objects, an element after the detector drops the metas, as "
         "videocrop, videobox, videoflip and compositor of GStreamer 1.22 do: move that element "
         "before the detector.";
}

}  // namespace

void RegionWarning::saw_other_label(GQuark label) {
  if (done_ || label == 0 || other_labels_.size() == max_labels)
    return;
  if (std::find(other_labels_.begin(), other_labels_.end(), label) == other_labels_.end())
    other_labels_.push_back(label);
}

void RegionWarning::saw_none(const GstVideoInfo& video, const RegionSettings& settings,
                             const regions::Parameters& parameters, int first,
                             GstClockTime elapsed) {
  if (done_)
    return;
  settings_ = settings;
  const auto boxes = parameters.boxes.begin(), boxes_end = boxes + parameters.count;
  const auto box =
      std::find_if(boxes + first, boxes_end, [](const Box& one) { return !one.empty(); });
  if (box != boxes_end)
    return explain(outside_text(video, settings, *box));
  if (parameters.mask_count > 0 &&
      !overlap(parameters.mask_boxes[0], {0, 0, video.width, video.height}))
    return explain(outside_text(video, settings, parameters.mask_boxes[0]));
  if (!settings.use_roi_meta || (waited_ += elapsed) < warning_timeouts::no_region.time)
    return;
  end();
  if (!done_)
    explain(metas_text(settings));
}

void RegionWarning::end() {
  if (done_)
    return;
  if (largest_confidence_ >= 0)
    explain(confidence_text(settings_, largest_confidence_));
  else if (!other_labels_.empty())
    explain(labels_text(settings_, other_labels_));
}

void RegionWarning::explain(std::string reason) {
  warning_ = std::move(reason);
  done_ = true;
}

void RegionWarning::post(GstElement* element) {
  if (warning_.empty())
    return;
  const std::string text = std::exchange(warning_, {});
  post_warning(element, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, text);
}

}  // namespace cudavision
