// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"

/// Detects scene cuts that histograms miss, by the distribution of brightness in a frame. Areas are
/// compared as in Zhang, Kankanhalli and Smoliar ("Automatic partitioning of full-motion video",
/// 1993), by the dissimilarity of Bray and Curtis ("An ordination of the upland forest communities
/// of southern Wisconsin", 1957).
///
/// The samples are luma or, without luma, green. The columns are divided into c = (width div 8)
/// parts, at least 1 and at most 16; part k begins at column k·width div c. Rows are divided in the
/// same way. In an area with n rows from row y on, r = min(n, 16) rows y + (2i + 1)·n div 2r are
/// sampled. With S the sum of N samples, the mean of the area in sixteenths of an 8-bit level is
///   m = 16·S div (N·2^(bits − 8))
/// With a the number of areas, E = a·m − Σm is the deviation of an area from the mean of all areas.
/// With E' for the previous frame, D = Σ|E − E'| and T = Σ(|E| + |E'|), the change in 65536ths is
///   2^17·D div 3T     or 0 if D ≤ 160·a²
/// A constant brightness offset therefore changes nothing, and noise is ignored, like changes of up
/// to 10 levels on average. In videos, the change is at least 0.36 at cuts and at most 0.24 for
/// motion. Scaling the brightness of a whole frame by 2.2 gives 0.25.
/// docs/elements/cudahistequalize.md lists the shares of cuts that are detected.
namespace cudavision::scenecut {

/// Default threshold for change() in 65536ths. A larger change is a scene cut.
constexpr int default_threshold = 65536 / 4;

class AreaMeans {
 public:
  /// layout must have 8 to 16 bits and luma or green. Throws invalid_argument or out_of_memory.
  AreaMeans(Device& device, const FrameLayout& layout);
  ~AreaMeans();

  /// Compares a frame with the previous frame, or the first frame with black. Only enqueues. Throws
  /// invalid_argument.
  void run(const ConstFrame& in);

  /// Returns the change in 65536ths, in device memory of this object. run() overwrites it.
  const std::uint32_t* change() const noexcept;

  class Backend;

 private:
  FrameLayout layout_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::scenecut
