// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests regions from GstAnalytics: detections and, from GStreamer 1.26 on, rotated detections.
#include <cmath>

#include "tests/check/common/analysedframe.h"
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

// Every pixel whose centre is inside the rotated rectangle is changed.
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
          fail_unless(picture.sample(0, x, y) == 255, "rectangle %d: pixel (%d, %d) is unchanged",
                      i, x, y);
      }
  }
}

// A rotated region persists for region-persistence, and grows like other regions.
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

// Detections may have invalid angles (NaN, infinite, huge) and boxes (negative size, int's limits).
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

#endif
