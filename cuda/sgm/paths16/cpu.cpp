// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Path aggregation on the CPU. Horizontal paths write the sums, with rows in parallel. Then the
// other paths add to the sums, with columns in parallel: a thread follows the downward paths of its
// columns in row y, and then the upward paths in row height − 1 − y. Diagonal paths cross into
// neighbouring columns, so with 8 paths all threads wait after each pair of rows.
//
// Each of these passes computes the matching costs again, which is faster than storing them.

#include <algorithm>
#include <vector>

#include "cuda/pixels/sample_math.h"
#include "cuda/sgm/paths16/matching_costs_cpu.h"
#include "cuda/sgm/paths16/path_costs_cpu.h"
#include "cuda/sgm/stages_cpu.h"

namespace cudavision::sgm {
namespace {

struct Job {
  SamplePlane picture;
  bool eight_bit;  ///< see StageConfig
  const void *left, *right;
  const Penalties* penalties;
  std::uint16_t* sums;
};

/// Writes P2 for the step from (x + dx, y + dy) to (x, y), for begin ≤ x < end. P2 is arbitrary for
/// steps from outside the picture.
void find_penalties(const Job& job, int y, int begin, int end, int dx, int dy, std::uint8_t* p2) {
  const SamplePlane& picture = job.picture;
  const std::uint8_t* const row = picture.rows.row(y);
  const std::uint8_t* const other = picture.rows.row(std::clamp(y + dy, 0, picture.height() - 1));
  const int shift = job.eight_bit ? picture.bits - 8 : 0, step_shift = picture.bits - 8 - shift;
  const auto find = [&](const auto& value) {
    for (int x = begin; x < end; ++x) {
      const int step = (value(row, x) >> shift) -
                       (value(other, std::clamp(x + dx, 0, picture.width - 1)) >> shift);
      p2[x] = job.penalties->p2[static_cast<std::size_t>(std::abs(step) >> step_shift)];
    }
  };
  if (picture.bits == 8)
    return find([](const std::uint8_t* samples, int x) -> int { return samples[x]; });
  find([&](const std::uint8_t* samples, int x) {
    return static_cast<int>(sample_value(load16(samples + 2 * std::ptrdiff_t{x}), picture.shift,
                                         (1u << picture.bits) - 1));
  });
}

template <class Work>
void with_features(Config::Census census, const Work& work) {
  switch ((census_bits(census) + 7) / 8) {
    case 3:
      return work(std::integral_constant<int, 3>(), std::uint32_t());
    case 4:
      return work(std::integral_constant<int, 4>(), std::uint32_t());
    default:
      return work(std::integral_constant<int, 8>(), std::uint64_t());
  }
}

template <class Feature>
const Feature* row_of(const void* features, int y, int width) {
  return static_cast<const Feature*>(features) + std::int64_t{y} * width;
}

struct RowMemory {
  RowMemory(Scratch& scratch, const StageConfig& config)
      : planes(
            scratch.take<std::uint8_t>(FeaturePlanes<8>::bytes(config.width, config.disparities))),
        matching(scratch.take<std::uint8_t>(std::size_t{1} * config.width * config.disparities)),
        p2_right(scratch.take<std::uint8_t>(config.width)),
        p2_left(scratch.take<std::uint8_t>(config.width)),
        costs(scratch.take<std::uint8_t>(PathCosts::bytes(4, config.disparities))) {}

