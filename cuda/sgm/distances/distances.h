// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "cuda/core/device.h"
#include "cuda/regions/masks.h"
#include "cuda/remap/packed_map.h"
#include "cuda/sgm/points/points.h"
#include "cuda/sgm/sgmstereo.h"

/// Measures how far away the objects in boxes of a disparity map are.
namespace cudavision::sgm {

/// The numbers of a map that are disparities: first to first + top.
struct NumberRange {
  std::uint16_t first = 0, top = 0;
  std::uint16_t invalid = 0;
};

/// The disparities in one box, as numbers of the map.
struct BoxDisparity {
  std::uint32_t samples = 0;  ///< at most Distances::max_samples; 0 if the box shows no pixel
  std::uint32_t known = 0;    ///< samples that have a disparity
  /// 10th, 70th and 90th percentile of the known samples; DisparityScale::invalid if there is none.
  std::uint16_t low = 0, middle = 0, high = 0;
  std::uint16_t masked = 0;  ///< 1 if the samples are those of the box's mask

  bool operator==(const BoxDisparity&) const = default;
};

/// For each box [x0, x1) × [y0, y1) of a map, in integers:
///   visible   the box, clipped to the map. If it is empty, so are the samples.
///   inner     with W = x1 − x0 and H = y1 − y0 of the visible box, its middle half
///             [x0 + W div 4, x1 − W div 4) × [y0 + H div 4, y1 − H div 4)
///   samples   every s-th column and every t-th row of the inner box, beginning with its first,
///             with s = ⌈columns / 256⌉ and t = ⌈rows / 256⌉; so every pixel of boxes of up to
///             512×512
///   masked    If the box has a mask, the samples are instead every s-th column and every t-th row
///             of the visible box, with s and t of its size, where the mask selects the pixel. If
///             the mask selects none of them, the box is measured as one without a mask.
///   selected  The mask selects pixel (x, y) of the map (masks.h). If the mask refers to the
///             picture before rectification, it must select ((mx + 16) >> 5, (my + 16) >> 5) there,
///             where the rectifying map has the place (mx, my) for (x, y), in 1/32 pixel. Pixels
///             whose place is outside the picture (Remap::outside()) are not selected.
///   known     samples v with 0 ≤ v − m ≤ per_pixel·(disparities − 1), m = per_pixel·minimum,
///             per_pixel of DisparityScale
///   percentile p: number ⌈p·known / 100⌉ of the known samples in ascending order, counted from 1
///
/// The inner box leaves out most of the background at the edges of a detection. The larger a
/// disparity, the nearer the surface, so the 70th percentile prefers the object to what is seen
/// beside or through it.
class Distances {
 public:
  static constexpr int max_boxes = 128;
  static constexpr int max_columns = 256, max_rows = 256;  ///< of samples
  static constexpr int max_samples = max_columns * max_rows;
  static constexpr int low_percentile = 10, middle_percentile = 70, high_percentile = 90;

  /// Maps have width·height numbers, 1 to 65535 each way, and are made with parameters. Throws
  /// invalid_argument or out_of_memory.
  Distances(Device& device, int width, int height, const Parameters& parameters);
  ~Distances();

  /// Takes effect with the next run() and never allocates. Throws invalid_argument and keeps the
  /// last valid set if parameters are invalid.
  void set_parameters(const Parameters& parameters);

  /// disparity comes from SgmStereo::run(). Boxes may have any coordinates. results is memory of
  /// Device::allocate_host() for boxes.size() results, which are complete when the device is. Only
  /// enqueues, unless masks need more memory than before; boxes are copied. Throws invalid_argument
  /// for more than max_boxes.
  ///
  /// masks is empty, or has one mask for each box: without rows if the box has none. rectifying is
  /// empty if the masks refer to the pixels of the map.
  void run(View<const std::uint8_t> disparity, std::span<const regions::Box> boxes,
           BoxDisparity* results, std::span<const regions::Mask> masks = {},
           const remap::MapView& rectifying = {});

  class Backend;

 private:
  int width_;
  int height_;
  Device& device_;
  NumberRange range_;
  Buffer results_;
  regions::MaskTable masks_;
  std::unique_ptr<Backend> backend_;
};

/// Returns the point (X, Y, Z) that the left camera sees at the centre of a visible box with this
/// disparity: with x = (x0 + x1 − 1)/2, y = (y0 + y1 − 1)/2 and d = number / per_pixel in binary64,
/// h = Q·(x, y, d, 1), and the point (h[0]/h[3], h[1]/h[3], h[2]/h[3]).
/// Returns nullopt if h[3] is not positive or the point is not finite.
std::optional<std::array<double, 3>> center_of(const regions::Box& visible, std::uint16_t number,
                                               const DisparityScale& scale,
                                               const Reprojection& reprojection) noexcept;

}  // namespace cudavision::sgm
