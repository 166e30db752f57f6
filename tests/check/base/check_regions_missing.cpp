// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests what happens to frames of which no region is known: regions-missing and region-persistence.
#include <gst/video/gstvideometa.h>

#include "tests/check/common/definitions/regiondefinition.h"
#include "tests/check/common/filterharness.h"

using namespace check;

namespace {

constexpr int width = 71, height = 53;
constexpr GstClockTime frame_time = 40 * GST_MSECOND;
const Box face{10, 8, 31, 33}, plate{40, 20, 60, 41};

/// A frame and what an element makes of it.
struct Frame {
  Picture in =
      with_valid_chroma(make_picture(format_named("I420"), width, height, Content::random, 1));
  Picture processed = result(in);

  Picture in_boxes(const std::vector<Box>& boxes, int margin = 0) const {
    Regions regions = rectangles(boxes);
    regions.margin = margin;
    return in_regions(in, processed, regions);
  }
};

GstBuffer* with_region(GstBuffer* buffer, const Box& box, const char* label = "face") {
  gst_buffer_add_video_region_of_interest_meta(
      buffer, label, static_cast<guint>(box.x0), static_cast<guint>(box.y0),
      static_cast<guint>(box.x1 - box.x0), static_cast<guint>(box.y1 - box.y0));
  return buffer;
}

/// An element that takes regions from metas, and numbered frames of it.
class Detected {
 public:
  explicit Detected(std::initializer_list<Property> properties = {})
      : filter({{"use-roi-meta", "true"}}) {
    filter.set(Properties(properties));
    filter.accept_caps(format_named("I420"), width, height,
                       colorimetry(format_named("I420"), false));
  }

  /// Returns the frame of that number, without a meta.
  GstBuffer* buffer(guint64 number) const {
    return at(number * frame_time, to_buffer(frame.in), frame_time);
  }
  void see(guint64 number, const Box& box = face) {
    filter.expect(with_region(buffer(number), box), frame.in_boxes({box}), "a region");
  }
  void miss(guint64 number, const Picture& expected, const char* what) {
    filter.expect(buffer(number), expected, what);
  }

  FilterHarness filter;
  const Frame frame;
};

}  // namespace

TEST(test_missing_metas, .for_each_element()) {
  Detected stream;
  const Frame& frame = stream.frame;
  stream.miss(0, frame.in, "pass is the default");
  stream.filter.set("regions-missing", "all");
  stream.miss(1, frame.processed, "no meta");
  stream.see(2);
  stream.filter.set("region-types", "plate");
  stream.filter.expect(with_region(stream.buffer(3), face), frame.processed, "another label");
  stream.filter.set("region-types", "");
  stream.filter.expect(with_region(stream.buffer(4), {90, 20, 99, 30}), frame.processed,
                       "outside of the frame");
  stream.filter.expect(with_region(stream.buffer(5), {20, 20, 20, 30}), frame.processed, "empty");
  stream.filter.set("region-margin", "21");
  stream.filter.expect(with_region(stream.buffer(6), {90, 20, 99, 30}),
                       frame.in_boxes({{90, 20, 99, 30}}, 21), "its margin reaches the frame");
  // The property names what is there in any case. A detector finds what may be missing.
  stream.filter.set({{"regions", "1,2,30,4"}, {"region-margin", "0"}});
  stream.miss(7, frame.processed, "only a rectangle of the property");
  stream.filter.set("regions-missing", "pass");
  stream.miss(8, frame.in_boxes({{1, 2, 31, 6}}), "the rectangle of the property");
  stream.filter.set({{"regions-missing", "all"}, {"region-invert", "true"}});
  stream.miss(9, frame.processed, "inverted");
}

TEST(test_missing_rectangles, .for_each_element()) {
  const Frame frame;
  FilterHarness filter({{"regions-missing", "all"}, {"regions", "0,0,0,0"}});
  filter.accept_caps(format_named("I420"), width, height, colorimetry(format_named("I420"), false));
  expect_picture(filter.process(frame.in), frame.processed, "an empty rectangle");
  filter.set("regions", "10,8,21,25");
  expect_picture(filter.process(frame.in), frame.in_boxes({face}), "a rectangle");
  filter.set("regions", "80,0,9,9;0,-20,9,9");
  expect_picture(filter.process(frame.in), frame.processed, "rectangles outside of the frame");
  filter.set("regions-missing", "pass");
  expect_picture(filter.process(frame.in), frame.in, "that pass");
  filter.set({{"regions", "10,8,21,25"}, {"region-persistence", "1000000000"}});
  expect_picture(filter.process(frame.in), frame.in_boxes({face}), "a rectangle");
  filter.set("regions", "0,0,0,0");
  expect_picture(filter.process(frame.in), frame.in_boxes({face}), "that stays");
  filter.set("regions", "");
  expect_picture(filter.process(frame.in), frame.processed, "regions are not used");
  filter.set("regions", "0,0,0,0");
  expect_picture(filter.process(frame.in), frame.in, "nothing stays of before");
}

