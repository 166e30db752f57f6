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

/// Measures the disparities of the objects in boxes of a disparity map.
namespace cudavision::sgm {

/// The map values that are disparities: from first to first + top.
struct ValueRange {
  std::uint16_t first = 0, top = 0;
  std::uint16_t invalid = 0;
};

/// The result for one box. Percentiles are map values.
struct BoxDisparity {
  std::uint32_t samples = 0;  ///< at most Distances::max_samples; 0 if the box is outside the map
  std::uint32_t known = 0;    ///< samples that have a disparity
  /// 10th, 70th and 90th percentile of the known samples; DisparityScale::invalid if there is none.
  std::uint16_t low = 0, middle = 0, high = 0;
  std::uint16_t masked = 0;  ///< 1 if the box's mask selected the samples

  bool operator==(const BoxDisparity&) const = default;
};

/// For each box [x0, x1) × [y0, y1) of a map, in integers:
///   visible   the box, clipped to the map. If it is empty, there are no samples.
///   inner     the middle half of the visible box, with W = x1 − x0 and H = y1 − y0:
///             [x0 + W div 4, x1 − W div 4) × [y0 + H div 4, y1 − H div 4)
///   samples   the pixels in every s-th column and every t-th row of the inner box, from the first
///             column and row on, with s = ⌈columns / 256⌉ and t = ⌈rows / 256⌉. If the visible box
///             has at most 510×510 pixels, these are all pixels of the inner box.
///   masked    If the box has a mask, the samples are instead the pixels that the mask selects in
///             every s-th column and every t-th row of the visible box, with s and t computed from
///             its size. If the mask selects none, the box is measured as if it had no mask.
///   selected  The mask selects pixel (x, y) of the map (masks.h). If the mask refers to the
///             picture before rectification, it must select ((mx + 16) >> 5, (my + 16) >> 5) there,
///             where the rectifying map maps (x, y) to position (mx, my), in 1/32 pixel. Pixels
///             whose position is outside the picture (Remap::outside()) are not selected.
///   known     samples v with 0 ≤ v − m ≤ per_pixel·(disparities − 1), m = per_pixel·minimum,
///             per_pixel of DisparityScale
///   percentile p: the known sample of rank ⌈p·known / 100⌉ in ascending order, counted from 1
///
/// The inner box leaves out most of the background at the edges of a detection. The larger a
/// disparity, the nearer the surface. So the 70th percentile favours the object over background
/// that is visible next to it or through it.
class Distances {
 public:
  static constexpr int max_boxes = 128;
  static constexpr int max_columns = 256, max_rows = 256;  ///< limits of the sample grid
  static constexpr int max_samples = max_columns * max_rows;
  static constexpr int low_percentile = 10, middle_percentile = 70, high_percentile = 90;

  /// width and height of the maps are 1 to 65535. `parameters` are the parameters of the maps.
  /// Throws invalid_argument or out_of_memory.
  Distances(Device& device, int width, int height, const Parameters& parameters);
  ~Distances();

  /// Takes effect with the next run() and never allocates. Throws invalid_argument and keeps the
  /// last valid parameters if the new ones are invalid.
  void set_parameters(const Parameters& parameters);

  /// disparity comes from SgmStereo::run(). Boxes may have any coordinates. results comes from
  /// Device::allocate_host() and has boxes.size() entries, which are complete once the device has
  /// finished its work. Only enqueues, unless masks need more memory than before. Copies the boxes.
  /// Throws invalid_argument for more than max_boxes, and for sizes that do not match.
  ///
  /// masks is empty, or has one mask per box. A mask without rows means that the box has no mask.
  /// rectifying is empty if the masks refer to the pixels of the map.
  void run(View<const std::uint8_t> disparity, std::span<const regions::Box> boxes,
           BoxDisparity* results, std::span<const regions::Mask> masks = {},
           const remap::MapView& rectifying = {});

  class Backend;

 private:
  int width_;
  int height_;
  ValueRange range_;
  regions::MaskTable masks_;
  std::unique_ptr<Backend> backend_;
};

/// Returns the point (X, Y, Z) at the centre of a visible box, in the coordinates of the left
/// camera, for the map value `number`: (h[0]/h[3], h[1]/h[3], h[2]/h[3]), where h = Q·(x, y, d, 1),
/// x = (x0 + x1 − 1)/2, y = (y0 + y1 − 1)/2 and d = number / per_pixel, in binary64. Returns
/// nullopt if h[3] is not positive or the point is not finite.
std::optional<std::array<double, 3>> center_of(const regions::Box& visible, std::uint16_t number,
                                               const DisparityScale& scale,
                                               const Reprojection& reprojection) noexcept;

}  // namespace cudavision::sgm
