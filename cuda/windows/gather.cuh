// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Copies channels to contiguous, aligned rows, unless the kernels can load the frame's rows.

#include <cuda_runtime.h>

#include "cuda/core/cuda_launch.h"
#include "cuda/core/device.h"
#include "cuda/core/division.h"
#include "cuda/pixels/sample_math.h"
#include "cuda/windows/picture.h"

namespace cudavision::windows {

constexpr int gather_threads = 256;

struct GatherArguments {
  struct Channel {
    const std::uint8_t* from;
    int from_pitch, step;  ///< in bytes
    std::uint8_t* to;
    int to_pitch;  ///< in bytes
    int width;
    unsigned first_block;
  };
  Channel channels[FrameLayout::max_channels];
  int count;
  int shift, bits;  ///< as in FrameLayout, for samples of two bytes
};

/// Each block copies one row.
template <class Sample>
__global__ void __launch_bounds__(gather_threads)
    gather_values(const __grid_constant__ GatherArguments a) {
  launch_dependents();
  grid_dependency_wait();
  int number = 0;
  while (number + 1 < a.count && blockIdx.x >= a.channels[number + 1].first_block)
    ++number;
  const GatherArguments::Channel& channel = a.channels[number];
  const auto y = static_cast<std::int64_t>(blockIdx.x - channel.first_block);
  const std::uint8_t* const from = channel.from + y * channel.from_pitch;
  auto* const to = reinterpret_cast<Sample*>(channel.to + y * channel.to_pitch);
  for (int x = static_cast<int>(threadIdx.x); x < channel.width; x += gather_threads) {
    const std::uint8_t* const bytes = from + static_cast<std::int64_t>(x) * channel.step;
    std::uint32_t value = bytes[0];
    if constexpr (sizeof(Sample) == 2)
      value = sample_value(value | static_cast<std::uint32_t>(bytes[1]) << 8, a.shift,
                           (1u << a.bits) - 1);
    to[x] = static_cast<Sample>(value);
  }
}

/// Returns the number of elements per row, with padding, in memory that the operation allocates.
inline int padded_width(int width) {
  return round_up(width, 16);
}

/// Allocates rows of zeros. Kernels write the values, but not the padding.
inline Buffer padded_rows(Device& device, int width, int height, int bytes) {
  const int pitch = padded_width(width) * bytes;
  Buffer buffer = device.allocate(static_cast<std::size_t>(pitch) * height);
  device.fill({buffer.as<std::uint8_t>(), pitch, height, pitch}, 0);
  return buffer;
}

/// Provides the values of channels: in the frame if windows_kernel can load them, else in copies.
class ChannelValues {
 public:
  ChannelValues(Device& device, int bits)
      : device_(device), launcher_(device.stream(), gather_values<std::uint8_t>) {
    arguments_.bits = bits;
  }

  /// Allocates the copy of the next channel.
  void add(int width, int height) {
    copies_[channel_count_++] = padded_rows(device_, width, height, bytes());
  }

  /// Points `picture` to the values of channel `number` in the frame, or to the channel's copy.
  /// step is in samples. columns is the number of columns per thread.
  void bind(int number, const std::uint8_t* from, int pitch, int step, int columns,
            Picture& picture) {
    const int vector = columns * bytes();
    if (step == 1 && reinterpret_cast<std::uintptr_t>(from) % vector == 0 &&
        (picture.height == 1 || pitch % vector == 0) && picture.width % columns == 0 &&
        (arguments_.bits == 8 || arguments_.bits == 16)) {
      picture.values = from;
      picture.values_pitch = pitch;
      return;
    }
    auto* const to = copies_[number].as<std::uint8_t>();
    picture.values = to;
    picture.values_pitch = padded_width(picture.width) * bytes();
    arguments_.channels[arguments_.count++] = {
        from, pitch, step * bytes(), to, picture.values_pitch, picture.width, blocks_};
    blocks_ += static_cast<unsigned>(picture.height);
  }

  /// Enqueues the copies that bind() chose. shift: unused low bits of stored words.
  void copy(int shift) {
    arguments_.shift = shift;
    if (blocks_ > 0)
      launcher_(bytes() == 1 ? gather_values<std::uint8_t> : gather_values<std::uint16_t>, blocks_,
                gather_threads, 0, arguments_);
    arguments_.count = 0;
    blocks_ = 0;
  }

 private:
  int bytes() const { return arguments_.bits == 8 ? 1 : 2; }

  Device& device_;
  Launcher<GatherArguments> launcher_;
  Buffer copies_[FrameLayout::max_channels];
  int channel_count_ = 0;
  GatherArguments arguments_{};
  unsigned blocks_ = 0;
};

}  // namespace cudavision::windows
