// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Interface of both backends. Callers have validated layouts, parameters and frames.

#include <array>
#include <memory>
#include <span>

#include "cuda/nlmeans/nlmeans.h"
#include "cuda/nlmeans/strengths.h"

namespace cudavision::nlmeans {

/// Channels of one kind share a strength and a table of weights. colour_kind is red, green and
/// blue, chroma_kind is chroma with a separate strength, and luma_kind is all other channels.
enum ChannelKind { luma_kind, chroma_kind, colour_kind };
constexpr int kind_count = 3;
constexpr ChannelKind kinds[kind_count] = {luma_kind, chroma_kind, colour_kind};
constexpr int channels_of(ChannelKind kind) {
  return kind == colour_kind ? 3 : 1;
}
/// Returns the strength for a kind, which may be automatic_strength.
double strength_of(const Parameters& parameters, ChannelKind kind) noexcept;

struct DenoisedChannels {
  static constexpr int max_count = 3;

  ChannelKind kind = luma_kind;
  int count = 0;
  std::array<Channel, max_count> channels{};

  int width() const noexcept { return channels[0].width; }
  int height() const noexcept { return channels[0].height; }
};

struct DenoisedFrame {
  DenoisedFrame(const FrameLayout& layout, const Parameters& parameters) noexcept;

  int group_count = 0;
  std::array<DenoisedChannels, FrameLayout::max_channels> groups{};
  std::array<NoisyChannels, kind_count> noisy{};  ///< denoised channels of each kind
  /// Planes with bytes outside all groups.
  std::array<bool, FrameLayout::max_planes> has_other_bytes{};
  /// Planes with channels outside all groups.
  std::array<bool, FrameLayout::max_planes> has_other_channels{};

  /// Returns true if the plane must be copied. If `whole` is false, unused bytes need no copy.
  bool copies(int plane, bool whole) const noexcept {
    return whole ? has_other_bytes[plane] : has_other_channels[plane];
  }
};

constexpr Parameters own_chroma_strength{3, 1, 1, 2};

/// Number of samples beyond each edge of the picture that influence the result.
constexpr int denoising_halo(const Parameters& parameters) {
  return parameters.search / 2 + parameters.patch / 2;
}
constexpr int max_halo =
    denoising_halo({Parameters::Ranges::search.max, Parameters::Ranges::patch.max, 0});

constexpr int max_frames = Parameters::Ranges::frames.max;

class NlMeans::Backend {
 public:
  virtual ~Backend() = default;
  /// Called before the first run() and when the parameters change.
  virtual void set(const Parameters& parameters) = 0;
  /// Denoises the first frame. frames holds parameters.frames frames. If active is nullptr, the
  /// whole output is needed. noise is read only if a strength is automatic.
  virtual void run(std::span<const ConstFrame> frames, const Frame& out,
                   const regions::ActiveCells* active, const noise::State* noise) = 0;
};

/// frame_count is the maximum of Parameters::frames in later calls of set().
std::unique_ptr<NlMeans::Backend> make_nl_means_cpu(Device& device, const FrameLayout& layout,
                                                    int frame_count);
std::unique_ptr<NlMeans::Backend> make_nl_means_cuda(Device& device, const FrameLayout& layout,
                                                     int frame_count);

}  // namespace cudavision::nlmeans
