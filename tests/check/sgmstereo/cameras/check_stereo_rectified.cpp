// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the pad rectified of cudasgmstereo: the left picture, with and without a calibration.
#include <gst/video/video.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "tests/check/common/definitions/stereodefinition.h"
#include "tests/check/common/streams/padsharness.h"
#include "tests/check/sgmstereo/cameras/photographedplanes.h"

using namespace check;

namespace {

const Properties few = {{"num-disparities", "32"}};

std::string text_field(const GstHarness* harness, const char* field) {
  const Owned<GstCaps> caps = current_caps(harness->sinkpad);
  const gchar* text = gst_structure_get_string(gst_caps_get_structure(caps, 0), field);
  return text ? text : "";
}

std::vector<std::string> offered_formats(GstHarness* harness) {
  const Owned<GstCaps> caps(gst_pad_peer_query_caps(harness->sinkpad, nullptr));
  std::vector<std::string> formats;
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const std::string format = gst_structure_get_string(gst_caps_get_structure(caps, i), "format");
    if (std::find(formats.begin(), formats.end(), format) == formats.end())
      formats.push_back(format);
  }
  return formats;
}

/// Requests the pad `rectified`, in `format` or, with nullptr, in the element's preferred format.
struct RectifiedHarness : PadsHarness {
  RectifiedHarness(const Properties& properties, const char* format, bool two = true)
      : PadsHarness(joined(few, properties), two), pad(open("rectified")) {
    if (format)
      gst_harness_set_sink_caps_str(pad, (std::string("video/x-raw, format=") + format).c_str());
  }

  Picture next(GstBuffer* left_frame, GstBuffer* right_frame) {
    process(left_frame, right_frame);
    return picture_at(pad->sinkpad, pull_from(pad));
  }

  GstHarness* pad;
};

Picture gray_of(const Picture& picture) {
  const Picture luminance = luminance_picture(picture);
  return picture_with(gray(), picture.width, picture.height, [&](int, int x, int y) {
    return luminance.sample(0, x, y) >> (picture.format->bits - 8);
  });
}

constexpr char right_first[] =
    ", multiview-mode=MODE, multiview-flags=(GstVideoMultiviewFlagsSet)1:ffffffff";

constexpr int width = camera_width, height = camera_height;
constexpr double wide =
    180;  // with this focal length, the rectified picture exceeds the camera's field of view

struct Slope {
  double factor, tolerance;

  /// `count`: the number of samples along a row or a column.
  explicit Slope(int count)
      : factor(count > 160 ? 0.625 : 1), tolerance(count > 160 ? 1.2 : 0.55) {}
  double at(double coordinate) const { return 50 + factor * coordinate; }
};

/// Returns a photograph whose chroma encodes each sample's column (U) and row (V).
Picture with_places_as_chroma(Picture picture) {
  const FormatSpec& format = *picture.format;
  for (std::size_t c = 0; c < format.others.size(); ++c) {
    const Component& component = format.others[c];
    const int columns = picture.width / component.pixels, rows = picture.height / component.lines;
    const Slope slope(c == 0 ? columns : rows);
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x)
        picture.set_sample_at(component.place, x, y, static_cast<int>(slope.at(c == 0 ? x : y)));
  }
  return picture;
}

/// Returns the distance in pixels to the edge of the camera's picture; negative inside.
double beyond(const std::array<double, 2>& place) {
  const auto [x, y] = place;
  return std::max(std::max(-x, x - (width - 1)), std::max(-y, y - (height - 1)));
}

const char* const plain_formats[] = {"GRAY8", "GRAY16_LE", "xBGR", "GBR"};
const char* const chroma_formats[] = {"I420", "NV21", "Y42B", "Y444", "YUY2", "UYVY", "P010_10LE"};

}  // namespace

