// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/noise/state.h"

/// Estimates the noise of frames, per channel and averaged over time.
///
/// Let I be the samples of a channel as `value >> (bits − 8)`, with replicated edge samples, and
///   N(d, x, y) = Σ k(i)·k(j)·I(x + d·i, y + d·j),  i, j = −1…1,  k(0) = −2, k(±1) = 1,
/// with the spacings d = 1 and d = 3. White noise of standard deviation σ gives |N| a mean of
/// 4.79σ; linear gradients give 0 (Immerkær, "Fast noise variance estimation", 1996).
///
/// Blocks of 8×8 samples start at multiples of 8 and are entirely inside the channel. Only every (1
/// + (width·height >> 19))-th row of blocks is measured, from the first. A block is flat if its 64
/// samples are equal, or if the 8 samples of one of four lines are equal: the row three above or
/// below the block, or the column three before or after it. Flat blocks are only counted, because
/// black bars and compression leave no noise. Blocks with more than 4 samples where I < 8 or I >
/// 247 are extreme: the noise is clipped.
///
/// All other blocks are sorted into 8 classes by brightness, `(Σ I) div 2^11`, because the noise of
/// cameras depends on brightness. A class is used if it has n ≥ 16 blocks. With s(d) = Σ |N(d)|,
/// b(d) is the smallest bin such that more than n div 50 blocks have min(1023, s(d) >> 4) ≤ b(d).
/// These quietest blocks contain hardly any texture. For white noise, s(d) of the quietest blocks
/// is about 0.7 of the mean of s(d), so the variances of the noise in the unit of Level are
///   near = (16·b(1) + 8)² div 185,  far = (16·b(3) + 8)² div 200.
/// S = 64·Σ I² − (Σ I)² has 16 bins for each power of two from 2^10 on; smaller values are in the
/// first bin. With B the middle of the bin of S for the same quantile,
///   spread = 2·B div 21
/// is the variance if the noise is white, and an upper limit for other noise.
///
/// Demosaicing, smoothing and compression correlate the noise of adjacent samples, so that `near`
/// underestimates the variance. Samples three apart are less correlated, but `far` also contains
/// more texture. `far` is therefore used only where it exceeds the effect of texture:
///   v = min(max(near, 3·(far − near) div 2), 5·spread div 4).
///
/// A class has smooth blocks if 2·spread ≤ 3·v + 512: the quietest blocks contain only noise. The
/// quietest blocks of other classes have lines or texture. Let A be the number of blocks of all
/// used classes, plus the extreme blocks that are not flat if there are at least 16. A class i with
/// smooth blocks is smooth, except if another class j has smooth blocks, 16·n(j) ≥ A, and
///   v(i)·(2j + 1) > 4·(v(j) + 1024)·max(2i + 1, 2j + 1),
/// because the variance of a camera's noise grows at most linearly with the light, unlike texture.
///
/// Let M be the number of blocks of smooth classes, and V the sum of v over these blocks. If M ≥ 32
/// and 16·M ≥ A, the variance of other blocks is limited to
///   limit = 3·V div (2·M).
/// If also 6·M ≥ A, the variance of the frame is the mean, rounded down, of v over the blocks of
/// all classes; outside smooth classes, v is limited. Otherwise the estimate is uncertain: it
/// is the smallest x such that a quarter of the A blocks are in classes with min(v, spread) ≤ x,
/// but at most the limit. Extreme blocks form a class with v = spread = 2·(2·B div 21), because
/// clipping removes up to two thirds of the variance.
///
/// If the blocks of 64 equal, not extreme samples outnumber the blocks that are not flat, as in
/// drawings, the variance is 0, but fewer than 32 change nothing. Otherwise, if the used classes
/// have fewer than 32 blocks, it is 0, but fewer than 32 flat, not extreme blocks change nothing.
namespace cudavision::noise {

class Estimate {
 public:
  /// layout must have 8 to 16 bits. Throws invalid_argument if it is not valid.
  Estimate(Device& device, const FrameLayout& layout);
  ~Estimate();

  /// Measures all channels except alpha, and updates the states. Only enqueues.
  void run(const ConstFrame& in);

  /// Makes the next frame the first one of a sequence. May be called from any thread.
  void restart() noexcept { first_frame_ = true; }

  /// Returns the states after the last run(), in device memory, one per channel.
  const State* states() const noexcept { return states_.as<State>(); }

  class Backend;

 private:
  FrameLayout layout_;
  std::unique_ptr<Backend> backend_;
  Buffer states_;
  std::atomic<bool> first_frame_{true};
};

}  // namespace cudavision::noise
