// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>

#include "cuda/core/view.h"

namespace cudavision::guided {

/// How rows are shared out to bands, one below the other, of which some in the middle have one row
/// more than the others. The first and the last one have fewer, because the windows of their rows
/// have different areas, which takes time.
class Bands {
 public:
  Bands() = default;
  /// There must be at least as many rows as bands. Windows reach `reach` rows up and down.
  Bands(int rows, int count, int reach) : rows_(rows), count_(count) {
    margin_ = std::min(reach, rows / count) / 2;
    band_rows_ = (rows + 2 * margin_) / count;
    longer_ = rows + 2 * margin_ - band_rows_ * count;
    first_longer_ = (count - longer_) / 2;
  }

  CUDAVISION_HOST_DEVICE int count() const { return count_; }
  /// Returns the first row of a band, or the number of rows for the band after the last one.
  CUDAVISION_HOST_DEVICE int first(int band) const {
    const int after = band - first_longer_;
    const int first = band * band_rows_ +
                      (after < 0         ? 0
                       : after < longer_ ? after
                                         : longer_) -
                      margin_;
    return first < 0 ? 0 : first < rows_ ? first : rows_;
  }

 private:
  int rows_ = 0, count_ = 0;
  int margin_ = 0;  ///< The first band would begin so many rows above, and the last one end below.
  int band_rows_ = 0;
  int longer_ = 0, first_longer_ = 0;  ///< how many bands have one row more, and the first of them
};

}  // namespace cudavision::guided
