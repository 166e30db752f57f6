// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Smooth on the CPU, in 16-bit integers that the compiler vectorises.

#include <algorithm>

#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/maps/sample_rows_cpu.h"
#include "cuda/sgm/surfaces/arithmetic.h"

namespace cudavision::sgm {
namespace {

constexpr int middle = SampleRows::middle;

/// A pair adds at most 64·c·(37 − c) div 36 ≤ 608 to |S| and 136 to T. So 2S + T fits 16 bits.
struct LaneSums {
  std::int16_t s[lanes], t[lanes];
  std::int16_t rooms[lanes];     // 2·cut + 1
  std::uint16_t factors[lanes];  // smoothing_factor() of the cuts
};

[[gnu::always_inline]] inline void add_pair(const SampleRows& rows, int x, int i, int j,
                                            LaneSums& sums) {
  const int offset = rows.step() * i;
  const std::int16_t* const v = rows.numbers(middle) + x;
  const std::int16_t* const q = rows.numbers(middle + j) + x + offset;
  const std::int16_t* const r = rows.numbers(middle - j) + x - offset;
  const std::uint8_t* const luminance = rows.luminances(middle) + x;
  const std::uint8_t* const one = rows.luminances(middle + j) + x + offset;
  const std::uint8_t* const other = rows.luminances(middle - j) + x - offset;
  std::uint8_t weights[lanes];
  for (int lane = 0; lane < lanes; ++lane)
    weights[lane] = weight_of(std::max(difference_of(luminance[lane], one[lane]),
                                       difference_of(luminance[lane], other[lane])));
  for (int lane = 0; lane < lanes; ++lane) {
    const auto known = static_cast<std::int16_t>(mask_of<std::int16_t>(q[lane] != no_number) &
                                                 mask_of<std::int16_t>(r[lane] != no_number));
    const auto bend =
        static_cast<std::int16_t>((q[lane] & known) + (r[lane] & known) - 2 * (v[lane] & known));
    const auto negative = static_cast<std::int16_t>(-bend);
    const auto size = bend > negative ? bend : negative;
    const auto difference = static_cast<std::int16_t>(sums.rooms[lane] - size);
    const auto room = static_cast<std::int16_t>((difference > 0 ? difference : 0) & known);
    const auto product = static_cast<std::uint16_t>(weights[lane] * room);
    const auto high = static_cast<std::uint16_t>(
        (std::uint32_t{product} * std::uint32_t{sums.factors[lane]}) >> 16);
    const auto w = static_cast<std::int16_t>(high >> 2);
    sums.s[lane] = static_cast<std::int16_t>(sums.s[lane] + w * bend);
    sums.t[lane] = static_cast<std::int16_t>(sums.t[lane] + 2 * w);
  }
}

struct Cuts {
  Cuts() {
    for (int a = 0; a < 256; ++a) {
      rooms[a] = static_cast<std::int16_t>(2 * smoothing_cut(a) + 1);
      factors[a] = static_cast<std::uint16_t>(smoothing_factor(smoothing_cut(a)));
    }
  }
  std::int16_t rooms[256];
  std::uint16_t factors[256];
};

CUDAVISION_TARGET_CLONES
void smooth_row(const SampleRows& rows, const std::uint8_t* confidence, const Cuts& cuts, int width,
                std::uint16_t* to) {
  LaneSums sums;
  for (int x = 0; x < width; x += lanes) {
    const int count = std::min(lanes, width - x);
    for (int lane = 0; lane < lanes; ++lane) {
      const int a = lane < count ? confidence[x + lane] : 0;
      sums.rooms[lane] = cuts.rooms[a];
      sums.factors[lane] = cuts.factors[a];
    }
    std::fill_n(sums.s, lanes, std::int16_t{0});
    std::fill_n(sums.t, lanes, std::int16_t{64});
    for (int i = 1; i <= 2; ++i)
      add_pair(rows, x, i, 0, sums);
    for (int j = 1; j <= 2; ++j)
      for (int i = -2; i <= 2; ++i)
        add_pair(rows, x, i, j, sums);
    const std::int16_t* const before = rows.numbers(middle) + x;
    std::uint16_t after[lanes];
    for (int lane = 0; lane < lanes; ++lane) {
      // n and d have at most 17 bits, so rounding n / d to binary32 never reaches the next integer.
      // The change is at least −18, so the biased quotient is positive.
      constexpr int bias = 18;
      const int d = 2 * sums.t[lane], n = 2 * sums.s[lane] + sums.t[lane] + bias * d;
      const auto change = static_cast<int>(static_cast<float>(n) / static_cast<float>(d)) - bias;
      after[lane] =
          before[lane] == no_number ? unknown : static_cast<std::uint16_t>(before[lane] + change);
    }
    std::copy_n(after, count, to + x);
  }
}

void run_pass(const StageRows& rows, const Smooth& stage, int pass, const std::uint16_t* from,
              std::uint16_t* to) {
  static const Cuts cuts;
  for_samples(rows, from, &stage.picture, smoothing_step(pass),
              [&](const SampleRows& samples, int y) {
                smooth_row(samples, rows.row(stage.confidence, y), cuts, rows.config.width,
                           rows.row(to, y));
              });
}

}  // namespace

std::size_t samples_scratch(const StageConfig& config) {
  // Smooth takes the widest steps, and KeepConfident needs one more row.
  return scratch_bytes<SampleRows>(config.width, std::max(refine_step, smoothing_step(0))) +
         static_cast<std::size_t>(round_up(config.width, 64));
}

void run_stage(const StageRows& rows, const Smooth& stage) {
  run_pass(rows, stage, 0, stage.from, stage.to);
  run_pass(rows, stage, 1, stage.to, stage.scratch);
  run_pass(rows, stage, 2, stage.scratch, stage.to);
}

}  // namespace cudavision::sgm
