// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the messages of cudahistequalize: which frames have a message, and the order, times and
// fields of the messages.
#include <cmath>
#include <random>

#include "tests/check/common/definitions/equalizedefinition.h"
#include "tests/check/common/filterharness.h"
#include "tests/check/common/histogrammessage.h"

using namespace check;

namespace {

/// Counts the messages posted before an event of one type arrives downstream.
struct CountAtEvent {
  FilterHarness& filter;
  GstEventType type;
  std::vector<int> counts;

  CountAtEvent(FilterHarness& f, GstEventType t) : filter(f), type(t) {
    gst_pad_add_probe(f.sink_pad(), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_event, this, nullptr);
  }
  static GstPadProbeReturn on_event(GstPad*, GstPadProbeInfo* info, gpointer self) {
    auto* counter = static_cast<CountAtEvent*>(self);
    if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == counter->type)
      counter->counts.push_back(counter->filter.messages().count(GST_MESSAGE_ELEMENT));
    return GST_PAD_PROBE_OK;
  }
};

void expect_one_message(MessageLog& log, const Picture& picture) {
  const std::vector<Owned<GstMessage>> messages = log.take(GST_MESSAGE_ELEMENT);
  fail_unless_equals_int(messages.size(), 1);
  expect_statistics(structure_of(messages[0]), picture);
}

}  // namespace

// Each message reports the noise of its own frame: of the luminance, or averaged over R, G and B.
TEST(test_noise) {
  for (const char* name : {"GRAY8", "NV12", "RGBA", "GRAY16_LE"}) {
    const FormatSpec& format = format_named(name);
    FilterHarness filter{{"post-messages", "true"}, {"strength", "0"}};
    filter.accept_caps(format, 160, 120, colorimetry(format, false));
    for (const int largest : {60, 6}) {
      std::mt19937 random(5);
      const int unit = static_cast<int>((format.peak() + 1) / 256);
      const Picture picture = picture_with(format, 160, 120, [&](int, int x, int) {
        return (60 + x / 2 + static_cast<int>(random() % static_cast<unsigned>(largest + 1))) *
               unit;
      });
      push_frame(filter, picture, 0);
      const std::vector<Owned<GstMessage>> messages = filter.messages().take(GST_MESSAGE_ELEMENT);
      fail_unless_equals_int(messages.size(), 1);
      // Uniformly distributed integers from 0 to n have a variance of n(n + 2) / 12.
      const double expected = std::sqrt(largest * (largest + 2) / 12.0);
      const double noise = number_in(structure_of(messages[0]), "noise");
      fail_unless(noise > 0.85 * expected && noise < 1.15 * expected, "%s: %f instead of %f", name,
                  noise, expected);
    }
  }
  FilterHarness small{{"post-messages", "true"}};
  small.accept_caps(gray(), 20, 10);
  push_frame(small, Picture(gray(), 20, 10), 0);
  const std::vector<Owned<GstMessage>> messages = small.messages().take(GST_MESSAGE_ELEMENT);
  fail_unless(!gst_structure_has_field(structure_of(messages[0]), "noise"));
}

TEST(test_switched_while_playing) {
  FilterHarness filter;
  filter.accept_caps(gray(), 20, 10);
  for (guint i = 0; i < 12; ++i) {
    filter.set("post-messages", i / 4 == 1 ? "true" : "false");
    push_frame(filter, Picture(gray(), 20, 10), i);
  }
  filter.send_eos();
  fail_unless((take_timestamps(filter) == std::vector<guint64>{4, 5, 6, 7}));
}

TEST(test_frame_order) {
  const FormatSpec& format = format_named("NV12");
  FilterHarness filter{{"post-messages", "true"}};
  filter.accept_caps(format, 20, 10, colorimetry(format, false));
  std::vector<guint64> expected;
  for (guint i = 0; i < 200; ++i) {
    push_frame(filter, make_picture(format, 20, 10, Content::flat, i), i * GST_MSECOND);
    expected.push_back(i * GST_MSECOND);
  }
  filter.send_eos();
  const std::vector<Owned<GstMessage>> messages = filter.messages().take(GST_MESSAGE_ELEMENT);
  fail_unless_equals_int(messages.size(), expected.size());
  for (guint i = 0; i < messages.size(); ++i) {
    fail_unless_equals_uint64(time_in(structure_of(messages[i]), "timestamp"), expected[i]);
    expect_statistics(structure_of(messages[i]), make_picture(format, 20, 10, Content::flat, i));
  }
}

