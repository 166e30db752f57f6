// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/analytics/analytics.h>
#include <gst/video/video.h>

#include <vector>

#include "tests/check/common/pictures/random.h"

namespace fuzz {

/// A segmentation mask that add_to() adds to a frame's meta.
struct Mask {
  GstVideoFormat format = GST_VIDEO_FORMAT_GRAY8;
  int width = 1, height = 1, stride = 1;
  std::vector<guint8> bytes;
  gint x = 0, y = 0;
  guint columns = 0, rows = 0;  ///< size of the mask's rectangle in the frame
  std::vector<guint> ids;
  bool whole = true;  ///< the buffer holds all samples of the mask

  bool is_readable() const {
    return whole && (format == GST_VIDEO_FORMAT_GRAY8 || format == GST_VIDEO_FORMAT_GRAY16_LE);
  }
  int id(int column, int row) const {
    const std::size_t at = static_cast<std::size_t>(row * stride);
    return format == GST_VIDEO_FORMAT_GRAY8
               ? bytes[at + static_cast<std::size_t>(column)]
               : bytes[at + static_cast<std::size_t>(2 * column)] +
                     256 * bytes[at + static_cast<std::size_t>(2 * column + 1)];
  }
  GstBuffer* buffer() const {
    GstBuffer* picture = gst_buffer_new_memdup(bytes.data(), bytes.size());
    const gsize offsets[GST_VIDEO_MAX_PLANES] = {};
    const gint strides[GST_VIDEO_MAX_PLANES] = {stride};
    gst_buffer_add_video_meta_full(picture, GST_VIDEO_FRAME_FLAG_NONE, format,
                                   static_cast<guint>(width), static_cast<guint>(height), 1,
                                   offsets, strides);
    return picture;
  }
  GstAnalyticsSegmentationMtd add_to(GstAnalyticsRelationMeta* meta) {
    GstAnalyticsSegmentationMtd added;
    gst_analytics_relation_meta_add_segmentation_mtd(meta, buffer(), GST_SEGMENTATION_TYPE_SEMANTIC,
                                                     ids.size(), ids.data(), x, y, columns, rows,
                                                     &added);
    return added;
  }
};

/// Returns a mask of random size, stride, format, rectangle and ids, for a frame of width×height.
inline Mask any_mask(check::Random& random, int width, int height) {
  Mask mask;
  mask.format =
      random.one_of({GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY16_LE,
                     GST_VIDEO_FORMAT_GRAY16_LE,
                     random.below(20) == 0 ? GST_VIDEO_FORMAT_GRAY16_BE : GST_VIDEO_FORMAT_GRAY8});
  mask.width = 1 + random.below(random.below(4) == 0 ? 300 : 20);
  mask.height = 1 + random.below(random.below(4) == 0 ? 200 : 20);
  const int row_bytes = mask.width * (mask.format == GST_VIDEO_FORMAT_GRAY8 ? 1 : 2);
  mask.stride = row_bytes + random.below(9);
  mask.bytes.resize(static_cast<std::size_t>(mask.stride * mask.height));
  for (guint8& byte : mask.bytes)
    byte = static_cast<guint8>(random.below(3) == 0 ? random.below(4) : 0);
  if (random.below(15) == 0) {
    mask.bytes.resize(mask.bytes.size() / 2);
    mask.whole = false;
  }
  mask.x = random.one_of(
      {0, random.below(width), -random.below(90), width, G_MININT, G_MAXINT - random.below(9)});
  mask.y = random.one_of({0, 0, random.below(height), -random.below(90), height - 1});
  if (random.below(8) != 0)
    mask.x = random.one_of({0, -random.below(9), random.below(width)});
  mask.columns = static_cast<guint>(1 + random.below(2 * width));
  mask.rows = static_cast<guint>(1 + random.below(2 * height));
  if (random.below(20) == 0)
    mask.columns = random.one_of({0u, G_MAXUINT, 1u << 21});
  for (int i = random.below(random.below(10) == 0 ? 5000 : 5); i > 0; --i)
    mask.ids.push_back(random.below(3) == 0 ? static_cast<guint>(random.any_seed())
                                            : static_cast<guint>(random.below(6)));
  return mask;
}

}  // namespace fuzz
