// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests regions from GstAnalytics: detections and, from GStreamer 1.26 on, turned ones and masks.
#include <gst/analytics/analytics.h>

#include <algorithm>
#include <cmath>

#include "tests/check/common/definitions/regiondefinition.h"
#include "tests/check/common/filterharness.h"
#include "tests/kernels/regions/masks_case.h"

using namespace check;
using cudavision::test::MaskPicture;
using cudavision::test::MasksCase;

namespace {

constexpr int width = 71, height = 53;

Picture random_picture(const FormatSpec& format, unsigned seed) {
  return with_valid_chroma(make_picture(format, width, height, Content::random, seed));
}

void start(FilterHarness& filter, const FormatSpec& format) {
  filter.accept_caps(format, width, height, colorimetry(format, false));
}

/// A frame to which detections are added.
struct AnalysedFrame {
  explicit AnalysedFrame(const Picture& picture)
      : buffer(to_buffer(picture)), meta(gst_buffer_add_analytics_relation_meta(buffer)) {}

  GstAnalyticsODMtd detect(const Box& box, float confidence = 1, const char* label = "face") const {
    GstAnalyticsODMtd object;
    fail_unless(gst_analytics_relation_meta_add_od_mtd(meta, g_quark_from_string(label), box.x0,
                                                       box.y0, box.x1 - box.x0, box.y1 - box.y0,
                                                       confidence, &object));
    return object;
  }

#if GST_CHECK_VERSION(1, 26, 0)
  /// Adds a mask, and classes of its regions if there are any. ids: those that it names.
  GstAnalyticsSegmentationMtd add_mask(const MaskPicture& mask, std::vector<guint> ids,
                                       const std::vector<const char*>& classes = {},
                                       std::vector<float> levels = {}) const {
    GstBuffer* picture = gst_buffer_new_memdup(mask.bytes.data(), mask.bytes.size());
    const gsize offsets[GST_VIDEO_MAX_PLANES] = {static_cast<gsize>(mask.offset)};
    const gint strides[GST_VIDEO_MAX_PLANES] = {mask.pitch};
    gst_buffer_add_video_meta_full(
        picture, GST_VIDEO_FRAME_FLAG_NONE,
        mask.sample_bytes == 1 ? GST_VIDEO_FORMAT_GRAY8 : GST_VIDEO_FORMAT_GRAY16_LE,
        static_cast<guint>(mask.width), static_cast<guint>(mask.height), 1, offsets, strides);
    return add_picture(picture, ids, mask.box, classes, levels);
  }
  GstAnalyticsSegmentationMtd add_picture(GstBuffer* picture, std::vector<guint>& ids,
                                          const Box& box,
                                          const std::vector<const char*>& classes = {},
                                          std::vector<float> levels = {}) const {
    GstAnalyticsSegmentationMtd added;
    fail_unless(gst_analytics_relation_meta_add_segmentation_mtd(
        meta, picture, GST_SEGMENTATION_TYPE_INSTANCE, ids.size(), ids.data(), box.x0, box.y0,
        static_cast<guint>(box.x1 - box.x0), static_cast<guint>(box.y1 - box.y0), &added));
    if (classes.empty())
      return added;
    // The metadata refers to the quarks.
    auto* quarks = g_new(GQuark, classes.size());
    for (std::size_t i = 0; i < classes.size(); ++i)
      quarks[i] = g_quark_from_string(classes[i]);
    levels.resize(classes.size(), -1);
    GstAnalyticsClsMtd related;
    fail_unless(gst_analytics_relation_meta_add_cls_mtd(meta, classes.size(), levels.data(), quarks,
                                                        &related));
    relate(added.id, related.id, GST_ANALYTICS_REL_TYPE_N_TO_N);
    g_free(quarks);
    return added;
  }
  void relate(guint one, guint other,
              GstAnalyticsRelTypes type = GST_ANALYTICS_REL_TYPE_RELATE_TO) const {
    fail_unless(gst_analytics_relation_meta_set_relation(meta, type, one, other));
  }

  void detect_turned(const Box& box, float radians) const {
    GstAnalyticsODMtd object;
    fail_unless(gst_analytics_relation_meta_add_oriented_od_mtd(
        meta, g_quark_from_string("face"), box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0,
        radians, 1, &object));
  }
#endif

