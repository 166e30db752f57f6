// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The interface that both backends of nlmeans.h implement. Its callers have validated layouts,
// parameters and frames.

#include <array>
#include <memory>

#include "cuda/nlmeans/nlmeans.h"

namespace cudavision::nlmeans {

/// Channels of equal size that are denoised together.
struct DenoisedChannels {
  static constexpr int max_count = 3;

  int count = 0;
  std::array<Channel, max_count> channels{};

  int width() const noexcept { return channels[0].width; }
  int height() const noexcept { return channels[0].height; }
};

/// The parts of a frame that are denoised, and those that are copied.
struct DenoisedFrame {
  explicit DenoisedFrame(const FrameLayout& layout) noexcept;

  int group_count = 0;
  std::array<DenoisedChannels, FrameLayout::max_channels> groups{};
  /// True for each plane with bytes that are in no group and must be copied.
  std::array<bool, FrameLayout::max_planes> has_other_bytes{};
  /// True for each plane with channels that are in no group.
  std::array<bool, FrameLayout::max_planes> has_other_channels{};

  /// Returns true if bytes of the plane must be copied. `whole` is false if only samples count.
  bool copies(int plane, bool whole) const noexcept {
    return whole ? has_other_bytes[plane] : has_other_channels[plane];
  }
};

/// Returns the number of samples beyond each edge that influence samples in the picture.
constexpr int denoising_halo(const Parameters& parameters) {
  return parameters.search / 2 + parameters.patch / 2;
}
constexpr int max_halo =
    denoising_halo({Parameters::Ranges::search.max, Parameters::Ranges::patch.max, 0});

class NlMeans::Backend {
 public:
  virtual ~Backend() = default;
  /// Called before the first run(), and when the parameters change.
  virtual void set(const Parameters& parameters) = 0;
  /// active is nullptr if the whole output is needed.
  virtual void run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active) = 0;
  /// Copies every byte of every row.
  virtual void copy(const ConstFrame& in, const Frame& out) = 0;
};

std::unique_ptr<NlMeans::Backend> make_nl_means_cpu(Device& device, const FrameLayout& layout);
std::unique_ptr<NlMeans::Backend> make_nl_means_cuda(Device& device, const FrameLayout& layout);

}  // namespace cudavision::nlmeans
