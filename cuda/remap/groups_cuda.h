// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Resamples groups of channels on a GPU in one launch, for both operations of this folder.

#include <cstdint>

#include "cuda/core/cuda_launch.h"
#include "cuda/remap/pictureremap_backend.h"

namespace cudavision::remap {

template <int kMaxGroups>
struct KernelArguments;

/// A group of channels and the planes that it is read from and written to. The pitch of `in` fits
/// 32 bits.
struct GroupPlanes {
  const ChannelGroup* channels;
  View<const std::uint8_t> in;
  int in_width, in_height;  ///< of the channels
  View<std::uint8_t> out;
};

class GroupsCuda {
 public:
  explicit GroupsCuda(CudaStream stream);

  /// Words that are read have the coding's shift, and those that are written out_shift. There are 1
  /// to 4 groups.
  void run(const SampleCoding& coding, int out_shift, const GroupPlanes* groups, int count) const;

  /// Returns true if run() would write whole pixels, and set the bits of those with
  /// ChannelGroup::whole_pixels that belong to no channel.
  static bool writes_whole_pixels(const SampleCoding& coding, const GroupPlanes* groups, int count);

 private:
  Launcher<KernelArguments<1>> launch_one_;
  Launcher<KernelArguments<FrameLayout::max_channels>> launch_some_;
};

}  // namespace cudavision::remap