  GstBuffer* buffer;
  GstAnalyticsRelationMeta* meta;
};

}  // namespace

TEST(test_detections, .for_each_element()) {
  const FormatSpec& format = format_named("NV12");
  const Picture picture = random_picture(format, 1), processed = result(picture);
  FilterHarness filter(
      {{"use-roi-meta", "true"}, {"region-confidence", "0.5"}, {"region-types", "face"}});
  start(filter, format);
  const AnalysedFrame frame(picture);
  frame.detect({3, 4, 20, 30});
  frame.detect({30, 4, 40, 30}, 0.25f);
  frame.detect({50, -4, 60, 30}, 0.5f, "Face");
  frame.detect({10, 40, 60, 50}, 1, "plate");
  filter.expect(frame.buffer,
                in_regions(picture, processed, rectangles({{3, 4, 20, 30}, {50, -4, 60, 30}})),
                "faces with enough confidence");
}

#if GST_CHECK_VERSION(1, 26, 0)

TEST(test_turned_detections, .for_each_element()) {
  for (const char* name : {"GRAY8", "I420", "RGB", "P010_10LE"}) {
    const FormatSpec& format = format_named(name);
    const Picture picture = random_picture(format, 2), processed = result(picture);
    for (const RegionShape shape : {RegionShape::rectangle, RegionShape::ellipse}) {
      Regions regions = rectangles({{10, 12, 50, 24}, {40, 20, 60, 48}, {5, 40, 30, 60}});
      regions.shape = shape;
      regions.margin = 2;
      regions.feather = shape == RegionShape::ellipse ? 7 : 0;
      const float radians[] = {0.7853982f, -0.3f, 0};
      Properties properties = properties_of(regions);
      properties[0] = {"use-roi-meta", "true"};
      FilterHarness filter(properties);
      start(filter, format);
      const AnalysedFrame frame(picture);
      for (std::size_t i = 0; i < 3; ++i) {
        frame.detect_turned(regions.boxes[i], radians[i]);
        regions.angles[i] = static_cast<std::uint16_t>(
            std::lround(static_cast<double>(radians[i]) / (2 * G_PI) * 65536));
      }
      filter.expect(frame.buffer, in_regions(picture, processed, regions), name);
    }
  }
}

// No pixel whose centre is in the rectangle keeps its value.
TEST(test_no_pixel_of_a_turned_rectangle_stays) {
  const FormatSpec& format = format_named("GRAY8");
  const Picture black = picture_with(format, width, height, [](int, int, int) { return 0; });
  for (int i = 0; i < 100; ++i) {
    const double turn = i * 0.0628;
    const Box box{20, 22, 51, 22 + 1 + i % 20};
    FilterHarness filter("cudapixelate",
                         {{"method", "solid"}, {"color", "0xffffffff"}, {"use-roi-meta", "true"}});
    start(filter, format);
    const AnalysedFrame frame(black);
    frame.detect_turned(box, static_cast<float>(turn));
    const Owned<GstBuffer> out = filter.process(frame.buffer);
    const Picture picture = from_buffer(out, format, width, height);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const double u = x + 0.5 - (box.x0 + box.x1) / 2.0, v = y + 0.5 - (box.y0 + box.y1) / 2.0;
        if (std::abs(u * std::cos(turn) + v * std::sin(turn)) <= (box.x1 - box.x0) / 2.0 &&
            std::abs(v * std::cos(turn) - u * std::sin(turn)) <= (box.y1 - box.y0) / 2.0)
          fail_unless(picture.sample(0, x, y) == 255, "%d: pixel %d, %d stays", i, x, y);
      }
  }
}

// A turned region stays as long as region-persistence says, and grows like the others.
TEST(test_persistence_of_turned_detections, .for_each_element()) {
  const FormatSpec& format = format_named("GRAY8");
  const Picture picture = random_picture(format, 3), processed = result(picture);
  FilterHarness filter({{"use-roi-meta", "true"},
                        {"region-persistence", "1000000000"},
                        {"region-margin", "3"},
                        {"regions-missing", "all"}});
  start(filter, format);
  Regions regions = rectangles({{20, 12, 50, 24}});
  regions.angles[0] = 8192;
  regions.margin = 3;
  const AnalysedFrame frame(picture);
  frame.detect_turned(regions.boxes[0], static_cast<float>(G_PI / 4));
  filter.expect(at(0, frame.buffer), in_regions(picture, processed, regions), "seen");
  regions.margin = 6;
  filter.expect(at(40 * GST_MSECOND, to_buffer(picture)), in_regions(picture, processed, regions),
                "missing");
}

