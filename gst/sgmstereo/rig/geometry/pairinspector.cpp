// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/rig/geometry/pairinspector.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "cuda/core/parallel.h"
#include "cuda/pixels/samples.h"

namespace cudavision::rig {
namespace {

constexpr int block_width = 16, block_height = 9;
constexpr double min_texture = 25;

/// Search radius in rows: of the first search, and of the search for matches of rotated cameras.
constexpr int near_rows = 8, far_rows = 40;
/// Positions within this distance, in pixels, are the same match.
constexpr int same_match = 2;
constexpr double far_better = 0.8;

constexpr int max_blocks = 96, fewest_blocks = 64;
constexpr int blocks_times_disparities = 96 * 128;  // limits the time of a search

constexpr double well_matched = 0.5;
constexpr int fewest_beyond = 3;

using Byte = std::uint8_t;

struct Scratch {
  PatchReader reader;
  std::vector<std::uint16_t> sums;  ///< sums of absolute differences; see Sums
};

/// Writes the sums of absolute differences between a dense block and the blocks at from, from + 1…
CUDAVISION_TARGET_CLONES
void compare_along_row(const Byte* block, const Byte* from, int pitch, int count,
                       std::uint16_t* sums) {
  for (int i = 0; i < count; ++i) {
    unsigned sum = 0;
    for (int y = 0; y < block_height; ++y) {
      const Byte* const a = block + y * block_width;
      const Byte* const b = from + static_cast<std::ptrdiff_t>(y) * pitch + i;
      // If this loop is not unrolled, the compiler replaces it by one instruction.
      _Pragma("GCC unroll 1") for (int x = 0; x < block_width; ++x) sum +=
          static_cast<unsigned>(std::abs(a[x] - b[x]));
    }
    sums[i] = static_cast<std::uint16_t>(sum);
  }
}

CUDAVISION_TARGET_CLONES
std::uint16_t min_of(const std::uint16_t* numbers, int count) {
  std::uint16_t lowest = std::numeric_limits<std::uint16_t>::max();
  for (int i = 0; i < count; ++i)
    lowest = std::min(lowest, numbers[i]);
  return lowest;
}

struct Best {
  int dx = 0, dy = 0;
  double offset = 0;  ///< dy with subpixel precision
  double ratio = 1;   ///< smallest sum, divided by the smallest sum elsewhere
  bool exists = false;
  bool between_rows = false;  ///< the match is neither in the first nor in the last searched row
};

class Sums {
 public:
  Sums(int columns, int rows, std::vector<std::uint16_t>& memory)
      : columns_(columns), rows_(rows), memory_(memory) {
    memory_.resize(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows));
  }

  std::uint16_t* row(int j) const {
    return memory_.data() + static_cast<std::ptrdiff_t>(j) * columns_;
  }

  /// Finds the smallest sum. `dx` and `dy` are the offsets of the first column and row.
  Best best(int dx, int dy) const {
    int y = 0;
    for (int j = 1; j < rows_; ++j)
      if (min_in(j) < min_in(y))
        y = j;
    const int lowest = min_in(y);
    const int x = static_cast<int>(std::find(row(y), row(y) + columns_, lowest) - row(y));
    Best best{dx + x, dy + y, static_cast<double>(dy + y), 1, true};
    if (const int other = min_elsewhere(x, y); other < no_sum)
      best.ratio = static_cast<double>(lowest) / std::max(other, 1);
    best.between_rows = y > 0 && y < rows_ - 1;
    if (best.between_rows) {
      const int above = row(y - 1)[x], below = row(y + 1)[x];
      if (const int height = std::max(above, below) - lowest; height > 0)
        best.offset += 0.5 * (above - below) / height;
    }
    return best;
  }

 private:
  static constexpr int no_sum = std::numeric_limits<std::uint16_t>::max();

  int min_in(int j) const { return min_of(row(j), columns_); }

