// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests how well cudasgmstereo corrects a rotated right camera in streams, pairs and chessboards.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/check/common/pictures/photographs.h"
#include "tests/check/common/pipelines.h"
#include "tests/check/sgmstereo/cameras/chessboards.h"
#include "tests/check/sgmstereo/cameras/mountrig.h"
#include "tests/check/sgmstereo/cameras/photographedplanes.h"

using namespace check;

namespace {

/// All combinations of ±0.5° of pitch, ±0.5° of roll and ±0.5 % of zoom, without yaw.
std::vector<Turn> half_degrees() {
  std::vector<Turn> turns;
  for (const double pitch : {-0.5, 0.5})
    for (const double roll : {-0.5, 0.5})
      for (const double zoom : {0.995, 1.005})
        turns.push_back({pitch, 0, roll, zoom});
  return turns;
}

std::string unless_pairs() {
  if (std::string reason = unless_fast(); !reason.empty())
    return reason;
  return g_getenv("CUDAVISION_STEREO_PAIRS") != nullptr
             ? unless_elements({"pngdec", "videoconvert", "filesrc", "appsink"})
             : "no real pairs: set CUDAVISION_STEREO_PAIRS to their folder";
}

/// The results of matching consecutive pairs.
struct Result {
  Picture map;                ///< map of the last pair
  std::vector<double> known;  ///< share of valid pixels in each map, before holes are filled
  int complaints;
};

Result matched(const std::vector<Pair>& pairs, const char* drift, const char* disparities) {
  const int width = pairs[0].left.width, height = pairs[0].left.height;
  Rig rig(watching(drift, {{"num-disparities", disparities}}), MovingScene(), {width, height});
  Result result{Picture(format_named("GRAY16_LE"), width, height), {}, 0};
  for (const Pair& pair : pairs)
    result.map = rig.process(pair.left, pair.right);
  for (const Report& report : rig.reports())
    result.known.push_back(report.number("known"));
  result.complaints = rig.stereo().messages().complaints();
  return result;
}

struct Scene {
  const char* name;
  const char* disparities;
  std::vector<Turn> turns;
};

const Scene scenes[] = {{"cones", "64", half_degrees()},
                        {"teddy", "64", half_degrees()},
                        {"venus", "64", half_degrees()},
                        {"tsukuba", "64", half_degrees()},
                        {"aloe", "256", {{0.5, 0, 0.5, 1.005}, {-0.5, 0, 0.5, 0.995}}}};

}  // namespace

TEST(test_corrected, .times(8).unless(unless_built_with_opencv())) {
  const Turn turn = half_degrees()[index];
  // Without a calibration or focal-length, the focal length is a guess, which may be wrong.
  for (const double focal_length : {320.0, 550.0}) {
    if (focal_length > 500 && index % 3 != 0)
      continue;
    const MovingScene scene(focal_length);
    Rig upright(watching("off"), scene), left_alone(watching("off"), scene);
    Rig cameras(correcting(), scene);
    const int count = 20;
    cameras.send(turn, count);
    upright.skip(count);  // without corrections, maps do not depend on earlier pairs
    left_alone.skip(count);
    upright.next({});
    left_alone.next(turn);
    cameras.next(turn);
    const double best = upright.wrong(turn), worst = left_alone.wrong(turn);
    const double share = cameras.wrong(turn);
    fail_unless(share < best + 0.015 && worst > best + 0.2,
                "%.4f of the pixels are wrong instead of %.4f; %.4f uncorrected", share, best,
                worst);
    const Report& report = cameras.last_report();
    fail_unless(report.number("rows-off") < 0.2, "rows are off by %f", report.number("rows-off"));
    fail_unless(report.corrections() >= 1 && report.corrections() <= 3);
    const double degrees = 0.04 + (focal_length == 320 ? 0 : 0.5 * std::abs(turn.pitch));
    fail_unless(std::abs(report.number("corrected-roll") - turn.roll) < 0.06);
    fail_unless(std::abs(report.number("corrected-pitch") - turn.pitch) < degrees);
    fail_unless(std::abs(report.number("corrected-zoom") - turn.zoom) < 0.002);
    fail_unless(report.number("corrected-yaw") == 0);
    fail_unless_equals_int(cameras.stereo().messages().complaints(), 0);
    fail_unless_equals_int(cameras.stereo().messages().count(GST_MESSAGE_INFO),
                           static_cast<int>(report.corrections()));
  }
}

