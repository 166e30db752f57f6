// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests statistics-region of cudahistequalize: frames that are equalised by the histogram of their
// regions, and the messages about these frames.
#include <gst/video/gstvideometa.h>

#include "tests/check/common/definitions/equalizedefinition.h"
#include "tests/check/common/definitions/regiondefinition.h"
#include "tests/check/common/filterharness.h"
#include "tests/check/common/histogrammessage.h"

using namespace check;

namespace {

constexpr int width = 71, height = 53;
const Property by_regions = {"statistics-region", "regions"};

/// Regions that overlap, are empty, or are partly or wholly outside the frame.
Regions some_regions(RegionShape shape, bool invert) {
  Regions regions = rectangles(
      {{10, 12, 40, 30}, {33, 20, 60, 48}, {-9, -7, 6, 5}, {20, 50, 20, 60}, {500, 6, 700, 8}});
  regions.shape = shape;
  regions.margin = 1;
  regions.feather = shape == RegionShape::ellipse ? 7 : 0;
  regions.invert = invert;
  return regions;
}

Picture natural(const FormatSpec& format, unsigned seed) {
  return make_picture(format, width, height, Content::natural, seed);
}

void start(FilterHarness& filter, const FormatSpec& format, bool limited = false) {
  filter.accept_caps(format, width, height, colorimetry(format, limited));
}

/// Equalises the regions with the histogram of their pixels.
Picture definition_of(const Picture& picture, const Regions& regions, Equalization how = {}) {
  how.limited = how.limited && picture.format->family != Family::rgb;
  const auto process = [&](const Picture& part) {
    return equalized_by_regions(part, how, regions);
  };
  return in_regions(picture, process, regions, true);
}

/// Expects one message, with the statistics of the pixels in the regions.
void expect_message(FilterHarness& filter, const Picture& picture, const Regions* regions) {
  const std::vector<Owned<GstMessage>> messages = filter.messages().take(GST_MESSAGE_ELEMENT);
  fail_unless_equals_int(messages.size(), 1);
  expect_statistics(structure_of(messages[0]), picture, regions);
}

/// Processes a frame and expects its message.
void expect_frame(FilterHarness& filter, const Picture& picture, const Picture& expected,
                  const Regions* regions, const char* what) {
  filter.expect(to_buffer(picture), expected, what);
  filter.send_segment(new_segment());  // pending messages are posted first
  expect_message(filter, picture, regions);
}

}  // namespace

TEST(test_every_format, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  for (const bool each_channel : {false, true}) {
    if (each_channel && !format.has_single_colors())
      continue;
    for (const Regions& regions :
         {some_regions(RegionShape::rectangle, false), some_regions(RegionShape::ellipse, false),
          some_regions(RegionShape::ellipse, true)}) {
      FilterHarness filter(properties_of(regions));
      filter.set({by_regions, {"post-messages", "true"}});
      Equalization how = {each_channel, 1, true};
      filter.set(how.properties());
      start(filter, format, true);
      const Picture picture = with_valid_chroma(natural(format, 3));
      const Picture expected = definition_of(picture, regions, how);
      expect_frame(filter, picture, expected, &regions, format.name);
      filter.expect(to_buffer(picture, odd_layout), expected, "a padded frame");
      fail_unless_equals_int(filter.messages().complaints(), 0);
    }
  }
}

// Without smoothing, a frame does not depend on earlier frames, even if regions move.
TEST(test_moving_regions) {
  const FormatSpec& format = format_named("NV12");
  FilterHarness filter({{"use-roi-meta", "true"}, by_regions, {"post-messages", "true"}});
  start(filter, format);
  for (int frame = 0; frame < 12; ++frame) {
    const Picture picture = natural(format, static_cast<unsigned>(frame));
    const Regions regions = rectangles({{frame * 4, frame, frame * 4 + 20, frame + 30}});
    GstBuffer* buffer = to_buffer(picture);
    gst_buffer_add_video_region_of_interest_meta(buffer, "face", static_cast<guint>(frame * 4),
                                                 static_cast<guint>(frame), 20, 30);
    filter.expect(buffer, definition_of(picture, regions), "frame " + std::to_string(frame));
    filter.send_segment(new_segment());
    expect_message(filter, picture, &regions);
  }
}

