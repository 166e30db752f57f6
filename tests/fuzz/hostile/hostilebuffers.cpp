// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/hostile/hostilebuffers.h"

#include <gst/base/gstbasetransform.h>

#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "tests/check/common/gstcheck.h"
#include "tests/check/common/owned.h"
#include "tests/fuzz/propertyextremes.h"

namespace fuzz {

using namespace check;

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

namespace {

void set_again(GstElement* element, const char* property) {
  GValue value = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(element), property, &value);
  g_object_set_property(G_OBJECT(element), property, &value);
  g_value_unset(&value);
}

void query_caps(GstElement* element, const char* name) {
  const Owned<GstPad> pad(gst_element_get_static_pad(element, name));
  if (pad != nullptr)
    Owned<GstCaps>(gst_pad_query_caps(pad, nullptr));
}

void call_back(gpointer data) {
  const Owned<GstElement> element(static_cast<GstElement*>(data));
  read_properties(element);
  set_again(element, "frames-in-flight");
  set_again(element, "cuda-device-id");
  for (const char* pad : {"sink", "sink_left", "src"})
    query_caps(element, pad);
  // Sends no LATENCY query to GstAggregator, which frees frames under a lock that the query takes.
  if (GST_IS_BASE_TRANSFORM(element.get())) {
    const Owned<GstQuery> latency(gst_query_new_latency());
    gst_element_query(element, latency);
  }
}

}  // namespace

GstBuffer* with_callback(GstElement* element, GstBuffer* buffer) {
  gst_mini_object_set_qdata(GST_MINI_OBJECT(gst_buffer_peek_memory(buffer, 0)),
                            g_quark_from_static_string("cudavision-fuzz-callback"),
                            gst_object_ref(element), call_back);
  return buffer;
}

namespace {

constexpr std::size_t most = 32;

struct Kept {
  Owned<GstBuffer> buffer;
  std::size_t hash;
};

std::mutex mutex;
std::vector<Kept> kept;

std::optional<std::size_t> hash_of(GstBuffer* buffer) {
  GstMapInfo map;
  if (!gst_buffer_map(buffer, &map, GST_MAP_READ))
    return {};
  const std::size_t hash = std::hash<std::string_view>()(
      {static_cast<const char*>(static_cast<const void*>(map.data)), map.size});
  gst_buffer_unmap(buffer, &map);
  return hash;
}

}  // namespace

void keep_buffer(GstBuffer* buffer) {
  const std::optional<std::size_t> hash = hash_of(buffer);
  if (!hash)
    return;  // its memory may be unmappable or missing
  const std::lock_guard<std::mutex> lock(mutex);
  if (kept.size() < most)
    kept.push_back({Owned<GstBuffer>(gst_buffer_ref(buffer)), *hash});
}

void free_kept_buffers() {
  const std::lock_guard<std::mutex> lock(mutex);
  for (const Kept& each : kept)
    if (const std::optional<std::size_t> hash = hash_of(each.buffer))
      fail_unless(*hash == each.hash, "a buffer changed after it had been pushed");
  kept.clear();
}

}  // namespace fuzz
