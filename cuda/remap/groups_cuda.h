// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Resamples groups of channels on a GPU in one launch, for both operations of this folder.

#include <cstdint>

#include "cuda/core/cuda_launch.h"
#include "cuda/remap/pictureremap_backend.h"

namespace cudavision::remap {

template <int kMaxGroups>
struct KernelArguments;

/// A group of channels with its input and output plane. The pitch of `in` fits into 32 bits.
struct GroupPlanes {
  const ChannelGroup* channels;
  View<const std::uint8_t> in;
  int in_width, in_height;  ///< of the channels
  View<std::uint8_t> out;
};

class GroupsCuda {
 public:
  explicit GroupsCuda(CudaStream stream);

  /// Input words have the coding's shift, output words out_shift. There are 1 to 4 groups.
  void run(const SampleCoding& coding, int out_shift, const GroupPlanes* groups, int count) const;

  /// True if run() would write whole pixels. It then also sets the bits outside all channels, in
  /// groups with ChannelGroup::whole_pixels.
  static bool writes_whole_pixels(const SampleCoding& coding, const GroupPlanes* groups, int count);

 private:
  Launcher<KernelArguments<1>> launch_one_;
  Launcher<KernelArguments<FrameLayout::max_channels>> launch_some_;
};

}  // namespace cudavision::remap
