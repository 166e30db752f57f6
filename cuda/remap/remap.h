// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/pixels/luminance.h"

/// Resamples one channel at the positions in a fixed map, with bilinear interpolation (Wolberg,
/// "Digital Image Warping", 1990) and the results of OpenCV's remap for 8-bit samples with
/// BORDER_CONSTANT.
///
/// The map assigns to each output pixel a position (mx, my) in the input, in 1/32 pixel. With ix =
/// mx >> 5, fx = mx & 31, iy = my >> 5, fy = my & 31, and p(x, y) = 0 beyond the edges:
///   out = ((32 − fx)(32 − fy)·p(ix, iy) + fx(32 − fy)·p(ix + 1, iy)
///          + (32 − fx)fy·p(ix, iy + 1) + fx·fy·p(ix + 1, iy + 1) + 512) >> 10
namespace cudavision::remap {

/// Maximum width and height of a picture, limited by the 16-bit coordinates of the map.
inline constexpr int largest_picture = 32767;

/// A map in host memory, as the two matrices that OpenCV produces for CV_16SC2
/// (initUndistortRectifyMap, fisheye::initUndistortRectifyMap, convertMaps). Both have the size of
/// the output: 1 to 65535 pixels along each axis.
struct Map {
  /// Rows of ix, iy, ix, iy, …: two coordinates per pixel.
  View<const std::int16_t> places;
  /// One word per pixel: fx | fy << 5. Higher bits are ignored.
  View<const std::uint16_t> fractions;
};

class Backend;
class PackedMap;
struct MapView;

class Remap {
 public:
  /// picture is the size and depth of the input: 1 to largest_picture pixels along each axis, and 8
  /// to 16 bits. Copies the map to the device and waits for the copy. The map takes 4 bytes per
  /// output pixel, or 8 if the positions of 128 adjacent pixels span more than 2047 pixels.
  /// Allocates the output. Throws invalid_argument or out_of_memory.
  Remap(Device& device, const PlaneSize& picture, const Map& map);
  ~Remap();

  /// in has the constructor's size and depth, any shift, and a pitch of less than 2 GiB. The output
  /// has the map's size, the input's depth, a shift of 0 and rows aligned to 128 bytes. It is
  /// memory of this object, which the next call overwrites. Throws invalid_argument. Only enqueues.
  SamplePlane run(const SamplePlane& in);

  /// Marks output pixels whose positions are outside the input: mx < 0, mx > 32·(width − 1), my < 0
  /// or my > 32·(height − 1). The output fades to 0 within one pixel beyond the edge. Pixel (x, y)
  /// is bit x % 32 of word x / 32 of row y; other bits are 0. In device memory since construction.
  View<const std::uint32_t> outside() const noexcept;

  bool any_outside() const noexcept;

  /// Returns this object's map in device memory, for kernels of other operations (packed_map.h).
  MapView map() const noexcept;

 private:
  PlaneSize picture_;
  std::unique_ptr<const PackedMap> map_;
  Buffer memory_;
  View<std::uint8_t> rows_;  ///< in memory_
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::remap