// Without a calibration, the pad carries the left picture, or its luminance in 8 bits.
TEST(test_as_it_is, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  for (const Size& size : {Size{48, 20}, Size{33, 17}, Size{1, 1}})
    for (const Layout& layout : {packed_layout, odd_layout}) {
      const Picture left = make_picture(format, size.width, size.height, Content::random, 3);
      const Picture right = make_picture(format, size.width, size.height, Content::random, 4);
      for (const char* asked : {static_cast<const char*>(nullptr), format.name, "GRAY8"}) {
        RectifiedHarness stereo({}, asked);
        stereo.accept_caps(caps_of(format, size.width, size.height));
        const Picture out = stereo.next(to_buffer(left, layout), to_buffer(right, layout));
        const bool gray = asked && std::string(asked) == "GRAY8";
        expect_picture(out, gray ? gray_of(left) : left,
                       std::string(format.name) + " as " + (asked ? asked : "anything"));
      }
    }
}

// The pad prefers the frames' format and colorimetry. Caps of limited-range gray state the range.
TEST(test_caps) {
  struct Row {
    const char* format;
    const char* more;
    const char* colorimetry;
    const char* chroma_site;
    const char* of_gray;
  };
  for (const Row& row :
       {Row{"NV12", ", colorimetry=bt709, chroma-site=mpeg2", "bt709", "mpeg2", "bt709"},
        Row{"NV12", ", colorimetry=1:3:5:1", "1:3:5:1", "", ""}, Row{"GRAY16_LE", "", "", "", ""},
        Row{"BGRx", ", colorimetry=sRGB", "sRGB", "", ""}})
    for (const char* asked : {row.format, "GRAY8"}) {
      const FormatSpec& format = format_named(row.format);
      RectifiedHarness stereo({}, asked);
      stereo.accept_caps(caps_of(format, 32, 16, row.more));
      stereo.process(to_buffer(Picture(format, 32, 16)), to_buffer(Picture(format, 32, 16)));
      pull_from(stereo.pad);
      const bool gray = std::string(asked) == "GRAY8";
      const auto expect = [&](const char* field, const std::string& value) {
        const std::string found = text_field(stereo.pad, field);
        fail_unless(found == value, "%s as %s: %s=%s", row.format, asked, field, found.c_str());
      };
      expect("format", asked);
      expect("colorimetry", gray ? row.of_gray : row.colorimetry);
      expect("chroma-site", gray ? "" : row.chroma_site);
    }
  RectifiedHarness stereo({}, nullptr);
  stereo.accept_caps(caps_of(format_named("P010_10LE"), 32, 16));
  fail_unless(offered_formats(stereo.pad) == std::vector<std::string>({"P010_10LE", "GRAY8"}));
}

TEST(test_packed_frames, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  const Picture left = make_picture(format, 24, 12, Content::random, 3);
  const Picture right = make_picture(format, 24, 12, Content::random, 4);
  for (const bool side_by_side : {true, false})
    for (const bool swapped : {false, true})
      for (const char* asked : {format.name, "GRAY8"}) {
        std::string more = swapped ? right_first : ", multiview-mode=MODE";
        more.replace(more.find("MODE"), 4, side_by_side ? "side-by-side" : "top-bottom");
        RectifiedHarness stereo({}, asked, false);
        const Picture frame =
            swapped ? packed(right, left, side_by_side) : packed(left, right, side_by_side);
        stereo.accept_caps(caps_of(format, frame.width, frame.height, more));
        const Picture out = stereo.next(to_buffer(frame, odd_layout), nullptr);
        expect_picture(out, std::string(asked) == "GRAY8" ? gray_of(left) : left,
                       std::string(format.name) + more);
      }
}