  int min_elsewhere(int x, int y) const {
    int lowest = no_sum;
    for (int j = 0; j < rows_; ++j) {
      if (std::abs(j - y) > same_match) {
        lowest = std::min(lowest, min_in(j));
        continue;
      }
      const int after = std::min(x + same_match + 1, columns_);
      lowest = std::min<int>(lowest, min_of(row(j), std::max(x - same_match, 0)));
      lowest = std::min<int>(lowest, min_of(row(j) + after, columns_ - after));
    }
    return lowest;
  }

  const int columns_, rows_;
  std::vector<std::uint16_t>& memory_;
};

double share(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

double share_of(const auto& values, const auto& condition) {
  const auto matching = std::count_if(values.begin(), values.end(), condition);
  return share(static_cast<std::size_t>(matching), values.size());
}

auto quantile(const auto& sorted, double part) {
  const auto position = static_cast<std::size_t>(part * static_cast<double>(sorted.size()));
  return sorted[std::min(position, sorted.size() - 1)];
}

/// Returns the smallest eigenvalue of a block's structure tensor, per pixel.
double texture(const SamplePlane& picture, int left, int top) {
  constexpr int wide = block_width + 2, high = block_height + 2;
  Byte levels[high][wide];
  for (int j = 0; j < high; ++j)
    read_levels(picture, top - 1 + j, left - 1, wide, levels[j]);
  int xx = 0, yy = 0, xy = 0;
  for (int j = 1; j <= block_height; ++j)
    for (int i = 1; i <= block_width; ++i) {
      const int along = levels[j][i + 1] - levels[j][i - 1];
      const int across = levels[j + 1][i] - levels[j - 1][i];
      xx += along * along;
      yy += across * across;
      xy += along * across;
    }
  return (xx + yy - std::hypot(xx - yy, 2.0 * xy)) / (2 * block_width * block_height);
}

struct Counts {
  unsigned known = 0, at_end = 0;
};

CUDAVISION_TARGET_CLONES
Counts count(const Byte* row, int width, std::uint16_t invalid, int end) {
  Counts counts;
  for (int x = 0; x < width; ++x) {
    const std::uint16_t value = load16(row + 2 * static_cast<std::ptrdiff_t>(x));
    const bool known = value != invalid;
    counts.known += known;
    counts.at_end += known & (static_cast<std::int16_t>(value) >= end);
  }
  return counts;
}

void measure_map(View<const std::uint8_t> map, const sgm::Parameters& parameters,
                 PairFigures& figures) {
  const sgm::DisparityScale scale = sgm::disparity_scale(parameters);
  const int end = (parameters.minimum + parameters.disparities - 2) * scale.per_pixel;
  const int width = map.width / 2;
  std::size_t known = 0, at_end = 0;
  for (int y = 0; y < map.height; ++y) {
    const Counts counts = count(map.row(y), width, scale.invalid, end);
    known += counts.known;
    at_end += counts.at_end;
  }
  figures.known =
      share(known, static_cast<std::size_t>(width) * static_cast<std::size_t>(map.height));
  figures.at_end = share(at_end, known);
}

}  // namespace

struct PairInspector::Match {
  Best best;
  bool agrees = false;  ///< the search in the other direction returns to the block

