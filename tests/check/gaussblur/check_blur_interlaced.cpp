// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests interlaced frames. cudagaussblur blurs each field as a separate picture, in every plane,
// and neither field affects the other.
#include <gst/video/video.h>

#include <algorithm>

#include "tests/check/common/definitions/blurdefinition.h"
#include "tests/check/common/definitions/regiondefinition.h"
#include "tests/check/common/filterharness.h"

using namespace check;

namespace {

constexpr int heights[] = {1, 2, 3, 4, 5, 7, 12, 30, 33};

Picture interlaced_picture(const FormatSpec& format, int width, int height, unsigned seed) {
  Picture picture = make_picture(format, width, height, Content::random, seed);
  picture.interlaced = true;
  return picture;
}

std::string caps_more(const FormatSpec& format, const char* mode) {
  return colorimetry(format, false) + ", interlace-mode=" + mode;
}

/// Processes the picture in a buffer with the given flags.
Picture process_flagged(FilterHarness& filter, const Picture& picture, guint flags) {
  GstBuffer* in = to_buffer(picture);
  GST_BUFFER_FLAG_SET(in, flags);
  const Owned<GstBuffer> out = filter.process(in);
  const Picture result =
      from_buffer(out, *picture.format, picture.width, picture.height, picture.interlaced);
  return result;
}

/// Returns a field as a picture: the rows of one parity, in every plane.
Picture field_of(const Picture& picture, int field) {
  Picture result(*picture.format, picture.width, (picture.height + 1 - field) / 2);
  for (std::size_t p = 0; p < result.planes.size(); ++p)
    for (int y = 0; y < result.planes[p].rows && 2 * y + field < picture.planes[p].rows; ++y)
      std::copy_n(picture.planes[p].row(2 * y + field), picture.planes[p].row_bytes,
                  result.planes[p].row(y));
  return result;
}

}  // namespace

TEST(test_interleaved, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  FilterHarness filter("cudagaussblur");
  int layout_number = 0;
  for (int height : heights) {
    filter.accept_caps(format, 23, height, caps_more(format, "interleaved"));
    for (Edge edge : all_edges)
      for (double sigma : {1.2, -4.0}) {
        Blur how{sigma, 0, 0, 0, edge, 0xff40a0c0};
        how.fields = true;
        filter.set(how.properties());
        const Picture picture =
            interlaced_picture(format, 23, height, static_cast<unsigned>(height));
        const Layout& layout =
            all_layouts[++layout_number % static_cast<int>(G_N_ELEMENTS(all_layouts))];
        expect_picture(filter.process(picture, layout), blurred(picture, how), how.description());
      }
  }
}

// A frame gives the same result as its two fields sent as separate pictures.
TEST(test_fields_are_pictures) {
  for (const char* name : {"GRAY8", "NV12", "I420", "YUY2", "Y42B", "RGBA", "P010_10LE", "GBR"}) {
    const FormatSpec& format = format_named(name);
    FilterHarness frames("cudagaussblur", {{"sigma", "5"}}),
        fields("cudagaussblur", {{"sigma", "5"}});
    // The size is such that fields begin and end with whole groups of chroma.
    frames.accept_caps(format, 34, 32, caps_more(format, "interleaved"));
    fields.accept_caps(format, 34, 16, colorimetry(format, false));
    const Picture picture = interlaced_picture(format, 34, 32, 3);
    const Picture out = frames.process(picture);
    for (int field : {0, 1})
      expect_picture(field_of(out, field), fields.process(field_of(picture, field)),
                     "field " + std::to_string(field));
  }
}

// A black and a white field stay black and white.
TEST(test_fields_do_not_mix) {
  for (const char* name : {"GRAY8", "I420", "GRAY16_LE"}) {
    const FormatSpec& format = format_named(name);
    Picture picture(format, 26, 18);
    picture.interlaced = true;
    for (Picture::Plane& plane : picture.planes)
      for (int y = 0; y < plane.rows; ++y)
        std::fill_n(plane.row(y), plane.row_bytes, static_cast<std::uint8_t>(y % 2 ? 255 : 0));
    FilterHarness filter("cudagaussblur", {{"sigma", "20"}});
    filter.accept_caps(format, 26, 18, caps_more(format, "interleaved"));
    expect_picture(filter.process(picture), picture, "a black and a white field");
  }
}

