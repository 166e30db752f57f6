// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"

namespace cudavision {

/// One channel with contiguous samples: bytes if bits is 8, otherwise words of two bytes (frame.h).
struct SamplePlane {
  View<const std::uint8_t> rows;  ///< in bytes
  int width = 0;                  ///< samples per row
  int bits = 8;
  int shift = 0;

  int height() const noexcept { return rows.height; }
};

/// The luminance of frames: the luma channel if the layout has one, otherwise `u = (299·red +
/// 587·green + 114·blue) div 1000`, with the weights of ITU-R BT.601.
class Luminance {
 public:
  /// layout must have 8 to 16 bits and a luma channel as large as the picture, or red, green and
  /// blue channels of 8 bits. Throws invalid_argument; the message begins with `operation`.
  Luminance(Device& device, const FrameLayout& layout, const char* operation);
  ~Luminance();

  /// If the luma samples are contiguous, returns the luma plane itself. Otherwise enqueues a
  /// conversion and returns memory of this object, which the next call overwrites.
  SamplePlane of(const ConstFrame& in);

  class Backend;

 private:
  FrameLayout layout_;
  const char* operation_;
  Buffer memory_;  // memory of plane_; empty if the luma of frames is contiguous
  View<std::uint8_t> plane_;
  std::unique_ptr<Backend> backend_;
};

/// Reduces samples to 8 bits: value >> (bits − 8). in is a plane of 8 to 16 bits in device memory;
/// out has the same width and height, with one byte per sample. Both may have any alignment. Only
/// enqueues. Throws invalid_argument.
void reduce_to_8_bits(Device& device, const SamplePlane& in, View<std::uint8_t> out);

}  // namespace cudavision
