// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/repack/repack_definition.h"

#include <algorithm>
#include <cstring>

#include "tests/kernels/common/layouts.h"

namespace cudavision::test {
namespace {

using repack::StoredLayout;
using repack::UnpackedForm;
using repack::Words;

bool is_colour(Role role) {
  return role == Role::red || role == Role::green || role == Role::blue;
}

/// Maps a value from [0, largest] to [0, new_largest]; rounds half up.
int scaled(int value, int largest, int new_largest) {
  return static_cast<int>((std::int64_t{value} * new_largest + largest / 2) / largest);
}

template <class Byte>
class Stored {
 public:
  Stored(const StoredLayout& storage, const BasicFrame<Byte>& frame)
      : storage_(storage), frame_(frame) {}

  int largest() const { return (1 << storage_.frame.bits) - 1; }

  int sample(std::size_t c, int x, int y) const {
    const Byte* bytes = address(c, x, y);
    if (storage_.words == Words::packed) {
      const std::uint32_t word =
          bytes[0] | bytes[1] << 8 | bytes[2] << 16 | static_cast<std::uint32_t>(bytes[3]) << 24;
      const int maximum = (1 << storage_.depth[c]) - 1;
      return scaled(static_cast<int>(word >> storage_.low_bit[c]) & maximum, maximum, largest());
    }
    const bool swapped = storage_.words == Words::swapped;
    const int word = bytes[swapped ? 1 : 0] + 256 * bytes[swapped ? 0 : 1];
    return std::min(word >> storage_.frame.shift, largest());
  }

  /// In packed words, only sets bits, so the words must be 0 before the first sample is stored.
  void put(std::size_t c, int x, int y, int value) const {
    value = std::min(value, largest());
    Byte* bytes = address(c, x, y);
    if (storage_.words == Words::packed) {
      const int maximum = (1 << storage_.depth[c]) - 1;
      const std::uint32_t bits = static_cast<std::uint32_t>(scaled(value, largest(), maximum))
                                 << storage_.low_bit[c];
      for (int i = 0; i < 4; ++i)
        bytes[i] = static_cast<std::uint8_t>(bytes[i] | bits >> (8 * i));
      return;
    }
    const int word = value << storage_.frame.shift;
    const bool swapped = storage_.words == Words::swapped;
    bytes[swapped ? 1 : 0] = static_cast<std::uint8_t>(word % 256);
    bytes[swapped ? 0 : 1] = static_cast<std::uint8_t>(word / 256);
  }

  int luminance(int x, int y) const {
    const auto sample_of = [&](Role role) { return sample(storage_.frame.find(role), x, y); };
    if (storage_.frame.find(Role::luma) >= 0)
      return sample_of(Role::luma);
    return (299 * sample_of(Role::red) + 587 * sample_of(Role::green) +
            114 * sample_of(Role::blue)) /
           1000;
  }

 private:
  Byte* address(std::size_t c, int x, int y) const {
    const Channel& channel = storage_.frame.channels[c];
    const std::ptrdiff_t bytes = storage_.words == Words::packed ? 4 : 2;
    return frame_.planes[channel.plane].row(y) +
           bytes * (channel.offset + std::ptrdiff_t{channel.step} * x);
  }

  const StoredLayout& storage_;
  const BasicFrame<Byte>& frame_;
};

int word_at(const View<const std::uint8_t>& plane, int x, int y) {
  return plane.row(y)[2 * std::ptrdiff_t{x}] + 256 * plane.row(y)[2 * std::ptrdiff_t{x} + 1];
}

void put_word(const View<std::uint8_t>& plane, int x, int y, int value) {
  plane.row(y)[2 * std::ptrdiff_t{x}] = static_cast<std::uint8_t>(value % 256);
  plane.row(y)[2 * std::ptrdiff_t{x} + 1] = static_cast<std::uint8_t>(value / 256);
}

bool begins_with_luminance(const StoredLayout& storage, UnpackedForm form) {
  return form == UnpackedForm::luminance ||
         (form == UnpackedForm::adjustable_luminance && is_rgb(storage.frame));
}

template <class Visit>
void for_samples(const FrameLayout& layout, const Visit& visit) {
  for (std::size_t c = 0; c < static_cast<std::size_t>(layout.channel_count); ++c)
    for (int y = 0; y < layout.channels[c].height; ++y)
      for (int x = 0; x < layout.channels[c].width; ++x)
        visit(c, x, y);
}

}  // namespace

void defined_unpacking(const StoredLayout& storage, UnpackedForm form, const ConstFrame& stored,
                       const Frame& unpacked) {
  const FrameLayout& layout = storage.frame;
  const Stored<const std::uint8_t> from(storage, stored);
  if (!begins_with_luminance(storage, form)) {
    for_samples(layout, [&](std::size_t c, int x, int y) {
      put_word(unpacked.planes[c], x, y, from.sample(c, x, y));
    });
    return;
  }
  for (int y = 0; y < layout.height; ++y)
    for (int x = 0; x < layout.width; ++x)
      put_word(unpacked.planes[0], x, y, from.luminance(x, y));
  if (form == UnpackedForm::luminance)
    return;
  for (std::size_t p = 0; p < static_cast<std::size_t>(layout.plane_count); ++p)
    for (int y = 0; y < layout.planes[p].rows; ++y)
      std::memcpy(unpacked.planes[p + 1].row(y), stored.planes[p].row(y),
                  static_cast<std::size_t>(layout.planes[p].row_bytes));
}

void defined_packing(const StoredLayout& storage, UnpackedForm form, const ConstFrame& unpacked,
                     const Frame& stored) {
  const FrameLayout& layout = storage.frame;
  for (std::size_t p = 0; p < static_cast<std::size_t>(layout.plane_count); ++p)
    for (int y = 0; y < layout.planes[p].rows; ++y)
      std::memset(stored.planes[p].row(y), 0, static_cast<std::size_t>(layout.planes[p].row_bytes));
  const Stored<std::uint8_t> to(storage, stored);
  if (!begins_with_luminance(storage, form)) {
    for_samples(layout, [&](std::size_t c, int x, int y) {
      to.put(c, x, y, word_at(unpacked.planes[c], x, y));
    });
    return;
  }
  ConstFrame kept_planes;
  for (std::size_t p = 0; p < static_cast<std::size_t>(layout.plane_count); ++p)
    kept_planes.planes[p] = unpacked.planes[p + 1];
  const Stored<const std::uint8_t> kept(storage, kept_planes);
  for_samples(layout, [&](std::size_t c, int x, int y) {
    int value = kept.sample(c, x, y);
    if (is_colour(layout.channels[c].role))
      value = std::clamp(value + word_at(unpacked.planes[0], x, y) - kept.luminance(x, y), 0,
                         to.largest());
    to.put(c, x, y, value);
  });
}

}  // namespace cudavision::test