  std::uint8_t *planes, *matching, *p2_right, *p2_left, *costs;
};

/// Follows both paths of a row at once, so that their instructions overlap.
CUDAVISION_TARGET_CLONES
void add_horizontal(const RowMemory& memory, int width, int disparities, int p1_value,
                    std::uint16_t* sums) {
  const PathCosts costs(memory.costs, 4, disparities);
  const auto p1 = static_cast<std::uint8_t>(p1_value);
  const auto at = [&](int x) { return static_cast<std::size_t>(x) * disparities; };
  PathStep right{costs.of(0), costs.of(1), 0, 0}, left{costs.of(2), costs.of(3), 0, 0};
  const auto step = [&](int x, auto first) __attribute__((always_inline)) {
    const int opposite = width - 1 - x;
    right.p2 = memory.p2_right[x];
    left.p2 = memory.p2_left[opposite];
    advance<first.value>(memory.matching + at(x), disparities, p1, right, sums + at(x));
    // In the middle of a row of odd width, the other path has already written the sums.
    if (x == opposite)
      advance<false>(memory.matching + at(x), disparities, p1, left, sums + at(x));
    else
      advance<first.value>(memory.matching + at(opposite), disparities, p1, left,
                           sums + at(opposite));
    right = {right.costs, const_cast<std::uint8_t*>(right.before), right.minimum, 0};
    left = {left.costs, const_cast<std::uint8_t*>(left.before), left.minimum, 0};
  };
  const int half = (width + 1) / 2;
  for (int x = 0; x < half; ++x)
    step(x, std::true_type());
  for (int x = half; x < width; ++x)
    step(x, std::false_type());
}

template <int planes, class Feature>
CUDAVISION_TARGET_CLONES void match_row(const StageConfig& config, const Feature* left,
                                        const Feature* right, const RowMemory& memory) {
  FeaturePlanes<planes> features(config, memory.planes);
  features.load(left, right, 0, config.width);
  for (int x = 0; x < config.width; ++x)
    features.template costs<Feature>(
        x, memory.matching + static_cast<std::size_t>(x) * config.disparities);
}

void run_horizontal(const StageRows& rows, const Job& job) {
  const StageConfig& config = rows.config;
  const int width = config.width;
  rows.bands.for_each([&](Band& band) {
    const RowMemory memory(band.scratch, config);
    for (int y = band.begin; y < band.end; ++y) {
      with_features(config.census, [&](auto planes, auto feature) {
        using Feature = decltype(feature);
        match_row<decltype(planes)::value>(config, row_of<Feature>(job.left, y, width),
                                           row_of<Feature>(job.right, y, width), memory);
      });
      find_penalties(job, y, 0, width, -1, 0, memory.p2_right);
      find_penalties(job, y, 0, width, 1, 0, memory.p2_left);
      add_horizontal(memory, width, config.disparities, job.penalties->p1,
                     job.sums + std::int64_t{y} * width * config.disparities);
    }
  });
}

/// Costs of the downward or the upward paths in a row. Path p comes from column x + dx[p] of the
/// previous row. Columns −1 and width are outside the picture.
struct PathRow {
  static constexpr int max_paths = 3;
  static constexpr int dx[max_paths] = {0, -1, 1};

  PathCosts costs[max_paths];
  std::uint8_t* minimum[max_paths];  ///< smallest cost of each column

  const std::uint8_t* costs_of(int path, int x) const { return costs[path].of(x + 1); }
};

struct ColumnMemory {
  ColumnMemory(Scratch& scratch, const StageConfig& config)
      : planes(
            scratch.take<std::uint8_t>(FeaturePlanes<8>::bytes(config.width, config.disparities))),
        matching(scratch.take<std::uint8_t>(static_cast<std::size_t>(config.disparities))) {
    for (std::uint8_t*& row : p2)
      row = scratch.take<std::uint8_t>(static_cast<std::size_t>(config.width));
  }

