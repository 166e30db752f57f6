// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/sgm/distances/distances.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/sgm/distances/backend.h"

namespace cudavision::sgm {
namespace {

constexpr char operation[] = "distances";

MeasuredBox measured_box(const regions::Box& box, int width, int height) {
  const regions::Box visible = clipped(box, width, height);
  if (visible.empty())
    return {};
  const auto samples_within = [&](int x, int y) {
    return SampledBox{SampledAxis::of(visible.x0 + x, visible.x1 - x, Distances::max_columns),
                      SampledAxis::of(visible.y0 + y, visible.y1 - y, Distances::max_rows)};
  };
  return {samples_within((visible.x1 - visible.x0) / 4, (visible.y1 - visible.y0) / 4),
          samples_within(0, 0)};
}

}  // namespace

Distances::Distances(Device& device, int width, int height, const Parameters& parameters)
    : width_(width), height_(height), masks_(device) {
  constexpr int largest = 65535;
  if (width < 1 || height < 1 || width > largest || height > largest)
    refuse(operation, "width and height are " + std::to_string(width) + " and " +
                          std::to_string(height) + "; make them 1 to " + std::to_string(largest));
  backend_ = dispatch<make_distances_cuda, make_distances_cpu>(device);
  set_parameters(parameters);
}

Distances::~Distances() = default;

void Distances::set_parameters(const Parameters& parameters) {
  if (const std::string error = validation_error(parameters); !error.empty())
    refuse(operation, error);
  const DisparityScale scale = disparity_scale(parameters);
  range_ = {static_cast<std::uint16_t>(scale.invalid + scale.per_pixel),
            static_cast<std::uint16_t>(scale.per_pixel * (parameters.disparities - 1)),
            scale.invalid};
}

void Distances::run(View<const std::uint8_t> disparity, std::span<const regions::Box> boxes,
                    BoxDisparity* results, std::span<const regions::Mask> masks,
                    const remap::MapView& rectifying) {
  check_rows(operation, "disparities", disparity, height_, 2 * width_);
  if (boxes.size() > max_boxes)
    refuse(operation, std::to_string(boxes.size()) + " boxes; there may be at most " +
                          std::to_string(max_boxes));
  if (!masks.empty() && masks.size() != boxes.size())
    refuse(operation, std::to_string(masks.size()) + " masks for " + std::to_string(boxes.size()) +
                          " boxes; each box must have one mask, which may be empty");
  if (rectifying && (rectifying.width != width_ || rectifying.height != height_))
    refuse(operation, "the rectifying map has " + text_of(rectifying.width) + "×" +
                          text_of(rectifying.height) + " pixels; make it " + text_of(width_) + "×" +
                          text_of(height_) + ", the size of the disparities");
  if (boxes.empty())
    return;
  MeasuredBox measured[max_boxes];
  std::transform(boxes.begin(), boxes.end(), measured,
                 [&](const regions::Box& box) { return measured_box(box, width_, height_); });
  std::array<regions::Mask, max_boxes> used;
  std::int16_t count = 0;
  for (std::size_t i = 0; i < masks.size(); ++i)
    if (masks[i].rows) {
      SampledBox& samples = measured[i].masked;
      const regions::Box box = clipped(masks[i].box, width_, height_);
      if (!rectifying)
        samples = {samples.x.within(box.x0, box.x1), samples.y.within(box.y0, box.y1)};
      measured[i].mask = count;
      used[static_cast<std::size_t>(count++)] = masks[i];
    }
  const BoxMasks box_masks{
      count > 0 ? masks_.upload({used.data(), static_cast<std::size_t>(count)}) : nullptr,
      rectifying};
  backend_->run(disparity, {measured, boxes.size()}, box_masks, range_, results);
}

std::optional<std::array<double, 3>> center_of(const regions::Box& visible, std::uint16_t number,
                                               const DisparityScale& scale,
                                               const Reprojection& reprojection) noexcept {
  const double position[] = {
      (visible.x0 + visible.x1 - 1) / 2.0, (visible.y0 + visible.y1 - 1) / 2.0,
      static_cast<std::int16_t>(number) / static_cast<double>(scale.per_pixel), 1};
  double h[4] = {};
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = 0; k < 4; ++k)
      h[i] += reprojection[i][k] * position[k];
  const std::array<double, 3> point = {h[0] / h[3], h[1] / h[3], h[2] / h[3]};
  if (!(h[3] > 0) || !std::all_of(point.begin(), point.end(),
                                  [](double coordinate) { return std::isfinite(coordinate); }))
    return std::nullopt;
  return point;
}

}  // namespace cudavision::sgm
