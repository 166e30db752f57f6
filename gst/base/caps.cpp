// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/caps.h"

#include "cuda/core/device.h"
#include "gst/base/videoformat.h"
#include "gst/memory/libgstcuda.h"

namespace cudavision {
namespace {

// Appends the structures of caps that we take, their memory replaced.
GstCaps* append_in(GstCaps* result, const GstCaps* caps, const char* feature, bool take_cuda) {
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const bool any = gst_caps_features_is_any(gst_caps_get_features(caps, i));
    if (!any && !has_system_feature(caps, i) && !(take_cuda && has_cuda_feature(caps, i)))
      continue;
    result =
        gst_caps_merge_structure_full(result, gst_structure_copy(gst_caps_get_structure(caps, i)),
                                      gst_caps_features_new(feature, nullptr));
  }
  return result;
}

}  // namespace

GstCaps* caps_of_other_side(GstCaps* caps, GstCaps* filter, bool cuda) {
  if (gst_caps_is_any(caps))
    return gst_caps_ref(filter ? filter : caps);
  const bool take_cuda = cuda && built_with_cuda();
  GstCaps* result = gst_caps_new_empty();
  if (take_cuda)
    result = append_in(result, caps, cuda_memory_feature, take_cuda);
  result = append_in(result, caps, GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY, take_cuda);
  if (filter) {
    GstCaps* filtered = gst_caps_intersect_full(filter, result, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref(result);
    result = filtered;
  }
  return result;
}

GstCaps* choose_memory(GstCaps* caps, GstPad* src) {
  // Asked without a filter: with one, a peer that takes anything would repeat our own words.
  GstCaps* peer = gst_pad_peer_query_caps(src, nullptr);
  const bool cuda = peer && names_cuda_memory(peer);
  gst_clear_caps(&peer);

  for (guint i = 0; i < gst_caps_get_size(caps); ++i)
    if (has_cuda_feature(caps, i) == cuda) {
      GstCaps* chosen = gst_caps_copy_nth(caps, i);
      gst_caps_unref(caps);
      return chosen;
    }
  return gst_caps_truncate(caps);
}

}  // namespace cudavision
