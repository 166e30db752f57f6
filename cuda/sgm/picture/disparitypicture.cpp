// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/sgm/picture/disparitypicture.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/sgm/picture/backend.h"

namespace cudavision::sgm {
namespace {

using Kind = PictureParameters::Kind;
using Quantity = PictureParameters::Quantity;
using Range = PictureParameters::Range;

constexpr char operation[] = "disparity pictures";

void check_one_channel(const FrameLayout& out, int bits) {
  if (out.plane_count != 1 || out.channel_count != 1 || out.channels[0].step != 1 ||
      out.bits != bits || out.shift != 0 || out.channels[0].width != out.width ||
      out.channels[0].height != out.height)
    refuse(operation, "the output has " + text_of(out.channel_count) + " channels in " +
                          text_of(out.plane_count) + " planes, of " + text_of(out.bits) +
                          " bits shifted by " + text_of(out.shift) + "; make it one channel of " +
                          text_of(bits) + " bits, not shifted, with the size of the picture");
}

void check_colors(const FrameLayout& out) {
  const int red = out.find(Role::red);
  if (out.plane_count != 1 || out.bits != 8 || red < 0)
    refuse(operation, "the output has " + text_of(out.plane_count) + " planes of " +
                          text_of(out.bits) + " bits" + (red < 0 ? " without red" : "") +
                          "; make it one plane of packed red, green and blue of 8 bits");
  for (const Role role : rgb_roles) {
    const int found = out.find(role);
    if (found < 0 || out.channels[found].step != out.channels[red].step ||
        out.channels[found].width != out.width || out.channels[found].height != out.height)
      refuse(operation, "red, green and blue must all have " + text_of(out.width) + "×" +
                            text_of(out.height) + " samples with a step of " +
                            text_of(out.channels[red].step));
  }
  if (out.planes[0].row_bytes < std::int64_t{out.channels[red].step} * out.width)
    refuse(operation, "the output has rows of " + text_of(out.planes[0].row_bytes) +
                          " bytes; make them long enough for " + text_of(out.width) +
                          " pixels of " + text_of(out.channels[red].step) + " bytes");
}

void check_parameters(const PictureParameters& picture) {
  const auto check = [](double value, bool positive, const char* name) {
    if (!std::isfinite(value) || value < 0 || (positive && value == 0))
      refuse(operation, std::string(name) + " is " + text_of(value) + "; make it " +
                            (positive ? "a positive number" : "0 or more"));
  };
  check(picture.focal_length, false, "focal_length");
  check(picture.baseline, false, "baseline");
  check(picture.unit, true, "unit");
  if (picture.range == Range::fixed && !(picture.minimum < picture.maximum))
    refuse(operation, "the range of levels goes from " + text_of(picture.minimum) + " to " +
                          text_of(picture.maximum) + "; maximum must be larger than minimum");
}

LevelRange fixed_range(const PictureParameters& picture, int scale) {
  // All map values are within ±limit, and 254·2·limit fits 32 bits.
  constexpr double limit = 1 << 20;
  const auto value = [&](double number) {
    return static_cast<int>(std::llround(std::clamp(scale * number, -limit, limit)));
  };
  const int low = value(picture.minimum);
  return {low, std::max(low + 1, value(picture.maximum))};
}

DisparityNumbers numbers_of(const Parameters& parameters, const PictureParameters& picture) {
  const DisparityScale scale = disparity_scale(parameters);
  // If K is larger, even the largest disparity has a depth of more than 65535.
  constexpr double enough = static_cast<double>(std::int64_t{1} << 40);
  const bool depth = picture.quantity == Quantity::depth;
  const bool confidence = picture.quantity == Quantity::confidence;
  const int first = confidence ? 1 : scale.per_pixel * parameters.minimum;
  const int last = confidence ? 255 : first + scale.per_pixel * (parameters.disparities - 1);
  DisparityNumbers numbers;
  numbers.quantity = picture.quantity;
  numbers.invalid = confidence ? 0 : scale.invalid;
  numbers.depth = std::llround(
      std::min(enough, scale.per_pixel * picture.focal_length * picture.baseline / picture.unit));
  numbers.automatic = picture.range == Range::automatic && picture.kind != Kind::depth;
  numbers.range =
      picture.range == Range::fixed
          ? fixed_range(picture, picture.quantity == Quantity::disparity ? scale.per_pixel : 1)
      : depth ? LevelRange{1, 65535}
              : LevelRange{first, last};
  // Only positive disparities have a depth.
  const int smallest = depth ? 1 : first;
  numbers.bins = {std::max(smallest, first), std::max(smallest, last), 0,
                  confidence ? 1 : scale.per_pixel};
  while ((numbers.bins.last - numbers.bins.first) >> numbers.bins.shift >= RangeBins::count)
    ++numbers.bins.shift;
  return numbers;
}

}  // namespace

DisparityPicture::DisparityPicture(Device& device, const FrameLayout& out,
                                   const Parameters& parameters, Kind kind, Quantity quantity)
    : layout_(out), kind_(kind), quantity_(quantity) {
  check_layout(operation, out);
  if (kind == Kind::color)
    check_colors(out);
  else
    check_one_channel(out, kind == Kind::depth ? 16 : 8);
  if (kind == Kind::depth && quantity == Quantity::confidence)
    refuse(operation, "confidence has no depth; use Quantity::disparity");
  PictureConfig config{out.width, out.height, kind, quantity == Quantity::confidence, {}};
  if (kind == Kind::color) {
    const auto channel = [&](Role role) { return out.channels[out.find(role)]; };
    config.pixel = {channel(Role::red).step, channel(Role::red).offset, channel(Role::green).offset,
                    channel(Role::blue).offset};
  }
  backend_ = dispatch<make_disparity_picture_cuda, make_disparity_picture_cpu>(device, config);
  set_parameters(parameters, {.kind = kind, .quantity = quantity});
  ColorTable grays;
  for (std::size_t level = 0; level < grays.size(); ++level)
    grays[level].fill(static_cast<std::uint8_t>(level));
  set_colors(grays);
}

DisparityPicture::~DisparityPicture() = default;

void DisparityPicture::set_parameters(const Parameters& parameters,
                                      const PictureParameters& picture) {
  if (const std::string error = validation_error(parameters); !error.empty())
    refuse(operation, error);
  if (picture.kind != kind_ || picture.quantity != quantity_)
    refuse(operation,
           "kind and quantity are fixed at construction; construct another DisparityPicture");
  check_parameters(picture);
  backend_->set(numbers_of(parameters, picture));
}

void DisparityPicture::set_colors(const ColorTable& table) {
  if (kind_ == Kind::color)
    backend_->set_colors(table);
}

void DisparityPicture::restart() noexcept {
  backend_->restart();
}

void DisparityPicture::run(View<const std::uint8_t> values, const Frame& out, double seconds) {
  check_frame(operation, layout_, out, "output");
  const int row_bytes = (quantity_ == Quantity::confidence ? 1 : 2) * layout_.width;
  check_rows(operation, quantity_ == Quantity::confidence ? "confidences" : "disparities", values,
             layout_.height, row_bytes);
  View<std::uint8_t> plane = out.planes[0];
  plane.height = layout_.height;
  const double weight = seconds > 0 ? 65536 * (1 - std::exp(-seconds)) : 0;
  backend_->run(values, plane, static_cast<int>(std::nearbyint(weight)));
}

}  // namespace cudavision::sgm
