// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests what cudasgmstereo measures of the noise of its pictures, and what it says of it.
// test_sgm_sequences.cpp and test_sgm_noise.cpp test what the stages under noise compute.
#include <algorithm>
#include <cmath>
#include <optional>

#include "tests/check/common/pictures/photographs.h"
#include "tests/check/common/stereoharness.h"
#include "tests/check/sgmstereo/wallpairs.h"

using namespace check;

namespace {

/// Adds noise with a standard deviation of `levels`, the same for equal seeds.
Picture with_noise(Picture picture, double levels, unsigned seed) {
  std::uint64_t state = 88172645463325252ull + seed;
  const auto next = [&] {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return static_cast<double>(state >> 11) / static_cast<double>(std::uint64_t{1} << 53);
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      double sum = -6;  // of twelve uniform numbers: variance 1
      for (int i = 0; i < 12; ++i)
        sum += next();
      picture.set_sample(
          0, x, y, std::clamp<long>(std::lround(picture.sample(0, x, y) + levels * sum), 0, 255));
    }
  return picture;
}

Pair flat_pair(double noise, unsigned seed) {
  Picture flat = make_picture(gray(), width, height, Content::flat, 1);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      flat.set_sample(0, x, y, 128);
  return {with_noise(flat, noise, seed), with_noise(flat, noise, seed + 1)};
}

struct Noise {
  std::optional<double> measured;
  double used;
};

/// Returns what the last message says.
Noise noise_in(StereoHarness& stereo) {
  const std::vector<Owned<GstMessage>> messages = stereo.messages().take(GST_MESSAGE_ELEMENT);
  fail_unless(!messages.empty());
  const GstStructure* figures = structure_of(messages.back(), "cudasgmstereo");
  Noise noise{std::nullopt, number_in(figures, "noise-used")};
  if (gst_structure_has_field(figures, "noise"))
    noise.measured = number_in(figures, "noise");
  return noise;
}

/// What texture looks like is subtracted, so flat pictures seem to have a little less noise.
bool is_near(double number, double expected) {
  return std::abs(number - expected) < 0.25 * expected + 0.05;
}

}  // namespace

TEST(test_noise_is_measured) {
  for (const double levels : {0.0, 4.0, 8.0}) {
    StereoHarness stereo(inspecting());
    stereo.accept_gray(width, height);
    send(stereo, flat_pair(levels, 5), 1);
    const Noise noise = noise_in(stereo);
    fail_unless(noise.measured && is_near(*noise.measured, levels), "%f instead of %f",
                noise.measured.value_or(-1), levels);
    fail_unless(is_near(noise.used, levels), "%f instead of %f", noise.used, levels);
  }
}

TEST(test_noise_that_is_set) {
  for (const char* value : {"0", "4.5"}) {
    StereoHarness stereo(inspecting({{"noise", value}}));
    stereo.accept_gray(width, height);
    send(stereo, flat_pair(8, 5), 1);
    const Noise noise = noise_in(stereo);
    fail_unless(!noise.measured);
    fail_unless(noise.used == g_ascii_strtod(value, nullptr));
  }
  // Other censuses do not heed it.
  StereoHarness stereo(inspecting({{"noise", "4.5"}, {"census", "neighbours-5x5"}}));
  stereo.accept_gray(width, height);
  send(stereo, flat_pair(8, 5), 1);
  fail_unless(noise_in(stereo).used == 0);
}

// A pair that is far noisier changes the noise in use little by little, but at once after a flush.
TEST(test_noise_over_time_and_after_a_flush) {
  StereoHarness stereo(inspecting());
  stereo.accept_gray(width, height);
  send(stereo, flat_pair(4, 5), 1);
  const double first = noise_in(stereo).used;
  fail_unless(is_near(first, 4));
  send(stereo, flat_pair(8, 6), 1, GST_SECOND);
  const Noise noise = noise_in(stereo);
  fail_unless(noise.measured && is_near(*noise.measured, 8));
  fail_unless(noise.used > first && noise.used < 6, "%f", noise.used);
  stereo.flush();
  send(stereo, flat_pair(8, 7), 1);
  fail_unless(is_near(noise_in(stereo).used, 8));
}
