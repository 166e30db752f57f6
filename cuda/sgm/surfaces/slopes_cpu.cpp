// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Fills the unknown pixels of a map along adjacent surfaces.

#include <algorithm>

#include "cuda/sgm/stages_cpu.h"
#include "cuda/sgm/surfaces/arithmetic.h"

namespace cudavision::sgm {
namespace {

class SlopeFiller {
 public:
  SlopeFiller(const StageConfig& config, const std::uint16_t* from)
      : width_(config.width),
        height_(config.height),
        top_(16 * (config.disparities - 1)),
        from_(from) {}

  /// Returns true if the row has a known pixel.
  bool fill_row(int y, std::uint16_t* to) const {
    const std::uint16_t* const row = from_ + std::int64_t{y} * width_;
    bool has_known = false;
    for (int x = 0; x < width_;) {
      if (row[x] != unknown) {
        to[x] = row[x];
        has_known = true;
        ++x;
        continue;
      }
      int end = x;
      while (end < width_ && row[end] == unknown)
        ++end;
      fill_run(row, x, end, y, to);
      x = end;
    }
    return has_known;
  }

 private:
  void fill_run(const std::uint16_t* row, int begin, int end, int y, std::uint16_t* to) const {
    const std::uint16_t before = begin > 0 ? row[begin - 1] : unknown;
    const std::uint16_t after = end < width_ ? row[end] : unknown;
    if (before == unknown && after == unknown) {
      std::fill(to + begin, to + end, unknown);
    } else if (is_one_surface(before, after)) {
      for (int x = begin; x < end; ++x)
        to[x] = interpolated(before, after, x - (begin - 1), end - x).within(top_);
    } else if (before < after) {  // unknown is the largest number
      const Slope slope = slope_at(from_, width_, height_, begin - 1, y, -1);
      for (int x = begin; x < end; ++x)
        to[x] = extrapolated(before, slope, x - (begin - 1)).within(top_);
    } else {
      const Slope slope = slope_at(from_, width_, height_, end, y, 1);
      for (int x = begin; x < end; ++x)
        to[x] = extrapolated(after, slope, end - x).within(top_);
    }
  }

  int width_, height_, top_;
  const std::uint16_t* from_;
};

CUDAVISION_TARGET_CLONES
void clear_confidence_row(const std::uint16_t* map, int width, std::uint8_t* confidence) {
  for (int x = 0; x < width; ++x)
    confidence[x] &= mask_of<std::uint8_t>(map[x] != unknown);
}

}  // namespace

void fill_slopes_cpu(const StageRows& rows, const std::uint16_t* from, bool* has_known,
                     std::uint16_t* to, std::uint8_t* confidence) {
  const SlopeFiller filler(rows.config, from);
  for_rows(rows.config.height, [&](int y) {
    has_known[y] = filler.fill_row(y, rows.row(to, y));
    if (confidence)
      clear_confidence_row(rows.row(from, y), rows.config.width, rows.row(confidence, y));
  });
  fill_empty_rows(rows, has_known, to);
}

}  // namespace cudavision::sgm
