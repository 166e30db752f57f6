// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/repack/repack.h"

#include <algorithm>
#include <span>

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/repack/conversion.h"

namespace cudavision::repack {
namespace {

constexpr char operation[] = "repacking";

/// Weight of a channel in the luminance, in thousandths.
std::uint32_t luminance_weight(Role role) {
  return role == Role::red ? 299 : role == Role::green ? 587 : role == Role::blue ? 114 : 0;
}

void check_storage(const StoredLayout& storage) {
  const FrameLayout& frame = storage.frame;
  check_layout(operation, frame);
  if (frame.bits == 8)
    refuse(operation, "samples of 8 bits need no repacking");
  const bool packed = storage.words == Words::packed;
  if (packed &&
      (frame.plane_count != 1 || frame.shift != 0 || frame.planes[0].rows != frame.height ||
       frame.planes[0].row_bytes != 4 * frame.width))
    refuse(operation, "packed pixels must be in one plane of 32-bit words, without a shift, not ",
           frame.plane_count, " planes of ", frame.planes[0].row_bytes,
           " bytes per row and shift=", frame.shift);
  int luma = 0;
  std::uint32_t weights = 0, taken_bits = 0;
  long long bytes[FrameLayout::max_planes]{};
  for (int c = 0; c < frame.channel_count; ++c) {
    const Channel& channel = frame.channels[c];
    const std::uint32_t weight = luminance_weight(channel.role);
    luma += channel.role == Role::luma;
    weights += weight;
    bytes[channel.plane] += 2LL * channel.width * channel.height;
    if ((channel.role == Role::luma || weight > 0) && !frame.is_full(channel))
      refuse(operation, "channel ", c, " of ", text_of(channel.width, channel.height),
             " samples must be as large as the picture, ", text_of(frame.width, frame.height));
    if (!packed)
      continue;
    const int low = storage.low_bit[c], depth = storage.depth[c];
    if (channel.offset != 0 || channel.step != 1 || !frame.is_full(channel))
      refuse(operation, "channel ", c, " of ", text_of(channel.width, channel.height),
             " samples, offset=", channel.offset, " and step=", channel.step,
             " must have one sample in each word");
    if (depth < 1 || depth > frame.bits || low < 0 || low + depth > 32)
      refuse(operation, "channel ", c, " takes bits ", low, " to ", low + depth - 1,
             "; it must take 1 to ", frame.bits, " of bits 0 to 31");
    const std::uint32_t bits = ((1u << depth) - 1) << low;
    if (taken_bits & bits)
      refuse(operation, "channel ", c, " overlaps the bits of another channel, from bit ", low);
    taken_bits |= bits;
  }
  for (int p = 0; p < (packed ? 0 : frame.plane_count); ++p)
    if (bytes[p] != static_cast<long long>(frame.planes[p].row_bytes) * frame.planes[p].rows)
      refuse(operation, "plane ", p, " has ",
             text_of(frame.planes[p].row_bytes, frame.planes[p].rows),
             " bytes, but must consist of the samples, which have ", bytes[p], " bytes");
  // Only red, green and blue together have weights that add up to 1000.
  if (luma == 1 ? weights != 0 : luma != 0 || weights != 1000)
    refuse(operation, "the layout needs one luma channel, or red, green and blue channels");
}

/// Returns true if unpacked frames have the stored channels; false if plane 0 is the luminance.
bool unpacks_channels(const StoredLayout& storage, UnpackedForm form) noexcept {
  return form == UnpackedForm::channels ||
         (form == UnpackedForm::adjustable_luminance && storage.frame.find(Role::luma) >= 0);
}

Field stored_field(const StoredLayout& storage, int c) {
  const FrameLayout& frame = storage.frame;
  const Channel& channel = frame.channels[c];
  Field field{.plane = channel.plane,
              .rotation = storage.words == Words::swapped ? 8 : 0,
              .shift = frame.shift,
              .weight = luminance_weight(channel.role)};
  if (storage.words == Words::packed) {
    field.word_bytes = field.step = 4;
    field.low_bit = storage.low_bit[c];
    field.mask = make_division((1u << storage.depth[c]) - 1);
  } else if (frame.channel_count == 4 && channel.step == 4 &&
             frame.planes[0].row_bytes == 8 * frame.width) {
    field.word_bytes = field.step = 8;
    field.low_bit = 16 * channel.offset;
  } else {
    field.offset = 2 * channel.offset;
    field.step = 2 * channel.step;
  }
  return field;
}

}  // namespace

bool is_needed(const StoredLayout& storage, UnpackedForm form) noexcept {
  const FrameLayout& frame = storage.frame;
  return storage.words != Words::native ||
         (form != UnpackedForm::channels && frame.bits > 8 && frame.find(Role::luma) < 0);
}

FrameLayout unpacked_layout(const StoredLayout& storage, UnpackedForm form) noexcept {
  const FrameLayout& frame = storage.frame;
  if (!is_needed(storage, form))
    return frame;
  const bool channels = unpacks_channels(storage, form);
  FrameLayout layout{.width = frame.width, .height = frame.height, .bits = frame.bits};
  for (int c = 0; c < (channels ? frame.channel_count : 1); ++c) {
    Channel channel =
        channels ? frame.channels[c] : Channel{.width = frame.width, .height = frame.height};
    channel.plane = c;
    channel.offset = 0;
    channel.step = 1;
    layout.planes[layout.plane_count++] = {2 * channel.width, channel.height};
    layout.channels[layout.channel_count++] = channel;
  }
  if (form == UnpackedForm::adjustable_luminance && !channels)
    for (int p = 0; p < frame.plane_count; ++p)
      layout.planes[layout.plane_count++] = frame.planes[p];
  return layout;
}

Repack::Repack(Device& device, const StoredLayout& storage, UnpackedForm form)
    : device_(device), storage_(storage), form_(form) {
  check_storage(storage);
  if (!is_needed(storage, form))
    refuse(operation, "operations can read these frames directly; do not repack them");
  if (form == UnpackedForm::adjustable_luminance && !unpacks_channels(storage, form) &&
      storage.frame.plane_count == FrameLayout::max_planes)
    refuse(operation, "frames of 4 planes leave none for the luminance; use at most 3 planes");
  unpacked_ = unpacked_layout(storage, form);
}

void Repack::run(bool packs, const ConstFrame& in, const Frame& out) {
  if (packs && form_ == UnpackedForm::luminance)
    refuse(operation, "luminance alone cannot be packed");
  const FrameLayout& frame = storage_.frame;
  check_frame(operation, packs ? unpacked_ : frame, in, "input");
  check_frame(operation, packs ? frame : unpacked_, out, "output");
  const bool channels = unpacks_channels(storage_, form_);
  const bool has_colours = !channels && frame.find(Role::luma) < 0;
  Conversion conversions[FrameLayout::max_channels];
  int count = 0;
  for (int c = 0; c < frame.channel_count; ++c) {
    const Channel& channel = frame.channels[c];
    const Field stored = stored_field(storage_, c), unpacked{.plane = channels ? c : 0};
    // Alpha and chroma do not contribute to the luminance.
    if (!channels && !packs && channel.role != Role::luma && stored.weight == 0)
      continue;
    // Channels that are read or written together share a conversion.
    if (count == 0 || (stored.word_bytes == 2 && !has_colours))
      conversions[count++] = {.width = channel.width,
                              .height = channel.height,
                              .largest = make_division((1u << frame.bits) - 1),
                              .measures = has_colours && !packs,
                              .adjusts = has_colours && packs};
    Conversion& a = conversions[count - 1];
    Field& from = a.from[a.from_count++];
    from = packs && !a.adjusts ? unpacked : stored;
    from.plane += a.adjusts;  // the first plane is the luminance
    if (!a.measures || a.to_count == 0)
      a.to[a.to_count++] = packs ? stored : unpacked;
  }
  for (Conversion& a : std::span(conversions, count)) {
    std::copy(in.planes.begin(), in.planes.end(), a.in);
    std::copy(out.planes.begin(), out.planes.end(), a.out);
    dispatch<convert_cuda, convert_cpu>(device_, a);
  }
  for (int p = unpacked_.channel_count; !packs && p < unpacked_.plane_count; ++p)
    device_.copy(in.planes[p - 1], out.planes[p]);
}

}  // namespace cudavision::repack
