// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"

/// Denoising by non-local means (Buades, Coll & Morel, "A non-local algorithm for image denoising",
/// 2005), in the arithmetic of OpenCV's fastNlMeansDenoising.
///
/// A sample becomes the mean of the samples p around it, as far as search/2 pixels to each side,
/// weighted by how alike their surroundings are: with D the sum of squared differences between the
/// two patches of patch×patch samples, over all channels that are denoised together,
///   out = (Σ w·p + Σ w div 2) div Σ w,   w = weight[D >> (q + 2·(bits − 8))]
/// where 2^q is the smallest power of two that is not less than patch². What lies beyond the edges
/// is mirrored at the outermost pixel (Border::reflect_101). With M = (2^31 − 1) div (search²·255)
/// and f = 2^q / patch², the table is, in IEEE binary64,
///   weight[i] = rint(M·exp(−(i·f) / (h²·channels))),   h = strength, the divisor in binary32,
/// M at i = 0, and 0 from the first entry on that is below 0.001·M.
///
/// Red, green and blue are denoised together (channels = 3), every other channel by itself at its
/// own sampling, except that alpha is copied.
///
/// The limits of search and patch keep the sums of 8 bits within 32 bits and M at 825 or more,
/// which leaves the weights almost three digits. The work grows with search², with patch hardly. On
/// a GPU samples of 8 bits with a patch of 3, 5 or 7 and a search up to 57 have a kernel of their
/// own.
namespace cudavision::nlmeans {

struct Parameters {
  int search = 21;       ///< odd, 1 to 101: pixels along each side of the area that is searched
  int patch = 7;         ///< odd, 1 to 31: pixels along each side of the patches compared
  double strength = 10;  ///< 0 to 255, in levels of 8 bits, whatever the depth

  static constexpr int max_search = 101;
  static constexpr int max_patch = 31;

  bool operator==(const Parameters& other) const noexcept;
  bool operator!=(const Parameters& other) const noexcept { return !(*this == other); }
};

class NlMeans {
 public:
  /// layout: of 8 to 16 bits; red, green and blue, where there are any, are one channel each and
  /// have one size. Allocates for the largest search and patch. Throws invalid_argument where the
  /// layout or the parameters are outside what is said here.
  NlMeans(Device& device, const FrameLayout& layout, const Parameters& parameters);
  ~NlMeans();

  /// Takes effect with the next run(). Never allocates; throws invalid_argument and keeps the last
  /// valid set.
  void set_parameters(const Parameters& parameters);

  /// Whether every frame is left as it is: with a strength of 0, or a search of one pixel.
  bool identity() const noexcept;

  /// in and out have the layout's planes and do not overlap. Bytes that belong to no channel are
  /// copied. Only enqueues.
  void run(const ConstFrame& in, const Frame& out);

  class Backend;

 private:
  FrameLayout layout_;
  Parameters parameters_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::nlmeans
