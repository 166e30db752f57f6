// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests that elements limit their effect to regions from properties and metas. Also
// tests frames without a known region. fuzz_regions compares random regions with an oracle.
#include <gst/video/gstvideometa.h>

#include <algorithm>

#include "tests/check/common/definitions/blurdefinition.h"
#include "tests/check/common/definitions/regiondefinition.h"
#include "tests/check/common/filterharness.h"

using namespace check;

namespace {

constexpr int width = 71, height = 53;

Picture random_picture(const FormatSpec& format, unsigned seed) {
  return with_valid_chroma(make_picture(format, width, height, Content::random, seed));
}

void start(FilterHarness& filter, const FormatSpec& format) {
  filter.accept_caps(format, width, height, colorimetry(format, false));
}

GstBuffer* with_region(GstBuffer* buffer, const Box& box) {
  gst_buffer_add_video_region_of_interest_meta(
      buffer, "face", static_cast<guint>(box.x0), static_cast<guint>(box.y0),
      static_cast<guint>(box.x1 - box.x0), static_cast<guint>(box.y1 - box.y0));
  return buffer;
}

/// Regions that overlap, are empty, or are partly or wholly outside the frame.
const std::vector<Box> any_boxes = {{10, 12, 40, 30}, {33, 20, 60, 48}, {-9, -7, 6, 5},
                                    {65, 40, 90, 70}, {20, 50, 20, 60}, {500, 600, 700, 800}};

Regions ellipses() {
  Regions regions = rectangles(any_boxes);
  regions.shape = RegionShape::ellipse;
  regions.margin = 2;
  regions.feather = 7;
  return regions;
}

/// Coordinates in a meta are unsigned; detectors store negative ones as their two's complement.
struct DetectedBox {
  gint64 x, y;
  guint width, height;

  void add_to(GstBuffer* buffer) const {
    gst_buffer_add_video_region_of_interest_meta(buffer, "face", static_cast<guint>(x),
                                                 static_cast<guint>(y), width, height);
  }
  /// Returns the box with clamped coordinates, as regiondefinition.h needs it.
  Box defined() const {
    const auto limited = [](gint64 coordinate) {
      return static_cast<int>(
          std::clamp<gint64>(coordinate, -Regions::max_coordinate, Regions::max_coordinate));
    };
    return {limited(x), limited(y), limited(x + width), limited(y + height)};
  }
};

constexpr GstClockTime frame_time = 40 * GST_MSECOND;
const Box face{10, 8, 31, 33}, plate{40, 20, 60, 41};

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

/// An element that takes regions from metas, and numbered frames for the element.
class Detected {
 public:
  explicit Detected(std::initializer_list<Property> properties = {})
      : filter({{"use-roi-meta", "true"}}) {
    filter.set(Properties(properties));
    filter.accept_caps(format_named("I420"), width, height,
                       colorimetry(format_named("I420"), false));
  }

  GstBuffer* buffer(guint64 number) const {
    return at(number * frame_time, to_buffer(frame.in), frame_time);
  }
  void see(guint64 number, const Box& box = face, int margin = 0) {
    filter.expect(with_region(buffer(number), box), frame.in_boxes({box}, margin), "a region");
  }
  void miss(guint64 number, const Picture& expected, const char* what) {
    filter.expect(buffer(number), expected, what);
  }

  FilterHarness filter;
  const Frame frame;
};

}  // namespace

// Outside the regions, the output is bit-identical to the input.
TEST(test_every_format, .for_each_element().times(formats().size())) {
  const FormatSpec& format = format_number(index);
  const Picture picture = random_picture(format, 1);
  Regions inverted = ellipses();
  inverted.invert = true;
  for (const Regions& regions : {rectangles(any_boxes), ellipses(), inverted}) {
    FilterHarness filter(properties_of(regions));
    start(filter, format);
    const Picture expected = in_regions(
        picture, [](const Picture& part) { return result(part); }, regions, tested().equalizes);
    expect_picture(filter.process(picture), expected, format.name);
    expect_picture(filter.process(picture, odd_layout), expected, "a second, padded frame");
    fail_unless_equals_int(filter.messages().complaints(), 0);
  }
}

TEST(test_shares_of_the_frame, .for_each_element()) {
  const FormatSpec& format = format_named("NV12");
  const Picture picture = random_picture(format, 2), processed = result(picture);
  FilterHarness filter({{"regions", " 0.5, 0.25,0.25,0.5;1,2,3,4 ; "}});
  start(filter, format);
  const Regions regions = rectangles({{36, 13, 53, 40}, {1, 2, 4, 6}});
  expect_picture(filter.process(picture), in_regions(picture, processed, regions), "shares");

  for (const char* whole : {"0.0,0.0,1.0,1.0", "-0.5,-0.5,2.0,2.0"}) {
    filter.set("regions", whole);
    expect_picture(filter.process(picture),
                   in_regions(picture, processed, rectangles({{0, 0, width, height}})), whole);
  }
}

