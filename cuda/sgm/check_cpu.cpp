// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/pixels/sample_math.h"
#include "cuda/pixels/samples.h"
#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/stages_cpu.h"

namespace cudavision::sgm {
namespace {

std::uint32_t luminance_at(const SamplePlane& picture, int x, int y) {
  const std::uint8_t* const row = picture.rows.row(y);
  return picture.bits == 8 ? row[x]
                           : sample_value(load16(row + 2 * std::ptrdiff_t{x}), picture.shift,
                                          (1u << picture.bits) - 1);
}

}  // namespace

void check_cpu(const Config& config, const SamplePlane& picture, const std::uint16_t* right,
               bool subpixel, int max_diff, std::uint16_t* left) {
  const int width = config.width;
  const bool libsgm = config.compatibility == Parameters::Compatibility::libsgm;
  const int shift = subpixel ? 4 : 0;
  Bands(config.height).for_each([&](const Band& band) {
    for (int y = band.begin; y < band.end; ++y) {
      std::uint16_t* const row = left + std::int64_t{y} * width;
      const std::uint16_t* const other = right + std::int64_t{y} * width;
      for (int x = 0; x < width; ++x) {
        const bool confirmed = libsgm ? is_confirmed_by_libsgm(row[x], luminance_at(picture, x, y),
                                                               x, width, other, shift, max_diff)
                                      : is_confirmed(row[x], x, width, other, max_diff);
        if (!confirmed)
          row[x] = unknown;
      }
    }
  });
}

}  // namespace cudavision::sgm
