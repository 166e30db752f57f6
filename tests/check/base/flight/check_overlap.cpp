// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests streams with several frames in flight: nothing is lost or reordered.
#include <cstdio>
#include <cstring>

#include "tests/check/common/streams/overlap.h"

using namespace check;

namespace {

constexpr guint64 frame_count = 60;

GstEvent* custom_event() {
  return gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("own"));
}

GstEvent* tag_event() {
  return gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "a title", nullptr));
}

GstBuffer* with_marks(GstBuffer* frame, guint64 number) {
  GST_BUFFER_DTS(frame) = number * frame_duration + 1;
  GST_BUFFER_DURATION(frame) = frame_duration + number;
  GST_BUFFER_OFFSET(frame) = 100 + number;
  GST_BUFFER_OFFSET_END(frame) = 101 + number;
  GST_BUFFER_FLAG_SET(frame, number % 3 == 0 ? GST_BUFFER_FLAG_MARKER : 0);
  GST_BUFFER_FLAG_SET(frame, number % 5 == 0 ? GST_BUFFER_FLAG_DISCONT : 0);
  GST_BUFFER_FLAG_SET(frame, number % 7 == 0 ? GST_BUFFER_FLAG_GAP : 0);
  const Owned<GstCaps> kind(gst_caps_new_empty_simple("timestamp/x-number"));
  gst_buffer_add_reference_timestamp_meta(frame, kind, number, GST_CLOCK_TIME_NONE);
  return frame;
}

void expect_marks(GstBuffer* frame, guint64 number) {
  fail_unless_equals_uint64(GST_BUFFER_PTS(frame), number * frame_duration);
  fail_unless_equals_uint64(GST_BUFFER_DTS(frame), number * frame_duration + 1);
  fail_unless_equals_uint64(GST_BUFFER_DURATION(frame), frame_duration + number);
  fail_unless_equals_uint64(GST_BUFFER_OFFSET(frame), 100 + number);
  fail_unless_equals_uint64(GST_BUFFER_OFFSET_END(frame), 101 + number);
  fail_unless(GST_BUFFER_FLAG_IS_SET(frame, GST_BUFFER_FLAG_MARKER) == (number % 3 == 0));
  fail_unless(GST_BUFFER_FLAG_IS_SET(frame, GST_BUFFER_FLAG_DISCONT) == (number % 5 == 0));
  fail_unless(GST_BUFFER_FLAG_IS_SET(frame, GST_BUFFER_FLAG_GAP) == (number % 7 == 0));
  const GstReferenceTimestampMeta* meta = gst_buffer_get_reference_timestamp_meta(frame, nullptr);
  fail_unless(meta != nullptr && meta->timestamp == number);
}

/// Reads the number from the property's blurb, such as "at present 3 on CUDA, 1 on the CPU".
guint64 automatic_number(GstElement* element) {
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), "frames-in-flight");
  const char* description = g_param_spec_get_blurb(spec);
  const char* present = strstr(description, "at present");
  fail_unless(present != nullptr, "%s", description);
  unsigned on_cuda = 0, on_cpu = 0;
  const int found = std::sscanf(present, "at present %u on CUDA, %u on the CPU", &on_cuda, &on_cpu);
  fail_unless(found >= 1, "%s", description);
  return found == 2 && !testing_cuda() ? on_cpu : on_cuda;
}

}  // namespace

TEST(test_order, .for_each_element().times(std::size(numbers_in_flight))) {
  for (gulong delay : {0, 1000}) {
    Overlap overlap(numbers_in_flight[index]);
    overlap.receiver().set_delay(delay);
    for (guint64 i = 0; i < frame_count; ++i)
      fail_unless_equals_int(overlap.filter().push(with_marks(overlap.frame(i), i)), GST_FLOW_OK);
    overlap.filter().send_eos();
    overlap.expect(numbers(0, frame_count) + " eos");
    const std::vector<Owned<GstBuffer>> frames = overlap.receiver().take_frames();
    for (guint64 i = 0; i < frame_count; ++i)
      expect_marks(frames[i], i);
  }
}

