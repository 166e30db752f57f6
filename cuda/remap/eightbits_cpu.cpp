// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cuda/core/parallel.h"
#include "cuda/pixels/sample_math.h"
#include "cuda/pixels/samples.h"
#include "cuda/remap/eightbits_backend.h"

namespace cudavision::remap {
namespace {

CUDAVISION_TARGET_CLONES
void reduce_row(const std::uint8_t* __restrict row, int count, int shift, std::uint32_t largest,
                int dropped, std::uint8_t* __restrict out) {
  for (int x = 0; x < count; ++x)
    out[x] = static_cast<std::uint8_t>(
        sample_value(load16(row + 2 * std::ptrdiff_t{x}), shift, largest) >> dropped);
}

class EightBitsCpu final : public EightBits::Backend {
 public:
  void run(const SamplePlane& in, View<std::uint8_t> out) override {
    Bands(out.height).for_each([&](const Band& band) {
      for (int y = band.begin; y < band.end; ++y)
        reduce_row(in.rows.row(y), in.width, in.shift, (1u << in.bits) - 1, in.bits - 8,
                   out.row(y));
    });
  }
};

}  // namespace

std::unique_ptr<EightBits::Backend> make_eight_bits_cpu() {
  return std::make_unique<EightBitsCpu>();
}

}  // namespace cudavision::remap
