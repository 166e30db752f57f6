// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/outputs/colormaps.h"

#include <glib.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

namespace cudavision {
namespace {

constexpr int steps = 254;  // number of steps from the first colour to the last

using Color = std::array<std::uint8_t, 3>;

Color turbo(int step) {
  // Coefficients of red, green and blue, by ascending power.
  constexpr double coefficients[3][6] = {
      {0.13572138, 4.61539260, -42.66032258, 132.13108234, -152.94239396, 59.28637943},
      {0.09140261, 2.19418839, 4.84296658, -14.18503333, 4.27729857, 2.82956604},
      {0.10667330, 12.64194608, -60.58204836, 110.36276771, -89.90310912, 27.34824973},
  };
  const double x = static_cast<double>(step) / steps;
  Color color{};
  for (int c = 0; c < 3; ++c) {
    double value = 0;
    for (int power = 5; power >= 0; --power)
      value = value * x + coefficients[c][power];
    color[c] = static_cast<std::uint8_t>(std::lrint(255 * std::clamp(value, 0.0, 1.0)));
  }
  return color;
}

// Each channel is 3/2 − |4x − peak|, clamped to 0…1, here as multiples of 1/(2·steps).
Color jet(int step) {
  Color color{};
  for (int c = 0; c < 3; ++c) {
    const int peak = 3 - c;
    const int value = std::clamp(3 * steps - 2 * std::abs(4 * step - peak * steps), 0, 2 * steps);
    color[c] = static_cast<std::uint8_t>((255 * value + steps) / (2 * steps));
  }
  return color;
}

using RangeKind = sgm::PictureParameters::Range;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && g_ascii_isspace(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && g_ascii_isspace(text.back()))
    text.remove_suffix(1);
  return text;
}

std::string_view take_part(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text = trimmed(text.substr(std::min(end + 1, text.size())));
  return trimmed(part);
}

bool parse_double(std::string_view text, double& number) {
  if (text.empty())
    return false;
  gchar* end = nullptr;
  number = g_ascii_strtod(text.data(), &end);
  return end == text.data() + text.size() && std::isfinite(number);
}

bool read_range(std::string_view text, sgm::PictureParameters& picture) {
  picture.range = text == "full"   ? RangeKind::full
                  : text == "auto" ? RangeKind::automatic
                                   : RangeKind::fixed;
  return picture.range != RangeKind::fixed ||
         (parse_double(take_part(text, ','), picture.minimum) &&
          parse_double(text, picture.maximum));
}

/// Returns an error with its remedy, or nullptr.
const char* read_ranges(std::string_view text, sgm::PictureParameters& picture) {
  constexpr std::string_view quantities[] = {"disparity", "depth", "confidence"};
  while (!text.empty()) {
    std::string_view item = take_part(text, ';');
    if (item.empty())
      continue;
    sgm::PictureParameters other;
    sgm::PictureParameters* target = &picture;
    if (item.find('=') != std::string_view::npos) {
      const auto* const known =
          std::find(std::begin(quantities), std::end(quantities), take_part(item, '='));
      if (known == std::end(quantities))
        return "names an output that has no colours: write disparity, depth or confidence before "
               "the equals sign.";
      if (known != quantities + static_cast<int>(picture.quantity))
        target = &other;
    }
    if (!read_range(item, *target))
      return "has an invalid range: write full, auto, or two numbers such as 0,64. For one output, "
             "write its name first, such as depth=500,4000.";
    if (target->range == RangeKind::fixed && target->minimum >= target->maximum)
      return "has a range whose second number is not larger than the first: write the smaller "
             "number first, such as 0,64.";
  }
  return nullptr;
}

}  // namespace

sgm::ColorTable color_table(Colormap map) {
  sgm::ColorTable table{};
  for (int index = 1; index < 256; ++index)
    if (map == Colormap::gray)
      table[index].fill(static_cast<std::uint8_t>(index));
    else
      table[index] = map == Colormap::turbo ? turbo(index - 1) : jet(index - 1);
  return table;
}

std::string colormap_range_error(const char* text) {
  sgm::PictureParameters picture;
  const char* const error = read_ranges(text, picture);
  return error ? std::string("colormap-range=\"") + text + "\" " + error : std::string();
}

void set_colormap_range(const char* text, sgm::PictureParameters& picture) {
  if (picture.quantity == sgm::PictureParameters::Quantity::depth)
    picture.range = RangeKind::automatic;
  read_ranges(text, picture);
}

}  // namespace cudavision
