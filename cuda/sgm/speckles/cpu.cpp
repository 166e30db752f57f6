// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/stages_cpu.h"

namespace cudavision::sgm {
namespace {

CUDAVISION_TARGET_CLONES
void mark_run_begins(const std::uint16_t* row, int width, int max_step,
                     std::uint8_t* __restrict flags) {
  flags[0] = 0;
  for (int x = 1; x < width; ++x) {
    const std::uint16_t before = row[x - 1], number = row[x];
    const bool both_unknown = (before & number) == unknown;
    flags[x] = !(both_unknown | are_joined(before, number, max_step));
  }
}

CUDAVISION_TARGET_CLONES
void mark_joined_pixels(const std::uint16_t* above, const std::uint16_t* row, int width,
                        int max_step, std::uint8_t* __restrict flags) {
  for (int x = 0; x < width; ++x)
    flags[x] = are_joined(above[x], row[x], max_step);
}

struct Map {
  static constexpr bool diagonals = false;

  std::uint16_t* row(int y) const { return numbers + std::int64_t{y} * width; }
  void mark_begins(int y, std::uint8_t* flags) const {
    mark_run_begins(row(y), width, max_step, flags);
  }
  void mark_joined(int y, std::uint8_t* flags) const {
    mark_joined_pixels(row(y - 1), row(y), width, max_step, flags);
  }
  void remove(int y, int begin, int end) const { std::fill(row(y) + begin, row(y) + end, unknown); }

  std::uint16_t* numbers;
  int width, max_step;
};

}  // namespace

std::size_t speckles_scratch(const StageConfig& config) {
  return scratch_bytes<speckles::RunFlags>(config.width);
}

void run_stage(const StageRows& rows, const RemoveSpeckles& stage) {
  speckles::remove_components(Map{stage.map, rows.config.width, stage.max_step}, rows.speckles,
                              rows.bands, stage.size);
}

}  // namespace cudavision::sgm
