// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The interface that implements pictureremap.h on one kind of device. Callers have validated all
// arguments.

#include <cstdint>
#include <memory>

#include "cuda/remap/packed_map.h"
#include "cuda/remap/pictureremap.h"

namespace cudavision::remap {

/// Channels of one plane that have the same size and step, so that one launch does them all. Their
/// map has that size, too.
struct ChannelGroup {
  static constexpr int maximum = FrameLayout::max_channels;

  int plane = 0;
  int step = 1;  ///< samples from one of a channel to its next
  int count = 0;
  int offset[maximum] = {};  ///< of the channels' first samples, in samples
  int border[maximum] = {};  ///< what lies beyond the edges
};

/// How samples are stored.
struct SampleCoding {
  int bits = 8;
  int shift = 0;

  int largest() const { return (1 << bits) - 1; }
};

class PictureRemap::Backend {
 public:
  virtual ~Backend() = default;

  /// Sets all bytes of the rows to 255.
  virtual void fill(View<std::uint8_t> out) = 0;
  /// Writes the samples of the group, and nothing else. in and out are rows of its plane; their
  /// pitches fit 32 bits.
  virtual void run(const ChannelGroup& group, const PackedMap& map, View<const std::uint8_t> in,
                   View<std::uint8_t> out) = 0;
};

std::unique_ptr<PictureRemap::Backend> make_picture_remap_cpu(Device& device,
                                                              const SampleCoding& coding);
std::unique_ptr<PictureRemap::Backend> make_picture_remap_cuda(Device& device,
                                                               const SampleCoding& coding);

}  // namespace cudavision::remap