// There is one message per 100 ms of running time, which at rate 2 are 200 ms of timestamps.
TEST(test_interval) {
  FilterHarness filter{{"post-messages", "true"}, {"message-interval", "100000000"}};
  filter.accept_caps(gray(), 20, 10);
  GstSegment segment = new_segment();
  segment.rate = 2.0;
  filter.send_segment(segment);
  for (guint i = 0; i < 51; ++i)
    push_frame(filter, Picture(gray(), 20, 10), i * 20 * GST_MSECOND);
  filter.send_eos();
  fail_unless((take_timestamps(filter) ==
               std::vector<guint64>{0, 200 * GST_MSECOND, 400 * GST_MSECOND, 600 * GST_MSECOND,
                                    800 * GST_MSECOND, 1000 * GST_MSECOND}));
}

TEST(test_interval_changed_while_playing) {
  FilterHarness filter{{"post-messages", "true"}};
  filter.accept_caps(gray(), 20, 10);
  for (guint i = 0; i < 10; ++i) {
    if (i == 3)
      filter.set("message-interval", "5000000000");
    push_frame(filter, Picture(gray(), 20, 10), i * GST_SECOND);
  }
  filter.send_eos();
  fail_unless((take_timestamps(filter) == std::vector<guint64>{0, GST_SECOND, 2 * GST_SECOND,
                                                               3 * GST_SECOND, 8 * GST_SECOND}));
}

TEST(test_posted_before_other_events) {
  for (const GstEventType type : {GST_EVENT_EOS, GST_EVENT_CAPS, GST_EVENT_SEGMENT}) {
    FilterHarness filter{{"post-messages", "true"}};
    filter.accept_caps(gray(), 320, 200);
    push_frame(filter, Picture(gray(), 320, 200), 0);
    push_frame(filter, Picture(gray(), 320, 200), 1);
    CountAtEvent at_event(filter, type);
    if (type == GST_EVENT_EOS)
      filter.send_eos();
    else
      filter.accept_caps(gray(), 16, 8);  // also sends a segment
    if (type != GST_EVENT_EOS)
      push_frame(filter, Picture(gray(), 16, 8), 2);
    fail_unless(!at_event.counts.empty() && at_event.counts[0] == 2, "%s",
                gst_event_type_get_name(type));
  }
  FilterHarness stopped{{"post-messages", "true"}};
  stopped.accept_caps(gray(), 320, 200);
  for (guint i = 0; i < 5; ++i)
    push_frame(stopped, Picture(gray(), 320, 200), i);
  gst_element_set_state(stopped.element(), GST_STATE_READY);
  fail_unless((take_timestamps(stopped) == std::vector<guint64>{0, 1, 2, 3, 4}));
}

TEST(test_posted_in_time) {
  FilterHarness filter{{"post-messages", "true"}};
  filter.accept_caps(gray(), 320, 200);
  for (guint i = 0; i < 10; ++i) {
    push_frame(filter, Picture(gray(), 320, 200), i);
    const int posted = filter.messages().count(GST_MESSAGE_ELEMENT);
    fail_unless(posted >= static_cast<int>(i), "%d messages after %u frames", posted, i + 1);
  }
}

TEST(test_discarded_by_flush) {
  FilterHarness filter{{"post-messages", "true"}, {"message-interval", "1000000000"}};
  filter.accept_caps(gray(), 320, 200);
  for (guint i = 0; i < 3; ++i)
    push_frame(filter, Picture(gray(), 320, 200), i * GST_SECOND);
  filter.flush();
  filter.messages().clear();
  filter.send_segment(new_segment());
  push_frame(filter, Picture(gray(), 320, 200), 2500 * GST_MSECOND);
  filter.send_eos();
  fail_unless((take_timestamps(filter) == std::vector<guint64>{2500 * GST_MSECOND}));
}