// While downstream holds the first frame, exactly frames-in-flight pushes return.
TEST(test_limit, .for_each_element()) {
  for (guint64 limit : {2, 3, 8, 16}) {
    Overlap overlap(static_cast<int>(limit));
    overlap.receiver().close();
    Feeder feeder(overlap.filter(), 0, 20, overlap.frames());
    wait_until([&] { return feeder.pushed() == limit; }, "the limit");
    let_time_pass(20);  // no other push may return meanwhile
    fail_unless_equals_uint64(feeder.pushed(), limit);
    fail_unless_equals_int(overlap.receiver().frame_count(), 0);
    overlap.receiver().open();
    fail_unless_equals_int(feeder.finish(), GST_FLOW_OK);
    overlap.expect(numbers(0, 20));
    overlap.expect_pictures();
  }
}

// The automatic number equals the one in the property's blurb.
TEST(test_automatic_number, .for_each_element()) {
  Overlap overlap(0);
  const guint64 limit = automatic_number(overlap.filter().element());
  std::thread::id pusher;
  overlap.receiver().on_arrival([&](const std::string& what) {
    if (what == "0")
      pusher = std::this_thread::get_id();
  });
  overlap.push(0);
  overlap.drain();
  overlap.expect("0 drain");
  fail_unless((pusher == std::this_thread::get_id()) == (limit == 1));
  overlap.receiver().close();
  Feeder feeder(overlap.filter(), 1, 20, overlap.frames());
  const guint64 accepted = limit > 1 ? limit : 0;
  wait_until([&] { return overlap.receiver().holds_frame() && feeder.pushed() == accepted; },
             "the automatic number");
  let_time_pass(20);  // no other push may return meanwhile
  fail_unless_equals_uint64(feeder.pushed(), accepted);
  overlap.receiver().open();
  fail_unless_equals_int(feeder.finish(), GST_FLOW_OK);
}

// frames-in-flight may change between runs. An invalid value does not prevent later starts.
TEST(test_number_of_the_next_run, .for_each_element()) {
  Overlap overlap(3);
  for (const auto& [text, limit] : {std::pair{"2", 2}, std::pair{"17", 0}, std::pair{"-1", 0},
                                    std::pair{"1", 1}, std::pair{"8", 8}}) {
    gst_element_set_state(overlap.filter().element(), GST_STATE_READY);
    overlap.filter().set("frames-in-flight", text);
    const bool started = gst_element_set_state(overlap.filter().element(), GST_STATE_PLAYING) ==
                         GST_STATE_CHANGE_SUCCESS;
    fail_unless(started == (limit > 0), "frames-in-flight=%s", text);
    if (!started) {
      overlap.filter().messages().expect_one(GST_MESSAGE_ERROR,
                                             {std::string("frames-in-flight=") + text, "0 to 16"});
      overlap.filter().messages().clear();
      continue;
    }
    overlap.begin();
    overlap.receiver().forget();
    if (limit == 1) {
      overlap.push(0);
      fail_unless_equals_int(overlap.receiver().frame_count(), 1);
      continue;
    }
    overlap.receiver().close();
    overlap.push(0, static_cast<guint64>(limit));  // blocks if the limit is lower
    overlap.receiver().open();
    overlap.expect(numbers(0, static_cast<guint64>(limit)));
  }
}