// The coordinates are extreme. fuzz_regions tests boxes that the frame's edges clip.
TEST(test_extreme_metas, .for_each_element()) {
  const FormatSpec& format = format_named("I420");
  const Picture picture = random_picture(format, 10), processed = result(picture);
  const DetectedBox inside{40, 25, 12, 10};
  FilterHarness filter({{"use-roi-meta", "true"}, {"regions-missing", "all"}});
  start(filter, format);
  for (const int margin : {0, 4}) {
    filter.set("region-margin", std::to_string(margin));
    for (const DetectedBox& box : {DetectedBox{0, 0, G_MAXUINT, G_MAXUINT},
                                   {40, 30, G_MAXUINT, 10},
                                   {-10, 12, 30, G_MAXUINT},
                                   {-10, -10, G_MAXUINT, G_MAXUINT},
                                   {G_MININT, 5, G_MAXUINT, 9},
                                   {G_MAXINT, 5, G_MAXUINT, 9},
                                   {G_MININT, 5, 9, 9},
                                   {-1, -1, 1, 1},
                                   {-1, -1, 0, 9}}) {
      Regions regions = rectangles({inside.defined(), box.defined()});
      regions.margin = margin;
      GstBuffer* buffer = to_buffer(picture);
      inside.add_to(buffer);
      box.add_to(buffer);
      filter.expect(buffer, in_regions(picture, processed, regions),
                    std::to_string(box.x) + "," + std::to_string(box.y));
    }
  }
}

// DL Streamer and others store the confidence in a parameter of the meta.
TEST(test_confidence_of_metas, .for_each_element()) {
  const Picture picture = random_picture(gray(), 4), processed = result(picture);
  FilterHarness filter({{"use-roi-meta", "true"}, {"region-confidence", "0.5"}});
  start(filter, gray());
  const std::vector<Box> boxes = {{3, 4, 20, 30}, {30, 4, 40, 30}, {50, 4, 60, 30}};
  GstBuffer* buffer = to_buffer(picture);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    with_region(buffer, boxes[i]);
    if (i == 2)
      continue;  // no confidence
    auto* meta = gst_buffer_get_video_region_of_interest_meta_id(buffer, 0);
    gpointer state = nullptr;
    while (auto* next = static_cast<GstVideoRegionOfInterestMeta*>(
               static_cast<gpointer>(gst_buffer_iterate_meta_filtered(
                   buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))))
      if (static_cast<int>(next->x) == boxes[i].x0)
        meta = next;
    gst_video_region_of_interest_meta_add_param(
        meta,
        gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, i == 0 ? 0.49 : 0.5, nullptr));
  }
  filter.expect(buffer, in_regions(picture, processed, rectangles({boxes[1], boxes[2]})),
                "a confidence of 0.49 is too low");
}

TEST(test_wrong_text, .for_each_element()) {
  const FormatSpec& format = format_named("YUY2");
  const Picture picture = random_picture(format, 5);
  const Regions regions = ellipses();
  FilterHarness filter(properties_of(regions));
  start(filter, format);
  const Picture expected = in_regions(picture, result(picture), regions);
  expect_picture(filter.process(picture), expected, "regions");
  filter.set("regions", "10,20,30");
  for (int i = 0; i < 3; ++i)
    expect_picture(filter.process(picture), expected, "wrong text");
  fail_unless_equals_int(filter.messages().count(GST_MESSAGE_WARNING), 1);
  expect_words(filter.messages().text(GST_MESSAGE_WARNING),
               {"\"10,20,30\" is not a rectangle", "Keeping the previous settings"});
}

TEST(test_as_many_regions_as_possible, .for_each_element()) {
  const Picture picture = random_picture(gray(), 6), processed = result(picture);
  std::vector<Box> boxes;
  for (int i = 0; i < Regions::max_count; ++i)
    boxes.push_back({i % 32 * 3, i / 32 * 2, i % 32 * 3 + 2, i / 32 * 2 + 1});
  FilterHarness filter({{"use-roi-meta", "true"}});
  start(filter, gray());
  const auto push = [&](int count) {
    GstBuffer* in = to_buffer(picture);
    for (int i = 0; i < count; ++i)
      with_region(in, boxes[static_cast<std::size_t>(i) % boxes.size()]);
    return filter.push(in);
  };
  fail_unless(push(Regions::max_count) == GST_FLOW_OK);
  const Owned<GstBuffer> out = filter.pull();
  expect_picture(from_buffer(out, gray(), width, height),
                 in_regions(picture, processed, rectangles(boxes)), "1024 regions");
  fail_unless(push(Regions::max_count + 1) == GST_FLOW_ERROR);
  expect_words(filter.messages().text(GST_MESSAGE_ERROR),
               {"1024", "region-confidence", "region-types", "fewer rectangles"});
}

