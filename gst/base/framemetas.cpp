// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/framemetas.h"

#include <gst/video/gstvideometa.h>

namespace cudavision {

bool applies_to_output(const GstMeta* meta, bool same_size) {
  static const gchar* const kept[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
                                      GST_META_TAG_VIDEO_ORIENTATION_STR, nullptr};
  const GType api = meta->info->api;
  if (api == GST_VIDEO_META_API_TYPE)
    return false;
  const gchar* const* tags = gst_meta_api_type_get_tags(api);
  if (!tags || !tags[0])
    return true;
  if (!same_size)
    return false;
  for (; *tags; ++tags)
    if (!g_strv_contains(kept, *tags))
      return false;
  return true;
}

void copy_metadata(GstBuffer* in, GstBuffer* out, bool same_size) {
  gst_buffer_copy_into(
      out, in, static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS),
      0, static_cast<gsize>(-1));
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta(in, &state)) {
    // Pooled metas belong to the pool of the input buffer, so they are not copied.
    if (GST_META_FLAG_IS_SET(meta, GST_META_FLAG_POOLED) || !applies_to_output(meta, same_size))
      continue;
    GstMetaTransformCopy whole = {FALSE, 0, static_cast<gsize>(-1)};
    if (meta->info->transform_func)
      meta->info->transform_func(out, meta, in, _gst_meta_transform_copy, &whole);
  }
}

}  // namespace cudavision