TEST(test_events, .for_each_element().times(std::size(overlaps))) {
  Overlap overlap(overlaps[index]);
  overlap.receiver().set_delay(2000);
  FilterHarness& filter = overlap.filter();
  overlap.push(0, 3);
  filter.send_event(custom_event());
  overlap.push(3, 2);
  filter.send_event(tag_event());
  filter.send_event(gst_event_new_gap(5 * frame_duration, frame_duration));
  overlap.push(6);
  filter.send_event(gst_event_new_gap(7 * frame_duration, frame_duration));
  overlap.push(8, 4);
  filter.send_segment(new_segment());
  overlap.push(12, 2);
  filter.send_event(gst_event_new_stream_start("next"));
  filter.send_segment(new_segment());
  overlap.push(14);
  filter.send_event(custom_event());
  filter.send_eos();
  overlap.expect(
      "0 1 2 custom-downstream 3 4 tag gap 6 gap 8 9 10 11 segment 12 13 stream-start segment 14 "
      "custom-downstream eos");
}

// New caps follow the frames of the old caps, and each frame is processed with its own caps.
TEST(test_new_caps, .for_each_element().times(std::size(overlaps))) {
  struct Part {
    const char* format;
    int width, height;
  };
  constexpr Part parts[] = {{"NV12", 40, 30}, {"GRAY8", 17, 9},   {"RGBA", 17, 9},
                            {"GRAY8", 64, 5}, {"GRAY8", 17, 9},   {"P010_10LE", 40, 30},
                            {"RGB", 31, 30},  {"GRAY16_BE", 7, 7}};
  constexpr unsigned frames_each = 5;
  const auto picture_of = [](const Part& part, unsigned i) {
    return make_picture(format_named(part.format), part.width, part.height, Content::natural, i);
  };
  Overlap overlap(overlaps[index]);
  overlap.receiver().set_delay(500);
  std::string expected;
  guint64 number = 0;
  for (const Part& part : parts) {
    const FormatSpec& format = format_named(part.format);
    overlap.filter().accept_caps(format, part.width, part.height, colorimetry(format, false));
    expected += (number > 0 ? " caps allocation segment" : "caps allocation segment");
    for (unsigned i = 0; i < frames_each; ++i, ++number) {
      GstBuffer* frame = at(number * frame_duration, to_buffer(picture_of(part, i), odd_layout));
      fail_unless_equals_int(overlap.filter().push(frame), GST_FLOW_OK);
      expected += " " + std::to_string(number);
    }
  }
  overlap.filter().send_eos();
  overlap.expect(expected + " eos");
  const std::vector<Owned<GstBuffer>> frames = overlap.receiver().take_frames();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const Part& part = parts[i / frames_each];
    const Picture picture = picture_of(part, static_cast<unsigned>(i % frames_each));
    expect_picture(from_buffer(frames[i], *picture.format, part.width, part.height),
                   result(picture), "frame " + std::to_string(i));
  }
}

TEST(test_reconfiguration, .for_each_element().times(std::size(overlaps))) {
  Overlap overlap(overlaps[index]);
  overlap.receiver().set_delay(2000);
  overlap.push(0, 5);
  gst_harness_push_upstream_event(overlap.filter().harness(), gst_event_new_reconfigure());
  overlap.push(5, 3);
  overlap.drain();
  overlap.expect("0 1 2 3 4 allocation 5 6 7 drain");
  overlap.expect_pictures();
}

TEST(test_missing_and_unchanged_frames, .for_each_element().times(std::size(overlaps))) {
  Overlap overlap(overlaps[index]);
  overlap.receiver().set_delay(500);
  std::vector<Owned<GstBuffer>> sent;
  for (guint64 i = 0; i < frame_count; ++i) {
    overlap.filter().set(i % 3 == 1 ? tested().idle : tested().working);
    sent.emplace_back(i % 3 == 2 ? at(i * frame_duration, missing_frame()) : overlap.frame(i));
    fail_unless_equals_int(overlap.filter().push(gst_buffer_ref(sent.back())), GST_FLOW_OK);
  }
  overlap.filter().send_eos();
  overlap.expect(numbers(0, frame_count) + " eos");
  const std::vector<Owned<GstBuffer>> frames = overlap.receiver().take_frames();
  for (guint64 i = 0; i < frame_count; ++i) {
    // Downstream does not support GstVideoMeta, but unchanged frames pass, because they have none.
    fail_unless((frames[i] == sent[i]) == (i % 3 != 0), "frame %d", static_cast<int>(i));
    fail_unless_equals_int(gst_buffer_get_size(frames[i]) == 0, i % 3 == 2);
  }
}

