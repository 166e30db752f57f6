// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests events, flow returns, latency, QoS, and the metas, timestamps, flags and offsets of output
// buffers. check_overlap_reports tests QoS with frames in flight.
#include <gst/video/gstvideometa.h>
#include <gst/video/video.h>

#include "tests/check/common/filterharness.h"

using namespace check;

namespace {

GstBuffer* frame_at(GstClockTime time) {
  return at(time, to_buffer(make_picture(gray(), 24, 16, Content::natural, 1)));
}

Owned<GstEvent> next_event(FilterHarness& filter, GstEventType type) {
  while (Owned<GstEvent> event{gst_harness_try_pull_event(filter.harness())})
    if (GST_EVENT_TYPE(event) == type)
      return event;
  return nullptr;
}

Owned<GstEvent> expect_event(FilterHarness& filter, GstEventType type) {
  Owned<GstEvent> event = next_event(filter, type);
  fail_unless(event != nullptr, "%s was lost", gst_event_type_get_name(type));
  return event;
}

struct TaggedMeta {
  const char* name;
  std::vector<const char*> tags;
  bool kept;
};

const std::vector<TaggedMeta> tagged_metas = {
    {"CheckUntagged", {}, true},
    {"CheckVideo", {"video"}, true},
    {"CheckSize", {"size"}, true},
    {"CheckOrientation", {"orientation"}, true},
    {"CheckVideoSizeOrientation", {"video", "size", "orientation"}, true},
    {"CheckMemory", {"memory"}, false},
    {"CheckVideoMemory", {"video", "memory"}, false},
    {"CheckColorspace", {"video", "colorspace"}, false},
    {"CheckOwn", {"something-else"}, false},
};

void register_metas() {
  static bool done = false;  // if check does not fork, all tests share one process
  if (done)
    return;
  done = true;
  for (const TaggedMeta& meta : tagged_metas) {
    std::vector<const gchar*> tags(meta.tags.begin(), meta.tags.end());
    tags.push_back(nullptr);
    gst_meta_register_custom(meta.name, tags.data(), nullptr, nullptr, nullptr);
  }
}

void start(FilterHarness& filter, const FormatSpec& format) {
  filter.accept_caps(format, 32, 18, colorimetry(format, false));
}

int count_video_metas(GstBuffer* buffer) {
  gpointer state = nullptr;
  int count = 0;
  while (gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_META_API_TYPE) != nullptr)
    ++count;
  return count;
}

}  // namespace

// The debug category has one line per frame at level LOG, and one line for the caps at INFO.
TEST(test_debug_log, .for_each_element()) {
  DebugLog log(tested().element);
  FilterHarness filter({tested().working});
  filter.accept_caps(gray(), 24, 16);
  filter.process(frame_at(0));
  filter.process(frame_at(40 * GST_MSECOND));
  filter.set(tested().idle);
  filter.process(frame_at(80 * GST_MSECOND));
  const std::vector<std::string> lines = log.lines();
  fail_unless_equals_int(lines.size(), 3);
  expect_words(lines[0], {"0:00:00.000000000", "transformed"});
  expect_words(lines[1], {"0:00:00.040000000", "transformed"});
  expect_words(lines[2], {"0:00:00.080000000", "unchanged"});
  const std::vector<std::string> caps = log.lines(GST_LEVEL_INFO);
  fail_unless_equals_int(caps.size(), 1);
  expect_words(caps[0], {"GRAY8", "24", "16"});
}

TEST(test_events_pass, .for_each_element()) {
  FilterHarness filter;
  filter.accept_caps(gray(), 24, 16);
  filter.process(frame_at(0));
  while (next_event(filter, GST_EVENT_CAPS)) {
  }

  filter.send_event(gst_event_new_gap(GST_SECOND, 40 * GST_MSECOND));
  GstClockTime time = 0, duration = 0;
  gst_event_parse_gap(expect_event(filter, GST_EVENT_GAP).get(), &time, &duration);
  fail_unless_equals_uint64(time, GST_SECOND);
  fail_unless_equals_uint64(duration, 40 * GST_MSECOND);

  GstSegment segment = new_segment(), passed;
  segment.start = 5 * GST_SECOND;
  segment.time = 2 * GST_SECOND;
  segment.rate = 0.5;
  filter.send_segment(segment);
  gst_event_copy_segment(expect_event(filter, GST_EVENT_SEGMENT).get(), &passed);
  fail_unless(gst_segment_is_equal(&segment, &passed));

  filter.send_event(gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "a title", nullptr)));
  expect_event(filter, GST_EVENT_TAG);
  filter.send_event(
      gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("own")));
  expect_event(filter, GST_EVENT_CUSTOM_DOWNSTREAM);
  fail_unless(gst_harness_push_event(filter.harness(), gst_event_new_eos()));
  expect_event(filter, GST_EVENT_EOS);
  fail_unless_equals_int(filter.push(frame_at(GST_SECOND)), GST_FLOW_EOS);
}