TEST(test_metas_survive, .for_each_element()) {
  const FormatSpec& format = format_named("NV12");
  const Picture picture = random_picture(format, 7);
  for (const char* types : {"", "person"}) {
    FilterHarness filter({{"use-roi-meta", "true"}, {"region-types", types}});
    start(filter, format);
    const Owned<GstBuffer> out = filter.process(with_region(to_buffer(picture), {10, 8, 31, 33}));
    const auto* meta = gst_buffer_get_video_region_of_interest_meta_id(out, 0);
    fail_unless(meta != nullptr && meta->x == 10 && meta->y == 8 && meta->w == 21 && meta->h == 25);
    fail_unless_equals_string(g_quark_to_string(meta->roi_type), "face");
  }
}

/* Frames without a known region: regions-missing and region-persistence */

TEST(test_persistence, .for_each_element()) {
  Detected stream({{"region-persistence", "80000000"}, {"region-margin", "3"}});
  const Frame& frame = stream.frame;
  stream.miss(0, frame.in, "nothing yet");
  stream.see(1, plate, 3);
  stream.see(2, face, 3);
  // Only the latest regions persist. They grow by the margin once more: 6 pixels instead of 3.
  stream.miss(3, frame.in_boxes({face}, 6), "after 40 ms");
  stream.miss(4, frame.in_boxes({face}, 6), "after 80 ms");
  stream.miss(5, frame.in, "after 120 ms");
  stream.see(6, plate, 3);
  stream.miss(7, frame.in_boxes({plate}, 6), "after 40 ms");
  stream.see(8, face, 3);
  stream.miss(9, frame.in_boxes({face}, 6), "after 40 ms");
  stream.filter.set("regions-missing", "all");
  stream.miss(10, frame.in_boxes({face}, 6), "after 80 ms");
  stream.miss(11, frame.processed, "after 120 ms");
  // Rectangles of the property `regions` always apply, and do not grow once more.
  stream.see(12, face, 3);
  stream.filter.set("regions", "50,40,5,5");
  const Box grown{face.x0 - 3, face.y0 - 3, face.x1 + 3, face.y1 + 3};
  stream.miss(13, frame.in_boxes({grown, {50, 40, 55, 45}}, 3), "with a rectangle");
}

TEST(test_a_start_resets_persistence, .for_each_element()) {
  Detected stream({{"region-persistence", "1000000000"}});
  stream.see(0);
  stream.miss(1, stream.frame.in_boxes({face}), "it stays");
  stream.filter.restart();
  stream.filter.accept_caps(format_named("I420"), width, height,
                            colorimetry(format_named("I420"), false));
  stream.miss(2, stream.frame.in, "after a start");
}

// The detector runs on every third frame, misses every tenth of these, and loses the face for a
// while now and then. The face moves by at most one pixel per frame.
TEST(test_a_detector_that_skips_and_loses) {
  const Picture picture = make_picture(gray(), width, height, Content::random, 3);
  for (const char* missing : {"pass", "all"}) {
    FilterHarness filter("cudagaussblur", {{"sigma", "9"},
                                           {"use-roi-meta", "true"},
                                           {"regions-missing", missing},
                                           {"region-margin", "4"},
                                           {"region-persistence", "80000000"}});
    filter.accept_caps(gray(), width, height, colorimetry(gray(), false));
    int unprocessed = 0;
    for (guint64 i = 0; i < 1000; ++i) {
      const int x = static_cast<int>(i % 100 < 50 ? i % 50 : 50 - i % 50);
      const Box box{x, 15, x + 16, 35};
      GstBuffer* buffer = at(i * frame_time, to_buffer(picture), frame_time);
      const bool looks = i % 3 == 0, loses = i % 30 == 0 || i % 200 > 180;
      const Owned<GstBuffer> out =
          filter.process(looks && !loses ? with_region(buffer, box) : buffer);
      const Picture after = from_buffer(out, gray(), width, height);
      int same = 0;
      for (int y = box.y0; y < box.y1; ++y)
        for (int column = box.x0; column < box.x1; ++column)
          same += after.sample(0, column, y) == picture.sample(0, column, y);
      // A blur may leave single pixels of noise unchanged.
      unprocessed += same > 16 * 20 / 10;
    }
    if (std::string(missing) == "all") {
      fail_unless_equals_int(unprocessed, 0);
    } else {
      fail_unless(unprocessed > 50, "only %d frames show the face that the detector lost",
                  unprocessed);
    }
  }
}

// The histogram counts exactly the pixels that are equalised.
TEST(test_statistics_region) {
  Detected stream({{"statistics-region", "regions"}, {"region-persistence", "40000000"}});
  const Frame& frame = stream.frame;
  const Owned<GstBuffer> seen = stream.filter.process(with_region(stream.buffer(0), face));
  stream.miss(1, from_buffer(seen, format_named("I420"), width, height), "the same region");
  stream.miss(2, frame.in, "none");
  stream.filter.set("regions-missing", "all");
  stream.miss(3, frame.processed, "the whole frame");
}