// Angles and places that no detector should give.
TEST(test_hostile_detections, .for_each_element()) {
  const FormatSpec& format = format_named("GRAY8");
  const Picture picture = random_picture(format, 5);
  FilterHarness filter({{"use-roi-meta", "true"}});
  start(filter, format);
  for (const float radians : {NAN, INFINITY, -INFINITY, 1e30f, -1e30f, 1e-30f})
    for (const Box& box : {Box{0, 0, 10, 10}, Box{G_MININT / 2, 0, G_MAXINT / 2, 10},
                           Box{30, 20, 20, 10}, Box{0, G_MAXINT - 10, 5, G_MAXINT}}) {
      const AnalysedFrame frame(picture);
      frame.detect_turned(box, radians);
      const Owned<GstBuffer> out = filter.process(frame.buffer);
      fail_unless(out != nullptr);
    }
}

/* Masks */

namespace {

/// A mask with the samples id(column, row).
template <class Id>
MaskPicture mask_of(int columns, int rows, const Box& box, const Id& id) {
  MaskPicture mask;
  mask.width = columns;
  mask.height = rows;
  mask.pitch = columns + 3;
  mask.offset = 5;
  mask.bytes.assign(static_cast<std::size_t>(mask.offset + mask.pitch * rows), 1);
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x)
      mask.bytes[static_cast<std::size_t>(mask.offset + y * mask.pitch + x)] =
          static_cast<std::uint8_t>(id(x, y));
  mask.box = box;
  return mask;
}

/// The mask with these ids alone.
MaskPicture counting(MaskPicture mask, const std::vector<int>& ids) {
  mask.ids.assign(mask.sample_bytes == 1 ? 8 : 2048, 0);
  for (const int id : ids)
    mask.ids[static_cast<std::size_t>(id / 32)] |= 1u << (id % 32);
  return mask;
}

/// The regions of a frame, of which masks are some. Sets what RegionBlend needs to know of masks.
struct MaskedRegions {
  MaskedRegions(Regions others, const std::vector<MaskPicture>& masks, int growth = 0)
      : regions(others) {
    regions.mask_growth = growth;
    for (const MaskPicture& mask : masks)
      regions.mask_boxes[static_cast<std::size_t>(regions.mask_count++)] = mask.box;
    distances =
        cudavision::test::defined_distances(MasksCase{width, height, regions.mask_radius(), masks});
  }

  Picture expected(const Picture& original) const {
    return in_regions(
        original, [](const Picture& part) { return result(part); }, regions, tested().equalizes,
        distances);
  }

  Regions regions;
  std::vector<std::uint8_t> distances;
};

const Box whole{0, 0, width, height};

/// Four quadrants with the ids 0 to 3.
MaskPicture quadrants(const Box& box = whole) {
  return mask_of(10, 8, box, [](int x, int y) { return x / 5 + y / 4 * 2; });
}

Properties with_metas(Properties properties) {
  properties[0] = {"use-roi-meta", "true"};  // in place of the rectangles
  return properties;
}

}  // namespace

// Masks of both depths and of any size, with boxes, margins and feathers.
TEST(test_masks, .for_each_element()) {
  unsigned seed = 0;
  for (const char* name :
       {"GRAY8", "GRAY16_LE", "NV12", "I420", "YUY2", "P010_10LE", "RGB", "ARGB"})
    for (int i = 0; i < 3; ++i) {
      const FormatSpec& format = format_named(name);
      const Picture picture = random_picture(format, ++seed);
      cudavision::test::Random random(seed);
      std::vector<MaskPicture> masks = cudavision::test::random_masks(width, height, 4, random);
      Regions others = rectangles({{50, 4, 60, 12}, {3, 40, 20, 50}});
      others.margin = i == 0 ? 0 : 3;
      others.feather = i == 2 ? 9 : 0;
      others.invert = i == 2;
      FilterHarness filter(with_metas(properties_of(others)));
      start(filter, format);
      const AnalysedFrame frame(picture);
      for (int j = 0; j < others.count; ++j)
        frame.detect(others.boxes[static_cast<std::size_t>(j)]);
      for (MaskPicture& mask : masks) {
        // Those that are named without a class count, but for 0; others do too.
        mask.ids.assign(mask.ids.size(), ~0u);
        mask.ids[0] = ~1u;
        frame.add_mask(mask, {7});
      }
      filter.expect(frame.buffer, MaskedRegions(others, masks).expected(picture),
                    std::string(name) + ", " + std::to_string(i));
    }
}