TEST(test_upstream_events_pass, .for_each_element()) {
  FilterHarness filter;
  filter.accept_caps(gray(), 24, 16);
  filter.process(frame_at(0));
  fail_unless(gst_harness_push_upstream_event(
      filter.harness(), gst_event_new_seek(1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
                                           GST_SEEK_TYPE_SET, GST_SECOND, GST_SEEK_TYPE_NONE, 0)));
  expect_upstream_event(filter.harness(), GST_EVENT_SEEK);
}

TEST(test_other_segment_formats, .for_each_element()) {
  for (GstFormat format : {GST_FORMAT_BYTES, GST_FORMAT_TIME}) {
    FilterHarness filter(tested().everything);
    filter.accept_caps(gray(), 24, 16);
    filter.send_segment(new_segment(format));
    const Picture picture = make_picture(gray(), 24, 16, Content::natural, 1);
    expect_picture(filter.process(picture), result(picture), gst_format_get_name(format));
    filter.send_eos();
    fail_unless_equals_int(filter.messages().count(GST_MESSAGE_ELEMENT), tested().messages);
  }
}

TEST(test_flow_returns, .for_each_element()) {
  for (GstFlowReturn flow : {GST_FLOW_EOS, GST_FLOW_FLUSHING, GST_FLOW_NOT_LINKED, GST_FLOW_ERROR,
                             GST_FLOW_CUSTOM_SUCCESS_1, GST_FLOW_OK}) {
    FilterHarness filter;
    filter.accept_caps(gray(), 24, 16);
    answer_buffers(filter.sink_pad(), flow);
    const GstFlowReturn got = filter.push(frame_at(0));
    fail_unless(got == flow, "%s became %s", gst_flow_get_name(flow), gst_flow_get_name(got));
    fail_unless_equals_int(filter.messages().count(GST_MESSAGE_ERROR), 0);
  }
}

TEST(test_missing_frame_passes, .for_each_element()) {
  FilterHarness filter;
  filter.accept_caps(gray(), 24, 16);
  const Owned<GstBuffer> out = filter.process(at(GST_SECOND, missing_frame()));
  fail_unless_equals_int(gst_buffer_get_size(out), 0);
  fail_unless(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_GAP));
  fail_unless_equals_uint64(GST_BUFFER_PTS(out), GST_SECOND);
  filter.process(frame_at(2 * GST_SECOND));
}

TEST(test_no_latency, .for_each_element()) {
  FilterHarness filter;
  filter.accept_caps(gray(), 24, 16);
  filter.process(frame_at(0));
  gst_harness_set_upstream_latency(filter.harness(), 5 * GST_MSECOND);
  fail_unless_equals_uint64(gst_harness_query_latency(filter.harness()), 5 * GST_MSECOND);
}

TEST(test_qos_is_on, .for_each_element()) {
  const Owned<GstElement> element = new_element(tested().element);
  gboolean qos = FALSE;
  g_object_get(element, "qos", &qos, nullptr);
  fail_unless(qos);
}

TEST(test_metas_by_tag, .for_each_element()) {
  register_metas();
  const FormatSpec& format = format_named("NV12");
  FilterHarness filter;
  start(filter, format);
  GstBuffer* in = to_buffer(make_picture(format, 32, 18, Content::natural, 1));
  for (const TaggedMeta& meta : tagged_metas) {
    GstCustomMeta* custom = gst_buffer_add_custom_meta(in, meta.name);
    fail_unless(custom != nullptr);
    gst_structure_set(gst_custom_meta_get_structure(custom), "answer", G_TYPE_INT, 42, nullptr);
  }
  const Owned<GstBuffer> out = filter.process(in);
  for (const TaggedMeta& meta : tagged_metas) {
    GstCustomMeta* custom = gst_buffer_get_custom_meta(out, meta.name);
    fail_unless((custom != nullptr) == meta.kept, "%s was %s", meta.name,
                meta.kept ? "lost" : "kept");
    gint answer = 0;
    if (custom != nullptr)
      fail_unless(gst_structure_get_int(gst_custom_meta_get_structure(custom), "answer", &answer) &&
                  answer == 42);
  }
}