// In regions, a row of subsampled chroma covers rows of luma of its own field.
TEST(test_regions, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  Regions boxes = rectangles({{3, 1, 4, 2}, {10, 5, 17, 6}, {2, 8, 9, 13}, {-4, 16, 21, 18}});
  Regions ellipses = boxes;
  ellipses.shape = RegionShape::ellipse;
  ellipses.feather = 4;
  Regions inverted = boxes;
  inverted.invert = true;
  Blur how{3};
  FilterHarness filter("cudagaussblur", how.properties());
  for (int height : {2, 3, 6, 13, 18})
    for (const char* mode : {"interleaved", "mixed"}) {
      filter.accept_caps(format, 23, height, caps_more(format, mode));
      for (Regions regions : {boxes, ellipses, inverted}) {
        filter.set(properties_of(regions));
        how.fields = regions.fields = std::string(mode) == "interleaved";
        const Picture picture = interlaced_picture(format, 23, height, 5);
        const Picture expected = in_regions(
            picture, [&](const Picture& part) { return blurred(part, how); }, regions, false);
        expect_picture(filter.process(picture), expected, mode);
      }
    }
}

// In mixed streams, the flags of each buffer decide whether it is interlaced.
TEST(test_mixed, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  FilterHarness filter("cudagaussblur", {{"sigma", "3"}});
  filter.accept_caps(format, 31, 27, caps_more(format, "mixed"));
  Blur how{3};
  constexpr guint interlaced = GST_VIDEO_BUFFER_FLAG_INTERLACED;
  for (guint flags : {0u, interlaced, interlaced, 0u, interlaced | guint{GST_VIDEO_BUFFER_FLAG_TFF},
                      guint{GST_VIDEO_BUFFER_FLAG_TFF}, interlaced | GST_VIDEO_BUFFER_FLAG_RFF,
                      guint{GST_VIDEO_BUFFER_FLAG_RFF}, interlaced, 0u}) {
    how.fields = (flags & interlaced) != 0;
    const Picture picture = interlaced_picture(format, 31, 27, flags % 1000 + 1);
    expect_picture(process_flagged(filter, picture, flags), blurred(picture, how),
                   how.description());
  }
}

// In all other streams, the caps decide, whatever the buffers' flags say.
TEST(test_flags_against_caps) {
  for (const char* name : {"NV12", "BGRx", "GRAY16_LE"})
    for (bool interleaved : {false, true}) {
      const FormatSpec& format = format_named(name);
      FilterHarness filter("cudagaussblur");
      filter.accept_caps(format, 32, 24,
                         caps_more(format, interleaved ? "interleaved" : "progressive"));
      Picture picture = make_picture(format, 32, 24, Content::natural, 2);
      picture.interlaced = interleaved;
      Blur how;
      how.fields = interleaved;
      for (guint flags : {0u, guint{GST_VIDEO_BUFFER_FLAG_INTERLACED},
                          guint{GST_VIDEO_BUFFER_FLAG_TFF}, guint{GST_VIDEO_BUFFER_FLAG_RFF}})
        expect_picture(process_flagged(filter, picture, flags), blurred(picture, how),
                       how.description());
    }
}

// After invalid settings, the last valid ones stay in effect for interlaced and progressive frames.
TEST(test_mixed_with_impossible_settings) {
  const FormatSpec& format = format_named("I420");
  FilterHarness filter("cudagaussblur", {{"sigma", "2"}});
  filter.accept_caps(format, 32, 24, caps_more(format, "mixed"));
  const Picture picture = interlaced_picture(format, 32, 24, 2);
  Blur how{2};
  filter.process(picture);
  filter.set("kernel-size", "6");
  for (bool fields : {true, false, true}) {
    how.fields = fields;
    expect_picture(
        process_flagged(filter, picture, fields ? guint{GST_VIDEO_BUFFER_FLAG_INTERLACED} : 0u),
        blurred(picture, how), how.description());
  }
  fail_unless_equals_int(filter.messages().count(GST_MESSAGE_WARNING), 1);
}

TEST(test_identity) {
  const FormatSpec& format = format_named("NV12");
  FilterHarness filter("cudagaussblur", {{"sigma", "0"}});
  filter.accept_caps(format, 32, 24, caps_more(format, "interleaved"));
  const Owned<GstBuffer> in(to_buffer(interlaced_picture(format, 32, 24, 2)));
  const Owned<GstBuffer> out = filter.process(gst_buffer_ref(in));
  fail_unless(in == out);
}
