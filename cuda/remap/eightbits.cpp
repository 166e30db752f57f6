// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/remap/eightbits.h"

#include <string>

#include "cuda/core/layoutcheck.h"
#include "cuda/remap/eightbits_backend.h"

namespace cudavision::remap {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  cudavision::refuse("samples of 8 bits", what);
}

void check(const SamplePlane& in, const View<std::uint8_t>& out) {
  if (in.bits < 8 || in.bits > 16)
    refuse(std::to_string(in.bits) + " bits per sample; 8 to 16 are supported");
  const int sample_bytes = in.bits > 8 ? 2 : 1;
  if (!in.rows || in.width < 1 || in.height() < 1 || in.rows.width != sample_bytes * in.width ||
      in.shift < 0 || in.shift > (sample_bytes == 1 ? 0 : 16 - in.bits))
    refuse("the input must have rows of whole samples, at least one");
  if (!out || out.width != in.width || out.height != in.height())
    refuse("the output must be " + std::to_string(in.height()) + " rows of " +
           std::to_string(in.width) + " bytes");
}

}  // namespace

EightBits::EightBits(Device& device)
    : device_(device),
      backend_(device.kind() == DeviceKind::cuda ? make_eight_bits_cuda(device)
                                                 : make_eight_bits_cpu()) {}

EightBits::~EightBits() = default;

void EightBits::run(const SamplePlane& in, View<std::uint8_t> out) {
  check(in, out);
  if (in.bits == 8)
    device_.copy(in.rows, out);
  else
    backend_->run(in, out);
}

}  // namespace cudavision::remap
