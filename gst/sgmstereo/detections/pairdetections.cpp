// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/detections/pairdetections.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gst/base/regions/regionsettings.h"
#include "gst/core/elementerror.h"
#include "gst/core/text.h"
#include "gst/memory/mappedbuffer.h"
#include "gst/memory/memorydebug.h"

namespace cudavision {
namespace {

/// Maps a box in the camera's picture to its bounding box in the rectified picture. Uses the
/// corners and the midpoints of the edges, because lenses bend edges.
regions::Box rectified_box(const regions::Box& box, const RectifiedCamera& camera) {
  // A box covers its pixels, whose centres have integer coordinates.
  const double xs[] = {box.x0 - 0.5, (box.x0 + box.x1 - 1) / 2.0, box.x1 - 0.5};
  const double ys[] = {box.y0 - 0.5, (box.y0 + box.y1 - 1) / 2.0, box.y1 - 0.5};
  Positions edge;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k)
      if (i != 1 || k != 1)
        edge.push_back({xs[i], ys[k]});
  // For positions outside the lens model, OpenCV may return coordinates far outside every picture.
  constexpr double largest = 1e5;
  double low[] = {largest, largest}, high[] = {-largest, -largest};
  for (const auto& position : rectified_positions(camera, edge)) {
    if (!(std::abs(position[0]) < largest && std::abs(position[1]) < largest))
      continue;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      low[axis] = std::min(low[axis], position[axis]);
      high[axis] = std::max(high[axis], position[axis]);
    }
  }
  if (low[0] > high[0])
    return {};
  return box_within_limits(low[0] + 0.5, low[1] + 0.5, high[0] - low[0], high[1] - low[1]);
}

bool has_class(const MaskRegion& region, GQuark label) {
  return region.classified && label != 0 &&
         g_ascii_strcasecmp(text_of(g_quark_to_string(region.label)),
                            text_of(g_quark_to_string(label))) == 0;
}

/// Returns the object's first related mask that is readable and has an id to select. If regions of
/// the mask have the object's label as their class, selects only the ids of these regions.
SelectedMask mask_of(const FrameDetections& found, std::size_t object, GQuark label) {
  for (const auto& [of_object, number] : found.relations) {
    if (of_object != object)
      continue;
    const DetectedMask& mask = found.masks[number];
    const auto labelled = [label](const MaskRegion& region) { return has_class(region, label); };
    const auto first = found.regions.begin() + static_cast<std::ptrdiff_t>(mask.first);
    const bool any = std::any_of(first, first + static_cast<std::ptrdiff_t>(mask.count), labelled);
    try {
      std::optional<SelectedMask> selected = select_ids(
          found, mask, !any, [&](const MaskRegion& region) { return !any || labelled(region); });
      if (!selected)
        continue;
      MappedBuffer::require_whole_frame(selected->picture.get(), selected->format);
      return std::move(*selected);
    } catch (const ElementError& error) {
      GST_DEBUG("measuring the box instead: %s", error.what());
    }
  }
  return {};
}

}  // namespace

void PairDetections::find(GstBuffer* left, const FramePacking& packing, const PictureSize& picture,
                          const RectifiedCamera* camera) {
  const bool second = packing.packed() && packing.right_first;
  const int left_x = second && packing.packing == Packing::side_by_side ? picture.width : 0;
  const int left_y = second && packing.packing == Packing::top_bottom ? picture.height : 0;
  FrameDetections found;
  find_detections(left, true, found);
  detections = std::move(found.objects);
  if (detections.size() > sgm::Distances::max_boxes) {
    left_out = detections.size() - sgm::Distances::max_boxes;
    detections.resize(sgm::Distances::max_boxes);
  }
  for (const Detection& detection : detections) {
    const auto within_picture = [&](const regions::Box& box) {
      return regions::clipped(box, picture.width, picture.height);
    };
    regions::Box box = within_picture(box_within_limits(
        static_cast<double>(detection.x - left_x), static_cast<double>(detection.y - left_y),
        static_cast<double>(detection.width), static_cast<double>(detection.height)));
    if (camera && !box.empty())
      box = within_picture(rectified_box(box, *camera));
    visible.push_back(box.empty() ? regions::Box() : box);
  }
  if (found.relations.empty())
    return;
  for (DetectedMask& mask : found.masks) {
    mask.x -= left_x;
    mask.y -= left_y;
  }
  for (std::size_t i = 0; i < detections.size(); ++i)
    masks.push_back(mask_of(found, i, detections[i].label));
}

}  // namespace cudavision
