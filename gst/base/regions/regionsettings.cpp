// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/regions/regionsettings.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace cudavision {
namespace {

std::string trimmed(const std::string& text) {
  constexpr char spaces[] = " \t\n";
  const std::size_t first = text.find_first_not_of(spaces);
  if (first == std::string::npos)
    return {};
  return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

/// Splits a text, trims the parts and drops empty parts.
std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    if (const std::string part = trimmed(text.substr(begin, end - begin)); !part.empty())
      parts.push_back(part);
    begin = end + 1;
  }
  return parts;
}

std::optional<double> parse_number(const std::string& text) {
  char* end = nullptr;
  const double number = g_ascii_strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(number))
    return std::nullopt;
  return number;
}

std::optional<WrittenRectangle> parse_rectangle(const std::string& text) {
  // Rejects larger numbers with a decimal point, because the user probably meant pixels.
  constexpr double largest_fraction = 2;
  const bool fractions = text.find('.') != std::string::npos;
  const std::vector<std::string> parts = split(text, ',');
  double numbers[4];
  if (parts.size() != 4 || std::count(text.begin(), text.end(), ',') != 3)
    return std::nullopt;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto number = parse_number(parts[i]);
    if (!number || (fractions && std::abs(*number) > largest_fraction))
      return std::nullopt;
    numbers[i] = *number;
  }
  return WrittenRectangle{numbers[0], numbers[1], numbers[2], numbers[3], fractions};
}

struct Interval {
  int begin, end;
};

/// Rounds an interval and clamps it to the coordinates of boxes. An interval outside keeps one
/// pixel, because regions outside of the frame cause a warning, but empty regions do not.
Interval clamped_interval(double begin, double size) {
  constexpr double maximum = regions::Parameters::max_coordinate;
  const double kept = size > 0 ? 1 : 0;
  return {static_cast<int>(std::lround(std::clamp(begin, -maximum, maximum - kept))),
          static_cast<int>(std::lround(std::clamp(begin + size, kept - maximum, maximum)))};
}

}  // namespace

regions::Box box_within_limits(double x, double y, double width, double height) {
  const Interval columns = clamped_interval(x, width), rows = clamped_interval(y, height);
  return {columns.begin, rows.begin, columns.end, rows.end};
}

regions::Box WrittenRectangle::box_in(int frame_width, int frame_height) const {
  const double unit_x = fractions ? frame_width : 1, unit_y = fractions ? frame_height : 1;
  return box_within_limits(x * unit_x, y * unit_y, width * unit_x, height * unit_y);
}

RegionText::RegionText(const char* text) {
  Parsed parsed;
  parsed.text = text;
  for (const std::string& part : split(parsed.text, ';')) {
    const auto rectangle = parse_rectangle(part);
    if (rectangle && rectangle->width >= 0 && rectangle->height >= 0) {
      parsed.rectangles.push_back(*rectangle);
      continue;
    }
    parsed.error = "regions: \"" + part +
                   (rectangle ? "\" has a negative width or height: write sizes of at least 0."
                              : "\" is not a rectangle: write x,y,width,height, in whole pixels "
                                "(100,80,200,200) or, with decimal points, in fractions of the "
                                "frame (0.5,0.5,0.25,0.25), and separate rectangles with "
                                "semicolons.");
    break;
  }
  if (parsed.rectangles.size() > regions::Parameters::max_count)
    parsed.error = "regions has " + std::to_string(parsed.rectangles.size()) +
                   " rectangles: give at most " + std::to_string(regions::Parameters::max_count) +
                   ".";
  parsed_ = std::make_shared<const Parsed>(std::move(parsed));
}

RegionTypes::RegionTypes(const char* text) {
  parsed_ = std::make_shared<const Parsed>(Parsed{text, split(text, ',')});
}

bool RegionTypes::accepts(GQuark label) const {
  const std::vector<std::string>& labels = parsed_->labels;
  const char* const text = text_of(g_quark_to_string(label));
  return labels.empty() ||
         std::any_of(labels.begin(), labels.end(), [&](const std::string& accepted) {
           return g_ascii_strcasecmp(accepted.c_str(), text) == 0;
         });
}

}  // namespace cudavision
