// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/pixels/samples.h"

#include "cuda/core/parallel.h"
#include "cuda/pixels/sample_math.h"

namespace cudavision {
namespace {

CUDAVISION_TARGET_CLONES
void gather8(const std::uint8_t* row, int step, int count, std::uint8_t* values) {
  if (step == 2) {
    for (int x = 0; x < count; ++x)
      values[x] = row[2 * x];
  } else {
    for (int x = 0; x < count; ++x)
      values[x] = row[static_cast<std::ptrdiff_t>(step) * x];
  }
}

CUDAVISION_TARGET_CLONES
void gather_luminance(const std::uint8_t* red, const std::uint8_t* green, const std::uint8_t* blue,
                      int step, int count, std::uint8_t* values) {
  const auto loop = [=](std::ptrdiff_t s) __attribute__((always_inline)) {
    for (int x = 0; x < count; ++x)
      values[x] = static_cast<std::uint8_t>(luminance(red[s * x], green[s * x], blue[s * x]));
  };
  // The compiler vectorises only where the step is a constant.
  if (step == 1)
    loop(1);
  else if (step == 3)
    loop(3);
  else if (step == 4)
    loop(4);
  else
    loop(step);
}

}  // namespace

CUDAVISION_TARGET_CLONES
void gather16(const std::uint8_t* row, int step, int count, int shift, std::uint32_t largest,
              std::uint16_t* values) {
  if (step == 1) {
    for (int x = 0; x < count; ++x)
      values[x] = static_cast<std::uint16_t>(sample_value(load16(row + 2 * x), shift, largest));
  } else {
    for (int x = 0; x < count; ++x)
      values[x] = static_cast<std::uint16_t>(
          sample_value(load16(row + static_cast<std::ptrdiff_t>(2) * step * x), shift, largest));
  }
}

Samples::Samples(const FrameLayout& layout, Role role) : layout_(layout) {
  const int channel = layout.find(role);
  if (channel >= 0)
    channel_[0] = layout.channels[channel];
  else
    for (int c = 0; c < 3; ++c)
      channel_[c] = layout.channels[layout.find(rgb_roles[c])];
  from_rgb_ = channel < 0;
}

const std::uint8_t* Samples::row8(const ConstFrame& in, int y, std::uint8_t* buffer) const {
  const std::uint8_t* first = address(in, 0, y);
  if (!from_rgb_ && channel_[0].step == 1)
    return first;
  if (from_rgb_ && channel_[0].step == channel_[1].step && channel_[1].step == channel_[2].step)
    gather_luminance(first, address(in, 1, y), address(in, 2, y), channel_[0].step, layout_.width,
                     buffer);
  else if (from_rgb_)
    for (int x = 0; x < layout_.width; ++x)
      buffer[x] =
          static_cast<std::uint8_t>(luminance(at(in, 0, x, y), at(in, 1, x, y), at(in, 2, x, y)));
  else
    gather8(first, channel_[0].step, layout_.width, buffer);
  return buffer;
}

const std::uint16_t* Samples::row16(const ConstFrame& in, int y, std::uint16_t* buffer) const {
  gather16(address(in, 0, y), channel_[0].step, layout_.width, layout_.shift,
           (1u << layout_.bits) - 1, buffer);
  return buffer;
}

}  // namespace cudavision