TEST(test_no_pixel_is_selected) {
  const Picture picture = natural(gray(), 4);
  FilterHarness filter({{"use-roi-meta", "true"}, by_regions, {"post-messages", "true"}});
  start(filter, gray());
  Regions none;
  expect_frame(filter, picture, picture, &none, "no region: the frame passes");
  filter.set("regions", "1000,0,5,5");
  expect_frame(filter, picture, picture, &none, "a region outside the frame");
  filter.set({{"regions", ""}, {"region-invert", "true"}});
  expect_frame(filter, picture, equalized(picture, {}), nullptr, "everything but no region");
  filter.set({{"use-roi-meta", "false"}, {"region-invert", "false"}});
  expect_frame(filter, picture, equalized(picture, {}), nullptr, "the whole frame");
}

TEST(test_one_level) {
  Picture picture = natural(gray(), 5);
  const Regions regions = rectangles({{10, 10, 30, 20}});
  for (int y = 10; y < 20; ++y)
    for (int x = 10; x < 30; ++x)
      picture.set_sample(0, x, y, 77);
  FilterHarness filter(properties_of(regions));
  filter.set({by_regions});
  start(filter, gray());
  expect_picture(filter.process(picture), picture, "a region of one grey stays unchanged");
}

TEST(test_changes_while_playing) {
  const FormatSpec& format = format_named("RGBx");
  const Picture picture = natural(format, 6);
  const Regions regions = some_regions(RegionShape::ellipse, false);
  const Picture by_frame = in_regions(picture, equalized(picture, {}), regions);
  const Picture own = definition_of(picture, regions);
  fail_if(difference(by_frame, own).empty(), "this picture cannot show the difference");
  FilterHarness filter(properties_of(regions));
  filter.set("post-messages", "true");
  start(filter, format);
  for (int round = 0; round < 3; ++round) {
    expect_frame(filter, picture, by_frame, nullptr, "the histogram of the frame");
    filter.set({by_regions});
    expect_frame(filter, picture, own, &regions, "that of the regions");
    filter.set("strength", "0");
    expect_frame(filter, picture, picture, &regions, "only measured");
    filter.set({{"strength", "1"}, {"statistics-region", "frame"}});
  }
  fail_unless_equals_int(filter.messages().complaints(), 0);
}

// With CLAHE, the tables use all pixels of the tiles, but messages only the pixels in the regions.
TEST(test_clahe) {
  const Picture picture = natural(gray(), 7);
  const Regions regions = some_regions(RegionShape::rectangle, false);
  FilterHarness filter(properties_of(regions));
  filter.set({by_regions, {"method", "clahe"}, {"post-messages", "true"}});
  start(filter, gray());
  Equalization how;
  how.adaptive = true;
  expect_frame(filter, picture, in_regions(picture, equalized(picture, how), regions), &regions,
               "tiles of the frame");
}

TEST(test_smoothing) {
  for (const char* name : {"GRAY8", "I420", "P010_10LE", "GRAY16_LE", "RGB"}) {
    const FormatSpec& format = format_named(name);
    Regions regions = some_regions(RegionShape::ellipse, false);
    FilterHarness filter(properties_of(regions));
    filter.set({by_regions, {"smoothing-time", "200000000"}, {"scene-cut-threshold", "1"}});
    start(filter, format);
    SmoothedEqualization definition;
    for (int frame = 0; frame < 10; ++frame) {
      if (frame % 3 == 2) {
        regions.boxes[0].x1 += 2;
        filter.set(properties_of(regions));
      }
      if (frame == 7) {  // other pixels are counted, so a new average begins
        filter.set("statistics-region", "frame");
        definition.restart();
      }
      const Picture picture = natural(format, static_cast<unsigned>(frame / 4));
      const Picture processed =
          definition.next(picture, {}, 40e6, 200e6, 1, frame < 7 ? &regions : nullptr);
      filter.expect(at(static_cast<GstClockTime>(frame) * 40 * GST_MSECOND, to_buffer(picture)),
                    in_regions(picture, processed, regions),
                    std::string(name) + ", frame " + std::to_string(frame));
    }
  }
}