// The correction makes no map much worse, and helps on average if the camera rotates slowly.
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
    off.process(left, right);
    rig.process(left, right);
    const double without = off.wrong(turn), with = rig.wrong(turn);
    left_alone += without / frames;
    corrected += with / frames;
    fail_unless(with <= without + 0.01, "frame %d: %.4f instead of %.4f", i, with, without);
  }
  g_print("wrong or missing in %d frames, %s: %.4f uncorrected, %.4f corrected\n", frames,
          turns ? "slowly rotating" : "not rotated", left_alone, corrected);
  fail_unless(corrected <= left_alone);
  fail_unless(!turns || (corrected < 0.01 && left_alone > 0.03));
}

// After 20 pairs, the share of wrong pixels is at most 0.015 larger than with an unrotated camera.
TEST(test_turned_pairs, .times(std::size(scenes)).unless(unless_pairs())) {
  const Scene& scene = scenes[index];
  const auto picture = [&](const char* name, const char* format) {
    return decoded(std::string(g_getenv("CUDAVISION_STEREO_PAIRS")) + "/" + scene.name + "/" + name,
                   "pngdec", format_named(format));
  };
  const Pair upright{picture("left.png", "GRAY8"), picture("right.png", "GRAY8")};
  const Picture truth = picture("truth_x16.png", "GRAY16_LE");
  const auto wrong = [&](const Picture& map, const TurnedCamera& camera) {
    return wrong_share(map, camera, [&](int x, int y) { return truth.sample(0, x, y) / 16.0; });
  };
  const Picture best = matched({upright}, "off", scene.disparities).map;
  expect_picture(matched(std::vector<Pair>(12, upright), "correct", scene.disparities).map, best,
                 scene.name);
  double most = 0, mean = 0;
  for (const Turn& turn : scene.turns) {
    // The focal length of these cameras is unknown; the width is the element's guess.
    const TurnedCamera camera(turn, upright.left.width, upright.left.height, upright.left.width);
    const Pair turned{upright.left, turned_photograph(upright.right, camera)};
    const Result result = matched(std::vector<Pair>(20, turned), "correct", scene.disparities);
    const double more = wrong(result.map, camera) - wrong(best, camera);
    const double left_alone = wrong(matched({turned}, "off", scene.disparities).map, camera);
    g_print("%s, pitch %g, roll %g, zoom %g: %.4f upright, %.4f turned, %+.4f corrected\n",
            scene.name, turn.pitch, turn.roll, turn.zoom, wrong(best, camera), left_alone, more);
    most = std::max(most, more);
    mean += more / static_cast<double>(scene.turns.size());
    fail_unless_equals_int(result.complaints, 0);
  }
  fail_unless(most <= 0.015, "%s: up to %.4f more are wrong, %.4f in the mean", scene.name, most,
              mean);
}

// A rotation cannot rectify these distorted, diverging cameras, but must not make maps worse.
TEST(test_chessboards, .unless(unless_chessboards())) {
  const std::vector<ChessboardPair> boards = chessboards();
  std::vector<Pair> pairs;
  for (int round = 0; round < 2; ++round)
    for (const ChessboardPair& board : boards)
      pairs.push_back({board.left, board.right});
  const Result off = matched(pairs, "off", "128"), corrected = matched(pairs, "correct", "128");
  const auto mean = [](const std::vector<double>& known, std::size_t first) {
    return std::accumulate(known.begin() + static_cast<std::ptrdiff_t>(first), known.end(), 0.0) /
           static_cast<double>(known.size() - first);
  };
  g_print(
      "chessboards: %.3f valid uncorrected, %.3f corrected; in the second round, %.3f and %.3f\n",
      mean(off.known, 0), mean(corrected.known, 0), mean(off.known, 13), mean(corrected.known, 13));
  fail_unless(mean(corrected.known, 0) >= mean(off.known, 0));
  fail_unless(mean(corrected.known, 13) >= mean(off.known, 13));
}