// region-types and region-confidence apply to the classes of a mask's regions.
TEST(test_classes_of_masks, .for_each_element()) {
  const FormatSpec& format = format_named("NV12");
  const Picture picture = random_picture(format, 3);
  FilterHarness filter({{"use-roi-meta", "true"}});
  start(filter, format);
  const auto expect = [&](const Properties& properties, const std::vector<int>& ids,
                          const char* what) {
    filter.set(properties);
    const AnalysedFrame frame(picture);
    frame.add_mask(quadrants(), {0, 1, 2, 300}, {"street", "Face", "plate", "face"}, {-1, 0.25f});
    filter.expect(
        frame.buffer,
        ids.empty() ? picture
                    : MaskedRegions(rectangles({}), {counting(quadrants(), ids)}).expected(picture),
        what);
  };
  expect({{"region-types", ""}}, {0, 1, 2, 3}, "all classes, and the id without one");
  expect({{"region-types", "face"}}, {1}, "one class");
  expect({{"region-types", "street,plate"}}, {0, 2}, "0 has a class");
  expect({{"region-types", "face"}, {"region-confidence", "0.5"}}, {}, "a level below");
  expect({{"region-types", "plate"}}, {2}, "a level that is unknown");

  filter.set({{"region-types", ""}});
  const AnalysedFrame frame(picture);
  frame.add_mask(quadrants(), {});
  filter.expect(frame.buffer,
                MaskedRegions(rectangles({}), {counting(quadrants(), {1, 2, 3})}).expected(picture),
                "0 without a class is the background");
}

// A detection with a mask is covered by it, and not by its box, too.
TEST(test_masks_of_detections, .for_each_element()) {
  const FormatSpec& format = format_named("I420");
  const Picture picture = random_picture(format, 4);
  const Box face{10, 10, 40, 40}, other{50, 30, 60, 50};
  const MaskPicture mask = counting(quadrants(face), {1, 2, 3});
  FilterHarness filter({{"use-roi-meta", "true"}, {"region-types", "face"}});
  start(filter, format);
  const auto expect = [&](const char* masks, const std::vector<Box>& boxes, bool masked,
                          const char* label = "face", bool backwards = false) {
    filter.set("region-masks", masks);
    const AnalysedFrame frame(picture);
    const guint object = frame.detect(face, 1, label).id, added = frame.add_mask(mask, {1, 2}).id;
    frame.detect(other);
    backwards ? frame.relate(added, object, GST_ANALYTICS_REL_TYPE_IS_PART_OF)
              : frame.relate(object, added, GST_ANALYTICS_REL_TYPE_CONTAIN);
    const std::vector<MaskPicture> counted(masked ? 1 : 0, mask);
    filter.expect(frame.buffer,
                  boxes.empty() && !masked
                      ? picture
                      : MaskedRegions(rectangles(boxes), counted).expected(picture),
                  std::string(masks) + ", " + label);
  };
  expect("prefer", {other}, true);
  expect("prefer", {other}, true, "face", true);
  expect("ignore", {face, other}, false);
  expect("only", {}, true);
  expect("prefer", {other}, false, "person");

  // No id of the mask counts, so that the box has to do.
  filter.set("region-masks", "prefer");
  const AnalysedFrame frame(picture);
  frame.relate(frame.detect(face).id, frame.add_mask(mask, {1, 2}, {"person", "person"}).id);
  MaskPicture rest = counting(mask, {3});
  filter.expect(frame.buffer, MaskedRegions(rectangles({face}), {rest}).expected(picture),
                "a mask of other things");
}

