// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The interface that both backends of guided.h implement. Its callers have validated layouts,
// parameters and frames.

#include <memory>
#include <vector>

#include "cuda/guided/guided.h"
#include "cuda/windows/picture.h"

namespace cudavision::guided {

/// Returns the channels of a frame that are filtered.
std::vector<Channel> filtered_channels(const FrameLayout& layout);

/// How far windows reach to each side, within a channel.
struct Reach {
  int x, y;

  Reach(const Channel& channel, int radius) noexcept;

  /// Returns true if every window's area is less than narrow_area.
  bool is_narrow(const Channel& channel) const noexcept;
};

using windows::RowRange;

/// Returns the rows of a channel in which results are needed, at least one. active is nullptr if
/// all are.
RowRange rows_with_results(const Channel& channel, const regions::ActiveCells* active) noexcept;
/// Returns the rows whose windows these results depend on.
RowRange rows_with_windows(const Channel& channel, int reach, const RowRange& results) noexcept;

class Guided::Backend {
 public:
  virtual ~Backend() = default;
  /// Called before the first run(), and when the parameters change.
  virtual void set(const Parameters& parameters) = 0;
  /// active is nullptr if the whole output is needed.
  virtual void run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active) = 0;
};

std::unique_ptr<Guided::Backend> make_guided_cpu(Device& device, const FrameLayout& layout);
std::unique_ptr<Guided::Backend> make_guided_cuda(Device& device, const FrameLayout& layout);

}  // namespace cudavision::guided
