// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Interface of both backends. Callers have validated all arguments.

#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/remap/packed_map.h"
#include "cuda/remap/pictureremap.h"

namespace cudavision::remap {

/// Channels of one plane with equal size and step, which share the look-up in their map.
struct ChannelGroup {
  static constexpr int maximum = FrameLayout::max_channels;

  const PackedMap* map = nullptr;
  int plane = 0;
  int step = 1;  ///< from one sample of a channel to its next
  int count = 0;
  int offset[maximum] = {};  ///< of the channels' first samples, in samples
  int border[maximum] = {};  ///< values beyond the edges
  /// The plane contains only pixels of `step` samples. Samples outside all channels are padding.
  bool whole_pixels = false;
};

struct SampleCoding {
  int bits = 8;
  int shift = 0;

  int largest() const { return (1 << bits) - 1; }
};

class PictureRemap::Backend {
 public:
  virtual ~Backend() = default;

  /// Writes all samples of the groups, and sets all other bytes of the padded planes' rows to 255.
  /// The pitches of both frames fit into 32 bits.
  virtual void run(const std::vector<ChannelGroup>& groups, const std::vector<int>& padded_planes,
                   const ConstFrame& in, const Frame& out) = 0;
};

std::unique_ptr<PictureRemap::Backend> make_picture_remap_cpu(Device& device,
                                                              const SampleCoding& coding);
std::unique_ptr<PictureRemap::Backend> make_picture_remap_cuda(Device& device,
                                                               const SampleCoding& coding);

}  // namespace cudavision::remap