TEST(test_persistence_of_masks, .for_each_element()) {
  const FormatSpec& format = format_named("GRAY8");
  const Picture picture = random_picture(format, 5), processed = result(picture);
  FilterHarness filter({{"use-roi-meta", "true"},
                        {"region-persistence", "40000000"},
                        {"region-margin", "3"},
                        {"regions-missing", "all"}});
  start(filter, format);
  const MaskPicture mask = counting(quadrants({20, 10, 40, 30}), {1});
  Regions none = rectangles({});
  none.margin = 3;
  const AnalysedFrame frame(picture);
  frame.add_mask(mask, {0, 1}, {"", "face"});
  filter.set("region-types", "face");
  filter.expect(at(0, frame.buffer), MaskedRegions(none, {mask}).expected(picture), "seen");
  filter.expect(at(40 * GST_MSECOND, to_buffer(picture)),
                MaskedRegions(none, {mask}, 3).expected(picture), "missing");
  filter.expect(at(80 * GST_MSECOND, to_buffer(picture)), processed, "for too long");
  const AnalysedFrame outside(picture);
  outside.add_mask(quadrants({200, 10, 240, 30}), {0, 1}, {"", "face"});
  filter.expect(at(120 * GST_MSECOND, outside.buffer), processed, "a mask outside of the frame");
}

// The element goes on with masks of all sizes and rectangles, or says what is wrong with them.
TEST(test_hostile_masks, .for_each_element()) {
  const FormatSpec& format = format_named("NV12");
  const Picture picture = random_picture(format, 6);
  const auto push = [&](GstBuffer* mask, const Box& box) {
    FilterHarness filter({{"use-roi-meta", "true"}});
    start(filter, format);
    const AnalysedFrame frame(picture);
    std::vector<guint> ids(5000);
    for (std::size_t i = 0; i < ids.size(); ++i)
      ids[i] = static_cast<guint>(i * 1000003);
    frame.add_picture(mask, ids, box);
    const GstFlowReturn flow = filter.push(frame.buffer);
    return flow == GST_FLOW_OK ? std::string() : filter.messages().text(GST_MESSAGE_ERROR);
  };
  const auto gray = [](GstVideoFormat kind, guint columns, guint rows, gint stride, gsize bytes) {
    GstBuffer* mask = gst_buffer_new_allocate(nullptr, bytes, nullptr);
    gst_buffer_memset(mask, 0, 1, bytes);
    const gsize offsets[GST_VIDEO_MAX_PLANES] = {};
    const gint strides[GST_VIDEO_MAX_PLANES] = {stride};
    gst_buffer_add_video_meta_full(mask, GST_VIDEO_FRAME_FLAG_NONE, kind, columns, rows, 1, offsets,
                                   strides);
    return mask;
  };
  constexpr GstVideoFormat bytes = GST_VIDEO_FORMAT_GRAY8, words = GST_VIDEO_FORMAT_GRAY16_LE;
  fail_unless_equals_string(push(gray(bytes, 1, 1, 1, 1), whole).c_str(), "");
  fail_unless_equals_string(push(gray(words, 3, 2, 6, 12), {-900, -1, 900, 1}).c_str(), "");
  fail_unless_equals_string(push(gray(bytes, 1000, 900, 1001, 901000), {5, 5, 6, 6}).c_str(), "");
  fail_unless_equals_string(push(gray(bytes, 4, 4, 4, 16), {9, 9, 9, 20}).c_str(), "");
  fail_unless_equals_string(push(gray(bytes, 4, 4, 4, 16), {900, 9, 990, 20}).c_str(), "");
  expect_words(push(gray(bytes, 10, 10, 10, 99), whole), {"buffer"});
  expect_words(push(gray(words, 10, 10, 10, 200), whole), {"stride"});
  expect_words(push(gray(bytes, 70000, 1, 70000, 70000), whole), {"70000×1", "65535"});
  expect_words(push(gray(bytes, 4, 4, 4, 16), {0, 0, 9000000, 9}), {"9000000", "no frame has"});
  expect_words(push(gray(GST_VIDEO_FORMAT_GRAY16_BE, 4, 4, 8, 32), whole),
               {"GRAY16_BE", "GRAY8 and GRAY16_LE"});

  FilterHarness filter({{"use-roi-meta", "true"}});
  start(filter, format);
  const AnalysedFrame frame(picture);
  for (int i = 0; i < 65; ++i)
    frame.add_mask(quadrants(), {1});
  fail_unless(filter.push(frame.buffer) == GST_FLOW_ERROR);
  expect_words(filter.messages().text(GST_MESSAGE_ERROR), {"64 segmentation masks"});
}

#endif