// If the boundary between the halves splits chroma samples, the pad offers only gray.
TEST(test_packed_frames_that_split_chroma) {
  struct Row {
    const char* format;
    bool side_by_side;
    bool gray_alone;
  };
  for (const Row& row :
       {Row{"NV12", true, true}, Row{"NV12", false, true}, Row{"YUY2", true, true},
        Row{"YUY2", false, false}, Row{"Y444", true, false}, Row{"BGRx", true, false}}) {
    const FormatSpec& format = format_named(row.format);
    const Picture frame = make_picture(format, row.side_by_side ? 34 : 17,
                                       row.side_by_side ? 9 : 18, Content::random, 3);
    RectifiedHarness stereo({{"frame-packing", row.side_by_side ? "side-by-side" : "top-bottom"}},
                            nullptr, false);
    stereo.accept_caps(caps_of(format, frame.width, frame.height));
    const std::vector<std::string> offered = offered_formats(stereo.pad);
    fail_unless(offered == (row.gray_alone ? std::vector<std::string>{"GRAY8"}
                                           : std::vector<std::string>{row.format, "GRAY8"}),
                "%s", row.format);
    const Picture out = stereo.next(to_buffer(frame), nullptr);
    if (row.gray_alone)
      expect_picture(out,
                     picture_with(*out.format, 17, 9,
                                  [&](int, int x, int y) { return frame.sample(0, x, y); }),
                     row.format);
  }
}

// The pad's picture is nearly the picture of an undistorted camera with the rectified orientation.
TEST(test_rectified, .times(2 * std::size(plain_formats)).unless(unless_built_with_opencv())) {
  const bool fisheye = index % 2 == 1;
  const char* const name = plain_formats[index / 2];
  const CalibrationFile file(fisheye, "unit: mm\n", wide);
  const Photographs photographs(fisheye, {24, 0.03, 0.01}, name);
  Camera camera = ideal_camera(0);
  camera.fx = camera.fy = wide;
  const Photographs ideal(camera, camera, photographs.plane, name);
  RectifiedHarness stereo({file.property()}, name);
  stereo.accept_caps(caps_of(format_named(name), width, height));
  const Picture out = stereo.next(to_buffer(photographs.left), to_buffer(photographs.right));
  const double peak = out.format->peak();
  double sum = 0, worst = 0, moved_sum = 0;
  int seen = 0, unseen = 0;
  for (int v = 0; v < height; ++v)
    for (int u = 0; u < width - 1; ++u) {
      const double outside = beyond(photographs.left_of.source(u, v, wide));
      for (int place = 0; place < static_cast<int>(out.format->places.size()); ++place) {
        const int sample = out.sample(place, u, v);
        if (outside > 1.1) {
          ++unseen;
          fail_unless(sample == 0, "%s: %d at (%d, %d)", name, sample, u, v);
        } else if (outside < -0.1) {
          ++seen;
          const double error = std::abs(sample - ideal.left.sample(place, u, v)) / peak;
          sum += error;
          worst = std::max(worst, error);
          moved_sum += std::abs(sample - ideal.left.sample(place, u + 1, v)) / peak;
        }
      }
    }
  fail_unless(seen > width * height / 2 && unseen > 200, "%s: %d samples seen, %d unseen", name,
              seen, unseen);
  fail_unless(sum / seen < 0.02 && worst < 0.4, "%s: the mean error is %g, the worst %g", name,
              sum / seen, worst);
  fail_unless(sum < moved_sum / 4, "%s: shifted by a pixel, the picture would fit as well", name);
  // All channels are equal in this scene. A GRAY8 pad carries the luminance that is matched.
  RectifiedHarness gray({file.property()}, "GRAY8");
  gray.accept_caps(caps_of(format_named(name), width, height));
  expect_picture(gray.next(to_buffer(photographs.left), to_buffer(photographs.right)), gray_of(out),
                 name);
}

