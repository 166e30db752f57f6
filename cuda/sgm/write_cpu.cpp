// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstring>

#include "cuda/sgm/stages_cpu.h"

namespace cudavision::sgm {
namespace {

CUDAVISION_TARGET_CLONES
void write_row(const std::uint16_t* map, int width, std::uint16_t added, std::uint16_t invalid,
               std::uint8_t* __restrict out) {
  for (int x = 0; x < width; ++x) {
    const auto known = static_cast<std::uint16_t>(map[x] + added);
    const std::uint16_t number = map[x] == unknown ? invalid : known;
    std::memcpy(out + 2 * std::ptrdiff_t{x}, &number, sizeof number);
  }
}

CUDAVISION_TARGET_CLONES
void write_confidence_row(const std::uint16_t* map, const std::uint8_t* confidence, int width,
                          std::uint8_t* __restrict out) {
  for (int x = 0; x < width; ++x)
    out[x] = map[x] == unknown ? 0 : confidence[x];
}

}  // namespace

void write_cpu(const Config& config, const std::uint16_t* map, const DisparityScale& scale,
               View<std::uint8_t> disparity) {
  const auto added = static_cast<std::uint16_t>(config.minimum * scale.per_pixel);
  Bands(config.height).for_each([&](const Band& band) {
    for (int y = band.begin; y < band.end; ++y)
      write_row(map + std::int64_t{y} * config.width, config.width, added, scale.invalid,
                disparity.row(y));
  });
}

void write_confidence_cpu(const Config& config, const std::uint16_t* map,
                          const std::uint8_t* confidence, View<std::uint8_t> out) {
  Bands(config.height).for_each([&](const Band& band) {
    for (int y = band.begin; y < band.end; ++y) {
      const std::int64_t first = std::int64_t{y} * config.width;
      write_confidence_row(map + first, confidence + first, config.width, out.row(y));
    }
  });
}

}  // namespace cudavision::sgm
