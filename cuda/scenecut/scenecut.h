// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"

/// Finds scene cuts by where a frame is bright and dark, which its histogram does not show: a
/// picture and its mirror image have the same histogram. Areas are compared as Zhang, Kankanhalli
/// and Smoliar describe it ("Automatic partitioning of full-motion video", 1993), by the
/// dissimilarity of Bray and Curtis ("An ordination of the upland forest communities of southern
/// Wisconsin", 1957).
///
/// The samples are those of luma or, without it, of green. Their columns are divided into c = 1 to
/// 16 parts, (width div 8) if that is possible, and part k begins at column k·width div c. Rows are
/// divided alike, so there are up to 16×16 areas. Of an area with n rows from row y on, the rows
/// y + (2i + 1)·n div 2r count, i = 0…r − 1, r = min(n, 16). With S the sum of the N samples that
/// count, the area's mean is in sixteenths of a level of 8 bits:
///   m = 16·S div (N·2^(bits − 8))
/// With a the number of areas, E = a·m − Σm is the deviation of an area from the mean of all. With
/// E' for the frame before, D = Σ|E − E'| and T = Σ(|E| + |E'|), the change is in 65536ths
///   2^17·D div 3T     or 0 if D ≤ 160·a²
/// Therefore, an offset of the brightness changes nothing, and neither does noise: a change of less
/// than 10 levels on average does not count. In films, the change is 0.36 or more at cuts and at
/// most 0.24 for motion. A change of the whole brightness by a factor of 2.2 is one of 0.25.
/// docs/elements/cudahistequalize.md has the shares of cuts that are found.
namespace cudavision::scenecut {

/// Where nobody has chosen another threshold, a larger change begins a new scene, in 65536ths.
constexpr int usual_threshold = 65536 / 4;

/// Compares the areas of each frame with those of the frame before.
class AreaMeans {
 public:
  /// layout must have 8 to 16 bits and a luma or a green channel. Throws invalid_argument, or
  /// out_of_memory.
  AreaMeans(Device& device, const FrameLayout& layout);
  ~AreaMeans();

  /// Compares a frame with that of the last call, and the first one with black. Throws
  /// invalid_argument. Only enqueues.
  void run(const ConstFrame& in);

  /// The change, in 65536ths: device memory of this object, which run() fills.
  const std::uint32_t* change() const noexcept;

  class Backend;

 private:
  FrameLayout layout_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::scenecut
