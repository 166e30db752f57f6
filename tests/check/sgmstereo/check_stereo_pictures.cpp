// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the pixels of cudasgmstereo for all input and output formats.
#include <algorithm>
#include <set>

#include "tests/check/common/definitions/stereodefinition.h"
#include "tests/check/common/stereoharness.h"

using namespace check;

namespace {

constexpr int width = 48, height = 20;

const FormatSpec& map_format() {
  return format_named("GRAY16_LE");
}

/// Returns the output for two pictures in the format that downstream accepts.
Picture through(const Properties& properties, const Picture& left, const Picture& right,
                const char* format, const Layout& layout = packed_layout) {
  StereoHarness stereo(properties);
  stereo.accept_downstream(std::string("video/x-raw, format=") + format);
  fail_unless(stereo.send_caps(stereo.left(), caps_of(*left.format, left.width, left.height)));
  fail_unless(stereo.send_caps(stereo.right(), caps_of(*right.format, left.width, left.height)));
  const Map out = stereo.process(to_buffer(left, layout), to_buffer(right, layout));
  return from_buffer(out, format_named(format), left.width, left.height);
}

Picture map_of(const Properties& properties, const Picture& left, const Picture& right) {
  return through(properties, left, right, "GRAY16_LE");
}

struct Pair {
  Picture left, right;
};

/// Returns pictures of noise at the given disparity. A part of the right one shows other noise,
/// which has no match.
Pair scene(const FormatSpec& format, int disparity) {
  const Picture left = noise_picture(format, width, height, 5);
  Picture right = shifted(left, disparity);
  const Picture other = noise_picture(format, width, height, 6);
  for (int y = 4; y < 12; ++y)
    for (int x = 10; x < 22; ++x)
      right.set_sample(0, x, y, other.sample(0, x, y));
  return {left, right};
}

std::set<int> values_in(const Picture& picture) {
  std::set<int> values;
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x)
      values.insert(picture.sample(0, x, y));
  return values;
}

/// Settings with the scales of their maps.
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

std::string words(const Setting& setting) {
  return text_of(setting.properties);
}

}  // namespace

// Shifted noise has a known disparity.
TEST(test_known_disparity) {
  for (const char* format : {"GRAY8", "GRAY16_LE", "P010_10LE", "BGRA"})
    for (const char* census :
         {"census-gradient", "symmetric-9x7", "neighbours-9x7", "neighbours-5x5"})
      for (const char* paths : {"4", "8"})
        for (int disparity : {0, 1, 7}) {
          const Picture left = noise_picture(format_named(format), 64, 32, 9);
          const Picture map = map_of({{"census", census},
                                      {"paths", paths},
                                      {"num-disparities", "32"},
                                      {"subpixel", "false"}},
                                     left, shifted(left, disparity));
          for (int y = 4; y < 28; ++y)
            for (int x = disparity + 5; x < 64 - disparity - 5; ++x)
              fail_unless(disparity_at(map, x, y) == 16 * disparity,
                          "%s, %s, %s paths: %d instead of %d at (%d, %d)", format, census, paths,
                          disparity_at(map, x, y), 16 * disparity, x, y);
        }
}

TEST(test_minimum_moves_the_search) {
  const Picture left = noise_picture(format_named("GRAY8"), 96, 24, 9);
  for (int disparity : {-9, 0, 12, 40}) {
    const Picture map = map_of({{"min-disparity", std::to_string(disparity - 5)},
                                {"num-disparities", "32"},
                                {"subpixel", "false"}},
                               left, shifted(left, disparity));
    for (int y = 4; y < 20; ++y)
      for (int x = 50; x < 80; ++x)
        if (x + std::abs(disparity) < 90)
          fail_unless_equals_int(disparity_at(map, x, y), 16 * disparity);
  }
}

// Tests all pairs of formats of the same depth. Only the luminance matters.
TEST(test_formats, .times(formats().size())) {
  const FormatSpec& left_format = format_number(index);
  const Properties properties = {{"num-disparities", "32"}};
  for (const FormatSpec& right_format : formats()) {
    if (right_format.bits != left_format.bits)
      continue;
    const Picture left = scene(left_format, 6).left, right = scene(right_format, 6).right;
    const Picture expected = map_of(properties, luminance_picture(left), luminance_picture(right));
    expect_picture(map_of(properties, left, right), expected,
                   std::string(left_format.name) + " and " + right_format.name);
  }
}

// Tests all memory layouts.
TEST(test_layouts) {
  for (const char* name : {"GRAY8", "GRAY16_LE", "NV12", "YUY2", "P010_10LE", "RGB", "GBR"}) {
    const Pair pair = scene(format_named(name), 6);
    const Properties properties = {{"num-disparities", "32"}};
    const Picture expected = map_of(properties, pair.left, pair.right);
    for (const Layout& layout : all_layouts)
      expect_picture(through(properties, pair.left, pair.right, "GRAY16_LE", layout), expected,
                     name);
  }
}