  std::uint8_t *planes, *matching, *p2[PathRow::max_paths];
};

template <int planes, int paths, class Feature>
CUDAVISION_TARGET_CLONES void add_columns(const StageConfig& config, const Feature* left,
                                          const Feature* right, const ColumnMemory& memory,
                                          int begin, int end, int p1_value, const PathRow& before,
                                          const PathRow& row, std::uint16_t* sums) {
  const auto p1 = static_cast<std::uint8_t>(p1_value);
  const int disparities = config.disparities;
  FeaturePlanes<planes> features(config, memory.planes);
  features.load(left, right, begin, end);
  for (int x = begin; x < end; ++x) {
    features.template costs<Feature>(x, memory.matching);
    PathStep steps[paths];
    for (int p = 0; p < paths; ++p) {
      const int from = x + PathRow::dx[p];
      steps[p] = {before.costs_of(p, from), row.costs[p].of(x + 1), before.minimum[p][from + 1],
                  memory.p2[p][x]};
    }
    std::uint16_t* const to = sums + static_cast<std::size_t>(x) * disparities;
    if constexpr (paths == 1)
      advance<false>(memory.matching, disparities, p1, steps[0], to);
    else
      advance(memory.matching, disparities, p1, steps, to);
    for (int p = 0; p < paths; ++p)
      row.minimum[p][x + 1] = steps[p].minimum;
  }
}

}  // namespace

class VerticalPathsCpu {
 public:
  VerticalPathsCpu(Device& device, const StageConfig& config)
      : config_(config),
        paths_(config.paths == 8 ? 3 : 1),
        chunks_(device, divide_up(config.width, min_columns), scratch_bytes<ColumnMemory>(config)) {
    const int columns = config.width + 2;
    for (Rows& rows : rows_)
      for (PathRow& row : rows)
        for (int p = 0; p < paths_; ++p) {
          memory_.push_back(device.allocate(PathCosts::bytes(columns, config.disparities)));
          row.costs[p] = {memory_.back().as<std::uint8_t>(), columns, config.disparities};
          memory_.push_back(device.allocate(static_cast<std::size_t>(columns)));
          row.minimum[p] = memory_.back().as<std::uint8_t>();
        }
  }

  void run(const Job& job) const {
    for (const Rows& rows : rows_)
      for (const PathRow& row : rows)
        for (int p = 0; p < paths_; ++p)
          for (int column = 0; column < config_.width + 2; ++column) {
            row.costs[p].start(column);
            row.minimum[p][column] = 0;
          }
    const auto run_steps = [&](int begin, int end) {
      chunks_.for_each([&](Band& chunk) {
        const ColumnMemory memory(chunk.scratch, config_);
        const int left = chunk.begin * min_columns;
        const int right = std::min(chunk.end * min_columns, config_.width);
        for (int step = begin; step < end; ++step) {
          run_row(job, memory, left, right, step, 1, rows_[0]);
          run_row(job, memory, left, right, config_.height - 1 - step, -1, rows_[1]);
        }
      });
    };
    if (paths_ == 1)
      return run_steps(0, config_.height);
    for (int step = 0; step < config_.height; ++step)
      run_steps(step, step + 1);
  }

 private:
  static constexpr int min_columns = 32;  // minimum per chunk; smaller chunks are not worth a task

  using Rows = PathRow[2];  ///< row y has index y % 2

  /// direction is 1 for downward and −1 for upward paths.
  void run_row(const Job& job, const ColumnMemory& memory, int begin, int end, int y, int direction,
               const Rows& rows) const {
    for (int p = 0; p < paths_; ++p)
      find_penalties(job, y, begin, end, PathRow::dx[p], -direction, memory.p2[p]);
    const int width = config_.width;
    with_features(config_.census, [&](auto planes, auto feature) {
      using Feature = decltype(feature);
      constexpr int count = decltype(planes)::value;
      const auto add_for = paths_ == 1 ? add_columns<count, 1, Feature>
                                       : add_columns<count, PathRow::max_paths, Feature>;
      add_for(config_, row_of<Feature>(job.left, y, width), row_of<Feature>(job.right, y, width),
              memory, begin, end, job.penalties->p1, rows[(y + 1) % 2], rows[y % 2],
              job.sums + std::int64_t{y} * width * config_.disparities);
    });
  }

  StageConfig config_;
  int paths_;
  Bands chunks_;  ///< in units of min_columns columns
  std::vector<Buffer> memory_;
  Rows rows_[2];  ///< rows of the downward paths and of the upward paths
};

std::size_t paths_scratch(const StageConfig& config) {
  return scratch_bytes<RowMemory>(config);
}

std::shared_ptr<VerticalPathsCpu> make_vertical_paths(Device& device, const StageConfig& config) {
  return std::make_shared<VerticalPathsCpu>(device, config);
}

void aggregate_cpu(const StageRows& rows, const VerticalPathsCpu& vertical,
                   const SamplePlane& picture, const void* left, const void* right,
                   const Penalties& penalties, std::uint16_t* sums) {
  const Job job{picture, rows.config.eight_bit(), left, right, &penalties, sums};
  run_horizontal(rows, job);
  vertical.run(job);
}

}  // namespace cudavision::sgm
