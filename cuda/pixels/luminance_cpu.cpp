// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cuda/core/parallel.h"
#include "cuda/pixels/luminance_backend.h"
#include "cuda/pixels/sample_math.h"
#include "cuda/pixels/samples.h"

namespace cudavision {
namespace {

class LuminanceCpu final : public Luminance::Backend {
 public:
  explicit LuminanceCpu(const FrameLayout& layout)
      : bits_(layout.bits), samples_(layout, Role::luma), bands_(layout.height) {}

  void run(const ConstFrame& in, View<std::uint8_t> out) override {
    bands_.for_each([&](const Band& band) {
      // Luminance makes no backend for contiguous samples, so the rows are always gathered.
      for (int y = band.begin; y < band.end; ++y)
        if (bits_ == 8)
          samples_.row8(in, y, out.row(y));
        else
          samples_.row16(in, y, reinterpret_cast<std::uint16_t*>(out.row(y)));
    });
  }

 private:
  int bits_;
  Samples samples_;
  Bands bands_;
};

CUDAVISION_TARGET_CLONES
void reduce_row(const std::uint8_t* __restrict row, int count, int shift, std::uint32_t largest,
                int dropped, std::uint8_t* __restrict out) {
  for (int x = 0; x < count; ++x)
    out[x] = static_cast<std::uint8_t>(
        sample_value(load16(row + 2 * std::ptrdiff_t{x}), shift, largest) >> dropped);
}

}  // namespace

std::unique_ptr<Luminance::Backend> make_luminance_cpu(Device&, const FrameLayout& layout) {
  return std::make_unique<LuminanceCpu>(layout);
}

void reduce_to_8_bits_cpu(Device&, const SamplePlane& in, View<std::uint8_t> out) {
  Bands(out.height).for_each([&](const Band& band) {
    for (int y = band.begin; y < band.end; ++y)
      reduce_row(in.rows.row(y), in.width, in.shift, (1u << in.bits) - 1, in.bits - 8, out.row(y));
  });
}

}  // namespace cudavision
