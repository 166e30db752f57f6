// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests peers that answer queries, or ask them, in ways that GStreamer allows but few elements use.
// None may cause a CRITICAL of GLib, which ends this program.
#include <gst/video/video.h>

#include "tests/check/common/filterharness.h"

using namespace check;

namespace {

constexpr int width = 34, height = 20;

const FormatSpec& format() {
  return format_named("GRAY8");
}

Picture picture() {
  return make_picture(format(), width, height, Content::natural, 1);
}

void answer_caps(GstPad* pad, const std::string& caps) {
  answer_queries(pad, GST_QUERY_CAPS,
                 [=](GstQuery* query) { gst_query_set_caps_result(query, caps_from(caps).get()); });
}

/// Expects that the element processes a frame after all that has been asked.
void expect_works(FilterHarness& filter, const std::string& what) {
  const Picture in = picture();
  expect_picture(filter.process(in), result(in), what);
  fail_unless_equals_int(filter.messages().complaints(), 0);
}

/// Returns a frame's caps in which a field is a string that is NULL.
Owned<GstCaps> caps_with_null(const char* media_type, const char* field) {
  GstStructure* structure = gst_structure_new(media_type, "width", G_TYPE_INT, width, "height",
                                              G_TYPE_INT, height, nullptr);
  GValue null = G_VALUE_INIT;
  g_value_init(&null, G_TYPE_STRING);
  gst_structure_take_value(structure, field, &null);
  return Owned<GstCaps>(gst_caps_new_full(structure, nullptr));
}

}  // namespace

// A CAPS query is a question to which a peer may answer more than its filter has.
TEST(test_caps_beyond_the_filter, .for_each_element()) {
  FilterHarness filter;
  for (const char* pad : {"sink", "src"})
    answer_caps(pad_of(filter.element(), pad).get(), "video/x-raw(ANY);audio/x-raw");
  filter.accept_caps(format(), width, height, colorimetry(format(), false));
  expect_works(filter, "peers that ignore the filter");
}

TEST(test_texts_that_are_null, .for_each_element()) {
  FilterHarness filter;
  filter.accept_caps(format(), width, height, colorimetry(format(), false));
  for (const auto& [media_type, field] : {std::pair{"video/x-raw", "format"},
                                          {"video/x-raw", "colorimetry"},
                                          {"video/x-raw", "multiview-mode"},
                                          {"other/tensors", "dimensions"},
                                          {"other/tensors", "types"}})
    for (const char* name : {"sink", "src"}) {
      const Owned<GstPad> pad = pad_of(filter.element(), name);
      const Owned<GstCaps> caps = caps_with_null(media_type, field);
      gst_pad_query_accept_caps(pad, caps);
      const Owned<GstCaps> answer(gst_pad_query_caps(pad, caps));
      fail_unless(answer != nullptr);
    }
  expect_works(filter, "caps with NULL");
}

// A pool that has room for fewer buffers than it begins with cannot be configured so.
TEST(test_pool_with_less_room_than_buffers, .for_each_element()) {
  FilterHarness filter;
  answer_queries(filter.element(), GST_QUERY_ALLOCATION, [](GstQuery* query) {
    const Owned<GstBufferPool> pool(gst_video_buffer_pool_new());
    gst_query_add_allocation_pool(query, pool, width * height, 5, 3);
  });
  filter.accept_caps(format(), width, height, colorimetry(format(), false));
  expect_works(filter, "a pool with less room than buffers");
}

TEST(test_allocation_queries_of_any_caps, .for_each_element()) {
  FilterHarness filter;
  filter.accept_caps(format(), width, height, colorimetry(format(), false));
  for (const char* text : {"ANY", "EMPTY", "video/x-raw", "video/x-raw, format={GRAY8, RGB}",
                           "video/x-raw(ANY), format=GRAY8, width=8, height=8"}) {
    const Owned<GstCaps> caps = caps_from(text);
    const Owned<GstQuery> query(gst_query_new_allocation(caps, TRUE));
    gst_pad_peer_query(filter.source_pad(), query);
    fail_unless_equals_int(static_cast<int>(gst_query_get_n_allocation_pools(query)), 0);
  }
  const Owned<GstQuery> without_caps(gst_query_new_allocation(nullptr, TRUE));
  gst_pad_peer_query(filter.source_pad(), without_caps);
  expect_works(filter, "ALLOCATION queries");
}