TEST(test_statistics, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  FilterHarness filter{{"post-messages", "true"}, {"tiles-x", "3"}, {"tiles-y", "2"}};
  unsigned seed = 0;
  for (Content content : all_contents)
    for (const auto& [width, height] : {std::pair{1, 1}, std::pair{37, 23}, std::pair{64, 48}}) {
      filter.set({{"method", seed % 2 == 0 ? "equalize" : "clahe"},
                  {"strength", seed % 3 == 0 ? "0" : "0.75"},
                  {"channels", seed % 4 == 0 && format.has_single_colors() ? "rgb" : "luma"}});
      filter.accept_caps(format, width, height, colorimetry(format, false));
      const Picture picture = make_picture(format, width, height, content, ++seed);
      push_frame(filter, picture, seed * GST_SECOND);
      filter.send_eos();
      expect_one_message(filter.messages(), picture);
      filter.flush();
    }
}

TEST(test_statistics_of_a_second_element) {
  const std::string element = "cudahistequalize strength=0 backend=" + test_backend();
  const std::string memory = testing_cuda() ? "video/x-raw(memory:CUDAMemory)" : "video/x-raw";
  const Owned<GstHarness> harness = new_shared_harness(element + " ! capsfilter caps=\"" + memory +
                                                       "\" ! " + element + " post-messages=true");
  gst_harness_set_sink_caps_str(harness, memory.c_str());
  MessageLog messages(harness->element);
  for (const FormatSpec& format : formats()) {
    gst_harness_set_src_caps_str(harness, caps_of(format, 67, 35).c_str());
    const Picture picture = make_picture(format, 67, 35, Content::natural, 4);
    const Owned<GstBuffer> out(gst_harness_push_and_pull(harness, to_buffer(picture, odd_layout)));
    fail_unless(out != nullptr, "%s", format.name);
    const GstSegment segment = new_segment();
    gst_harness_push_event(harness, gst_event_new_segment(&segment));
    expect_one_message(messages, picture);
  }
}

TEST(test_times) {
  FilterHarness filter{{"post-messages", "true"}};
  filter.accept_caps(gray(), 20, 10);
  GstSegment segment = new_segment();
  segment.rate = 2.0;
  segment.start = segment.position = 100 * GST_SECOND;
  segment.base = 7 * GST_SECOND;
  segment.time = 30 * GST_SECOND;
  filter.send_segment(segment);
  for (guint i = 0; i < 4; ++i)
    push_frame(filter, Picture(gray(), 20, 10), (100 + i) * GST_SECOND);
  filter.send_eos();
  const std::vector<Owned<GstMessage>> messages = filter.messages().take(GST_MESSAGE_ELEMENT);
  fail_unless_equals_int(messages.size(), 4);
  for (guint i = 0; i < 4; ++i) {
    fail_unless(GST_MESSAGE_SRC(messages[i]) == GST_OBJECT(filter.element()));
    const GstStructure* structure = structure_of(messages[i]);
    fail_unless_equals_uint64(time_in(structure, "timestamp"), (100 + i) * GST_SECOND);
    fail_unless_equals_uint64(time_in(structure, "stream-time"), (30 + i) * GST_SECOND);
    fail_unless_equals_uint64(time_in(structure, "running-time"),
                              7 * GST_SECOND + i * GST_SECOND / 2);
    fail_unless_equals_uint64(time_in(structure, "duration"), 20 * GST_MSECOND);
  }
}

TEST(test_frames_without_timestamps) {
  FilterHarness filter{{"post-messages", "true"}};
  filter.accept_caps(gray(), 20, 10);
  for (int i = 0; i < 3; ++i)
    filter.process(to_buffer(Picture(gray(), 20, 10)));
  filter.send_eos();
  const std::vector<Owned<GstMessage>> messages = filter.messages().take(GST_MESSAGE_ELEMENT);
  fail_unless_equals_int(messages.size(), 3);
  for (const Owned<GstMessage>& message : messages)
    for (const char* field : {"timestamp", "stream-time", "running-time", "duration"})
      fail_unless_equals_uint64(time_in(structure_of(message), field), GST_CLOCK_TIME_NONE);
}
