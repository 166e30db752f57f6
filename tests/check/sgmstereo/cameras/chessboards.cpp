// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/sgmstereo/cameras/chessboards.h"

#include "tests/check/common/pictures/photographs.h"
#include "tests/check/sgmstereo/cameras/photographedplanes.h"

namespace check {
namespace {

constexpr char calibration[] = R"({"image_width": 640, "image_height": 480, "unit": "mm",
  "M1": [[533.563156, 0, 342.534354], [0, 533.596552, 234.765412], [0, 0, 1]],
  "D1": [-0.288654464, 0.0935985520, 0.00120330555, -0.000143769306, 0.0],
  "M2": [[536.893993, 0, 327.396040], [0, 536.475129, 249.948725], [0, 0, 1]],
  "D2": [-0.290088109, 0.106197832, -0.000509411434, 0.000104768338, 0.0],
  "R": [[0.99998471621, 0.00352244241, 0.00426142538],
        [-0.00349184645, 0.99996822716, -0.00716600882],
        [-0.00428653184, 0.00715101905, 0.99996524368]],
  "T": [-83.1777478, 0.918117771, -0.119110535]})";

constexpr int numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14};

std::string file_of(const std::string& side, int number) {
  return side + (number < 10 ? "0" : "") + std::to_string(number) + ".jpg";
}

}  // namespace

std::vector<ChessboardPair> chessboards() {
  const auto picture = [](const std::string& name) {
    return decoded(picture_file(name), "jpegdec", gray());
  };
  std::vector<ChessboardPair> pairs;
  for (const int number : numbers)
    pairs.push_back({picture(file_of("left", number)), picture(file_of("right", number))});
  return pairs;
}

std::string unless_chessboards() {
  if (std::string reason = unless_fast(); !reason.empty())
    return reason;
  std::vector<std::string> names;
  for (const int number : numbers)
    for (const char* side : {"left", "right"})
      names.push_back(file_of(side, number));
  return unless_pictures(names);
}

ChessboardCalibration::ChessboardCalibration()
    : TemporaryFile("chessboards-XXXXXX.json", calibration) {}

}  // namespace check
