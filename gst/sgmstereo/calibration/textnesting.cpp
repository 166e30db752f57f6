// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/calibration/textnesting.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace cudavision {
namespace {

/// Counts levels so that there are never fewer than the parser has. What opens a level always
/// counts. What closes one counts until it becomes uncertain that the parser sees it too.
class Levels {
 public:
  void open() { max_ = std::max(max_, ++now_); }
  void close() {
    if (certain_ && now_ > 0)
      --now_;
  }
  void become_uncertain() { certain_ = false; }
  /// The parser has left all levels.
  void end_all() {
    now_ = 0;
    certain_ = true;
  }

  bool certain() const { return certain_; }
  bool any() const { return now_ > 0; }
  std::size_t max() const { return max_; }

 private:
  std::size_t now_ = 0, max_ = 0;
  bool certain_ = true;
};

bool begins_with(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

/// The parser ignores the rest of a line after these.
bool has_hidden_text(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\0' || (text[i] == '\r' && i + 1 < text.size() && text[i + 1] != '\n'))
      return true;
  return false;
}

/// Comments may hold closing tags. All other text of XML lacks "<" and ">".
std::size_t xml_nesting(std::string_view text) {
  Levels levels;
  if (has_hidden_text(text))
    levels.become_uncertain();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (begins_with(rest, "<!"))
      levels.become_uncertain();
    else if (begins_with(rest, "</") || begins_with(rest, "/>"))
      levels.close();
    else if (text[i] == '<')
      levels.open();
  }
  return levels.max();
}

/// Versions of OpenCV differ in whether a backslash escapes the end of a key, and comments, which
/// begin with a slash, may hold quotes: after that, any text may be outside of strings.
std::size_t json_nesting(std::string_view text) {
  Levels levels;
  if (has_hidden_text(text))
    levels.become_uncertain();
  bool in_string = false;
  for (const char c : text) {
    if (c == '"')
      in_string = !in_string;
    if (c == '\\' || (c == '/' && !in_string))
      levels.become_uncertain();
    if (in_string && levels.certain())
      continue;
    if (c == '[' || c == '{')
      levels.open();
    else if (c == ']' || c == '}')
      levels.close();
  }
  return levels.max();
}

/// Returns how many levels the parser can be in, brackets aside, after a line without its line
/// break: indented lines nest in lines that are indented less, and "- - key: key:" nests in one
/// line. A bracket where a value is expected ends this.
std::size_t block_nesting(std::string_view line) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  std::size_t levels = indent + 1;
  char before = ':';
  for (const char c : line.substr(indent)) {
    if ((c == '[' || c == '{') && (before == ':' || before == '-'))
      break;
    levels += c == ':' || c == '-';
    before = c == ' ' ? before : c;
  }
  return levels;
}

/// Brackets within strings, tags and comments do not close anything, and those in the keys of maps
/// neither.
void count_brackets(std::string_view line, Levels& levels) {
  for (const char c : line) {
    if (c == '[' || c == '{')
      levels.open();
    else if (c == ']' || c == '}')
      levels.close();
    if (levels.any() && std::strchr("\"'#!{", c) != nullptr)
      levels.become_uncertain();
  }
}

/// Neither strings nor comments go on in the next line, and a line that begins at its first column
/// is in no brackets.
std::size_t yaml_nesting(std::string_view text) {
  Levels brackets;
  const bool hidden_text = has_hidden_text(text);
  std::size_t blocks = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t first = line.find_first_not_of(" \r");
    if (first == std::string_view::npos || line[first] == '#')
      continue;
    if (first == 0)
      brackets.end_all();
    if (hidden_text)
      brackets.become_uncertain();
    blocks = std::max(blocks, block_nesting(line));
    count_brackets(line, brackets);
  }
  return blocks + brackets.max();
}

}  // namespace

std::size_t max_text_nesting(const std::string& text) {
  if (begins_with(text, "<?xml"))
    return xml_nesting(text);
  if (begins_with(text, "{"))
    return json_nesting(text);
  return yaml_nesting(text);
}

}  // namespace cudavision
