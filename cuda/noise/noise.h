// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/noise/state.h"

/// The noise of frames, channel by channel, and over time.
///
/// Let I be the samples of a channel as `value >> (bits − 8)`, replicated beyond the edges, and
///   N(x, y) = Σ k(i)·k(j)·I(x + i, y + j),  i, j = −1…1,  k(0) = −2, else 1.
/// White noise of the standard deviation σ gives |N| a mean of 4.79σ, and surfaces whose levels
/// rise evenly give nothing (Immerkær, "Fast noise variance estimation", 1996).
///
/// Blocks of 8×8 samples begin at multiples of 8 and lie wholly inside the channel. Of the rows of
/// blocks only every (1 + (width·height >> 19))-th counts, from the first. Blocks with more than 4
/// samples where I < 8 or I > 247 do not count, because noise is cut off there. Blocks of 64 equal
/// samples are counted apart: they have no noise, but neither have the bars beside a film, nor the
/// blocks that a compression has emptied. If they are more than the others, the frame is a drawing,
/// and its variance is 0.
///
/// The others have a sum s = Σ |N| each, and are sorted into 8 classes by their brightness,
/// (Σ I) div 2^11, because the noise of cameras depends on it. In a class of n ≥ 16 blocks, b is
/// the smallest bin such that more than n div 50 blocks have min(1023, s >> 4) ≤ b. In these
/// quietest blocks texture hardly counts. White noise has about 0.71 of its mean there, so
///   variance of the class = (16b + 8)² div 185,
/// in the unit of Level. The variance of the frame is the mean of those of the classes, weighted by
/// their n, in whole numbers. If these n are fewer than 32 in all, the frame tells nothing and the
/// state stays as it is. Otherwise State::take() takes the variance.
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
