// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the pixels of cudasgmstereo for all input formats, and the gray formats of its output.
#include <algorithm>

#include "tests/check/common/definitions/stereodefinition.h"
#include "tests/check/common/stereoharness.h"

using namespace check;

namespace {

constexpr int width = 48, height = 20;

Picture through(const Properties& properties, const Picture& left, const Picture& right,
                const char* format) {
  StereoHarness stereo(properties);
  stereo.accept_downstream(std::string("video/x-raw, format=") + format);
  fail_unless(stereo.send_caps(stereo.left(), caps_of(*left.format, left.width, left.height)));
  fail_unless(stereo.send_caps(stereo.right(), caps_of(*right.format, left.width, left.height)));
  return stereo.match(left, right);
}

Picture map_of(const Properties& properties, const Picture& left, const Picture& right) {
  return through(properties, left, right, "GRAY16_LE");
}

/// Returns noise with a disparity of 6; a part of the right picture has no match.
Pair scene(const FormatSpec& format) {
  const Picture left = noise_picture(format, width, height, 5);
  Picture right = shifted(left, 6);
  const Picture other = noise_picture(format, width, height, 6);
  for (int y = 4; y < 12; ++y)
    for (int x = 10; x < 22; ++x)
      right.set_sample(0, x, y, other.sample(0, x, y));
  return {left, right};
}

struct Setting {
  Properties properties;
  MapScale scale;
};

const std::vector<Setting>& settings() {
  static const std::vector<Setting> list = {
      {{}, {}},
      {{{"num-disparities", "32"}}, {32, 0, 16}},
      {{{"num-disparities", "64"}, {"min-disparity", "-7"}}, {64, -7, 16}},
      {{{"num-disparities", "32"}, {"min-disparity", "2"}, {"subpixel", "false"}}, {32, 2, 16}},
      {{{"num-disparities", "32"}, {"min-disparity", "-20"}, {"uniqueness", "0"}}, {32, -20, 16}},
      {{{"compatibility", "libsgm"}, {"num-disparities", "64"}}, {64, 0, 16}},
      {{{"compatibility", "libsgm"}, {"subpixel", "false"}}, {128, 0, 1}},
      {{{"compatibility", "libsgm"}, {"subpixel", "false"}, {"min-disparity", "-3"}}, {128, -3, 1}},
  };
  return list;
}

}  // namespace

// Shifted noise has a known disparity, and min-disparity moves the search.
TEST(test_known_disparity) {
  for (const char* format : {"GRAY8", "GRAY16_LE", "P010_10LE", "BGRA"})
    for (const char* census :
         {"census-gradient", "symmetric-9x7", "neighbours-9x7", "neighbours-5x5"})
      for (const char* paths : {"4", "8"})
        for (const auto& [minimum, disparity] :
             {std::pair{"0", 0}, {"0", 7}, {"-14", -9}, {"35", 40}}) {
          const Picture left = noise_picture(format_named(format), 96, 24, 9);
          const Picture map = map_of({{"census", census},
                                      {"paths", paths},
                                      {"num-disparities", "32"},
                                      {"min-disparity", minimum},
                                      {"subpixel", "false"}},
                                     left, shifted(left, disparity));
          for (int y = 4; y < 20; ++y)
            for (int x = 50; x < std::min(80, 90 - std::abs(disparity)); ++x)
              fail_unless(disparity_at(map, x, y) == 16 * disparity,
                          "%s, %s, %s paths: %d instead of %d at (%d, %d)", format, census, paths,
                          disparity_at(map, x, y), 16 * disparity, x, y);
        }
}

// Tests all pairs of formats of the same depth. Only the luminance matters.
TEST(test_formats, .times(formats().size())) {
  const FormatSpec& left_format = format_number(index);
  const Properties properties = {{"num-disparities", "32"}};
  for (const FormatSpec& right_format : formats()) {
    if (right_format.bits != left_format.bits)
      continue;
    const Picture left = scene(left_format).left, right = scene(right_format).right;
    const Picture expected = map_of(properties, luminance_picture(left), luminance_picture(right));
    expect_picture(map_of(properties, left, right), expected,
                   std::string(left_format.name) + " and " + right_format.name);
  }
}

// The settings determine the map's scale and the value of invalid disparities.
TEST(test_gray_and_depth) {
  const Pair pair = scene(gray());
  for (const Setting& setting : settings()) {
    const std::string what = text_of(setting.properties);
    const Picture map = map_of(setting.properties, pair.left, pair.right);
    const Picture gray = gray_of_map(map, setting.scale);
    expect_picture(through(setting.properties, pair.left, pair.right, "GRAY8"), gray, what);
    fail_unless(!difference(gray, Picture(*gray.format, width, height)).empty(),
                "all disparities are invalid: %s", what.c_str());
    for (const Cameras& cameras : {Cameras{500, 120, 1}, Cameras{35.25, 7.5, 0.1},
                                   Cameras{1e6, 1e6, 0.001}, Cameras{1000, 60, 10}}) {
      const Properties properties =
          joined(setting.properties, {{"output", "depth"},
                                      {"focal-length", std::to_string(cameras.focal_length)},
                                      {"baseline", std::to_string(cameras.baseline)},
                                      {"depth-unit", std::to_string(cameras.unit)}});
      expect_picture(through(properties, pair.left, pair.right, "GRAY16_LE"),
                     depth_of_map(map, setting.scale, cameras), what);
    }
  }
}

TEST(test_inputs_stay) {
  const Pair pair = scene(format_named("NV12"));
  StereoHarness stereo;
  stereo.accept_caps(caps_of(format_named("NV12"), width, height));
  const Owned<GstBuffer> left(to_buffer(pair.left)), right(to_buffer(pair.right));
  const auto left_bytes = bytes_of(left), right_bytes = bytes_of(right);
  Picture first(format_named("GRAY16_LE"), width, height);
  for (int i = 0; i < 5; ++i) {
    const Picture map = stereo.match(gst_buffer_ref(left), gst_buffer_ref(right));
    if (i == 0)
      first = map;
    expect_picture(map, first, "the same frames again");
  }
  fail_unless(bytes_of(left) == left_bytes && bytes_of(right) == right_bytes,
              "the element wrote to its input");
}