  bool is_clear() const { return agrees && best.ratio < far_better; }
};

PairInspector::PairInspector(const PlaneSize& size, const sgm::Config& config)
    : size_(size), minimum_(config.minimum), largest_(config.minimum + config.disparities - 1) {}

void PairInspector::choose_blocks(const NormalizedPicture& left, PairFigures& figures) {
  blocks_.clear();
  const double gain = static_cast<double>(left.gain) / PatchReader::unit_gain;
  const double enough_texture = min_texture / (gain * gain);
  const int count =
      std::clamp(blocks_times_disparities / (largest_ - minimum_ + 1), fewest_blocks, max_blocks);
  const double side = std::sqrt(1.0 * size_.width * size_.height / count);
  const int columns =
      std::max(1, static_cast<int>(size_.width / std::max<double>(side, block_width)));
  const int rows =
      std::max(1, static_cast<int>(size_.height / std::max<double>(side, block_height)));
  figures.cells = columns * rows;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      double maximum = enough_texture;
      Position best{-1, -1};
      for (int j = 1; j < 6; j += 2)
        for (int i = 1; i < 6; i += 2) {
          const Position position{
              static_cast<int>((6.0 * column + i) * size_.width / (6 * columns)) - block_width / 2,
              static_cast<int>((6.0 * row + j) * size_.height / (6 * rows)) - block_height / 2};
          // texture() needs one more pixel on each side.
          if (position.x < 1 || position.y < 1 || position.x + block_width >= size_.width ||
              position.y + block_height >= size_.height)
            continue;
          if (const double its = texture(left.picture, position.x, position.y); its >= maximum) {
            maximum = its;
            best = position;
          }
        }
      if (best.x >= 0)
        blocks_.push_back(best);
    }
}

std::vector<PairInspector::Match> PairInspector::match_blocks(const NormalizedPicture& left,
                                                              const NormalizedPicture& right,
                                                              const Window& window) const {
  const auto search = [](const NormalizedPicture& from, const Position& position,
                         const NormalizedPicture& to, const Window& within, Scratch& scratch) {
    const std::vector<Byte> block =
        scratch.reader
            .take(from.picture, from.gain, position.x, position.y, block_width, block_height)
            .values;
    const Patch& patch = scratch.reader.take(to.picture, to.gain, position.x + within.first_x,
                                             position.y + within.first_y,
                                             block_width + within.last_x - within.first_x,
                                             block_height + within.last_y - within.first_y);
    const int columns = patch.width - block_width + 1, rows = patch.height - block_height + 1;
    if (columns < 1 || rows < 1)
      return Best();
    const Sums sums(columns, rows, scratch.sums);
    for (int j = 0; j < rows; ++j)
      compare_along_row(block.data(), patch.at(patch.x, patch.y + j), patch.width, columns,
                        sums.row(j));
    return sums.best(patch.x - position.x, patch.y - position.y);
  };
  std::vector<Match> matches(blocks_.size());
  if (blocks_.empty())
    return matches;
  const Bands bands(static_cast<int>(blocks_.size()));
  bands.for_each([&](const Band& band) {
    Scratch scratch;
    for (int i = band.begin; i < band.end; ++i) {
      const Position& position = blocks_[static_cast<std::size_t>(i)];
      Match& match = matches[static_cast<std::size_t>(i)];
      const Best best = search(left, position, right, window, scratch);
      match.best = best;
      if (!best.exists)
        continue;
      const Position found{position.x + best.dx, position.y + best.dy};
      const Best back =
          search(right, found, left, {-window.last_x, -window.first_x, -best.dy - 1, -best.dy + 1},
                 scratch);
      match.agrees =
          back.exists && std::abs(back.dx + best.dx) <= 1 && std::abs(back.dy + best.dy) <= 1;
    }
  });
  return matches;
}

/// Searches a larger range of disparities, in three rows.
std::vector<PairInspector::Match> PairInspector::match_beyond_range(const NormalizedPicture& left,
                                                                    const NormalizedPicture& right,
                                                                    int row) const {
  const int count = largest_ - minimum_ + 1;
  const int more = std::max(count, 128), less = std::min(count, 128);
  return match_blocks(left, right, {-(largest_ + more), -(minimum_ - less), row - 1, row + 1});
}

