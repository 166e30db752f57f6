// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/damagedmeta.h"

namespace fuzz {

void damage(check::Random& random, GstVideoMeta* meta, int planes) {
  const int plane = random.below(planes);
  switch (random.below(6)) {
    case 0:
      meta->offset[plane] = random.any_number();
      break;
    case 1:
      meta->stride[plane] = static_cast<gint>(random.any_number());
      break;
    case 2:
      meta->stride[plane] = -meta->stride[plane];
      break;
    case 3:
      meta->width = static_cast<guint>(random.any_number());
      break;
    case 4:
      meta->format = static_cast<GstVideoFormat>(
          random.one_of({static_cast<int>(GST_VIDEO_FORMAT_UNKNOWN), 9999, random.below(200)}));
      break;
    default:
      meta->n_planes = static_cast<guint>(random.below(GST_VIDEO_MAX_PLANES + 1));
  }
}

}  // namespace fuzz