TEST(test_serialized_queries, .for_each_element()) {
  const auto own = static_cast<GstQueryType>(
      GST_QUERY_MAKE_TYPE(3000, GST_QUERY_TYPE_BOTH | GST_QUERY_TYPE_SERIALIZED));
  gst_query_type_get_name(own);
  Overlap overlap(8);
  overlap.receiver().set_delay(2000);
  overlap.push(0, 6);
  overlap.drain();
  fail_unless_equals_int(overlap.receiver().frame_count(), 6);
  overlap.push(6, 6);
  const Owned<GstQuery> query(gst_query_new_custom(own, nullptr));
  gst_pad_peer_query(overlap.filter().source_pad(), query);
  fail_unless_equals_int(overlap.receiver().frame_count(), 12);
}

// In pull mode, the caller waits for each frame, so only one frame is in flight.
TEST(test_pull_mode, .for_each_element()) {
  constexpr guint64 last = 10;
  const auto picture_of = [](guint64 number) {
    return make_picture(gray(), 24, 16, Content::natural, number);
  };
  std::function<GstFlowReturn(guint64, GstBuffer**)> deliver = [&](guint64 number,
                                                                   GstBuffer** frame) {
    if (number > last)
      return GST_FLOW_EOS;
    *frame = at(number * frame_duration, to_buffer(picture_of(number)));
    return GST_FLOW_OK;
  };
  const auto pad_with = [](GstPadDirection direction) {
    return Owned<GstPad>(GST_PAD(gst_object_ref_sink(gst_pad_new(nullptr, direction))));
  };
  const Owned<GstElement> element = make_tested({{"frames-in-flight", "8"}});
  MessageLog messages(element);
  const Owned<GstPad> source = pad_with(GST_PAD_SRC), sink = pad_with(GST_PAD_SINK);
  // Offsets are frame numbers.
  gst_pad_set_getrange_function_full(
      source,
      +[](GstPad* pad, GstObject*, guint64 number, guint, GstBuffer** frame) {
        return (*static_cast<decltype(deliver)*>(pad->getrangedata))(number, frame);
      },
      &deliver, nullptr);
  gst_pad_link(source, pad_of(element, "sink").get());
  gst_pad_link(pad_of(element, "src").get(), sink);
  gst_element_set_state(element, GST_STATE_READY);
  fail_unless(gst_pad_activate_mode(sink, GST_PAD_MODE_PULL, TRUE));
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PLAYING),
                         GST_STATE_CHANGE_SUCCESS);
  gst_pad_push_event(source, gst_event_new_stream_start("pulled"));
  fail_unless(send_caps(source, caps_of(gray(), 24, 16)));
  for (guint64 i = 0; i <= last; ++i) {
    GstBuffer* frame = nullptr;
    fail_unless_equals_int(gst_pad_pull_range(sink, i, 24 * 16, &frame), GST_FLOW_OK);
    const Owned<GstBuffer> out(frame);
    fail_unless(out != nullptr);
    fail_unless_equals_uint64(GST_BUFFER_PTS(out.get()), i * frame_duration);
    expect_picture(from_buffer(out, gray(), 24, 16), result(picture_of(i)),
                   "frame " + std::to_string(i));
  }
  GstBuffer* none = nullptr;
  fail_unless_equals_int(gst_pad_pull_range(sink, last + 1, 24 * 16, &none), GST_FLOW_EOS);
  fail_unless_equals_int(messages.complaints(), 0);
  gst_pad_set_active(sink, FALSE);
  gst_element_set_state(element, GST_STATE_NULL);
}
