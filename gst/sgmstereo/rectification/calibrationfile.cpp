// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/rectification/calibrationfile.h"

#include <fcntl.h>
#include <glib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "gst/core/text.h"

namespace cudavision {
namespace {

constexpr std::size_t max_bytes = std::size_t{4} << 20;  // calibration files are below 1 MB
/// Calibrations nest at most five levels deep. In OpenCV 4.6 on x86-64, a stack of 8 MB suffices
/// for 20 000 levels of YAML, so 400 levels need less than 160 kB.
constexpr std::size_t max_nesting = 400;

[[noreturn]] void refuse_file(int code, const std::string& name, const std::string& what) {
  refuse_calibration(name,
                     what +
                         "choose a file with a stereo calibration, for example from "
                         "pipelines/calibrate.py of the package gst-cudavision-tools.",
                     code);
}

[[noreturn]] void refuse_errno(const std::string& name, int error) {
  refuse_file(error == ENOENT ? GST_RESOURCE_ERROR_NOT_FOUND : GST_RESOURCE_ERROR_OPEN_READ, name,
              std::string(g_strerror(error)) + ": ");
}

/// Upper bound of the nesting depth that OpenCV's parser reaches in a line of YAML, without
/// brackets: 1, plus 1 for each space of indentation and for each "-" and ":".
std::size_t block_nesting(std::string_view line) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  std::size_t levels = indent + 1;
  char before = ':';
  for (const char c : line.substr(indent)) {
    if (c == '\n' || ((c == '[' || c == '{') && (before == ':' || before == '-')))
      break;
    levels += c == ':' || c == '-';
    before = c == ' ' ? before : c;
  }
  return levels;
}

/// Upper bound of the nesting depth that OpenCV's parser reaches in YAML, XML or JSON. Closing
/// symbols reduce the depth only until the text has a string, comment or escape that versions of
/// OpenCV parse differently.
std::size_t nesting_of(std::string_view text) {
  const bool xml = text.substr(0, 5) == "<?xml", json = text.substr(0, 1) == "{";
  std::size_t now = 0, most = 0, blocks = 0;
  bool certain = true, in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\n';
    if (!xml && !json && (i == 0 || text[i - 1] == '\n') && std::strchr("\r\n#", c) == nullptr) {
      const std::string_view rest = text.substr(i);
      blocks = std::max(blocks, block_nesting(rest.substr(0, rest.find('\n'))));
      if (c != ' ') {  // an unindented line is outside all brackets
        now = 0;
        certain = true;
      }
    }
    if (json && c == '"')
      in_string = !in_string;
    // The parser ignores the rest of a line after a carriage return.
    if ((c == '\r' && next != '\n') || (xml && c == '<' && next == '!') ||
        (json && (c == '\\' || (c == '/' && !in_string))) ||
        (!xml && !json && (c == '{' || (now > 0 && std::strchr("\"'#!", c) != nullptr))))
      certain = false;
    if (in_string && certain)
      continue;
    const bool opens = xml ? c == '<' && next != '/' && next != '!' : c == '[' || c == '{';
    const bool closes =
        xml ? (c == '<' && next == '/') || (c == '/' && next == '>') : c == ']' || c == '}';
    if (opens)
      most = std::max(most, ++now);
    else if (closes && certain && now > 0)
      --now;
  }
  return blocks + most;
}

/// FileStorage needs a first line with the format, which ROS's YAML lacks.
std::string with_header(const std::string& text) {
  for (const char* known : {"%YAML", "<?xml", "{"})
    if (text.starts_with(known))
      return text;
  return (text.starts_with("---") ? "%YAML:1.0\n" : "%YAML:1.0\n---\n") + text;
}

/// Returns the line and the reason of a parser error, "NAME(LINE): REASON", which OpenCV 4.6 stores
/// as the function's name. `added_lines` lines precede the file's own text.
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
  refuse_calibration(name, "this is not YAML, XML or JSON that OpenCV can read (" + reason +
                               "): correct the file, or calibrate again.");
}

/// OpenCV 4.6 crashes on XML that ends within a declaration or an element. GLib's parser, which is
/// not recursive, refuses such XML first.
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
    entry.refuse("holds a value that is not a number: write a matrix or a list of numbers.");
  numbers.push_back(node.real());
  if (!std::isfinite(numbers.back()))
    entry.refuse("holds a number that is not finite: calibrate again.");
}

}  // namespace

void refuse_calibration(const std::string& file, const std::string& what, int code) {
  throw ElementError(GST_RESOURCE_ERROR, code, file + ": " + what);
}

std::string calibration_file_text(const std::string& name) {
  // With O_NONBLOCK, opening a pipe does not wait for a writer.
  const int number = open(name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  const std::unique_ptr<FILE, int (*)(FILE*)> file(number < 0 ? nullptr : fdopen(number, "r"),
                                                   fclose);
  struct stat status;
  if (!file || fstat(number, &status) != 0) {
    const int error = errno;
    if (!file && number >= 0)
      close(number);
    refuse_errno(name, error);
  }
  if (!S_ISREG(status.st_mode))
    refuse_file(GST_RESOURCE_ERROR_OPEN_READ, name, "this is not a regular file: ");
  // st_size is not used, because a file may grow, and files of /proc have size 0.
  std::string text(max_bytes + 1, '\0');
  text.resize(fread(text.data(), 1, text.size(), file.get()));
  if (ferror(file.get()))
    refuse_errno(name, errno);
  if (text.size() > max_bytes)
    refuse_file(GST_RESOURCE_ERROR_READ, name,
                "this is larger than " + std::to_string(max_bytes >> 20) +
                    " MiB, the limit for calibrations: ");
  if (text.compare(0, 3, "\xef\xbb\xbf") == 0)
    text.erase(0, 3);
  // OpenCV 4.6 reads past the end of texts that contain bytes of value 0.
  if (text.find('\0') != std::string::npos)
    refuse_file(GST_RESOURCE_ERROR_READ, name,
                "this is not a text file, because it has bytes of value 0: ");
  if (const std::size_t nesting = nesting_of(text); nesting > max_nesting)
    refuse_file(GST_RESOURCE_ERROR_READ, name,
                "the brackets, elements or indented lines are nested up to " +
                    std::to_string(nesting) + " levels deep, but at most " +
                    std::to_string(max_nesting) + " levels are supported: ");
  return text;
}

CalibrationText::CalibrationText(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::string own_text = calibration_file_text(name), text = with_header(own_text);
    if (text.starts_with("<?xml"))
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
    entry.refuse("is not a whole number from 1 to 65535: write the size of the pictures.");
  return static_cast<int>(number);
}

}  // namespace cudavision
