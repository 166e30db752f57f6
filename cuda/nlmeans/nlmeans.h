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
/// 2005), with the results of OpenCV's fastNlMeansDenoising and fastNlMeansDenoisingMulti.
///
/// A sample becomes the weighted mean of the samples p up to search/2 samples away in each
/// direction, in the frame itself and in its temporal neighbours. The weight of p depends on D, the
/// sum of squared differences between the patches of patch×patch samples around p and around the
/// sample, over all channels that are denoised together:
///   out = (Σ w·p + Σ w div 2) div Σ w,   w = weight[D >> (q + 2·(bits − 8))]
/// where 2^q is the smallest power of two that is not less than patch². The picture is mirrored at
/// its outermost pixels (Border::reflect_101). With M = (2^31 − 1) div (frames·search²·255) and f =
/// 2^q / patch², the table is, in IEEE binary64,
///   weight[i] = rint(M·exp(−(i·f) / (h²·channels))),   h = strength, the divisor in binary32,
/// except that weight[0] is M, and that the first entry below 0.001·M and all later entries are 0.
///
/// Red, green and blue are denoised together (channels = 3). Alpha is copied. Every other channel
/// is denoised separately, at its own sampling. Channels whose strength is 0 are copied. An
/// automatic strength depends on the noise, which only the device knows (strengths.h).
///
/// M keeps the sums of 8-bit samples within 32 bits. It is at least 825 for one frame and 91 for
/// nine, which limits the precision of the weights. The run time is proportional to frames·search²
/// and hardly depends on patch. On a GPU, patches above 15 are slower (above 11 for three channels
/// of 8 bits, above 7 for three of more bits), as are searches whose halo exceeds shared memory.
namespace cudavision::nlmeans {

struct Parameters {
  struct Ranges {
    static constexpr Range<int> search{1, 101};
    static constexpr Range<int> patch{1, 31};
    static constexpr Range<double> strength{0, 255};
    static constexpr Range<int> frames{1, 9};
  };

  int search = 21;       ///< odd: side of the searched area in samples
  int patch = 7;         ///< odd: side of a patch in samples
  double strength = 10;  ///< in levels of 8 bits at any depth, or automatic_strength
  double chroma_strength = same_strength;  ///< strength for chroma channels
  int frames = 1;  ///< searched frames: the denoised frame and its neighbours

  /// Derives the strength from the noise that run() receives.
  static constexpr double automatic_strength = -1;
  /// Chroma uses the strength of the other channels. An automatic strength follows chroma's noise.
  static constexpr double same_strength = -1;

  bool operator==(const Parameters&) const = default;
};

/// Returns the strength of a channel. noise holds the noise of all channels, in host memory.
double strength_under_noise(const FrameLayout& layout, const Parameters& parameters, int channel,
                            const noise::State* noise) noexcept;

class NlMeans {
 public:
  /// layout must have 8 to 16 bits, and either no red, green and blue, or one channel of each, of
  /// equal sizes. The memory suffices for any later set_parameters() with at most this many frames
  /// (parameters.frames). Throws invalid_argument for other layouts and parameters.
  NlMeans(Device& device, const FrameLayout& layout, const Parameters& parameters);
  ~NlMeans();

  /// Applies to later frames. Never allocates. On invalid_argument, the old parameters stay in use.
  void set_parameters(const Parameters& parameters);

  /// Returns true if the output equals the input: all strengths are 0, or one pixel is searched.
  bool identity() const noexcept;

  /// Returns true if a used strength is automatic, so that run() needs the noise.
  bool needs_noise() const noexcept;

  /// Denoises `in`. neighbours holds the other parameters.frames − 1 searched frames, in any order.
  /// All frames have the layout's planes, and out overlaps no other frame. Bytes outside all
  /// channels are copied from `in`; with `active`, they and inactive cells are undefined. Only
  /// enqueues. Automatic strengths require `noise`: one state per channel, in device memory.
  void run(const ConstFrame& in, std::span<const ConstFrame> neighbours, const Frame& out,
           const regions::ActiveCells* active = nullptr, const noise::State* noise = nullptr);
  /// Denoises a frame without neighbours.
  void run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active = nullptr,
           const noise::State* noise = nullptr) {
    run(in, {}, out, active, noise);
  }

  class Backend;

 private:
  Device& device_;
  FrameLayout layout_;
  int max_frames_;
  Parameters parameters_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::nlmeans
