// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/pixels/luminance.h"

/// Resampling of one channel at the places of a fixed map, with bilinear interpolation (Wolberg,
/// "Digital Image Warping", 1990), in the arithmetic of OpenCV's remap for 8-bit samples with
/// BORDER_CONSTANT. Rectification for stereo is such a map.
///
/// The map gives each pixel of the output a place (mx, my) in the picture, in 1/32 pixel. With
/// ix = mx >> 5, fx = mx & 31, likewise iy and fy, and p(x, y) the picture's samples, which are 0
/// beyond its edges:
///   out = ((32 − fx)(32 − fy)·p(ix, iy) + fx(32 − fy)·p(ix + 1, iy)
///          + (32 − fx)fy·p(ix, iy + 1) + fx·fy·p(ix + 1, iy + 1) + 512) >> 10
namespace cudavision::remap {

/// The largest width and height of a picture: the numbers of a map reach no further.
inline constexpr int largest_picture = 32767;

/// A map on the host, in the two matrices that OpenCV makes with CV_16SC2
/// (initUndistortRectifyMap, fisheye::initUndistortRectifyMap, convertMaps). The output has their
/// width and height, 1 to 65535 each.
struct Map {
  /// Rows of ix, iy, ix, iy, …: two numbers for each pixel.
  View<const std::int16_t> places;
  /// One number for each pixel: fx | fy << 5. Higher bits do not count.
  View<const std::uint16_t> fractions;
};

class PackedMap;

class Remap {
 public:
  /// picture is the size and depth of the input: 1 to largest_picture pixels each way, and 8 to 16
  /// bits. Reads the map and waits until the device has it: 4 bytes for
  /// each pixel of the output, or 8 where neighbours lie more than 2000 pixels apart. Allocates
  /// the output, too. Throws invalid_argument, or out_of_memory.
  Remap(Device& device, const PlaneSize& picture, const Map& map);
  ~Remap();

  /// Returns the output, which has the map's size, the input's depth and a shift of 0. It is memory
  /// of this object, with rows at multiples of 128 bytes: this call enqueues the work that fills
  /// it, and the next call overwrites it. in has the constructor's size and depth, any shift, and
  /// a pitch of less than 2 GiB. Throws invalid_argument. Only enqueues.
  SamplePlane run(const SamplePlane& in);

  /// Marks the pixels of the output that have no source, because their places lie outside the
  /// picture: mx < 0, mx > 32·(width − 1), my < 0 or my > 32·(height − 1). Nothing is known there;
  /// within a pixel of the edge, the output fades to 0. Pixel (x, y) is bit x % 32 of word x / 32
  /// of row y, and bits beyond the width are 0. This is device memory, filled by the constructor.
  View<const std::uint32_t> outside() const noexcept;

  /// Returns true if outside() marks any pixel.
  bool any_outside() const noexcept;

  class Backend;

 private:
  void check(const SamplePlane& in) const;

  PlaneSize picture_;
  std::unique_ptr<const PackedMap> map_;
  Buffer memory_;
  View<std::uint8_t> rows_;  ///< in memory_
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::remap
