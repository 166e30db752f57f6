// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests calibration-drift of cudasgmstereo on photographs: pairs of known depth, of which the right
// picture is turned, and OpenCV's chessboards.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/check/common/messagelog.h"
#include "tests/check/common/pictures/photographs.h"
#include "tests/check/common/pipelines.h"
#include "tests/check/sgmstereo/chessboards.h"
#include "tests/check/sgmstereo/photographedplanes.h"
#include "tests/check/sgmstereo/turnedcameras.h"

using namespace check;

namespace {

std::string unless_pairs() {
  if (std::string reason = unless_fast(); !reason.empty())
    return reason;
  return g_getenv("CUDAVISION_STEREO_PAIRS") != nullptr
             ? unless_elements({"pngdec", "videoconvert", "filesrc", "appsink"})
             : "no real pairs: set CUDAVISION_STEREO_PAIRS to their folder";
}

struct Pair {
  Picture left, right;
};

/// What comes of pairs that follow each other.
struct Result {
  Picture map;                ///< the last one
  std::vector<double> known;  ///< share of each map, before it is filled
  double rows_off;            ///< of the last pair that shows them
  int complaints;
};

Result matched(const std::vector<Pair>& pairs, const char* drift, int disparities) {
  StereoHarness stereo({{"diagnostics-interval", "1"},
                        {"num-disparities", std::to_string(disparities)},
                        {"fill-holes", "true"},
                        {"calibration-drift", drift}});
  const int width = pairs[0].left.width, height = pairs[0].left.height;
  stereo.accept_gray(width, height);
  Map map;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    map = stereo.process(at(i * 40 * ms, to_buffer(pairs[i].left)),
                         at(i * 40 * ms, to_buffer(pairs[i].right)));
  Result result{from_buffer(map, format_named("GRAY16_LE"), width, height), {}, 0, 0};
  for (const Owned<GstMessage>& message : stereo.messages().take(GST_MESSAGE_ELEMENT)) {
    const GstStructure* figures = structure_of(message, "cudasgmstereo");
    result.known.push_back(number_in(figures, "known"));
    if (gst_structure_has_field(figures, "rows-off"))
      result.rows_off = number_in(figures, "rows-off");
  }
  result.complaints = stereo.messages().complaints();
  return result;
}

struct Scene {
  const char* name;
  int disparities;
  std::vector<Turn> turns;
};

std::vector<Turn> all_turns() {
  std::vector<Turn> turns;
  for (const double pitch : {-0.5, 0.5})
    for (const double roll : {-0.5, 0.5})
      for (const double zoom : {0.995, 1.005})
        turns.push_back({pitch, 0, roll, zoom});
  return turns;
}

const Scene scenes[] = {{"cones", 64, all_turns()},
                        {"teddy", 64, all_turns()},
                        {"venus", 64, all_turns()},
                        {"tsukuba", 64, all_turns()},
                        {"aloe", 256, {{0.5, 0, 0.5, 1.005}, {-0.5, 0, 0.5, 0.995}}}};

}  // namespace

// After 20 pairs, at most .015 more of the pixels that both cameras see are wrong or missing than
// if the camera has not turned. As they are, nothing is corrected.
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
    // Nobody knows the focal length of these cameras; the width is the element's guess.
    const TurnedCamera camera(turn, upright.left.width, upright.left.height, upright.left.width);
    const Pair turned{upright.left, turned_photograph(upright.right, camera)};
    const Result result = matched(std::vector<Pair>(20, turned), "correct", scene.disparities);
    const double more = wrong(result.map, camera) - wrong(best, camera);
    const double left_alone = wrong(matched({turned}, "off", scene.disparities).map, camera);
    g_print("%s, pitch %g, roll %g, zoom %g: %.4f as it is, %.4f turned, %+.4f corrected\n",
            scene.name, turn.pitch, turn.roll, turn.zoom, wrong(best, camera), left_alone, more);
    most = std::max(most, more);
    mean += more / static_cast<double>(scene.turns.size());
    fail_unless_equals_int(result.complaints, 0);
  }
  fail_unless(most <= 0.015, "%s: up to %.4f more are wrong, %.4f in the mean", scene.name, most,
              mean);
}

// These cameras are distorted and look in different directions. No turn of one of them explains all
// of that, but it helps.
TEST(test_chessboards, .unless(unless_chessboards())) {
  const std::vector<ChessboardPair> boards = chessboards();
  std::vector<Pair> pairs;
  for (int round = 0; round < 2; ++round)
    for (const ChessboardPair& board : boards)
      pairs.push_back({board.left, board.right});
  const Result off = matched(pairs, "off", 128), corrected = matched(pairs, "correct", 128);
  const auto mean = [](const std::vector<double>& known, std::size_t first) {
    return std::accumulate(known.begin() + static_cast<std::ptrdiff_t>(first), known.end(), 0.0) /
           static_cast<double>(known.size() - first);
  };
  g_print(
      "chessboards: %.3f known as they are, %.3f corrected; of the second round, %.3f and %.3f\n",
      mean(off.known, 0), mean(corrected.known, 0), mean(off.known, 13), mean(corrected.known, 13));
  fail_unless(mean(corrected.known, 0) >= mean(off.known, 0));
  fail_unless(mean(corrected.known, 13) >= mean(off.known, 13));
}
