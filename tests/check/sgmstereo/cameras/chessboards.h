// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/check/common/stereoharness.h"
#include "tests/check/common/temporaryfile.h"

namespace check {

struct ChessboardPair {
  Picture left, right;
};

/// Returns OpenCV's 13 pairs of chessboard photographs (640×480 pixels).
std::vector<ChessboardPair> chessboards();

/// Returns why tests of these pairs cannot run or would take too long; empty if they can run.
std::string unless_chessboards();

/// pipelines/calibrate.py's calibration of these photographs, in a temporary file.
struct ChessboardCalibration : TemporaryFile {
  ChessboardCalibration();
  Property property() const { return {"calibration", name()}; }
};

}  // namespace check
