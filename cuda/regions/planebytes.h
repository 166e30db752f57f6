// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Maps the bytes of a plane to channels and pixels, for kernels that process bytes of any format.

#include <cstdint>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/pixels/pixel_pack.h"

namespace cudavision::regions {

/// The bytes of the rows of a plane. The pattern of channels repeats after `period` bytes.
struct PlaneBytes {
  static constexpr int max_period = 8;

  int rows = 0, row_bytes = 0;
  int sample_rows = 0;  ///< rows below these belong to no channel

  int row_pixels = 1;     ///< pixels per sample along y
  int period = 1;         ///< bytes
  int period_pixels = 1;  ///< pixels that a period covers
  // Indexed by a byte's position in its period:
  int end[max_period] = {};              ///< end of the channel's bytes in a row
  std::uint8_t pixel[max_period] = {};   ///< first pixel that the byte covers, in its period
  std::uint8_t pixels[max_period] = {};  ///< number of pixels that the byte covers
  std::uint8_t channel[max_period] = {};
};

/// Throws invalid_argument if the channels of a plane do not have a common period. Their heights
/// and vertical subsampling must be equal. Their steps must divide the largest step, which is at
/// most 8 bytes, and all channels must cover equally many pixels per largest step. A sample must
/// cover at most 8 pixels along each axis, and at least one pixel in the frame.
void check_plane_bytes(const char* operation, const FrameLayout& layout);

/// layout must be accepted by check_plane_bytes().
PlaneBytes plane_bytes(const FrameLayout& layout, int plane);

/// Rows of a field of an interlaced plane, even (0) or odd (1). If fields is false, field 0 is the
/// whole plane. The second field of a single row is empty.
inline int field_rows(int rows, int field, bool fields) {
  return fields ? (rows + 1 - field) / 2 : rows;
}
inline int field_count(bool fields) {
  return fields ? 2 : 1;
}
template <class Byte>
View<Byte> field_view(View<Byte> plane, int field, bool fields) {
  const int rows = field_rows(plane.height, field, fields);
  return {rows > 0 ? plane.row(field) : plane.data, plane.width, rows,
          plane.pitch * field_count(fields)};
}

/// Copies the rows of planes that are below all channels.
void copy_unused_rows(Device& device, const FrameLayout& layout, const ConstFrame& in,
                      const Frame& out);

/// Cursor over the bytes of a row, with the channel and the pixels of the current byte.
class ByteCursor {
 public:
  CUDAVISION_HOST_DEVICE ByteCursor(const PlaneBytes& plane, int position)
      : plane_(plane),
        position_(position),
        first_pixel_(position / plane.period * plane.period_pixels),
        within_(position % plane.period) {}

  CUDAVISION_HOST_DEVICE int pixel() const { return first_pixel_ + plane_.pixel[within_]; }
  CUDAVISION_HOST_DEVICE int pixels() const { return plane_.pixels[within_]; }
  CUDAVISION_HOST_DEVICE int channel() const { return plane_.channel[within_]; }
  CUDAVISION_HOST_DEVICE bool is_sample() const { return position_ < plane_.end[within_]; }

  /// bytes must be at most one period.
  CUDAVISION_HOST_DEVICE void advance(int bytes) {
    position_ += bytes;
    within_ += bytes;
    if (within_ >= plane_.period) {
      within_ -= plane_.period;
      first_pixel_ += plane_.period_pixels;
    }
  }

 private:
  const PlaneBytes& plane_;
  int position_;
  int first_pixel_;  // first pixel of the period
  int within_;       // position in the period
};

/// 16 bytes of one row, processed by one thread.
struct Vec16 {
  static constexpr int bytes = 16;
  static constexpr int word_count = bytes / 4;

  std::uint32_t words[word_count];

  /// Loads `count` bytes, or all bytes with a single access if `whole` is true.
  CUDAVISION_HOST_DEVICE void load(const std::uint8_t* from, int count, bool whole) {
#ifdef __CUDA_ARCH__
    if (whole) {
      const uint4 all = *reinterpret_cast<const uint4*>(from);
      words[0] = all.x;
      words[1] = all.y;
      words[2] = all.z;
      words[3] = all.w;
      return;
    }
#else
    (void)whole;
#endif
    CUDAVISION_UNROLL
    for (int w = 0; w < word_count; ++w) {
      words[w] = 0;
      CUDAVISION_UNROLL
      for (int b = 0; b < 4; ++b)
        if (4 * w + b < count)
          words[w] |= static_cast<std::uint32_t>(from[4 * w + b]) << (8 * b);
    }
  }

  CUDAVISION_HOST_DEVICE void store(std::uint8_t* to, int count, bool whole) const {
    if (whole) {
      store_words(to, words);
      return;
    }
    CUDAVISION_UNROLL
    for (int i = 0; i < bytes; ++i)
      if (i < count)
        to[i] = static_cast<std::uint8_t>(byte_of(words[i / 4], i % 4));
  }
};

/// Returns true if every row begins at an address that is a multiple of 16.
inline bool has_aligned_rows(View<const std::uint8_t> plane) {
  return (reinterpret_cast<std::uintptr_t>(plane.data) | static_cast<std::uintptr_t>(plane.pitch)) %
             Vec16::bytes ==
         0;
}

}  // namespace cudavision::regions
