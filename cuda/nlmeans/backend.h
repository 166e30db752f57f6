// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The interface that both backends of nlmeans.h implement. Its callers have validated layouts,
// parameters and frames.

#include <array>
#include <memory>
#include <span>

#include "cuda/nlmeans/nlmeans.h"
#include "cuda/nlmeans/strengths.h"

namespace cudavision::nlmeans {

/// The channels of a frame by their strengths. Those of a kind have the same strength, and so share
/// a table of weights: red, green and blue; chroma, if it has a strength of its own; all others.
enum class ChannelKind { luma, chroma, colours };
constexpr int kind_count = 3;
constexpr ChannelKind kinds[kind_count] = {ChannelKind::luma, ChannelKind::chroma,
                                           ChannelKind::colours};
/// Returns the number of channels that are denoised together.
constexpr int channels_of(ChannelKind kind) {
  return kind == ChannelKind::colours ? 3 : 1;
}
/// Returns the strength, which may be automatic_strength.
double strength_of(const Parameters& parameters, ChannelKind kind) noexcept;

/// Channels of equal size that are denoised together.
struct DenoisedChannels {
  static constexpr int max_count = 3;

  ChannelKind kind = ChannelKind::luma;
  int count = 0;
  std::array<Channel, max_count> channels{};

  int width() const noexcept { return channels[0].width; }
  int height() const noexcept { return channels[0].height; }
};

/// The parts of a frame that are denoised, and those that are copied.
struct DenoisedFrame {
  DenoisedFrame(const FrameLayout& layout, const Parameters& parameters) noexcept;

  int group_count = 0;
  std::array<DenoisedChannels, FrameLayout::max_channels> groups{};
  std::array<NoisyChannels, kind_count> noisy{};  ///< the channels of each kind
  /// True for each plane with bytes that are in no group and must be copied.
  std::array<bool, FrameLayout::max_planes> has_other_bytes{};
  /// True for each plane with channels that are in no group.
  std::array<bool, FrameLayout::max_planes> has_other_channels{};

  /// Returns true if bytes of the plane must be copied. `whole` is false if only samples count.
  bool copies(int plane, bool whole) const noexcept {
    return whole ? has_other_bytes[plane] : has_other_channels[plane];
  }
};

/// Parameters with which a frame has all of its kinds, for the allocation of their tables.
constexpr Parameters own_chroma_strength{3, 1, 1, 2};

/// Returns the number of samples beyond each edge that influence samples in the picture.
constexpr int denoising_halo(const Parameters& parameters) {
  return parameters.search / 2 + parameters.patch / 2;
}
constexpr int max_halo =
    denoising_halo({Parameters::Ranges::search.max, Parameters::Ranges::patch.max, 0});

constexpr int max_frames = Parameters::Ranges::frames.max;

class NlMeans::Backend {
 public:
  virtual ~Backend() = default;
  /// Called before the first run(), and when the parameters change.
  virtual void set(const Parameters& parameters) = 0;
  /// Denoises the first of the frames, of which there are as many as the parameters say. active is
  /// nullptr if the whole output is needed. noise is only read where a strength is automatic.
  virtual void run(std::span<const ConstFrame> frames, const Frame& out,
                   const regions::ActiveCells* active, const noise::State* noise) = 0;
  /// Copies every byte of every row.
  virtual void copy(const ConstFrame& in, const Frame& out) = 0;
};

/// frame_count is the largest number of frames of the parameters to come.
std::unique_ptr<NlMeans::Backend> make_nl_means_cpu(Device& device, const FrameLayout& layout,
                                                    int frame_count);
std::unique_ptr<NlMeans::Backend> make_nl_means_cuda(Device& device, const FrameLayout& layout,
                                                     int frame_count);

}  // namespace cudavision::nlmeans
