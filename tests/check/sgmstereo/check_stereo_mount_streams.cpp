// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests how well cudasgmstereo corrects a right camera that has turned in its mount, in streams of
// known depth.
#include <algorithm>
#include <cmath>

#include "tests/check/sgmstereo/mountrig.h"
#include "tests/check/sgmstereo/photographedplanes.h"

using namespace check;

namespace {

/// Turns by half a degree each way, with a zoom of half a percent each way.
std::vector<Turn> half_degrees() {
  std::vector<Turn> turns;
  for (const double pitch : {-0.5, 0.5})
    for (const double roll : {-0.5, 0.5})
      for (const double zoom : {0.995, 1.005})
        turns.push_back({pitch, 0, roll, zoom});
  return turns;
}

}  // namespace

// After 20 pairs, maps are nearly those of cameras that have not turned.
TEST(test_corrected, .times(8).unless(unless_built_with_opencv())) {
  const Turn turn = half_degrees()[static_cast<std::size_t>(index)];
  // Without a calibration or focal-length, the focal length is a guess, which may be wrong.
  for (const double focal_length : {320.0, 550.0}) {
    if (focal_length > 500 && index % 3 != 0)
      continue;
    const MovingScene scene(focal_length);
    Rig upright(watching("off"), scene), left_alone(watching("off"), scene);
    Rig cameras(correcting(), scene);
    const int count = 20;
    cameras.send(turn, count);
    upright.skip(count);  // without corrections, maps do not depend on the pairs before
    left_alone.skip(count);
    const double best = upright.wrong(upright.next({}), turn);
    const double worst = left_alone.wrong(left_alone.next(turn), turn);
    const double share = cameras.wrong(cameras.next(turn), turn);
    fail_unless(share < best + 0.015 && worst > best + 0.2,
                "%.4f are wrong instead of %.4f; %.4f if left alone", share, best, worst);
    const Said said = cameras.last_said();
    fail_unless(said.number("rows-off") < 0.2, "rows are off by %f", said.number("rows-off"));
    fail_unless(said.corrections() >= 1 && said.corrections() <= 3);
    const double degrees = 0.04 + (focal_length == 320 ? 0 : 0.5 * std::abs(turn.pitch));
    fail_unless(std::abs(said.number("corrected-roll") - turn.roll) < 0.06);
    fail_unless(std::abs(said.number("corrected-pitch") - turn.pitch) < degrees);
    fail_unless(std::abs(said.number("corrected-zoom") - turn.zoom) < 0.002);
    fail_unless(said.number("corrected-yaw") == 0);
    fail_unless_equals_int(cameras.stereo().messages().complaints(), 0);
    fail_unless_equals_int(cameras.stereo().messages().count(GST_MESSAGE_INFO),
                           static_cast<int>(said.corrections()));
  }
}

// Three hundred frames: never worse than without, and far better if the camera turns slowly, as in
// a mount that gets warm.
TEST(test_long_stream, .times(2).unless(unless_fast())) {
  const bool turns = index == 1;
  constexpr int frames = 300;
  double left_alone = 0, corrected = 0;
  const MovingScene scene;
  Rig off(watching("off")), rig(correcting());
  for (int i = 0; i < frames; ++i) {
    const double part = turns ? std::min(i / 200.0, 1.0) : 0;
    const Turn turn = {0.3 * part, 0, -0.4 * part, 1 + 0.003 * part};
    const Picture left = scene.left(i), right = scene.right(i, turn);
    const double without = off.wrong(off.process(left, right), turn);
    const double with = rig.wrong(rig.process(left, right), turn);
    left_alone += without / frames;
    corrected += with / frames;
    fail_unless(with <= without + 0.01, "frame %d: %.4f instead of %.4f", i, with, without);
  }
  g_print("wrong or missing in %d frames, %s: %.4f if left alone, %.4f corrected\n", frames,
          turns ? "turning" : "as they are", left_alone, corrected);
  fail_unless(corrected <= left_alone);
  fail_unless(!turns || (corrected < 0.01 && left_alone > 0.03));
}
