// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/nlmeans/nlmeans.h"

#include <algorithm>
#include <array>
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

/// Chroma is of luma_kind, and shares its launch, if both strengths are equal and not automatic.
ChannelKind kind_of(Role role, const Parameters& parameters) {
  if (is_colour(role))
    return colour_kind;
  const double strength = parameters.strength;
  const bool shared = strength != Parameters::automatic_strength &&
                      strength_of(parameters, chroma_kind) == strength;
  return role == Role::chroma && !shared ? chroma_kind : luma_kind;
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
      refuse(operation, "the layout must have one channel each of red, green and blue, or none");
    const Channel& red = layout.channels[layout.find(Role::red)];
    const Channel& other = layout.channels[first];
    if (other.width != red.width || other.height != red.height)
      refuse(operation, "red, green and blue have ", text_of(red.width, red.height), " and ",
             text_of(other.width, other.height), " samples; they must have the same size");
  }
}

void check_side(int pixels, const Range<int>& range, const char* what) {
  if (!range.contains(pixels) || pixels % 2 == 0)
    refuse(operation, std::string(what) + " of " + std::to_string(pixels) +
                          " pixels; it must be an odd number from " + text_of(range));
}

void check_parameters(const Parameters& parameters, int max_frames) {
  using Ranges = Parameters::Ranges;
  check_side(parameters.search, Ranges::search, "a search size");
  check_side(parameters.patch, Ranges::patch, "a patch size");
  for (const double strength : {parameters.strength, parameters.chroma_strength})
    if (!Ranges::strength.contains(strength) && strength != Parameters::automatic_strength)
      refuse(operation, "a strength of " + std::to_string(strength) + "; it must be " +
                            text_of(Ranges::strength) + ", or " +
                            text_of(Parameters::automatic_strength) + " for automatic");
  if (parameters.frames < 1 || parameters.frames > max_frames)
    refuse(operation, std::to_string(parameters.frames) + " frames; there must be 1 to " +
                          std::to_string(max_frames));
}

}  // namespace

double strength_of(const Parameters& parameters, ChannelKind kind) noexcept {
  return kind == chroma_kind && parameters.chroma_strength != Parameters::same_strength
             ? parameters.chroma_strength
             : parameters.strength;
}

DenoisedFrame::DenoisedFrame(const FrameLayout& layout, const Parameters& parameters) noexcept {
  bool denoised[FrameLayout::max_channels] = {};
  DenoisedChannels colours;
  colours.kind = colour_kind;
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    const ChannelKind kind = kind_of(channel.role, parameters);
    denoised[c] = channel.role != Role::alpha && strength_of(parameters, kind) != 0;
    if (!denoised[c]) {
      has_other_channels[channel.plane] = true;
      continue;
    }
    NoisyChannels& alike = noisy[kind];
    alike.channels[alike.count++] = c;
    DenoisedChannels& group = kind == colour_kind ? colours : groups[group_count++];
    group.kind = kind;
    group.channels[group.count++] = channel;
  }
  if (colours.count > 0)
    groups[group_count++] = colours;
  for (int p = 0; p < layout.plane_count; ++p)
    has_other_bytes[p] = !covers_plane(layout, p, denoised);
}

double strength_under_noise(const FrameLayout& layout, const Parameters& parameters, int channel,
                            const noise::State* noise) noexcept {
  const Role role = layout.channels[channel].role;
  if (role == Role::alpha)
    return 0;
  const ChannelKind kind = kind_of(role, parameters);
  const double strength = strength_of(parameters, kind);
  if (strength != Parameters::automatic_strength)
    return strength;
  const DenoisedFrame frame(layout, parameters);
  const std::uint32_t variance = frame.noisy[kind].variance(noise);
  return strength_of_step(StrengthSteps(parameters.search, parameters.frames).step_for(variance));
}

NlMeans::NlMeans(Device& device, const FrameLayout& layout, const Parameters& parameters)
    : device_(device), layout_(layout), max_frames_(parameters.frames), parameters_(parameters) {
  check_planes(layout);
  check_parameters(parameters, max_frames);
  backend_ = dispatch<make_nl_means_cuda, make_nl_means_cpu>(device, layout, max_frames_);
  backend_->set(parameters);
}

NlMeans::~NlMeans() = default;

void NlMeans::set_parameters(const Parameters& parameters) {
  if (parameters == parameters_)
    return;
  check_parameters(parameters, max_frames_);
  backend_->set(parameters);
  parameters_ = parameters;
}

bool NlMeans::identity() const noexcept {
  return (parameters_.search == 1 && parameters_.frames == 1) ||
         DenoisedFrame(layout_, parameters_).group_count == 0;
}

bool NlMeans::needs_noise() const noexcept {
  if (identity())
    return false;
  const DenoisedFrame frame(layout_, parameters_);
  return std::any_of(std::begin(kinds), std::end(kinds), [&](ChannelKind kind) {
    return frame.noisy[kind].count > 0 &&
           strength_of(parameters_, kind) == Parameters::automatic_strength;
  });
}

void NlMeans::run(const ConstFrame& in, std::span<const ConstFrame> neighbours, const Frame& out,
                  const regions::ActiveCells* active, const noise::State* noise) {
  check_frame(operation, layout_, in, "input");
  for (const ConstFrame& neighbour : neighbours)
    check_frame(operation, layout_, neighbour, "neighbour");
  check_frame(operation, layout_, out, "output");
  if (!noise && needs_noise())
    refuse(operation, "an automatic strength needs the noise of the frame; pass noise to run()");
  const std::size_t count = neighbours.size() + 1;
  if (count != static_cast<std::size_t>(parameters_.frames))
    refuse(operation, std::to_string(count) + " frames; the parameters require " +
                          std::to_string(parameters_.frames));
  if (identity()) {
    for (int p = 0; p < layout_.plane_count; ++p)
      device_.copy(in.planes[p], out.planes[p]);
  } else if (!active || active->any()) {
    std::array<ConstFrame, max_frames> frames{in};
    std::copy(neighbours.begin(), neighbours.end(), frames.begin() + 1);
    backend_->run({frames.data(), count}, out, active, noise);
  }
}

}  // namespace cudavision::nlmeans
