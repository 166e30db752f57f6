// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/regions/framedetections.h"

#include <gst/video/gstvideometa.h>

#include <cmath>

// Only this file and detectionresults.cpp use GstAnalytics, whose API is not stable yet.
#ifdef HAVE_GST_ANALYTICS
#ifndef GST_USE_UNSTABLE_API
#define GST_USE_UNSTABLE_API
#endif
#include <gst/analytics/analytics.h>
#endif

namespace cudavision {
namespace {

// The meta's coordinates are unsigned, but detectors store negative coordinates in them if the left
// or upper edge cuts off an object: −10 becomes 4294967286. Coordinates from 2³¹ on are negative.
gint64 signed_coordinate(guint coordinate) {
  return static_cast<gint32>(coordinate);
}

// Detectors such as DL Streamer store the confidence in the meta's parameter `detection`.
double confidence_of(GstVideoRegionOfInterestMeta* region) {
  gdouble confidence = 1;
  if (const GstStructure* detection =
          gst_video_region_of_interest_meta_get_param(region, "detection"))
    gst_structure_get_double(detection, "confidence", &confidence);
  return confidence;
}

#ifdef HAVE_GST_ANALYTICS

#if GST_CHECK_VERSION(1, 26, 0)

// Returns the angle in 1/65536 turn, or 0 if it is NaN or infinite.
int angle_of(gfloat radians) {
  const double turns = static_cast<double>(radians) / (2 * G_PI);
  return std::isfinite(turns)
             ? static_cast<int>(std::lround((turns - std::floor(turns)) * 65536)) % 65536
             : 0;
}

bool are_related(GstAnalyticsRelationMeta* meta, guint one, guint other,
                 GstAnalyticsRelTypes types) {
  return ((gst_analytics_relation_meta_get_relation(meta, one, other) |
           gst_analytics_relation_meta_get_relation(meta, other, one)) &
          types) != 0;
}

// Gives each region of a mask the class with the same index in the classification metadata that is
// related to the mask. A negative level means that the confidence is unknown.
void classify(GstAnalyticsRelationMeta* meta, guint mask, MaskRegion* regions, std::size_t count) {
  gpointer state = nullptr;
  GstAnalyticsClsMtd classes;
  while (gst_analytics_relation_meta_iterate(meta, &state, gst_analytics_cls_mtd_get_mtd_type(),
                                             &classes)) {
    if (!are_related(meta, mask, classes.id, GST_ANALYTICS_REL_TYPE_N_TO_N))
      continue;
    const gsize known = gst_analytics_cls_mtd_get_length(&classes);
    for (std::size_t i = 0; i < count && i < known; ++i) {
      const double level = static_cast<double>(gst_analytics_cls_mtd_get_level(&classes, i));
      regions[i].classified = true;
      regions[i].label = gst_analytics_cls_mtd_get_quark(&classes, i);
      regions[i].confidence = level < 0 ? 1 : level;
    }
  }
}

// `objects` has the ids of the GstAnalytics detections, which are found.objects from `first` on.
void find_masks(GstAnalyticsRelationMeta* meta, std::size_t first,
                const std::vector<guint>& objects, FrameDetections& found) {
  gpointer state = nullptr;
  GstAnalyticsSegmentationMtd mask;
  while (gst_analytics_relation_meta_iterate(
      meta, &state, gst_analytics_segmentation_mtd_get_mtd_type(), &mask)) {
    gint x = 0, y = 0;
    guint width = 0, height = 0;
    OwnedBuffer picture(gst_analytics_segmentation_mtd_get_mask(&mask, &x, &y, &width, &height));
    if (!picture)
      continue;
    const gsize count = gst_analytics_segmentation_mtd_get_region_count(&mask);
    const std::size_t first_region = found.regions.size();
    for (gsize i = 0; i < count; ++i)
      found.regions.push_back({gst_analytics_segmentation_mtd_get_region_id(&mask, i)});
    classify(meta, mask.id, found.regions.data() + first_region, count);
    for (std::size_t i = 0; i < objects.size(); ++i)
      if (are_related(meta, objects[i], mask.id, GST_ANALYTICS_REL_TYPE_ANY))
        found.relations.emplace_back(first + i, found.masks.size());
    found.masks.push_back({std::move(picture), x, y, width, height, first_region, count});
  }
}

#endif

// Returns false if the detection has no location.
bool locate(const GstAnalyticsODMtd& object, Detection& detection) {
  gint x = 0, y = 0, width = 0, height = 0;
  gfloat confidence = 1;
#if GST_CHECK_VERSION(1, 26, 0)
  gfloat radians = 0;
  if (!gst_analytics_od_mtd_get_oriented_location(&object, &x, &y, &width, &height, &radians,
                                                  &confidence))
    return false;
  detection.angle = angle_of(radians);
#else
  if (!gst_analytics_od_mtd_get_location(&object, &x, &y, &width, &height, &confidence))
    return false;
#endif
  detection.x = x;
  detection.y = y;
  detection.width = width;
  detection.height = height;
  detection.confidence = static_cast<double>(confidence);
  return true;
}

void find_analytics(GstAnalyticsRelationMeta* meta, [[maybe_unused]] bool masks,
                    FrameDetections& found) {
  [[maybe_unused]] const std::size_t first = found.objects.size();
  std::vector<guint> ids;
  gpointer state = nullptr;
  GstAnalyticsODMtd object;
  while (gst_analytics_relation_meta_iterate(meta, &state, gst_analytics_od_mtd_get_mtd_type(),
                                             &object)) {
    Detection detection{};
    if (!locate(object, detection))
      continue;
    detection.label = gst_analytics_od_mtd_get_obj_type(&object);
    detection.id = static_cast<gint>(object.id);
    detection.in_analytics = true;
    found.objects.push_back(detection);
    ids.push_back(object.id);
  }
#if GST_CHECK_VERSION(1, 26, 0)
  if (masks)
    find_masks(meta, first, ids, found);
#endif
}

#endif

}  // namespace

void find_detections(GstBuffer* frame, [[maybe_unused]] bool masks, FrameDetections& found) {
  found.objects.clear();
  found.masks.clear();
  found.regions.clear();
  found.relations.clear();
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
             frame, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto* region = static_cast<GstVideoRegionOfInterestMeta*>(static_cast<gpointer>(meta));
    found.objects.push_back({signed_coordinate(region->x), signed_coordinate(region->y), region->w,
                             region->h, region->roi_type, region->id, false,
                             confidence_of(region)});
  }
#ifdef HAVE_GST_ANALYTICS
  if (GstAnalyticsRelationMeta* const meta = gst_buffer_get_analytics_relation_meta(frame))
    find_analytics(meta, masks, found);
#endif
}

}  // namespace cudavision
