// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Access to rows of planes for the CPU backends: copies, and samples or luminance as contiguous
// values, so that loops do not depend on formats.

#include <cstdint>
#include <cstring>

#include "cuda/core/frame.h"
#include "cuda/pixels/luminance.h"

namespace cudavision {

inline std::uint16_t load16(const std::uint8_t* address) {
  std::uint16_t word;
  std::memcpy(&word, address, sizeof word);
  return word;
}

inline void store16(std::uint8_t* address, std::uint32_t word) {
  const auto narrow = static_cast<std::uint16_t>(word);
  std::memcpy(address, &narrow, sizeof narrow);
}

/// Sets values[x] to the value of sample step·x of a row.
void gather8(const std::uint8_t* row, int step, int count, std::uint8_t* values);
void gather16(const std::uint8_t* row, int step, int count, int shift, std::uint32_t largest,
              std::uint16_t* values);
/// Sets levels[x] to `value >> (bits − 8)` of sample step·x of a row.
void gather_levels(const std::uint8_t* row, int step, int count, int bits, int shift,
                   std::uint8_t* levels);

void copy_rows(View<const std::uint8_t> from, View<std::uint8_t> to, int begin, int end);
/// Copies a plane with all threads.
void copy_plane(View<const std::uint8_t> from, View<std::uint8_t> to);

class Samples {
 public:
  Samples(const FrameLayout& layout, const Channel& channel) : layout_(layout), channel_{channel} {}
  /// Role::luma also selects the luminance of RGB.
  Samples(const FrameLayout& layout, Role role);

  const Channel& channel() const noexcept { return channel_[0]; }

  /// Returns the values of row y, in buffer or, for contiguous 8-bit samples of one channel, in the
  /// frame. The first overload is for 8-bit samples.
  const std::uint8_t* row(const ConstFrame& in, int y, std::uint8_t* buffer) const;
  const std::uint16_t* row(const ConstFrame& in, int y, std::uint16_t* buffer) const;

 private:
  const std::uint8_t* address(const ConstFrame& in, int c, int y) const {
    const Channel& channel = channel_[c];
    return in.planes[channel.plane].row(y) + channel.offset * layout_.sample_bytes();
  }

  FrameLayout layout_;
  Channel channel_[3];
  bool from_rgb_ = false;
};

/// The rows of a plane as values: std::uint8_t for samples of 8 bits, otherwise std::uint16_t.
template <class Value>
class PlaneRows {
 public:
  explicit PlaneRows(const SamplePlane& plane) : plane_(plane) {}

  /// Returns the values of row y: bytes in the plane, or converted words in buffer.
  const Value* row(int y, Value* buffer) const {
    const std::uint8_t* bytes = plane_.rows.row(y);
    if constexpr (sizeof(Value) == 1) {
      return bytes;
    } else {
      gather16(bytes, 1, plane_.width, plane_.shift, (1u << plane_.bits) - 1, buffer);
      return buffer;
    }
  }

 private:
  SamplePlane plane_;
};

}  // namespace cudavision