TEST(test_sizes) {
  const FormatSpec& format = format_named("GRAY8");
  for (const auto& [w, h] : {std::pair{1, 1}, std::pair{1, 30}, std::pair{30, 1}, std::pair{2, 2},
                             std::pair{3, 5}, std::pair{17, 9}, std::pair{131, 7}}) {
    const Picture left = noise_picture(format, w, h, 5), right = noise_picture(format, w, h, 6);
    const Picture map = map_of({{"num-disparities", "32"}}, left, right);
    expect_picture(through({{"num-disparities", "32"}}, left, right, "GRAY8"),
                   gray_of_map(map, {32, 0, 16}), "gray");
  }
}

TEST(test_gray) {
  for (const Setting& setting : settings()) {
    const Pair pair = scene(format_named("GRAY8"), 6);
    const Picture map = map_of(setting.properties, pair.left, pair.right);
    const Picture expected = gray_of_map(map, setting.scale);
    expect_picture(through(setting.properties, pair.left, pair.right, "GRAY8"), expected,
                   words(setting));
    fail_unless(values_in(expected).size() > 1, "there is little to see: %s",
                words(setting).c_str());
  }
}

TEST(test_colors) {
  const Pair pair = scene(format_named("GRAY8"), 6);
  for (const Setting& setting : settings())
    for (const auto& [name, colors] :
         {std::pair{"turbo", Colors::turbo}, std::pair{"jet", Colors::jet},
          std::pair{"gray", Colors::gray}})
      for (const char* format : {"RGB", "RGBA", "BGRx"}) {
        const Picture map = map_of(setting.properties, pair.left, pair.right);
        const Properties properties = joined(setting.properties, {{"colormap", name}});
        expect_picture(through(properties, pair.left, pair.right, format),
                       colors_of_map(map, setting.scale, colors, format_named(format)),
                       std::string(name) + " " + words(setting));
      }
}

TEST(test_depth) {
  const Pair pair = scene(format_named("GRAY8"), 6);
  for (const Setting& setting : settings())
    for (const Cameras& cameras : {Cameras{500, 120, 1}, Cameras{35.25, 7.5, 0.1},
                                   Cameras{1e6, 1e6, 0.001}, Cameras{1000, 60, 10}}) {
      const Picture map = map_of(setting.properties, pair.left, pair.right);
      const Properties properties =
          joined(setting.properties, {{"output", "depth"},
                                      {"focal-length", std::to_string(cameras.focal_length)},
                                      {"baseline", std::to_string(cameras.baseline)},
                                      {"depth-unit", std::to_string(cameras.unit)}});
      const Picture expected = depth_of_map(map, setting.scale, cameras);
      expect_picture(through(properties, pair.left, pair.right, "GRAY16_LE"), expected,
                     words(setting));
    }
}

// Confidence is 0 where the disparity is unknown, and high where the match is perfect.
TEST(test_confidence) {
  const Pair pair = scene(format_named("GRAY8"), 6);
  for (const char* fill : {"false", "true"}) {
    const Properties properties = {
        {"num-disparities", "32"}, {"output", "confidence"}, {"fill-holes", fill}};
    const Picture map = map_of({{"num-disparities", "32"}}, pair.left, pair.right);
    const Picture confidence = through(properties, pair.left, pair.right, "GRAY8");
    int unknown = 0;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        if (disparity_at(map, x, y) == -16) {
          ++unknown;
          fail_unless_equals_int(confidence.sample(0, x, y), 0);
        }
    fail_unless(unknown > 20, "too few disparities are unknown for this test");
    fail_unless(*values_in(confidence).rbegin() > 200, "no pixel has a high confidence");
  }
}

// Filled maps have no holes, and known disparities do not change without refinement.
TEST(test_holes) {
  const Pair pair = scene(format_named("GRAY8"), 6);
  Properties properties = {{"num-disparities", "32"}, {"refine", "false"}};
  const Picture map = map_of(properties, pair.left, pair.right);
  properties.emplace_back("fill-holes", "true");
  const Picture filled = map_of(properties, pair.left, pair.right);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      fail_unless(disparity_at(filled, x, y) != -16);
      if (disparity_at(map, x, y) != -16)
        fail_unless_equals_int(disparity_at(filled, x, y), disparity_at(map, x, y));
    }
}

// The inputs do not change, and equal frames give equal maps.
TEST(test_inputs_stay) {
  const Pair pair = scene(format_named("NV12"), 6);
  StereoHarness stereo;
  stereo.accept_caps(caps_of(format_named("NV12"), width, height));
  const Owned<GstBuffer> left(to_buffer(pair.left)), right(to_buffer(pair.right));
  const auto left_bytes = bytes_of(left), right_bytes = bytes_of(right);
  Picture first(map_format(), width, height);
  for (int i = 0; i < 5; ++i) {
    const Map out = stereo.process(gst_buffer_ref(left), gst_buffer_ref(right));
    const Picture map = from_buffer(out, map_format(), width, height);
    if (i == 0)
      first = map;
    expect_picture(map, first, "the same frames again");
  }
  fail_unless(bytes_of(left) == left_bytes && bytes_of(right) == right_bytes,
              "the element wrote to its input");
}
