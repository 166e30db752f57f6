// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <vector>

#include "gst/core/elementerror.h"

/// Reads untrusted calibration files. Errors name the file, the key if any, and the remedy.
namespace cudavision {

/// Returns the text of a regular file, without a byte order mark. Throws ElementError if the file
/// cannot be read, is too large, or could crash OpenCV's parser.
std::string calibration_file_text(const std::string& name);

[[noreturn]] void refuse_calibration(const std::string& file, const std::string& what,
                                     int code = GST_RESOURCE_ERROR_READ);

struct CalibrationEntry {
  std::string file, key;  ///< names for messages
  cv::FileNode node;

  [[noreturn]] void refuse(const std::string& what) const {
    refuse_calibration(file, key + " " + what);
  }
};

/// The keys of one or several files.
class CalibrationText {
 public:
  explicit CalibrationText(const std::vector<std::string>& names);

  const std::string& names() const { return names_; }

  std::optional<CalibrationEntry> find(std::initializer_list<const char*> keys) const;
  /// Throws ElementError if the files have none of these keys.
  CalibrationEntry require(std::initializer_list<const char*> keys, const char* remedy) const;

 private:
  struct File {
    std::string name;
    cv::FileStorage storage;
  };
  std::vector<File> files_;
  std::string names_;
};

/// Returns the numbers of a list, or of a matrix in row-major order.
std::vector<double> numbers_in(const CalibrationEntry& entry);

template <std::size_t count>
std::array<double, count> array_in(const CalibrationEntry& entry) {
  const std::vector<double> numbers = numbers_in(entry);
  if (numbers.size() != count)
    entry.refuse("holds " + std::to_string(numbers.size()) + " numbers instead of " +
                 std::to_string(count) + ": write all numbers of the calibration.");
  std::array<double, count> array;
  std::copy(numbers.begin(), numbers.end(), array.begin());
  return array;
}

/// Reads a picture width or height from `node`, which is entry.node or a part of it.
int size_in(const CalibrationEntry& entry, const cv::FileNode& node);

}  // namespace cudavision
