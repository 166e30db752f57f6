// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cuda/core/parallel.h"
#include "cuda/pixels/luminance_backend.h"
#include "cuda/pixels/samples.h"

namespace cudavision {
namespace {

class LuminanceCpu final : public Luminance::Backend {
 public:
  explicit LuminanceCpu(const FrameLayout& layout)
      : bits_(layout.bits), samples_(layout, Role::luma) {}

  void run(const ConstFrame& in, View<std::uint8_t> out) override {
    // row() fills the buffer, because luma that needs no conversion never reaches a backend.
    for_rows(out.height, [&](int y) {
      if (bits_ == 8)
        samples_.row(in, y, out.row(y));
      else
        samples_.row(in, y, reinterpret_cast<std::uint16_t*>(out.row(y)));
    });
  }

 private:
  int bits_;
  Samples samples_;
};

}  // namespace

std::unique_ptr<Luminance::Backend> make_luminance_cpu(Device&, const FrameLayout& layout) {
  return std::make_unique<LuminanceCpu>(layout);
}

void reduce_to_8_bits_cpu(Device&, const SamplePlane& in, View<std::uint8_t> out) {
  for_rows(out.height, [&](int y) {
    gather_levels(in.rows.row(y), 1, in.width, in.bits, in.shift, out.row(y));
  });
}

}  // namespace cudavision
