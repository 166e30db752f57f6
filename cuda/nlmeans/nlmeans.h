// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <span>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/core/range.h"
#include "cuda/noise/state.h"
#include "cuda/regions/activecells.h"

/// Denoising by non-local means (Buades, Coll & Morel, "A non-local algorithm for image denoising",
/// 2005), in the arithmetic of OpenCV's fastNlMeansDenoising and fastNlMeansDenoisingMulti.
///
/// A sample becomes the weighted mean of the samples p up to search/2 pixels away in each
/// direction, in the frame itself and in its neighbours in time. The weight of p follows from D,
/// the sum of squared differences between the patches of patch×patch samples around both, over all
/// channels that are denoised together:
///   out = (Σ w·p + Σ w div 2) div Σ w,   w = weight[D >> (q + 2·(bits − 8))]
/// where 2^q is the smallest power of two that is not less than patch². The picture is mirrored at
/// its outermost pixels (Border::reflect_101). With M = (2^31 − 1) div (frames·search²·255)
/// and f = 2^q / patch², the table is, in IEEE binary64,
///   weight[i] = rint(M·exp(−(i·f) / (h²·channels))),   h = strength, the divisor in binary32,
/// except that weight[0] is M, and all entries from the first one below 0.001·M on are 0.
///
/// Red, green and blue are denoised together (channels = 3). Alpha is copied. Every other channel
/// is denoised by itself, at its own sampling. Channels whose strength is 0 are copied.
///
/// The strength may follow from the noise of the frame, which then only the device knows:
/// strengths.h defines it.
///
/// M keeps the sums of 8-bit samples within 32 bits for any search and any number of frames. It is
/// at least 825 for one frame, so that weights have almost three digits, and 91 for nine. The work
/// grows with frames·search², but hardly with patch. On a GPU, kernels on the tensor cores handle
/// patches of up to 15, or of 11 where three channels of 8 bits are denoised together and of 7 for
/// deeper ones, if the shared memory holds a tile with the halo of its search. For 8 bits and a
/// patch of 3, 5 or 7, another kernel takes the searches for which it is faster, most of them
/// below 21, but three channels together only if one frame is searched. A slower kernel handles the
/// rest.
namespace cudavision::nlmeans {

struct Parameters {
  struct Ranges {
    static constexpr Range<int> search{1, 101};
    static constexpr Range<int> patch{1, 31};
    static constexpr Range<double> strength{0, 255};
    static constexpr Range<int> frames{1, 9};
  };

  int search = 21;       ///< odd: pixels along each side of the area that is searched
  int patch = 7;         ///< odd: pixels along each side of the patches compared
  double strength = 10;  ///< in levels of 8 bits, whatever the depth, or automatic_strength
  double chroma_strength = same_strength;  ///< likewise, of the chroma channels
  int frames = 1;  ///< that are searched: the one that is denoised, and its neighbours

  /// The strength follows from the noise given to run().
  static constexpr double automatic_strength = -1;
  /// Chroma has the strength of the other channels. If that is automatic, it follows from the noise
  /// of chroma.
  static constexpr double same_strength = -1;

  bool operator==(const Parameters&) const = default;
};

/// Returns the strength of a channel under the noise of all channels, which is on the host.
double strength_under_noise(const FrameLayout& layout, const Parameters& parameters, int channel,
                            const noise::State* noise) noexcept;

class NlMeans {
 public:
  /// layout must have 8 to 16 bits, and either no red, green and blue, or one channel of each, of
  /// equal sizes. Allocates for the largest search and patch, and for parameters.frames frames,
  /// which set_parameters() may not exceed. Throws invalid_argument if the layout or the parameters
  /// are outside these limits.
  NlMeans(Device& device, const FrameLayout& layout, const Parameters& parameters);
  ~NlMeans();

  /// Takes effect with the next run(). Never allocates; throws invalid_argument and keeps the last
  /// valid set.
  void set_parameters(const Parameters& parameters);

  /// Returns true if the output equals the input, because all strengths are 0 or the search is one
  /// pixel of one frame.
  bool identity() const noexcept;

  /// Returns true if run() needs the noise, because a strength is automatic.
  bool needs_noise() const noexcept;

  /// Denoises `in`. The neighbours are the other frames that are searched, parameters.frames − 1 of
  /// them in any order. All frames have the planes of the layout, and out overlaps none of the
  /// others. Bytes that belong to no channel are copied from `in`. Only enqueues. With `active`,
  /// the output is undefined where no cell is active, and takes less time. `noise` is in device
  /// memory, one state for each channel of the layout; it is read where a strength is automatic,
  /// and must then be there.
  void run(const ConstFrame& in, std::span<const ConstFrame> neighbours, const Frame& out,
           const regions::ActiveCells* active = nullptr, const noise::State* noise = nullptr);
  /// The same for a frame without neighbours.
  void run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active = nullptr,
           const noise::State* noise = nullptr) {
    run(in, {}, out, active, noise);
  }

  class Backend;

 private:
  FrameLayout layout_;
  int max_frames_;
  Parameters parameters_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::nlmeans