TEST(test_persistence, .for_each_element()) {
  Detected stream({{"region-persistence", "80000000"}, {"region-margin", "3"}});
  const Frame& frame = stream.frame;
  const auto see = [&](guint64 number, const Box& box) {
    stream.filter.expect(with_region(stream.buffer(number), box), frame.in_boxes({box}, 3),
                         "a region");
  };
  stream.miss(0, frame.in, "nothing yet");
  see(1, plate);
  see(2, face);
  // Only the last frame counts, and its regions grow by the margin once more.
  stream.miss(3, frame.in_boxes({face}, 6), "after 40 ms");
  stream.miss(4, frame.in_boxes({face}, 6), "after 80 ms");
  stream.miss(5, frame.in, "after 120 ms");
  see(6, plate);
  stream.miss(7, frame.in_boxes({plate}, 6), "after 40 ms");
  see(8, face);
  stream.miss(9, frame.in_boxes({face}, 6), "after 40 ms");
  stream.filter.set("regions-missing", "all");
  stream.miss(10, frame.in_boxes({face}, 6), "after 80 ms");
  stream.miss(11, frame.processed, "after 120 ms");
  // The rectangles of the property are there in any case, and do not grow.
  see(12, face);
  stream.filter.set({{"regions", "50,40,5,5"}, {"region-margin", "0"}});
  stream.miss(13, frame.in_boxes({face, {50, 40, 55, 45}}), "with a rectangle");
}

// A box that the left and upper edges cut off stays as the others do.
TEST(test_persistence_beyond_the_edges, .for_each_element()) {
  Detected stream({{"region-persistence", "80000000"}, {"regions-missing", "all"}});
  guint64 number = 0;
  for (const Box& box : {Box{-9, 8, 12, 33}, Box{20, -5, 40, 9}, Box{-12, -7, 5, 6}}) {
    stream.see(number++, box);
    stream.miss(number++, stream.frame.in_boxes({box}), "it stays");
    number += 2;
    stream.miss(number++, stream.frame.processed, "it does not stay any more");
  }
}

// Where the regions are what stays sharp, growth would uncover what is beside them.
TEST(test_inverted_persistence, .for_each_element()) {
  Detected stream(
      {{"region-persistence", "80000000"}, {"region-margin", "3"}, {"region-invert", "true"}});
  Regions regions = rectangles({face});
  regions.margin = 3;
  regions.invert = true;
  const Picture expected = in_regions(stream.frame.in, stream.frame.processed, regions);
  stream.filter.expect(with_region(stream.buffer(0), face), expected, "a region");
  stream.miss(1, expected, "it stays");
  stream.miss(3, stream.frame.processed, "it does not stay any more");
}

TEST(test_frames_without_times, .for_each_element()) {
  Detected stream({{"region-persistence", "80000000"}});
  const Frame& frame = stream.frame;
  const auto untimed = [&](GstClockTime duration) {
    return at(GST_CLOCK_TIME_NONE, to_buffer(frame.in), duration);
  };
  const GstClockTime none = GST_CLOCK_TIME_NONE;
  // The caps say 25 frames per second.
  for (GstClockTime duration : {none, frame_time}) {
    stream.filter.expect(with_region(untimed(duration), face), frame.in_boxes({face}), "a region");
    stream.filter.expect(untimed(duration), frame.in_boxes({face}), "the next frame");
    stream.filter.expect(untimed(duration), frame.in_boxes({face}), "the second one");
    stream.filter.expect(untimed(duration), frame.in, "the third one");
  }
  stream.filter.expect(with_region(untimed(100 * GST_MSECOND), face), frame.in_boxes({face}),
                       "a region");
  stream.filter.expect(untimed(100 * GST_MSECOND), frame.in, "a long frame");
}

