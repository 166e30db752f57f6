// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests region-strength, which fits sigma or block-size to the largest region of a frame.
#include <gst/video/gstvideometa.h>

#include <cmath>

#include "tests/check/common/filterharness.h"
#include "tests/check/common/pictures/picture.h"

using namespace check;

namespace {

struct Face {
  int x, y, width, height;
};

/// Two elements that get the same frames: one with region-strength, one with a fixed strength.
class Pair {
 public:
  Pair(const char* element, int width, int height, const Properties& strength,
       const Properties& both = {})
      : adaptive_(element, joined(both, strength)),
        fixed_(element, both),
        picture_(make_picture(gray(), width, height, Content::random, 1)) {
    for (FilterHarness* filter : {&adaptive_, &fixed_}) {
      filter->set("use-roi-meta", "true");
      filter->accept_caps(gray(), width, height);
    }
  }

  /// Expects the same output from region-strength as from the fixed `property=value`.
  void expect(const std::vector<Face>& faces, const char* property, const std::string& value) {
    fixed_.set(property, value);
    const Picture expected = process(fixed_, faces);
    expect_picture(process(adaptive_, faces), expected, property + ("=" + value));
  }

  FilterHarness& adaptive() { return adaptive_; }
  FilterHarness& fixed() { return fixed_; }

 private:
  Picture process(FilterHarness& filter, const std::vector<Face>& faces) const {
    GstBuffer* buffer = to_buffer(picture_);
    for (const Face& face : faces)
      gst_buffer_add_video_region_of_interest_meta(
          buffer, "face", static_cast<guint>(face.x), static_cast<guint>(face.y),
          static_cast<guint>(face.width), static_cast<guint>(face.height));
    const Owned<GstBuffer> out = filter.process(buffer);
    return from_buffer(out, gray(), picture_.width, picture_.height);
  }

  FilterHarness adaptive_, fixed_;
  const Picture picture_;
};

/// Rounds up to the next step of the strength; a step is a sixth of an octave.
std::string stepped(double pixels) {
  return std::to_string(std::exp2(std::ceil(6 * std::log2(pixels)) / 6));
}

}  // namespace

TEST(test_sigma_follows_the_largest_region) {
  Pair pair("cudagaussblur", 300, 200, {{"region-strength", "0.25"}, {"sigma", "2"}});
  pair.expect({{10, 10, 40, 64}}, "sigma", stepped(10));
  pair.expect({{10, 10, 40, 64}, {100, 60, 70, 99}, {3, 3, 299, 5}}, "sigma", stepped(17.5));
  pair.expect({{10, 10, 40, 32}}, "sigma", "8");
  pair.expect({{10, 10, 7, 7}}, "sigma", "2");
  // The strength follows the face without its margin.
  for (FilterHarness* filter : {&pair.adaptive(), &pair.fixed()})
    filter->set("region-margin", "20");
  pair.expect({{10, 10, 40, 32}}, "sigma", "8");
  // The strength follows the part of the face that is inside the frame.
  pair.expect({{-1000, -1000, 3000, 3000}}, "sigma", stepped(50));
  pair.expect({{10, 10, 40, 32}, {400, 10, 90, 90}}, "sigma", "8");
  fail_unless_equals_int(pair.adaptive().messages().complaints(), 0);
}

TEST(test_strength_and_other_settings) {
  Pair pair("cudagaussblur", 300, 200,
            {{"region-strength", "0.25"}, {"sigma-y", "3"}, {"kernel-size", "3"}},
            {{"border", "replicate"}});
  pair.expect({{10, 10, 40, 32}}, "sigma", "8");
  pair.adaptive().set({{"region-strength", "0"}, {"kernel-size", "0"}, {"sigma-y", "0"}});
  pair.expect({{10, 10, 40, 32}}, "sigma", "1.2");
}

// While settings are invalid, the previous settings stay in effect and still follow the region.
TEST(test_strength_while_settings_are_invalid) {
  Pair pair("cudagaussblur", 300, 200, {{"region-strength", "0.25"}});
  pair.expect({{10, 10, 40, 32}}, "sigma", "8");
  pair.adaptive().set("kernel-size", "4");
  pair.expect({{10, 10, 150, 128}}, "sigma", "32");
}

TEST(test_blocks_follow_the_largest_region) {
  Pair pair("cudapixelate", 300, 200, {{"region-strength", "0.125"}, {"block-size", "4"}});
  pair.expect({{10, 10, 90, 64}}, "block-size", "8");
  pair.expect({{10, 10, 90, 70}}, "block-size", "9");
  pair.expect({{10, 10, 90, 72}}, "block-size", "10");
  pair.expect({{10, 10, 90, 73}}, "block-size", "10");
  pair.expect({{10, 10, 20, 20}}, "block-size", "4");
}

// A frame without a known region may show a face that the detector missed. The strength then fits
// the largest region so far, but at least a third of the frame's shorter side.
TEST(test_strength_of_whole_frames) {
  Pair pair("cudagaussblur", 300, 200, {{"region-strength", "0.25"}, {"sigma", "2"}},
            {{"regions-missing", "all"}});
  pair.expect({}, "sigma", stepped(67 * 0.25));
  pair.expect({{10, 10, 150, 128}}, "sigma", "32");
  pair.expect({{10, 10, 40, 32}}, "sigma", "8");
  pair.expect({}, "sigma", "32");
  for (FilterHarness* filter : {&pair.adaptive(), &pair.fixed()})
    filter->set("regions-missing", "pass");
  pair.expect({}, "sigma", "2");
}

TEST(test_one_colour_needs_no_strength) {
  Pair pair("cudapixelate", 700, 600, {{"region-strength", "1"}}, {{"method", "solid"}});
  pair.expect({{10, 10, 560, 590}}, "block-size", "2");
  fail_unless_equals_int(pair.adaptive().messages().complaints(), 0);
}

TEST(test_regions_that_are_too_large) {
  Pair pair("cudagaussblur", 700, 600, {{"region-strength", "0.25"}});
  pair.expect({{10, 10, 508, 590}}, "sigma", "127");
  fail_unless_equals_int(pair.adaptive().messages().complaints(), 0);
  for (int i = 0; i < 3; ++i)
    pair.expect({{10, 10, 560, 590}}, "sigma", "127");
  fail_unless_equals_int(pair.adaptive().messages().count(GST_MESSAGE_WARNING), 1);
  expect_words(
      pair.adaptive().messages().text(GST_MESSAGE_WARNING),
      {"560 pixels", "sigma=140", "region-strength=0.25", "127 is the maximum", "cudapixelate"});

  Pair whole("cudagaussblur", 700, 600, {{"region-strength", "0.75"}},
             {{"regions-missing", "all"}});
  whole.expect({}, "sigma", "127");
  expect_words(whole.adaptive().messages().text(GST_MESSAGE_WARNING),
               {"sigma=150 for 200 pixels", "at least a third of the frame's"});
}
