// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/outputs/colormaprange.h"

#include <glib.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

namespace cudavision {
namespace {

using Quantity = sgm::PictureParameters::Quantity;
using RangeKind = sgm::PictureParameters::Range;

struct QuantityName {
  std::string_view name;
  Quantity quantity;
};
constexpr QuantityName quantity_names[] = {
    {"disparity", Quantity::disparity},
    {"depth", Quantity::depth},
    {"confidence", Quantity::confidence},
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && g_ascii_isspace(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && g_ascii_isspace(text.back()))
    text.remove_suffix(1);
  return text;
}

/// Takes the part of text up to a separator.
std::string_view take_part(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return trimmed(part);
}

/// Reads a number that is all of text, which ends where its string does or before a character that
/// belongs to no number.
bool read_number(std::string_view text, double& number) {
  if (text.empty())
    return false;
  gchar* end = nullptr;
  number = g_ascii_strtod(text.data(), &end);
  return end == text.data() + text.size() && std::isfinite(number);
}

bool read_range(std::string_view text, ColormapRange& range) {
  range = {};
  if (text == "full")
    return true;
  range.range = text == "auto" ? RangeKind::automatic : RangeKind::fixed;
  if (range.range == RangeKind::automatic)
    return true;
  std::string_view rest = text;
  const std::string_view minimum = take_part(rest, ',');
  return read_number(minimum, range.minimum) && read_number(trimmed(rest), range.maximum);
}

/// A range and the quantity that it is for, or all.
struct Item {
  std::optional<Quantity> quantity;
  ColormapRange range;
};

enum class ItemError { none, name, range, order };

ItemError read_item(std::string_view text, Item& item) {
  if (text.find('=') != std::string_view::npos) {
    const std::string_view name = take_part(text, '=');
    for (const QuantityName& known : quantity_names)
      if (name == known.name)
        item.quantity = known.quantity;
    if (!item.quantity)
      return ItemError::name;
    text = trimmed(text);
  }
  if (!read_range(text, item.range))
    return ItemError::range;
  const bool ordered =
      item.range.range != RangeKind::fixed || item.range.minimum < item.range.maximum;
  return ordered ? ItemError::none : ItemError::order;
}

const char* remedy(ItemError error) {
  switch (error) {
    case ItemError::name:
      return "names an output that has no colours: write disparity, depth or confidence before "
             "the equals sign.";
    case ItemError::range:
      return "has something that is no range: write full, auto, or two numbers as in 0,64; and for "
             "one output alone its name before that, as in depth=500,4000.";
    case ItemError::order:
      return "has a range whose second number is not the larger one: exchange the two, or set them "
             "farther apart.";
    case ItemError::none:
      break;
  }
  return "";
}

}  // namespace

std::string colormap_range_error(const char* text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view part = take_part(rest, ';');
    Item item;
    const ItemError error = part.empty() ? ItemError::none : read_item(part, item);
    if (error != ItemError::none)
      return std::string("colormap-range=\"") + text + "\" " + remedy(error);
  }
  return {};
}

ColormapRange colormap_range(const char* text, Quantity quantity) {
  ColormapRange range;
  if (quantity == Quantity::depth)
    range.range = RangeKind::automatic;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view part = take_part(rest, ';');
    Item item;
    if (!part.empty() && read_item(part, item) == ItemError::none &&
        (!item.quantity || item.quantity == quantity))
      range = item.range;
  }
  return range;
}

}  // namespace cudavision
