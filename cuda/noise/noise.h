// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/noise/state.h"

/// The noise of frames, channel by channel, and over time.
///
/// Let I be the samples of a channel as `value >> (bits − 8)`, replicated beyond the edges, and
///   N(d, x, y) = Σ k(i)·k(j)·I(x + d·i, y + d·j),  i, j = −1…1,  k(0) = −2, else 1,
/// with the spacings d = 1 and d = 3. White noise of the standard deviation σ gives |N| a mean of
/// 4.79σ, and surfaces whose levels rise evenly give nothing (Immerkær, "Fast noise variance
/// estimation", 1996).
///
/// Blocks of 8×8 samples begin at multiples of 8 and lie wholly inside the channel. Of the rows of
/// blocks only every (1 + (width·height >> 19))-th counts, from the first. Blocks with more than 4
/// samples where I < 8 or I > 247 do not count, because noise is cut off there. Blocks of 64 equal
/// samples are counted apart: they have no noise, but neither have the bars beside a film, nor the
/// blocks that a compression has emptied. If they are more than the others, the frame is a drawing,
/// and its variance is 0.
///
/// The others have a sum s(d) = Σ |N(d)| for each spacing, and are sorted into 8 classes by their
/// brightness, (Σ I) div 2^11, because the noise of cameras depends on it. In a class of n ≥ 16
/// blocks, b(d) is the smallest bin such that more than n div 50 blocks have
/// min(1023, s(d) >> 4) ≤ b(d). In these quietest blocks texture hardly counts. White noise has
/// about 0.7 of its mean there, so in the unit of Level it has these variances:
///   near = (16·b(1) + 8)² div 185,  far = (16·b(3) + 8)² div 200.
///
/// Demosaicing, smoothing and compression make the noise of neighbours similar, so that `near`
/// becomes a small part of its variance. Three samples apart it still differs, but so do more
/// textures. Therefore `far` only counts where it is more than texture explains:
///   variance of the class = max(near, 3·(far − near) div 2).
/// The variance of the frame is the mean of those of the classes, weighted by their n, in whole
/// numbers. If these n are fewer than 32 in all, the frame tells nothing and the state stays as it
/// is. Otherwise State::take() takes the variance.
namespace cudavision::noise {

class Estimate {
 public:
  /// layout must have 8 to 16 bits. Throws invalid_argument if it is not valid.
  Estimate(Device& device, const FrameLayout& layout);
  ~Estimate();

  /// Measures all channels except alpha, and takes their noise into the states. Only enqueues.
  void run(const ConstFrame& in);

  /// Makes the next frame the first one of a sequence. May be called by any thread.
  void restart() noexcept;

  /// Returns the states as of the last run(), in device memory, one for each channel.
  const State* states() const noexcept;

  class Backend;

 private:
  struct Members;
  std::unique_ptr<Members> members_;
};

}  // namespace cudavision::noise
