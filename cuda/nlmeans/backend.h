// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What a backend implements of nlmeans.h. Layouts, parameters and frames arrive validated.

#include <array>
#include <memory>

#include "cuda/nlmeans/nlmeans.h"

namespace cudavision::nlmeans {

/// Channels that are denoised together; they have one size.
struct DenoisedChannels {
  static constexpr int most = 3;

  int count = 0;
  std::array<Channel, most> channels{};

  int width() const noexcept { return channels[0].width; }
  int height() const noexcept { return channels[0].height; }
};

/// All that is denoised of a frame, and what is not.
struct DenoisedFrame {
  explicit DenoisedFrame(const FrameLayout& layout) noexcept;

  int group_count = 0;
  std::array<DenoisedChannels, FrameLayout::max_channels> groups{};
  /// Whether a plane has bytes that belong to no group.
  std::array<bool, FrameLayout::max_planes> has_others{};
};

/// Samples beyond a picture's edges that have an influence on those within.
constexpr int denoising_reach(const Parameters& parameters) {
  return parameters.search / 2 + parameters.patch / 2;
}

class NlMeans::Backend {
 public:
  virtual ~Backend() = default;
  /// Before the first run(), and when the parameters change.
  virtual void set(const Parameters& parameters) = 0;
  virtual void run(const ConstFrame& in, const Frame& out) = 0;
  /// Every byte of every row.
  virtual void copy(const ConstFrame& in, const Frame& out) = 0;
};

std::unique_ptr<NlMeans::Backend> make_nl_means_cpu(Device& device, const FrameLayout& layout);
std::unique_ptr<NlMeans::Backend> make_nl_means_cuda(Device& device, const FrameLayout& layout);

}  // namespace cudavision::nlmeans
