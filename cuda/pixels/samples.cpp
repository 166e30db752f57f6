// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/pixels/samples.h"

#include "cuda/core/parallel.h"
#include "cuda/pixels/sample_math.h"

namespace cudavision {
namespace {

CUDAVISION_TARGET_CLONES
void gather_luminance(const std::uint8_t* red, const std::uint8_t* green, const std::uint8_t* blue,
                      int step, int count, std::uint8_t* values) {
  const auto loop = [=](std::ptrdiff_t s) __attribute__((always_inline)) {
    for (int x = 0; x < count; ++x)
      values[x] = static_cast<std::uint8_t>(luminance(red[s * x], green[s * x], blue[s * x]));
  };
  // The compiler vectorises the loop only if step is a constant.
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
void gather8(const std::uint8_t* row, int step, int count, std::uint8_t* values) {
  if (step == 1) {
    std::memcpy(values, row, static_cast<std::size_t>(count));
  } else if (step == 2) {
    for (int x = 0; x < count; ++x)
      values[x] = row[2 * x];
  } else {
    for (int x = 0; x < count; ++x)
      values[x] = row[static_cast<std::ptrdiff_t>(step) * x];
  }
}

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

CUDAVISION_TARGET_CLONES
void gather_levels(const std::uint8_t* __restrict row, int step, int count, int bits, int shift,
                   std::uint8_t* __restrict levels) {
  if (bits == 8)
    return gather8(row, step, count, levels);
  const std::uint32_t largest = (1u << bits) - 1;
  const auto loop = [=](std::ptrdiff_t s) __attribute__((always_inline)) {
    for (int x = 0; x < count; ++x)
      levels[x] = static_cast<std::uint8_t>(sample_value(load16(row + 2 * s * x), shift, largest) >>
                                            (bits - 8));
  };
  if (step == 1)
    loop(1);
  else
    loop(step);
}

void copy_rows(View<const std::uint8_t> from, View<std::uint8_t> to, int begin, int end) {
  for (int y = begin; y < end; ++y)
    std::memcpy(to.row(y), from.row(y), static_cast<std::size_t>(from.width));
}

void copy_plane(View<const std::uint8_t> from, View<std::uint8_t> to) {
  for_rows(from.height, [&](int y) { copy_rows(from, to, y, y + 1); });
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

const std::uint8_t* Samples::row(const ConstFrame& in, int y, std::uint8_t* buffer) const {
  const std::uint8_t* first = address(in, 0, y);
  const int step = channel_[0].step, width = channel_[0].width;
  if (!from_rgb_) {
    if (step == 1)
      return first;
    gather8(first, step, width, buffer);
    return buffer;
  }
  const std::uint8_t *second = address(in, 1, y), *third = address(in, 2, y);
  if (step == channel_[1].step && step == channel_[2].step)
    gather_luminance(first, second, third, step, width, buffer);
  else
    for (std::ptrdiff_t x = 0; x < width; ++x)
      buffer[x] = static_cast<std::uint8_t>(
          luminance(first[step * x], second[channel_[1].step * x], third[channel_[2].step * x]));
  return buffer;
}

const std::uint16_t* Samples::row(const ConstFrame& in, int y, std::uint16_t* buffer) const {
  gather16(address(in, 0, y), channel_[0].step, channel_[0].width, layout_.shift,
           (1u << layout_.bits) - 1, buffer);
  return buffer;
}

}  // namespace cudavision
