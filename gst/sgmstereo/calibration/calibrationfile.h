// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

/// Reads files of calibrations that may hold anything: what is returned is small enough, and nested
/// little enough, for OpenCV's parser.
namespace cudavision {

/// Returns the text of a regular file. Throws ElementError, with the remedy, if there is no such
/// file, if it is something else, such as a device or a pipe, or if it is too large.
std::string calibration_file_text(const std::string& name);

/// Throws ElementError for texts at which OpenCV's parser could crash: it calls itself for each
/// level of nesting, and reads past bytes of value 0.
void check_calibration_text(const std::string& name, const std::string& text);

}  // namespace cudavision