// Chroma is sampled at the luma's coordinates. Unseen pixels are black in the format's range.
TEST(test_rectified_chroma,
     .times(2 * std::size(chroma_formats)).unless(unless_built_with_opencv())) {
  const bool fisheye = index % 2 == 1;
  const bool limited = (index / 2 + index) % 2 == 0;
  const char* const name = chroma_formats[index / 2];
  const CalibrationFile file(fisheye, "unit: mm\n", wide);
  const FormatSpec& format = format_named(name);
  const Photographs photographs(fisheye, {20}, name);
  const Picture left = with_places_as_chroma(photographs.left);
  RectifiedHarness stereo({file.property()}, name);
  stereo.accept_caps(caps_of(format, width, height, colorimetry(format, limited)));
  const Picture out = stereo.next(to_buffer(left), to_buffer(photographs.right));
  const int black = limited ? 16 << (format.bits - 8) : 0, middle = 1 << (format.bits - 1);
  int seen = 0, unseen = 0;
  for (std::size_t c = 0; c < format.others.size(); ++c) {
    const Component& component = format.others[c];
    const int nx = component.pixels, ny = component.lines;
    const Slope slope(c == 0 ? width / nx : height / ny);
    for (int y = 0; y < height / ny; ++y)
      for (int x = 0; x < width / nx; ++x) {
        // The centre of the pixels that share the sample, and its coordinates in the photograph.
        const auto place =
            photographs.left_of.source(nx * x + (nx - 1) / 2.0, ny * y + (ny - 1) / 2.0, wide);
        const int sample = out.sample_at(component.place, x, y);
        const double column = (place[0] + 0.5) / nx - 0.5, row = (place[1] + 0.5) / ny - 0.5;
        if (beyond(place) > 3) {
          ++unseen;
          fail_unless(sample == middle, "%s: %d at (%d, %d)", name, sample, x, y);
        } else if (beyond(place) < -2) {
          ++seen;
          fail_unless(std::abs(sample - slope.at(c == 0 ? column : row)) < slope.tolerance,
                      "%s: %d at (%d, %d), from (%g, %g)", name, sample, x, y, column, row);
        }
      }
  }
  fail_unless(seen > 10000 && unseen > 50, "%s: %d samples seen, %d unseen", name, seen, unseen);
  for (int v = 0; v < height; ++v)
    for (int u = 0; u < width; ++u)
      if (beyond(photographs.left_of.source(u, v, wide)) > 1.1)
        fail_unless_equals_int(out.sample(0, u, v), black);
}

// The left picture in a packed frame is rectified in colour.
TEST(test_rectified_packed_frames, .unless(unless_built_with_opencv())) {
  const CalibrationFile file(false);
  for (const char* name : {"NV12", "YUY2", "BGRx"}) {
    const Photographs photographs(false, {20}, name);
    const Picture left = with_places_as_chroma(photographs.left);
    RectifiedHarness two({file.property()}, name);
    two.accept_caps(caps_of(format_named(name), width, height));
    const Picture expected = two.next(to_buffer(left), to_buffer(photographs.right));
    for (const bool side_by_side : {true, false}) {
      const Picture frame = packed(left, photographs.right, side_by_side);
      RectifiedHarness stereo(
          {file.property(), {"frame-packing", side_by_side ? "side-by-side" : "top-bottom"}}, name,
          false);
      stereo.accept_caps(caps_of(format_named(name), frame.width, frame.height));
      expect_picture(stereo.next(to_buffer(frame), nullptr), expected, name);
    }
  }
}

// A pad that is opened or negotiated later uses the same maps.
TEST(test_rectified_later, .unless(unless_built_with_opencv())) {
  const CalibrationFile file(false);
  const Photographs photographs(false, {20}, "NV12");
  const auto frames = [&] {
    return std::pair{to_buffer(photographs.left), to_buffer(photographs.right)};
  };
  RectifiedHarness first({file.property()}, "NV12");
  first.accept_caps(caps_of(format_named("NV12"), width, height));
  const auto [left, right] = frames();
  const Picture expected = first.next(left, right);

  PadsHarness stereo(joined(few, {file.property()}));
  stereo.accept_caps(caps_of(format_named("NV12"), width, height));
  for (const char* asked : {"NV12", "GRAY8", "NV12"}) {
    const auto [one, other] = frames();
    stereo.process(one, other);
    GstHarness* const pad = stereo.open("rectified");
    gst_harness_set_sink_caps_str(pad, (std::string("video/x-raw, format=") + asked).c_str());
    const auto [third, fourth] = frames();
    stereo.process(third, fourth);
    const Map out = pull_from(pad);
    const Picture picture = from_buffer(out, format_named(asked), width, height);
    if (std::string(asked) == "NV12")
      expect_picture(picture, expected, "a pad that was opened later");
    stereo.close("rectified");
  }
}
