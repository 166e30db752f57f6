// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/guided/guided.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/core/planefill.h"
#include "cuda/guided/arithmetic.h"
#include "cuda/guided/backend.h"

namespace cudavision::guided {
namespace {

constexpr char operation[] = "guided filter";

void check_parameters(const Parameters& parameters) {
  using Ranges = Parameters::Ranges;
  if (!Ranges::radius.contains(parameters.radius))
    refuse(operation,
           "a radius of " + text_of(parameters.radius) + "; it must be " + text_of(Ranges::radius));
  if (!Ranges::epsilon.contains(parameters.epsilon))
    refuse(operation, "an epsilon of " + text_of(parameters.epsilon) + "; it must be " +
                          text_of(Ranges::epsilon));
}

int radius_along(int radius, int subsampling, int samples) {
  const auto side = std::lround(2.0 * radius / subsampling);
  // Windows are clipped to the channel, so a larger radius would not change them.
  return static_cast<int>(std::min<long>(side / 2, samples - 1));
}

}  // namespace

std::vector<Channel> filtered_channels(const FrameLayout& layout) {
  std::vector<Channel> channels;
  std::copy_if(layout.channels.begin(), layout.channels.begin() + layout.channel_count,
               std::back_inserter(channels),
               [](const Channel& c) { return c.role != Role::alpha; });
  return channels;
}

WindowRadius::WindowRadius(const Channel& channel, int radius) noexcept
    : x(radius_along(radius, channel.subsampling_x, channel.width)),
      y(radius_along(radius, channel.subsampling_y, channel.height)) {}

bool WindowRadius::is_narrow(const Channel& channel) const noexcept {
  const auto side = [](int radius, int samples) {
    return std::min(2ll * radius + 1, 1ll * samples);
  };
  return side(x, channel.width) * side(y, channel.height) < narrow_area;
}

RowRange rows_with_results(const Channel& channel, const regions::ActiveCells* active) noexcept {
  if (!active)
    return {0, channel.height};
  int first = 0, last = regions::ActiveCells::side - 1;
  while (first < last && active->row(first) == 0)
    ++first;
  while (last > first && active->row(last) == 0)
    --last;
  return {std::min(first * active->cell_height() / channel.subsampling_y, channel.height - 1),
          std::min(((last + 1) * active->cell_height() - 1) / channel.subsampling_y + 1,
                   channel.height)};
}

Guided::Guided(Device& device, const FrameLayout& layout, const Parameters& parameters)
    : device_(device), layout_(layout), parameters_(parameters) {
  check_layout(operation, layout);
  check_parameters(parameters);
  backend_ = dispatch<make_guided_cuda, make_guided_cpu>(device, layout);
  backend_->set(parameters);
}

Guided::~Guided() = default;

void Guided::set_parameters(const Parameters& parameters) {
  if (parameters == parameters_)
    return;
  check_parameters(parameters);
  backend_->set(parameters);
  parameters_ = parameters;
}

bool Guided::identity() const noexcept {
  return parameters_.radius == 0 || parameters_.epsilon == 0;
}

void Guided::run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active) {
  check_frame(operation, layout_, in, "input");
  check_frame(operation, layout_, out, "output");
  if (active && !active->any() && !identity())
    return;
  bool filtered[FrameLayout::max_channels];
  for (int c = 0; c < layout_.channel_count; ++c)
    filtered[c] = !identity() && layout_.channels[c].role != Role::alpha;
  for (int p = 0; p < layout_.plane_count; ++p)
    if (!covers_plane(layout_, p, filtered))
      device_.copy(in.planes[p], out.planes[p]);
  if (!identity())
    backend_->run(in, out, active);
}

}  // namespace cudavision::guided
