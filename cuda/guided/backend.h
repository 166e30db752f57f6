// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Interface of both backends. Callers have validated layouts, parameters and frames.

#include <algorithm>
#include <memory>
#include <vector>

#include "cuda/guided/guided.h"
#include "cuda/windows/picture.h"

namespace cudavision::guided {

std::vector<Channel> filtered_channels(const FrameLayout& layout);

/// Radius in samples of a channel, less than the channel's width and height.
struct WindowRadius {
  int x, y;

  WindowRadius(const Channel& channel, int radius) noexcept;

  /// Returns true if all windows are smaller than narrow_area.
  bool is_narrow(const Channel& channel) const noexcept;
};

using windows::RowRange;

/// Returns a non-empty range with all rows of a channel that need results. active may be nullptr.
RowRange rows_with_results(const Channel& channel, const regions::ActiveCells* active) noexcept;
/// Returns the rows whose windows the results depend on.
inline RowRange rows_with_windows(const Channel& channel, int radius, const RowRange& results) {
  return {std::max(results.begin - radius, 0), std::min(results.end + radius, channel.height)};
}

class Guided::Backend {
 public:
  virtual ~Backend() = default;
  /// Called before the first run(), and when the parameters change.
  virtual void set(const Parameters& parameters) = 0;
  /// active may be nullptr.
  virtual void run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active) = 0;
};

std::unique_ptr<Guided::Backend> make_guided_cpu(Device& device, const FrameLayout& layout);
std::unique_ptr<Guided::Backend> make_guided_cuda(Device& device, const FrameLayout& layout);

}  // namespace cudavision::guided
