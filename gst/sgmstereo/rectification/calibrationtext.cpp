// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/rectification/calibrationtext.h"

#include <glib.h>

#include <cmath>
#include <cstdlib>
#include <memory>

#include "gst/core/elementerror.h"
#include "gst/core/text.h"
#include "gst/sgmstereo/rectification/calibrationfile.h"

namespace cudavision {
namespace {

bool begins_with(const std::string& text, const char* beginning) {
  return text.rfind(beginning, 0) == 0;
}

/// FileStorage tells the formats apart by the first line, which ROS's YAML lacks.
std::string with_header(const std::string& text) {
  for (const char* known : {"%YAML", "<?xml", "{"})
    if (begins_with(text, known))
      return text;
  return (begins_with(text, "---") ? "%YAML:1.0\n" : "%YAML:1.0\n---\n") + text;
}

/// Returns where and why OpenCV cannot read a text, whose first added_lines are not the file's.
/// OpenCV writes "NAME(LINE): REASON", and 4.6 does so where the name of its function belongs.
std::string reason_of(const cv::Exception& e, int added_lines) {
  for (const std::string& text : {e.func, e.err}) {
    const std::size_t end = text.rfind("): ");
    const std::size_t begin = text.rfind('(', end);
    if (end == std::string::npos || begin == std::string::npos)
      continue;
    const int line = std::atoi(text.c_str() + begin + 1) - added_lines;
    return "line " + std::to_string(std::max(line, 1)) + ": " + text.substr(end + 3);
  }
  return e.err;
}

[[noreturn]] void refuse_text(const std::string& name, const std::string& reason) {
  refuse_calibration(name, "this is no YAML, XML or JSON that OpenCV can read (" + reason +
                               "): write it with cv::FileStorage or pipelines/calibrate.py.");
}

/// OpenCV 4.6 crashes on XML that ends within a declaration or an element. GLib's parser does not,
/// and uses no recursion, so it reads XML first.
void check_xml(const std::string& name, const std::string& text) {
  const GMarkupParser no_handlers{};
  const std::unique_ptr<GMarkupParseContext, decltype(&g_markup_parse_context_free)> context(
      g_markup_parse_context_new(&no_handlers, {}, nullptr, nullptr), g_markup_parse_context_free);
  GError* error = nullptr;
  if (g_markup_parse_context_parse(context.get(), text.data(), static_cast<gssize>(text.size()),
                                   &error) &&
      g_markup_parse_context_end_parse(context.get(), &error))
    return;
  const std::string reason = text_of(error->message);
  g_error_free(error);
  gint line = 0;
  g_markup_parse_context_get_position(context.get(), &line, nullptr);
  refuse_text(name, "line " + std::to_string(line) + ": " + reason);
}

void append_numbers(const CalibrationEntry& entry, const cv::FileNode& node,
                    std::vector<double>& numbers) {
  if (node.isSeq()) {
    for (const cv::FileNode& part : node)
      append_numbers(entry, part, numbers);
    return;
  }
  if (!node.isInt() && !node.isReal())
    entry.refuse("holds something that is not a number: write it as a matrix or a list.");
  numbers.push_back(node.real());
  if (!std::isfinite(numbers.back()))
    entry.refuse("holds a number that is not finite: calibrate again.");
}

}  // namespace

void refuse_calibration(const std::string& file, const std::string& what) {
  throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, file + ": " + what);
}

CalibrationText::CalibrationText(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::string own_text = calibration_file_text(name), text = with_header(own_text);
    if (begins_with(text, "<?xml"))
      check_xml(name, text);
    try {
      files_.push_back(
          {name, cv::FileStorage(text, cv::FileStorage::READ | cv::FileStorage::MEMORY)});
    } catch (const cv::Exception& e) {
      const auto added_lines = std::count(text.begin(), text.end(), '\n') -
                               std::count(own_text.begin(), own_text.end(), '\n');
      refuse_text(name, reason_of(e, static_cast<int>(added_lines)));
    }
    names_ += (names_.empty() ? "" : ", ") + name;
  }
}

std::optional<CalibrationEntry> CalibrationText::find(
    std::initializer_list<const char*> keys) const {
  for (const char* key : keys)
    for (const File& file : files_)
      if (file.storage.isOpened())
        if (const cv::FileNode node = file.storage[key]; !node.empty())
          return CalibrationEntry{file.name, key, node};
  return {};
}

CalibrationEntry CalibrationText::require(std::initializer_list<const char*> keys,
                                          const char* remedy) const {
  if (const std::optional<CalibrationEntry> entry = find(keys))
    return *entry;
  refuse_calibration(names_, std::string(*keys.begin()) + " is missing: " + remedy);
}

std::vector<double> numbers_in(const CalibrationEntry& entry) {
  std::vector<double> numbers;
  append_numbers(entry, entry.node.isMap() ? entry.node["data"] : entry.node, numbers);
  return numbers;
}

int size_in(const CalibrationEntry& entry, const cv::FileNode& node) {
  const double number = node.isInt() || node.isReal() ? node.real() : 0;
  if (!(number >= 1 && number <= 65535) || number != std::floor(number))
    entry.refuse("is not a size in pixels: write the size of the pictures of the calibration.");
  return static_cast<int>(number);
}

std::string string_in(const CalibrationEntry& entry) {
  return entry.node.isString() ? entry.node.string() : std::string();
}

}  // namespace cudavision
