// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/video/gstvideometa.h>

#include <utility>

#include "gst/base/devicemessages.h"
#include "gst/core/text.h"
#include "gst/sgmstereo/detections/pairdetections.h"

// GstAnalytics' API is not stable yet.
#ifdef HAVE_GST_ANALYTICS
#ifndef GST_USE_UNSTABLE_API
#define GST_USE_UNSTABLE_API
#endif
#include <gst/analytics/analytics.h>
#endif

namespace cudavision {
namespace {

constexpr char parameter_name[] = "distance";

using Figures = std::vector<std::pair<const char*, double>>;

Figures figures_of(const PairDetections& pair, std::size_t number) {
  const sgm::BoxDisparity& result = pair.results[number];
  Figures figures = {
      {"known", result.samples ? static_cast<double>(result.known) / result.samples : 0.0}};
  if (result.known == 0)
    return figures;
  const auto pixels = [&](std::uint16_t value) {
    return static_cast<std::int16_t>(value) / static_cast<double>(pair.scale.per_pixel);
  };
  figures.insert(figures.end(), {{"disparity", pixels(result.middle)},
                                 {"disparity-low", pixels(result.low)},
                                 {"disparity-high", pixels(result.high)}});
  if (pair.reprojection)
    if (const auto point =
            sgm::center_of(pair.visible[number], result.middle, pair.scale, *pair.reprojection))
      figures.insert(figures.end(),
                     {{"x-mm", (*point)[0]}, {"y-mm", (*point)[1]}, {"z-mm", (*point)[2]}});
  return figures;
}

void add_figures(GstStructure* structure, const Figures& figures) {
  for (const auto& [name, value] : figures)
    gst_structure_set(structure, name, G_TYPE_DOUBLE, value, nullptr);
}

GstStructure* object_structure(const PairDetections& pair, std::size_t number) {
  const Detection& detection = pair.detections[number];
  const regions::Box& visible = pair.visible[number];
  GstStructure* const structure = gst_structure_new(
      "detection", "label", G_TYPE_STRING, text_of(g_quark_to_string(detection.label)), "meta",
      G_TYPE_STRING, detection.in_analytics ? "analytics" : "roi", "id", G_TYPE_INT, detection.id,
      "x", G_TYPE_INT64, detection.x, "y", G_TYPE_INT64, detection.y, "width", G_TYPE_INT64,
      detection.width, "height", G_TYPE_INT64, detection.height, "map-x", G_TYPE_INT, visible.x0,
      "map-y", G_TYPE_INT, visible.y0, "map-width", G_TYPE_INT, visible.x1 - visible.x0,
      "map-height", G_TYPE_INT, visible.y1 - visible.y0, "masked", G_TYPE_BOOLEAN,
      pair.results[number].masked != 0, nullptr);
  add_figures(structure, figures_of(pair, number));
  return structure;
}

void set_parameter(GstVideoRegionOfInterestMeta* region, const Figures& figures) {
  // An element upstream may have set the parameter already.
  while (GstStructure* old = gst_video_region_of_interest_meta_get_param(region, parameter_name)) {
    region->params = g_list_remove(region->params, old);
    gst_structure_free(old);
  }
  GstStructure* const distance = gst_structure_new_empty(parameter_name);
  add_figures(distance, figures);
  gst_video_region_of_interest_meta_add_param(region, distance);
}

#ifdef HAVE_GST_ANALYTICS
void relate_classification(GstAnalyticsRelationMeta* meta, guint object, Figures figures,
                           bool masked) {
  if (masked)
    figures.emplace_back("masked", 1);
  std::vector<GQuark> names;
  std::vector<gfloat> values;
  for (const auto& [name, value] : figures) {
    names.push_back(g_quark_from_static_string(name));
    values.push_back(static_cast<gfloat>(value));
  }
  GstAnalyticsClsMtd classification;
  if (gst_analytics_relation_meta_add_cls_mtd(meta, names.size(), values.data(), names.data(),
                                              &classification))
    gst_analytics_relation_meta_set_relation(meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, object,
                                             classification.id);
}
#endif

}  // namespace

Structure detections_message(const PairDetections& pair) {
  Structure message = structure_with_times("detections", pair.times);
  GValue objects = G_VALUE_INIT;
  g_value_init(&objects, GST_TYPE_ARRAY);
  for (std::size_t i = 0; i < pair.detections.size(); ++i) {
    GValue object = G_VALUE_INIT;
    g_value_init(&object, GST_TYPE_STRUCTURE);
    g_value_take_boxed(&object, object_structure(pair, i));
    gst_value_array_append_and_take_value(&objects, &object);
  }
  gst_structure_take_value(message.get(), "objects", &objects);
  gst_structure_set(message.get(), "left-out", G_TYPE_UINT, static_cast<guint>(pair.left_out),
                    nullptr);
  return message;
}

// The output's metas are copies of the left frame's metas, in the order of the detections.
void add_distances(const PairDetections& pair, GstBuffer* output) {
  gpointer state = nullptr;
  for (std::size_t i = 0; i < pair.detections.size() && !pair.detections[i].in_analytics; ++i) {
    GstMeta* const meta = gst_buffer_iterate_meta_filtered(
        output, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
    if (!meta)
      break;
    set_parameter(static_cast<GstVideoRegionOfInterestMeta*>(static_cast<gpointer>(meta)),
                  figures_of(pair, i));
  }
#ifdef HAVE_GST_ANALYTICS
  GstAnalyticsRelationMeta* const relations = gst_buffer_get_analytics_relation_meta(output);
  if (!relations)
    return;
  for (std::size_t i = 0; i < pair.detections.size(); ++i)
    if (pair.detections[i].in_analytics)
      relate_classification(relations, static_cast<guint>(pair.detections[i].id),
                            figures_of(pair, i), pair.results[i].masked != 0);
#endif
}

}  // namespace cudavision