void PairInspector::measure_range(const std::vector<Match>& matches, PairFigures& figures) const {
  std::vector<int> disparities;
  for (const Match& match : matches)
    if (match.is_clear())
      disparities.push_back(-match.best.dx);
  std::sort(disparities.begin(), disparities.end());
  auto first = std::lower_bound(disparities.begin(), disparities.end(), minimum_);
  auto last = std::upper_bound(disparities.begin(), disparities.end(), largest_);
  // A few matches beyond the range are probably accidental, and are ignored.
  if (first - disparities.begin() >= fewest_beyond)
    first = disparities.begin();
  if (disparities.end() - last >= fewest_beyond)
    last = disparities.end();
  disparities = std::vector<int>(first, last);
  if (disparities.size() < PairFigures::enough_matches)
    return;
  figures.above_range = share_of(disparities, [&](int value) { return value > largest_; });
  figures.below_range = share_of(disparities, [&](int value) { return value < minimum_; });
  figures.min_disparity = quantile(disparities, 0.02);
  figures.largest_disparity = quantile(disparities, 0.98);
}

void PairInspector::measure_rows(const std::vector<Match>& matches, PairFigures& figures) const {
  std::vector<double> offsets;
  figures.matches.clear();
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const Best& best = matches[i].best;
    if (!matches[i].is_clear())
      continue;
    offsets.push_back(best.offset);
    const double x = blocks_[i].x + (block_width - 1) / 2.0;
    const double y = blocks_[i].y + (block_height - 1) / 2.0;
    if (best.between_rows)
      figures.matches.push_back({x, y, x + best.dx, y + best.offset});
  }
  if (offsets.empty())
    return;
  std::sort(offsets.begin(), offsets.end());
  figures.vertical_offset = quantile(offsets, 0.5);
  figures.vertical_spread = quantile(offsets, 0.75) - quantile(offsets, 0.25);
}

PairFigures PairInspector::inspect(const SamplePlane& left_picture,
                                   const SamplePlane& right_picture, View<const std::uint8_t> map,
                                   const sgm::Parameters& parameters) {
  PairFigures figures;
  figures.left = exposure_of(left_picture);
  figures.right = exposure_of(right_picture);
  const NormalizedPicture left{left_picture, gain_for(figures.left, figures.right)};
  const NormalizedPicture right{right_picture, gain_for(figures.right, figures.left)};
  measure_map(map, parameters, figures);
  figures.repetition = detect_repetition(left, right, map, parameters);
  choose_blocks(left, figures);
  figures.blocks = static_cast<int>(blocks_.size());
  if (blocks_.empty())
    return figures;

  const auto clear = [](const Match& match) { return match.is_clear(); };
  std::vector<Match> matches =
      match_blocks(left, right, {-largest_, -minimum_, -near_rows, near_rows});
  figures.matched = share_of(matches, clear);
  // Unmatched blocks may match at other disparities or in other rows. Repeating patterns match
  // anywhere, so other disparities count only with enough matches.
  std::vector<Match> beyond;
  if (figures.matched < well_matched) {
    figures.matched_if_swapped =
        share_of(match_blocks(left, right, {minimum_, largest_, -near_rows, near_rows}), clear);
    beyond = match_beyond_range(left, right, 0);
    if (!figures.is_swapped() &&
        share_of(beyond, clear) < std::max(figures.matched, PairFigures::poorly_matched))
      beyond.clear();
  }
  measure_rows(matches, figures);
  // If a camera is rotated, matches can be many rows apart, perhaps only in parts of the picture.
  if (beyond.empty() && (figures.matched < PairFigures::poorly_matched ||
                         figures.vertical_spread >= PairFigures::max_spread)) {
    std::vector<Match> far = match_blocks(left, right, {-largest_, -minimum_, -far_rows, far_rows});
    const double share = share_of(far, clear);
    if (share >= figures.matched || figures.matched < PairFigures::poorly_matched) {
      matches = std::move(far);
      figures.matched = share;
    }
  }
  figures.agreement = share_of(matches, [](const Match& match) { return match.agrees; });

  measure_rows(beyond.empty() ? matches : beyond, figures);
  if (beyond.empty())
    beyond = match_beyond_range(
        left, right,
        figures.vertical_known() ? static_cast<int>(std::lround(figures.vertical_offset)) : 0);
  measure_range(beyond, figures);
  return figures;
}

}  // namespace cudavision::rig
