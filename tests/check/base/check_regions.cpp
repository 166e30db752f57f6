// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests that elements with one input limit their effect to regions: those in properties and those
// in metas of the frames.
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

GstBuffer* with_region(GstBuffer* buffer, const char* label, const Box& box) {
  gst_buffer_add_video_region_of_interest_meta(
      buffer, label, static_cast<guint>(box.x0), static_cast<guint>(box.y0),
      static_cast<guint>(box.x1 - box.x0), static_cast<guint>(box.y1 - box.y0));
  return buffer;
}

/// Regions that overlap, are empty, or lie partly or wholly outside the frame.
const std::vector<Box> any_boxes = {{10, 12, 40, 30}, {33, 20, 60, 48}, {-9, -7, 6, 5},
                                    {65, 40, 90, 70}, {20, 50, 20, 60}, {500, 600, 700, 800}};

Regions ellipses() {
  Regions regions = rectangles(any_boxes);
  regions.shape = RegionShape::ellipse;
  regions.margin = 2;
  regions.feather = 7;
  return regions;
}

}  // namespace

// Outside the regions, the output has the input's bits in every format.
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

  filter.set("regions", "0.0,0.0,1.0,1.0");
  expect_picture(filter.process(picture),
                 in_regions(picture, processed, rectangles({{0, 0, width, height}})),
                 "the whole frame");
  filter.set("regions", "-0.5,-0.5,2.0,2.0");
  expect_picture(filter.process(picture),
                 in_regions(picture, processed, rectangles({{0, 0, width, height}})),
                 "more than the whole frame");
}

TEST(test_metas, .for_each_element()) {
  const FormatSpec& format = format_named("I420");
  const Picture picture = random_picture(format, 3), processed = result(picture);
  const Box face{10, 8, 31, 33}, plate{40, 20, 69, 41};
  FilterHarness filter({{"use-roi-meta", "true"}});
  start(filter, format);
  const auto expect = [&](const std::vector<Box>& boxes, const char* what) {
    GstBuffer* in = with_region(with_region(to_buffer(picture), "face", face), "plate", plate);
    filter.expect(in, in_regions(picture, processed, rectangles(boxes)), what);
  };
  expect({face, plate}, "all regions");
  filter.set("region-types", "plate");
  expect({plate}, "one type");
  filter.set("region-types", " person , face,plate");
  expect({face, plate}, "a list of types");
  filter.set("region-types", "person");
  expect({}, "a type that the frame does not have");
  filter.set("regions", "1,2,30,4");
  expect({{1, 2, 31, 6}}, "a region from the property");
  filter.set("region-types", "face");
  expect({face, {1, 2, 31, 6}}, "regions from both");
  filter.set("use-roi-meta", "false");
  expect({{1, 2, 31, 6}}, "metas do not count");
  filter.set("regions", "");
  filter.expect(with_region(to_buffer(picture), "face", face), processed, "the whole frame");
}

namespace {

/// A box in a meta, as a detector gives it. The meta's coordinates are unsigned.
struct DetectedBox {
  gint64 x, y;
  guint width, height;

  GstBuffer* add_to(GstBuffer* buffer) const {
    gst_buffer_add_video_region_of_interest_meta(buffer, "face", static_cast<guint>(x),
                                                 static_cast<guint>(y), width, height);
    return buffer;
  }
  /// The definition's boxes are signed, but have a limit.
  Box defined() const {
    const auto limited = [](gint64 coordinate) {
      return static_cast<int>(
          std::clamp<gint64>(coordinate, -Regions::max_coordinate, Regions::max_coordinate));
    };
    return {limited(x), limited(y), limited(x + width), limited(y + height)};
  }
};

const DetectedBox cut_off[] = {{-10, 12, 30, 20},        {20, -9, 25, 30},  {55, 12, 40, 20},
                               {20, 40, 25, 30},         {-7, -5, 20, 18},  {60, 45, 30, 30},
                               {-20, 45, 33, 21},        {61, -30, 17, 41}, {-30, -30, 200, 200},
                               {-1, 20, 2, 10},          {-29, 20, 30, 10}, {70, 52, 1, 1},
                               {width - 1, 0, 9, height}};
const DetectedBox outside[] = {{-30, 12, 30, 20},    {20, -30, 25, 30},  {width, 12, 40, 20},
                               {20, height, 25, 30}, {-40, -40, 10, 10}, {-3, 12, 2, 2}};
/// The numbers that a meta can have at most, of which an ellipse would be too flat for the limit.
const DetectedBox extremes[] = {{0, 0, G_MAXUINT, G_MAXUINT},
                                {40, 30, G_MAXUINT, 10},
                                {-10, 12, 30, G_MAXUINT},
                                {-10, -10, G_MAXUINT, G_MAXUINT},
                                {G_MININT, 5, G_MAXUINT, 9},
                                {G_MAXINT, 5, G_MAXUINT, 9},
                                {G_MININT, 5, 9, 9},
                                {-1, -1, 1, 1},
                                {-1, -1, 0, 9}};

}  // namespace

