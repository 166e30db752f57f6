// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

/// Reads files of calibrations that may hold anything: what is returned is small enough, and nested
/// little enough, for OpenCV's parser.
namespace cudavision {

/// Returns the text of a regular file, without a byte order mark. Throws ElementError, with the
/// remedy, if there is no such file, if it is something else, such as a device or a pipe, if it is
/// too large, or if OpenCV's parser could crash at it: the parser calls itself for each level of
/// nesting, and reads past bytes of value 0.
std::string calibration_file_text(const std::string& name);

}  // namespace cudavision
