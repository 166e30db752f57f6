// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Interface of both backends, for Remap and PictureRemap. Callers have validated all arguments.

#include <cstdint>
#include <memory>
#include <span>

#include "cuda/core/frame.h"
#include "cuda/remap/packed_map.h"

namespace cudavision::remap {

/// Channels of one plane with equal size and step. They share each map look-up.
struct ChannelGroup {
  static constexpr int maximum = FrameLayout::max_channels;

  const PackedMap* map = nullptr;
  int plane = 0;
  int step = 1;  ///< distance between samples of a channel, in samples
  int count = 0;
  int offset[maximum] = {};  ///< first sample of each channel, in samples
  int border[maximum] = {};  ///< value of each channel beyond the edges
  /// The plane consists of pixels of `step` samples. Samples that belong to no channel are padding.
  bool whole_pixels = false;
};

struct SampleCoding {
  int bits = 8;
  int shift = 0;
};

/// The planes of one group. Pitches must fit into 32 bits.
struct GroupPlanes {
  const ChannelGroup* channels;
  View<const std::uint8_t> in;
  View<std::uint8_t> out;
};

class Backend {
 public:
  virtual ~Backend() = default;

  /// Resamples 1 to 4 groups. coding describes the input. Output words are shifted by out_shift.
  virtual void run(const SampleCoding& coding, int out_shift,
                   std::span<const GroupPlanes> groups) = 0;

  /// Returns true if run() also sets the padding of groups with whole_pixels to 255.
  virtual bool writes_whole_pixels(const SampleCoding&, std::span<const GroupPlanes>) const {
    return false;
  }

  /// Sets all bytes to 255.
  virtual void fill(View<std::uint8_t> rows) = 0;
};

std::unique_ptr<Backend> make_remap_cpu(Device& device);
std::unique_ptr<Backend> make_remap_cuda(Device& device);

}  // namespace cudavision::remap
