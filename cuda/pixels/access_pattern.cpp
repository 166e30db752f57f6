// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/pixels/access_pattern.h"

#include <algorithm>
#include <span>

#include "cuda/core/division.h"
#include "cuda/core/layoutcheck.h"

namespace cudavision {
namespace {

constexpr int vector_bytes = 16;

AccessPattern scattered_pattern(const FrameLayout& layout, bool colour) {
  if (colour)
    return AccessPattern::scattered_colour;
  return layout.bits == 8 ? AccessPattern::scattered_luma_1 : AccessPattern::scattered_luma_2;
}

AccessPattern dense_pattern(const FrameLayout& layout, const Channel (&channels)[3], bool colour) {
  const auto rows_fit = [&](const Channel& channel) {
    return layout.planes[channel.plane].rows == layout.height;
  };
  const Channel& first = channels[0];
  if (!rows_fit(first))
    return scattered_pattern(layout, colour);
  if (!colour) {
    if (layout.bits > 8)
      return first.step == 1 ? AccessPattern::luma_words : AccessPattern::scattered_luma_2;
    if (first.step == 1)
      return AccessPattern::luma_bytes_1;
    if (first.step == 2)
      return first.offset == 0 ? AccessPattern::luma_bytes_2_0 : AccessPattern::luma_bytes_2_1;
    return AccessPattern::scattered_luma_1;
  }
  const auto all = [&](auto condition) { return std::all_of(channels, channels + 3, condition); };
  const bool one_plane = all([&](const Channel& c) { return c.plane == first.plane; });
  if (one_plane && all([](const Channel& c) { return c.step == 4; }))
    return AccessPattern::packed_colour_4;
  if (one_plane && all([](const Channel& c) { return c.step == 3; }))
    return AccessPattern::packed_colour_3;
  const int row_bytes = layout.planes[first.plane].row_bytes;
  if (all([&](const Channel& c) {
        return c.step == 1 && rows_fit(c) && layout.planes[c.plane].row_bytes == row_bytes;
      }) &&
      channels[0].plane != channels[1].plane && channels[1].plane != channels[2].plane &&
      channels[0].plane != channels[2].plane)
    return AccessPattern::planar_colour;
  return AccessPattern::scattered_colour;
}

bool without_gaps(const PackedImage& packs) {
  return std::all_of(packs.planes, packs.planes + 3, [&](const PlanePair& plane) {
    return (!plane.in || plane.in_pitch == packs.row_bytes) &&
           (!plane.out || plane.out_pitch == packs.row_bytes);
  });
}

bool is_aligned(const void* data, std::ptrdiff_t pitch) {
  return reinterpret_cast<std::uintptr_t>(data) % vector_bytes == 0 && pitch % vector_bytes == 0;
}

}  // namespace

void AccessPlan::copy_planes(Device& device) {
  for (const PlaneCopy& copy : std::span(copies, copy_count))
    device.copy({copy.plane.in, copy.row_bytes, copy.rows, copy.plane.in_pitch},
                {copy.plane.out, copy.row_bytes, copy.rows, copy.plane.out_pitch});
  copy_count = 0;
}

AccessPlanner::AccessPlanner(const FrameLayout& layout)
    : layout_(layout), colour_(layout.find(Role::luma) < 0) {
  for (int c = 0; c < (colour_ ? 3 : 1); ++c)
    channels_[c] = layout.channels[layout.find(colour_ ? rgb_roles[c] : Role::luma)];
  dense_pattern_ = dense_pattern(layout, channels_, colour_);

  for (int p = 0; p < layout.plane_count; ++p) {
    int samples = 0;
    for (int c = 0; c < (colour_ ? 3 : 1); ++c)
      samples += channels_[c].plane == p;
    if (samples == 0)
      untouched_planes_.push_back(p);
    if (static_cast<long long>(samples) * layout.width * layout.height * layout.sample_bytes() <
        static_cast<long long>(layout.planes[p].row_bytes) * layout.planes[p].rows)
      planes_with_other_bytes_.push_back(p);
  }
}

bool AccessPlanner::aligned(const ConstFrame& in, const Frame& out) const {
  for (int p = 0; p < layout_.plane_count; ++p) {
    // The pitch matters only if a plane has several rows.
    const bool rows = layout_.planes[p].rows > 1;
    if (!is_aligned(in.planes[p].data, rows ? in.planes[p].pitch : 0) ||
        !is_aligned(out.planes[p].data, rows ? out.planes[p].pitch : 0))
      return false;
  }
  return true;
}

AccessPlan AccessPlanner::plan(const ConstFrame& in, const Frame& out) const {
  AccessPlan plan;
  plan.kind = aligned(in, out) ? dense_pattern_ : scattered_pattern(layout_, colour_);

  PackedImage& packs = plan.packs;
  const auto pair = [&](int p) {
    return PlanePair{in.planes[p].data, out.planes[p].data,
                     kernel_pitch("a frame", in.planes[p].pitch),
                     kernel_pitch("a frame", out.planes[p].pitch)};
  };
  for (int c = 0; c < (colour_ ? 3 : 1); ++c) {
    packs.planes[c] = pair(channels_[c].plane);
    packs.offset[c] = channels_[c].offset * layout_.sample_bytes();
    packs.step[c] = channels_[c].step * layout_.sample_bytes();
  }
  packs.width = layout_.width;
  packs.row_bytes = layout_.planes[channels_[0].plane].row_bytes;
  packs.shift = layout_.shift;
  packs.largest = (1u << layout_.bits) - 1;

  const int pixels = with_pack(plan.kind, []<class Pack>() { return Pack::pixels; });
  const int pixel_bytes = with_pack(plan.kind, []<class Pack>() { return Pack::pixel_bytes; });
  const int row_pixels = plan.scattered() ? layout_.width : divide_up(packs.row_bytes, pixel_bytes);
  const std::uint32_t per_row = divide_up(row_pixels, pixels);
  if (!plan.scattered() && row_pixels == layout_.width && row_pixels % pixels == 0)
    plan.rows = without_gaps(packs) ? Rows::linear : Rows::whole;
  packs.per_row = static_cast<int>(per_row);
  packs.rows = layout_.height;
  packs.count = per_row * static_cast<std::uint32_t>(layout_.height);

  if (colour_) {
    constexpr std::uint32_t weights[3] = {299, 587, 114};
    packs.keep = 0xffffffffu;
    for (int c = 0; c < 3; ++c) {
      // Packed pixels keep the order of their bytes; other patterns read red, green, blue.
      const bool packed = plan.kind == AccessPattern::packed_colour_3 ||
                          plan.kind == AccessPattern::packed_colour_4;
      const int byte = packed ? channels_[c].offset : c;
      packs.weights_low |= weights[c] % 256 << (8 * byte);
      packs.weights_high |= weights[c] / 256 << (8 * byte);
      packs.keep &= ~(0xffu << (8 * byte));
      packs.table_of[byte] = c;
    }
  }

  for (const int p : plan.scattered() ? planes_with_other_bytes_ : untouched_planes_) {
    if (!out.planes[p])
      continue;
    PlaneCopy& copy = plan.copies[plan.copy_count++];
    copy.plane = pair(p);
    copy.row_bytes = layout_.planes[p].row_bytes;
    const std::uint32_t vectors = divide_up(copy.row_bytes, vector_bytes);
    copy.count = vectors * static_cast<std::uint32_t>(layout_.planes[p].rows);
    copy.per_row = static_cast<int>(vectors);
    copy.rows = layout_.planes[p].rows;
  }
  return plan;
}

}  // namespace cudavision