TEST(test_metas_of_gstreamer, .for_each_element()) {
  const FormatSpec& format = format_named("BGRA");
  FilterHarness filter;
  start(filter, format);
  GstBuffer* in = to_buffer(make_picture(format, 32, 18, Content::natural, 1));
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(in);
  crop->x = 3;
  crop->y = 4;
  crop->width = 20;
  crop->height = 10;
  GstVideoRegionOfInterestMeta* region =
      gst_buffer_add_video_region_of_interest_meta(in, "face", 5, 6, 7, 8);
  region->id = 99;
  const Owned<GstCaps> clock(gst_caps_new_empty_simple("timestamp/x-unix"));
  gst_buffer_add_reference_timestamp_meta(in, clock, 123456789, 40);
  gst_buffer_add_video_time_code_meta_full(in, 25, 1, nullptr, GST_VIDEO_TIME_CODE_FLAGS_NONE, 1, 2,
                                           3, 4, 0);

  const Owned<GstBuffer> out = filter.process(in);
  crop = gst_buffer_get_video_crop_meta(out);
  fail_unless(crop != nullptr && crop->x == 3 && crop->y == 4 && crop->width == 20 &&
              crop->height == 10);
  region = gst_buffer_get_video_region_of_interest_meta_id(out, 99);
  fail_unless(region != nullptr && region->x == 5 && region->h == 8);
  GstReferenceTimestampMeta* reference = gst_buffer_get_reference_timestamp_meta(out, clock);
  fail_unless(reference != nullptr && reference->timestamp == 123456789);
  fail_unless(gst_buffer_get_video_time_code_meta(out) != nullptr);
}

TEST(test_video_meta_is_the_outputs, .for_each_element().times(formats().size())) {
  const FormatSpec& format = format_number(index);
  FilterHarness filter;
  filter.accept_caps(format, 31, 17, colorimetry(format, false));
  const Picture picture = make_picture(format, 31, 17, Content::natural, 1);
  for (const Layout& layout : all_layouts) {
    const Owned<GstBuffer> out = filter.process(to_buffer(picture, layout));
    fail_unless(count_video_metas(out) <= 1, "%d GstVideoMeta", count_video_metas(out));
    expect_picture(from_buffer(out, format, 31, 17), result(picture), "with meta");
    // This downstream has not announced support for GstVideoMeta.
    expect_picture(from_plain_buffer(out, format, 31, 17), result(picture), "without meta");
  }
}

TEST(test_timestamps_offsets_flags, .for_each_element()) {
  const FormatSpec& format = format_named("I420");
  for (const Property& property : {tested().working, tested().idle}) {
    FilterHarness filter{property};
    start(filter, format);
    for (guint flags : {0u, guint{GST_BUFFER_FLAG_DISCONT}, guint{GST_BUFFER_FLAG_GAP},
                        guint{GST_BUFFER_FLAG_CORRUPTED}, guint{GST_BUFFER_FLAG_MARKER},
                        guint{GST_BUFFER_FLAG_DELTA_UNIT}, guint{GST_VIDEO_BUFFER_FLAG_INTERLACED},
                        guint{GST_VIDEO_BUFFER_FLAG_TFF} | guint{GST_VIDEO_BUFFER_FLAG_INTERLACED},
                        guint{GST_VIDEO_BUFFER_FLAG_RFF}, guint{GST_BUFFER_FLAG_DROPPABLE}}) {
      GstBuffer* in = stamped(to_buffer(make_picture(format, 32, 18, Content::natural, 1)));
      GST_BUFFER_FLAG_SET(in, flags);
      const Owned<GstBuffer> out = filter.process(in);
      expect_stamps(out);
      const guint ours = GST_BUFFER_FLAGS(out.get()) & ~guint{GST_BUFFER_FLAG_TAG_MEMORY};
      fail_unless_equals_int_hex(ours, flags);
    }
  }
}

TEST(test_nothing_left_from_earlier_frames, .for_each_element()) {
  register_metas();
  FilterHarness filter;
  start(filter, gray());
  for (int i = 0; i < 40; ++i) {
    GstBuffer* in = to_buffer(Picture(gray(), 32, 18));
    const bool marked = i % 3 == 0;
    if (marked) {
      GST_BUFFER_FLAG_SET(in, GST_BUFFER_FLAG_CORRUPTED);
      gst_buffer_add_custom_meta(in, "CheckUntagged");
    }
    const Owned<GstBuffer> out = filter.process(in);
    fail_unless(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_CORRUPTED) == marked);
    fail_unless((gst_buffer_get_custom_meta(out, "CheckUntagged") != nullptr) == marked);
    fail_unless(count_video_metas(out) <= 1);
  }
}
