// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/analytics/analytics.h>

#include <vector>

#include "tests/check/common/definitions/regiondefinition.h"
#include "tests/check/common/gstcheck.h"
#include "tests/check/common/pictures/picture.h"
#include "tests/kernels/regions/masks_case.h"

namespace check {

/// Makes a mask whose samples are id(column, row).
template <class Id>
cudavision::test::MaskPicture mask_of(int columns, int rows, const Box& box, const Id& id) {
  cudavision::test::MaskPicture mask;
  mask.width = columns;
  mask.height = rows;
  mask.pitch = columns + 3;
  mask.offset = 5;
  mask.bytes.assign(static_cast<std::size_t>(mask.offset + mask.pitch * rows), 1);
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x)
      mask.bytes[static_cast<std::size_t>(mask.offset + y * mask.pitch + x)] =
          static_cast<std::uint8_t>(id(x, y));
  mask.box = box;
  return mask;
}

/// Returns the mask with only these ids selected.
inline cudavision::test::MaskPicture selecting(cudavision::test::MaskPicture mask,
                                               const std::vector<int>& ids) {
  mask.ids.assign(mask.sample_bytes == 1 ? 8 : 2048, 0);
  for (const int id : ids)
    mask.ids[static_cast<std::size_t>(id / 32)] |= 1u << (id % 32);
  return mask;
}

/// A frame to which detections are added.
struct AnalysedFrame {
  explicit AnalysedFrame(const Picture& picture)
      : buffer(to_buffer(picture)), meta(gst_buffer_add_analytics_relation_meta(buffer)) {}

  GstAnalyticsODMtd detect(const Box& box, float confidence = 1, const char* label = "face") const {
    GstAnalyticsODMtd object;
    fail_unless(gst_analytics_relation_meta_add_od_mtd(meta, g_quark_from_string(label), box.x0,
                                                       box.y0, box.x1 - box.x0, box.y1 - box.y0,
                                                       confidence, &object));
    return object;
  }

#if GST_CHECK_VERSION(1, 26, 0)
  /// Adds a mask that lists the region ids `ids`, and a classification if `classes` is not empty.
  GstAnalyticsSegmentationMtd add_mask(const cudavision::test::MaskPicture& mask,
                                       std::vector<guint> ids,
                                       const std::vector<const char*>& classes = {},
                                       std::vector<float> levels = {}) const {
    GstBuffer* picture = gst_buffer_new_memdup(mask.bytes.data(), mask.bytes.size());
    const gsize offsets[GST_VIDEO_MAX_PLANES] = {static_cast<gsize>(mask.offset)};
    const gint strides[GST_VIDEO_MAX_PLANES] = {mask.pitch};
    gst_buffer_add_video_meta_full(
        picture, GST_VIDEO_FRAME_FLAG_NONE,
        mask.sample_bytes == 1 ? GST_VIDEO_FORMAT_GRAY8 : GST_VIDEO_FORMAT_GRAY16_LE,
        static_cast<guint>(mask.width), static_cast<guint>(mask.height), 1, offsets, strides);
    return add_picture(picture, ids, mask.box, classes, levels);
  }
  GstAnalyticsSegmentationMtd add_picture(GstBuffer* picture, std::vector<guint>& ids,
                                          const Box& box,
                                          const std::vector<const char*>& classes = {},
                                          std::vector<float> levels = {}) const {
    GstAnalyticsSegmentationMtd added;
    fail_unless(gst_analytics_relation_meta_add_segmentation_mtd(
        meta, picture, GST_SEGMENTATION_TYPE_INSTANCE, ids.size(), ids.data(), box.x0, box.y0,
        static_cast<guint>(box.x1 - box.x0), static_cast<guint>(box.y1 - box.y0), &added));
    if (classes.empty())
      return added;
    // The metadata identifies classes by quarks.
    auto* quarks = g_new(GQuark, classes.size());
    for (std::size_t i = 0; i < classes.size(); ++i)
      quarks[i] = g_quark_from_string(classes[i]);
    levels.resize(classes.size(), -1);
    GstAnalyticsClsMtd related;
    fail_unless(gst_analytics_relation_meta_add_cls_mtd(meta, classes.size(), levels.data(), quarks,
                                                        &related));
    relate(added.id, related.id, GST_ANALYTICS_REL_TYPE_N_TO_N);
    g_free(quarks);
    return added;
  }
  void relate(guint one, guint other,
              GstAnalyticsRelTypes type = GST_ANALYTICS_REL_TYPE_RELATE_TO) const {
    fail_unless(gst_analytics_relation_meta_set_relation(meta, type, one, other));
  }

  void detect_turned(const Box& box, float radians) const {
    GstAnalyticsODMtd object;
    fail_unless(gst_analytics_relation_meta_add_oriented_od_mtd(
        meta, g_quark_from_string("face"), box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0,
        radians, 1, &object));
  }
#endif

  GstBuffer* buffer;
  GstAnalyticsRelationMeta* meta;
};

}  // namespace check