// The regions of another film, or of another part of it, say nothing about the next frame.
TEST(test_what_resets_persistence, .for_each_element()) {
  Detected stream({{"region-persistence", "1000000000"}});
  const Frame& frame = stream.frame;
  const auto expect_stays = [&] {
    stream.see(0);
    stream.miss(1, frame.in_boxes({face}), "it stays");
  };
  expect_stays();
  stream.filter.flush();
  stream.filter.send_segment(new_segment());
  stream.miss(2, frame.in, "after a flush");
  expect_stays();
  stream.filter.send_segment(new_segment());
  stream.miss(2, frame.in, "after a segment");
  expect_stays();
  // Without the segment that accept_caps() sends.
  const Owned<GstCaps> caps = caps_from(
      caps_of(format_named("I420"), width, height + 2, colorimetry(format_named("I420"), false)));
  stream.filter.send_event(gst_event_new_caps(caps));
  const Picture higher =
      with_valid_chroma(make_picture(format_named("I420"), width, height + 2, Content::random, 2));
  stream.filter.expect(at(2 * frame_time, to_buffer(higher), frame_time), higher, "after new caps");
  stream.filter.accept_caps(format_named("I420"), width, height,
                            colorimetry(format_named("I420"), false));
  expect_stays();
  stream.filter.restart();
  stream.filter.accept_caps(format_named("I420"), width, height,
                            colorimetry(format_named("I420"), false));
  stream.miss(2, frame.in, "after a start");
}

// A frame counts by its own metas and time, however many follow it before it is complete.
TEST(test_frames_in_flight, .for_each_element().times(2)) {
  Detected stream({{"frames-in-flight", "4"},
                   {"region-persistence", "80000000"},
                   {"regions-missing", index == 0 ? "pass" : "all"}});
  const Frame& frame = stream.frame;
  constexpr guint64 count = 40, period = 4;
  for (guint64 i = 0; i < count; ++i) {
    GstBuffer* buffer = stream.buffer(i);
    fail_unless(stream.filter.push(i % period == 0 ? with_region(buffer, face) : buffer) ==
                GST_FLOW_OK);
  }
  stream.filter.send_eos();
  const Picture last = index == 0 ? frame.in : frame.processed;
  for (guint64 i = 0; i < count; ++i) {
    const Owned<GstBuffer> out(wait_for_buffer(stream.filter.harness()));
    expect_picture(from_buffer(out, format_named("I420"), width, height),
                   i % period == 3 ? last : frame.in_boxes({face}), "frame " + std::to_string(i));
  }
}

// A detector that looks at every third frame, finds a moving face in nine of ten of these and loses
// it altogether now and then. The face moves by at most a pixel per frame.
TEST(test_a_detector_that_skips_and_loses) {
  const FormatSpec& format = format_named("GRAY8");
  const Picture picture = make_picture(format, width, height, Content::random, 3);
  for (const char* missing : {"pass", "all"}) {
    FilterHarness filter("cudagaussblur", {{"sigma", "9"},
                                           {"use-roi-meta", "true"},
                                           {"regions-missing", missing},
                                           {"region-margin", "4"},
                                           {"region-persistence", "80000000"}});
    filter.accept_caps(format, width, height, colorimetry(format, false));
    int unprocessed = 0;
    for (guint64 i = 0; i < 1000; ++i) {
      const int x = static_cast<int>(i % 100 < 50 ? i % 50 : 50 - i % 50);
      const Box box{x, 15, x + 16, 35};
      GstBuffer* buffer = at(i * frame_time, to_buffer(picture), frame_time);
      const bool looks = i % 3 == 0, loses = i % 30 == 0 || i % 200 > 180;
      const Owned<GstBuffer> out =
          filter.process(looks && !loses ? with_region(buffer, box) : buffer);
      const Picture after = from_buffer(out, format, width, height);
      int same = 0;
      for (int y = box.y0; y < box.y1; ++y)
        for (int column = box.x0; column < box.x1; ++column)
          same += after.sample(0, column, y) == picture.sample(0, column, y);
      // Noise that a blur leaves as it is by chance.
      unprocessed += same > 16 * 20 / 10;
    }
    if (std::string(missing) == "all") {
      fail_unless_equals_int(unprocessed, 0);
    } else {
      fail_unless(unprocessed > 50, "the detector loses too little: %d", unprocessed);
    }
  }
}

// The histogram is that of the pixels that are equalised.
TEST(test_statistics_region) {
  Detected stream({{"statistics-region", "regions"}, {"region-persistence", "40000000"}});
  const Frame& frame = stream.frame;
  const Owned<GstBuffer> seen = stream.filter.process(with_region(stream.buffer(0), face));
  stream.miss(1, from_buffer(seen, format_named("I420"), width, height), "the same region");
  stream.miss(2, frame.in, "none");
  stream.filter.set("regions-missing", "all");
  stream.miss(3, frame.processed, "the whole frame");
}
