// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the warning of cudasgmstereo about patterns that repeat along the rows, with painted
// patterns, OpenCV's chessboard photographs, and pictures that do not repeat.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/check/common/messagelog.h"
#include "tests/check/common/pictures/photographs.h"
#include "tests/check/sgmstereo/cameras/chessboards.h"
#include "tests/check/sgmstereo/wallpairs.h"

using namespace check;

namespace {

constexpr char warning_words[] = "match equally well at a second disparity";

Pair chessboard_wall(int period) {
  const Pair behind = wall();
  const auto with_board = [&](const Picture& picture, int disparity) {
    return picture_with(gray(), width, height, [&](int place, int x, int y) {
      const bool light = ((2 * (x + disparity) / period) + (2 * y / period)) % 2 == 0;
      return y >= height / 2 ? picture.sample(place, x, y) : light ? 220 : 30;
    });
  };
  return {with_board(behind.left, 0), with_board(behind.right, 12)};
}

struct Repeating {
  double share;
  int period;
};
std::vector<Repeating> figures_of(StereoHarness& stereo) {
  std::vector<Repeating> all;
  for (const Owned<GstMessage>& message : stereo.messages().take(GST_MESSAGE_ELEMENT)) {
    const GstStructure* figures = structure_of(message, "cudasgmstereo");
    Repeating found{number_in(figures, "repeating"), 0};
    fail_unless_equals_int(gst_structure_get_int(figures, "repeat-period", &found.period),
                           found.share > 0);
    all.push_back(found);
  }
  return all;
}

struct Scene {
  const char* file;  ///< nullptr: the street video
  const char* decoder;
};
const Scene scenes[] = {{nullptr, "decodebin"},      {"fruits.jpg", "jpegdec"},
                        {"baboon.jpg", "jpegdec"},   {"messi5.jpg", "jpegdec"},
                        {"building.jpg", "jpegdec"}, {"home.jpg", "jpegdec"},
                        {"graf1.png", "pngdec"},     {"sudoku.png", "pngdec"}};

}  // namespace

TEST(test_warning) {
  expect_words(warning_for(chessboard_wall(40), {{"num-disparities", "96"}}),
               {warning_words, ", 40 pixels away", "num-disparities=32 or less",
                "rotate the camera pair relative to the pattern", "project texture"});
  // The period of 12 pixels is below the smallest num-disparities, so none is recommended.
  const std::string text = warning_for(chessboard_wall(12));
  expect_words(text, {warning_words, ", 12 pixels away", "Rotate the", "project texture"});
  fail_unless(text.find("num-disparities") == std::string::npos, "%s", text.c_str());
}

TEST(test_only_one_period_fits) {
  expect_no_warning(chessboard_wall(40), {{"num-disparities", "32"}});
}

TEST(test_figures) {
  for (const int period : {12, 20}) {
    StereoHarness stereo(inspecting({{"num-disparities", "64"}}));
    stereo.accept_gray(width, height);
    send(stereo, chessboard_wall(period), 1);
    send(stereo, wall(), 1, GST_SECOND);
    const std::vector<Repeating> figures = figures_of(stereo);
    fail_unless_equals_int(figures.size(), 2);
    fail_unless(figures[0].share > 0.25 && figures[0].share < 0.6, "%f", figures[0].share);
    fail_unless(std::abs(figures[0].period - period) <= 1, "%d", figures[0].period);
    fail_unless(figures[1].share < 0.01, "%f", figures[1].share);
  }
}

// A second pair or EOS must confirm a repetition. The warning comes once per start.
TEST(test_confirmation) {
  const Pair repeating = chessboard_wall(12);
  StereoHarness stereo(inspecting());
  for (int start = 1; start <= 2; ++start) {
    stereo.accept_gray(width, height);
    for (guint64 i = 0; i < 4; ++i)
      send(stereo, i % 2 == 0 ? wall() : repeating, 1, i * GST_SECOND);
    fail_unless_equals_int(stereo.messages().complaints(), start - 1);
    send(stereo, repeating, 3, 4 * GST_SECOND);
    fail_unless_equals_int(stereo.messages().complaints(), start);
    stereo.restart();
  }
  StereoHarness photographs(inspecting());
  photographs.accept_gray(width, height);
  send(photographs, repeating, 1);
  fail_unless_equals_int(photographs.messages().complaints(), 0);
  send_eos(photographs);
  expect_words(photographs.messages().text(GST_MESSAGE_WARNING), {warning_words});
}

// If the pictures are swapped, a period is meaningless, so no repetition is reported.
TEST(test_exchanged) {
  const Pair pair = chessboard_wall(12);
  const std::string text = warning_for({pair.right, pair.left});
  fail_unless(text.find(warning_words) == std::string::npos, "%s", text.c_str());
}

// In two photographs, the board is tilted so far that its pattern hardly repeats along rows.
TEST(test_chessboards, .unless(unless_chessboards())) {
  const ChessboardCalibration calibration;
  StereoHarness stereo({{"diagnostics-interval", "1"},
                        {"num-disparities", "256"},
                        {"calibration-drift", "off"},
                        calibration.property()});
  stereo.accept_gray(640, 480);
  const std::vector<ChessboardPair> pairs = chessboards();
  for (std::size_t i = 0; i < pairs.size(); ++i)
    stereo.process(at(i * 40 * ms, to_buffer(pairs[i].left)),
                   at(i * 40 * ms, to_buffer(pairs[i].right)));
  const std::vector<Repeating> figures = figures_of(stereo);
  fail_unless_equals_int(figures.size(), pairs.size());
  std::string shares;
  for (const Repeating& found : figures) {
    shares += std::to_string(found.share) + " ";
    fail_unless(found.share < 0.05 || (found.period >= 50 && found.period <= 160), "%d",
                found.period);
  }
  g_print("repeating: %s\n", shares.c_str());
  const auto repeating = std::count_if(figures.begin(), figures.end(),
                                       [](const Repeating& found) { return found.share > 0.05; });
  fail_unless(repeating >= 11, "%s", shares.c_str());
  const std::string text = stereo.messages().text(GST_MESSAGE_WARNING);
  const std::size_t first = text.find(warning_words);
  fail_unless(
      first != std::string::npos && text.find(warning_words, first + 1) == std::string::npos, "%s",
      text.c_str());
}

// The right picture equals the left one, or is shifted by 20 pixels: nothing repeats.
TEST(test_photographs, .times(std::size(scenes)).unless(unless_chessboards())) {
  const auto& [file, decoder] = scenes[index];
  const std::string path = file ? picture_file(file) : street_film();
  if (!g_file_test(path.c_str(), G_FILE_TEST_IS_REGULAR))
    return;
  const Picture picture = decoded(path, decoder, gray());
  for (const int disparity : {0, 20}) {
    StereoHarness stereo(inspecting({{"num-disparities", "128"}}));
    stereo.accept_gray(picture.width, picture.height);
    send(stereo, {picture, shifted(picture, disparity)}, 2);
    for (const Repeating& found : figures_of(stereo))
      fail_unless(found.share < 0.03, "%s: %f", path.c_str(), found.share);
    const std::string text = stereo.messages().text(GST_MESSAGE_WARNING);
    fail_unless(text.find(warning_words) == std::string::npos, "%s: %s", path.c_str(),
                text.c_str());
  }
}