// The edges of the frame cut objects off, whose boxes then begin left of or above it.
TEST(test_metas_beyond_the_edges, .for_each_element()) {
  const FormatSpec& format = format_named("I420");
  const Picture picture = random_picture(format, 10), processed = result(picture);
  const DetectedBox inside{40, 25, 12, 10};
  FilterHarness filter({{"use-roi-meta", "true"}, {"regions-missing", "all"}});
  start(filter, format);
  const auto expect = [&](const DetectedBox& box, const Regions& shape) {
    Regions regions = shape;
    regions.boxes = {inside.defined(), box.defined()};
    regions.count = 2;
    const std::string what = std::to_string(box.x) + "," + std::to_string(box.y) + "," +
                             std::to_string(box.width) + "," + std::to_string(box.height);
    filter.expect(box.add_to(inside.add_to(to_buffer(picture))),
                  in_regions(picture, processed, regions), what);
  };
  Regions grown, soft = ellipses(), inverted = ellipses();
  grown.margin = 4;
  soft.count = inverted.count = 0;
  inverted.invert = true;
  for (const Regions& shape : {Regions(), grown, soft, inverted}) {
    filter.set(properties_of(shape));
    for (const DetectedBox& box : cut_off)
      expect(box, shape);
    for (const DetectedBox& box : outside)
      expect(box, shape);
    if (shape.shape == RegionShape::rectangle)
      for (const DetectedBox& box : extremes)
        expect(box, shape);
  }
}

TEST(test_frames_without_regions, .for_each_element()) {
  const FormatSpec& format = format_named("RGBA");
  const Picture picture = random_picture(format, 4), processed = result(picture);
  FilterHarness filter({{"use-roi-meta", "true"}});
  start(filter, format);
  filter.expect(to_buffer(picture), picture, "no region: unchanged");
  filter.set("region-invert", "true");
  filter.expect(to_buffer(picture), processed, "everything but no region");
  filter.set({{"use-roi-meta", "false"}});
  filter.expect(to_buffer(picture), processed, "regions are not used");
  filter.set({{"regions", "-10,0,10,10"}, {"region-invert", "false"}});
  filter.expect(to_buffer(picture), picture, "a region outside the frame");
  filter.set("region-feather", "3");
  Regions faint = rectangles({{-10, 0, 0, 10}});
  faint.feather = 3;
  filter.expect(to_buffer(picture), in_regions(picture, processed, faint), "only its feather");
}

TEST(test_changes, .for_each_element()) {
  const FormatSpec& format = format_named("YUY2");
  const Picture picture = random_picture(format, 5), processed = result(picture);
  Regions regions = rectangles({any_boxes[0]});
  FilterHarness filter;
  start(filter, format);
  expect_picture(filter.process(picture), processed, "no regions yet");
  const std::vector<void (*)(Regions&)> changes = {
      [](Regions&) {},
      [](Regions& r) { r.boxes[0].x1 += 9; },
      [](Regions& r) { r.shape = RegionShape::ellipse; },
      [](Regions& r) { r.margin = 5; },
      [](Regions& r) { r.feather = 11; },
      [](Regions& r) { r.invert = true; },
      [](Regions& r) { r.boxes[static_cast<std::size_t>(r.count++)] = any_boxes[1]; },
  };
  for (const auto change : changes) {
    change(regions);
    filter.set(properties_of(regions));
    expect_picture(filter.process(picture), in_regions(picture, processed, regions), "a change");
  }
  fail_unless_equals_int(filter.messages().complaints(), 0);

  // With wrong text, the last valid regions stay.
  filter.set("regions", "10,20,30");
  for (int i = 0; i < 3; ++i)
    expect_picture(filter.process(picture), in_regions(picture, processed, regions), "wrong text");
  fail_unless_equals_int(filter.messages().count(GST_MESSAGE_WARNING), 1);
  expect_words(filter.messages().text(GST_MESSAGE_WARNING),
               {"\"10,20,30\" is not a rectangle", "last valid"});
  filter.set({{"regions", ""}, {"region-invert", "false"}});
  expect_picture(filter.process(picture), processed, "no regions any more");
}

TEST(test_as_many_regions_as_possible, .for_each_element()) {
  const FormatSpec& format = format_named("GRAY8");
  const Picture picture = random_picture(format, 6), processed = result(picture);
  std::vector<Box> boxes;
  for (int i = 0; i < Regions::max_count; ++i)
    boxes.push_back({i % 32 * 3, i / 32 * 2, i % 32 * 3 + 2, i / 32 * 2 + 1});
  FilterHarness filter({{"use-roi-meta", "true"}});
  start(filter, format);
  const auto push = [&](int count) {
    GstBuffer* in = to_buffer(picture);
    for (int i = 0; i < count; ++i)
      with_region(in, "face", boxes[static_cast<std::size_t>(i) % boxes.size()]);
    return filter.push(in);
  };
  fail_unless(push(Regions::max_count) == GST_FLOW_OK);
  const Owned<GstBuffer> out = filter.pull();
  expect_picture(from_buffer(out, format, width, height),
                 in_regions(picture, processed, rectangles(boxes)), "1024 regions");
  fail_unless(push(Regions::max_count + 1) == GST_FLOW_ERROR);
  expect_words(filter.messages().text(GST_MESSAGE_ERROR), {"1024", "region-types"});
}

// The metas stay with the frame, whether it is a new one or the input buffer.
TEST(test_metas_survive, .for_each_element()) {
  const FormatSpec& format = format_named("NV12");
  const Picture picture = random_picture(format, 7);
  for (const char* types : {"", "person"}) {
    FilterHarness filter({{"use-roi-meta", "true"}, {"region-types", types}});
    start(filter, format);
    const Owned<GstBuffer> out =
        filter.process(with_region(to_buffer(picture), "face", {10, 8, 31, 33}));
    const auto* meta = gst_buffer_get_video_region_of_interest_meta_id(out, 0);
    fail_unless(meta != nullptr && meta->x == 10 && meta->y == 8 && meta->w == 21 && meta->h == 25);
    fail_unless_equals_string(g_quark_to_string(meta->roi_type), "face");
  }
}
