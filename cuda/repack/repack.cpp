// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/repack/repack.h"

#include <string>

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/repack/backend.h"

namespace cudavision::repack {
namespace {

constexpr char operation[] = "repacking";

/// Adds a plane of words, and a channel that fills it.
void add_channel(FrameLayout& layout, Channel channel) {
  channel.plane = layout.plane_count;
  channel.offset = 0;
  channel.step = 1;
  layout.planes[layout.plane_count++] = {2 * channel.width, channel.height};
  layout.channels[layout.channel_count++] = channel;
}

Channel luminance_channel(const FrameLayout& layout) {
  Channel channel;
  channel.width = layout.width;
  channel.height = layout.height;
  return channel;
}

/// The words of four bytes have only channels that share no bit.
void check_packed(const StoredLayout& storage) {
  const FrameLayout& frame = storage.frame;
  if (frame.plane_count != 1 || frame.shift != 0 || frame.planes[0].rows != frame.height ||
      frame.planes[0].row_bytes != 4 * frame.width)
    refuse(operation, "pixels of one word must be in one plane, without a shift");
  std::uint32_t taken = 0;
  for (int c = 0; c < frame.channel_count; ++c) {
    const Channel& channel = frame.channels[c];
    const int low = storage.low_bit[c], depth = storage.depth[c];
    if (channel.offset != 0 || channel.step != 1 || channel.width != frame.width ||
        channel.height != frame.height)
      refuse(operation, "channel " + std::to_string(c) + " does not have one sample in each word");
    if (depth < 1 || depth > frame.bits || low < 0 || low + depth > 32)
      refuse(operation, "channel " + std::to_string(c) + " takes bits " + std::to_string(low) +
                            " to " + std::to_string(low + depth - 1) + " of a word of 32");
    const std::uint32_t bits = ((1u << depth) - 1) << low;
    if (taken & bits)
      refuse(operation, "channel " + std::to_string(c) + " takes bits of another channel");
    taken |= bits;
  }
}

void check_words(const FrameLayout& frame) {
  for (int p = 0; p < frame.plane_count; ++p) {
    long long bytes = 0;
    for (int c = 0; c < frame.channel_count; ++c)
      if (frame.channels[c].plane == p)
        bytes += 2LL * frame.channels[c].width * frame.channels[c].height;
    if (bytes != static_cast<long long>(frame.planes[p].row_bytes) * frame.planes[p].rows)
      refuse(operation, "plane " + std::to_string(p) + " has bytes that belong to no sample");
  }
}

void check_storage(const StoredLayout& storage) {
  const FrameLayout& frame = storage.frame;
  check_layout(operation, frame);
  if (frame.bits == 8)
    refuse(operation, "samples of 8 bits need none");
  if (storage.words == Words::packed)
    check_packed(storage);
  else
    check_words(frame);
  int luma = 0, colours = 0;
  for (int c = 0; c < frame.channel_count; ++c) {
    const Channel& channel = frame.channels[c];
    const bool chroma = channel.role == Role::chroma || channel.role == Role::alpha;
    luma += channel.role == Role::luma;
    colours += !chroma && channel.role != Role::luma;
    if (!chroma && (channel.width != frame.width || channel.height != frame.height))
      refuse(operation, "channel " + std::to_string(c) + " is not as large as the picture");
  }
  bool complete = luma == 1 && colours == 0;
  if (luma == 0 && colours == 3) {
    complete = true;
    for (const Role role : rgb_roles)
      complete = complete && frame.find(role) >= 0;
  }
  if (!complete)
    refuse(operation, "a layout has either one luma channel or red, green and blue ones");
}

}  // namespace

bool unpacks_channels(const StoredLayout& storage, UnpackedForm form) noexcept {
  return form == UnpackedForm::channels ||
         (form == UnpackedForm::adjustable_luminance && storage.frame.find(Role::luma) >= 0);
}

bool is_needed(const StoredLayout& storage, UnpackedForm form) noexcept {
  const FrameLayout& frame = storage.frame;
  return storage.words != Words::native ||
         (form != UnpackedForm::channels && frame.bits > 8 && frame.find(Role::luma) < 0);
}

FrameLayout unpacked_layout(const StoredLayout& storage, UnpackedForm form) noexcept {
  const FrameLayout& frame = storage.frame;
  if (!is_needed(storage, form))
    return frame;
  FrameLayout layout;
  layout.width = frame.width;
  layout.height = frame.height;
  layout.bits = frame.bits;
  if (unpacks_channels(storage, form)) {
    for (int c = 0; c < frame.channel_count; ++c)
      add_channel(layout, frame.channels[c]);
    return layout;
  }
  add_channel(layout, luminance_channel(frame));
  if (form == UnpackedForm::adjustable_luminance)
    for (int p = 0; p < frame.plane_count; ++p)
      layout.planes[layout.plane_count++] = frame.planes[p];
  return layout;
}

Repack::Repack(Device& device, const StoredLayout& storage, UnpackedForm form)
    : storage_(storage), form_(form) {
  check_storage(storage);
  if (!is_needed(storage, form))
    refuse(operation, "operations read such frames themselves");
  // With alpha in a plane of its own, luminance and colours would take five planes.
  if (form == UnpackedForm::adjustable_luminance && !unpacks_channels(storage, form) &&
      storage.frame.plane_count == FrameLayout::max_planes)
    refuse(operation, "four planes leave no room for the luminance");
  unpacked_ = unpacked_layout(storage, form);
  backend_ = dispatch<make_repack_cuda, make_repack_cpu>(device, storage, form);
}

Repack::~Repack() = default;

void Repack::unpack(const ConstFrame& stored, const Frame& unpacked) {
  check_frame(operation, storage_.frame, stored, "input");
  check_frame(operation, unpacked_, unpacked, "output");
  backend_->unpack(stored, unpacked);
}

void Repack::pack(const ConstFrame& unpacked, const Frame& stored) {
  if (form_ == UnpackedForm::luminance)
    refuse(operation, "luminance alone cannot be packed");
  check_frame(operation, unpacked_, unpacked, "input");
  check_frame(operation, storage_.frame, stored, "output");
  backend_->pack(unpacked, stored);
}

}  // namespace cudavision::repack
