// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Interface of both backends, for both operations. Callers have validated all arguments.

#include <cstdint>
#include <memory>
#include <span>

#include "cuda/core/frame.h"
#include "cuda/remap/packed_map.h"

namespace cudavision::remap {

/// Channels of one plane with equal size and step, which share the look-up in their map.
struct ChannelGroup {
  static constexpr int maximum = FrameLayout::max_channels;

  const PackedMap* map = nullptr;
  int plane = 0;
  int step = 1;  ///< from one sample of a channel to its next, in samples
  int count = 0;
  int offset[maximum] = {};  ///< of the channels' first samples, in samples
  int border[maximum] = {};  ///< values beyond the edges
  /// The plane consists of pixels of `step` samples. Samples outside all channels are padding.
  bool whole_pixels = false;
};

struct SampleCoding {
  int bits = 8;
  int shift = 0;
};

/// Pitches fit into 32 bits.
struct GroupPlanes {
  const ChannelGroup* channels;
  View<const std::uint8_t> in;
  int in_width, in_height;  ///< of the channels
  View<std::uint8_t> out;
};

class Backend {
 public:
  virtual ~Backend() = default;

  /// Writes all samples of 1 to 4 groups. The coding is of the input; output words have out_shift.
  virtual void run(const SampleCoding& coding, int out_shift,
                   std::span<const GroupPlanes> groups) = 0;

  /// True if run() writes whole pixels. It then also sets the padding of groups with whole_pixels.
  virtual bool writes_whole_pixels(const SampleCoding& coding,
                                   std::span<const GroupPlanes> groups) const = 0;

  /// Sets all bytes to 255.
  virtual void fill(View<std::uint8_t> rows) = 0;
};

std::unique_ptr<Backend> make_remap_cpu(Device& device);
std::unique_ptr<Backend> make_remap_cuda(Device& device);

}  // namespace cudavision::remap
