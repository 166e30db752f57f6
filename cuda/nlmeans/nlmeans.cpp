// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/nlmeans/nlmeans.h"

#include <string>

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/core/planefill.h"
#include "cuda/nlmeans/backend.h"

namespace cudavision::nlmeans {
namespace {

constexpr char operation[] = "non-local means";

bool is_colour(Role role) {
  return role == Role::red || role == Role::green || role == Role::blue;
}

void check_planes(const FrameLayout& layout) {
  check_layout(operation, layout);
  int colours = 0;
  for (int c = 0; c < layout.channel_count; ++c)
    colours += is_colour(layout.channels[c].role);
  if (colours == 0)
    return;
  for (const Role role : rgb_roles) {
    const int first = layout.find(role);
    if (first < 0 || colours != 3)
      refuse(operation,
             "the layout must have one channel each of red, green and blue, or none of them");
    const Channel& red = layout.channels[layout.find(Role::red)];
    const Channel& other = layout.channels[first];
    if (other.width != red.width || other.height != red.height)
      refuse(operation, "red, green and blue have different sizes; they must be equal");
  }
}

void check_side(int pixels, const Range<int>& range, const char* what) {
  if (!range.contains(pixels) || pixels % 2 == 0)
    refuse(operation, std::string(what) + " of " + std::to_string(pixels) +
                          " pixels; it must be an odd number up to " + text_of(range.max));
}

void check_parameters(const Parameters& parameters) {
  using Ranges = Parameters::Ranges;
  check_side(parameters.search, Ranges::search, "a search");
  check_side(parameters.patch, Ranges::patch, "a patch");
  if (!Ranges::strength.contains(parameters.strength))
    refuse(operation, "a strength of " + std::to_string(parameters.strength) + "; it must be " +
                          text_of(Ranges::strength));
}

}  // namespace

DenoisedFrame::DenoisedFrame(const FrameLayout& layout) noexcept {
  bool denoised[FrameLayout::max_channels] = {};
  DenoisedChannels colours;
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    denoised[c] = channel.role != Role::alpha;
    if (is_colour(channel.role)) {
      colours.channels[colours.count++] = channel;
    } else if (!denoised[c]) {
      has_other_channels[channel.plane] = true;
    } else {
      groups[group_count].count = 1;
      groups[group_count++].channels[0] = channel;
    }
  }
  if (colours.count > 0)
    groups[group_count++] = colours;
  for (int p = 0; p < layout.plane_count; ++p)
    has_other_bytes[p] = !fill_plane(layout, p, denoised);
}

NlMeans::NlMeans(Device& device, const FrameLayout& layout, const Parameters& parameters)
    : layout_(layout), parameters_(parameters) {
  check_planes(layout);
  check_parameters(parameters);
  backend_ = dispatch<make_nl_means_cuda, make_nl_means_cpu>(device, layout);
  backend_->set(parameters);
}

NlMeans::~NlMeans() = default;

void NlMeans::set_parameters(const Parameters& parameters) {
  if (parameters == parameters_)
    return;
  check_parameters(parameters);
  backend_->set(parameters);
  parameters_ = parameters;
}

bool NlMeans::identity() const noexcept {
  return parameters_.strength == 0 || parameters_.search == 1;
}

void NlMeans::run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active) {
  check_frame(operation, layout_, in, "input");
  check_frame(operation, layout_, out, "output");
  if (identity())
    backend_->copy(in, out);
  else if (!active || active->any())
    backend_->run(in, out, active);
}

}  // namespace cudavision::nlmeans
