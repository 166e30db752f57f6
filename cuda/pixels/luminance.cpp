// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/pixels/luminance.h"

#include "cuda/core/dispatch.h"
#include "cuda/core/division.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/pixels/luminance_backend.h"

namespace cudavision {

Luminance::Luminance(Device& device, const FrameLayout& layout, const char* operation)
    : layout_(layout), operation_(operation) {
  check_luminance(operation, layout);
  const int luma = layout.find(Role::luma);
  if (luma >= 0 && layout.channels[luma].step == 1)
    return;
  constexpr int row_alignment = 128;  // bytes of a memory transaction
  const int row_bytes = layout.width * layout.sample_bytes();
  const int pitch = round_up(row_bytes, row_alignment);
  memory_ = device.allocate(static_cast<std::size_t>(pitch) * layout.height);
  plane_ = {memory_.as<std::uint8_t>(), row_bytes, layout.height, pitch};
  backend_ = dispatch<make_luminance_cuda, make_luminance_cpu>(device, layout);
}

Luminance::~Luminance() = default;

SamplePlane Luminance::of(const ConstFrame& in) {
  check_frame(operation_, layout_, in, "input");
  if (backend_) {
    backend_->run(in, plane_);
    return {plane_, layout_.width, layout_.bits, 0};
  }
  const Channel& luma = layout_.channels[layout_.find(Role::luma)];
  View<const std::uint8_t> rows = in.planes[luma.plane];  // a step of 1 implies an offset of 0
  rows.width = layout_.width * layout_.sample_bytes();
  rows.height = layout_.height;
  return {rows, layout_.width, layout_.bits, layout_.shift};
}

void reduce_to_8_bits(Device& device, const SamplePlane& in, View<std::uint8_t> out) {
  constexpr char operation[] = "reduction to 8 bits";
  if (in.bits < 8 || in.bits > 16)
    refuse(operation, in.bits, " bits per sample; 8 to 16 are supported");
  const int sample_bytes = in.bits > 8 ? 2 : 1, max_shift = sample_bytes == 1 ? 0 : 16 - in.bits;
  if (!in.rows || in.width < 1 || in.height() < 1 || in.rows.width != sample_bytes * in.width ||
      in.shift < 0 || in.shift > max_shift)
    refuse(operation, "the input has ", in.height(), " rows of ", in.rows.width, " bytes for ",
           in.width, " samples shifted by ", in.shift, "; it must have whole samples of ",
           sample_bytes, " bytes and a shift of 0 to ", max_shift);
  if (!out || out.width != in.width || out.height != in.height())
    refuse(operation, "the output must be ", in.height(), " rows of ", in.width, " bytes, not ",
           out.height, " rows of ", out.width, " bytes");
  if (in.bits == 8)
    device.copy(in.rows, out);
  else
    dispatch<reduce_to_8_bits_cuda, reduce_to_8_bits_cpu>(device, in, out);
}

}  // namespace cudavision
