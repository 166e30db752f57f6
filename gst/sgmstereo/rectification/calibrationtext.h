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

/// The keys and values in files of calibrations, whatever they mean. What is missing or has another
/// form throws an ElementError that names the file, the key and the remedy.
namespace cudavision {

[[noreturn]] void refuse_calibration(const std::string& file, const std::string& what);

/// A value in a file, with its names for messages.
struct CalibrationEntry {
  std::string file, key;
  cv::FileNode node;

  [[noreturn]] void refuse(const std::string& what) const {
    refuse_calibration(file, key + " " + what);
  }
};

/// The keys of one file, or of several as if they were one.
class CalibrationText {
 public:
  explicit CalibrationText(const std::vector<std::string>& names);

  const std::string& names() const { return names_; }

  /// Returns the first of these keys that a file has.
  std::optional<CalibrationEntry> find(std::initializer_list<const char*> keys) const;
  /// Refuses the files if they have none of these keys.
  CalibrationEntry require(std::initializer_list<const char*> keys, const char* remedy) const;

 private:
  struct File {
    std::string name;
    cv::FileStorage storage;
  };
  std::vector<File> files_;
  std::string names_;
};

/// Returns the numbers of a list, or of a matrix row by row.
std::vector<double> numbers_in(const CalibrationEntry& entry);

template <std::size_t count>
std::array<double, count> array_in(const CalibrationEntry& entry) {
  const std::vector<double> numbers = numbers_in(entry);
  if (numbers.size() != count)
    entry.refuse("holds " + std::to_string(numbers.size()) + " numbers instead of " +
                 std::to_string(count) + ": write what the calibration has given.");
  std::array<double, count> array;
  std::copy(numbers.begin(), numbers.end(), array.begin());
  return array;
}

/// Returns a width or height. node is the entry's own, or a part of it.
int size_in(const CalibrationEntry& entry, const cv::FileNode& node);

/// Returns a string, which is empty if the value is something else.
std::string string_in(const CalibrationEntry& entry);

}  // namespace cudavision
