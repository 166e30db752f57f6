// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Chooses how kernels read and write the pixels of a frame, by its layout and its addresses.

#include <vector>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/pixels/pixel_pack.h"

namespace cudavision {

/// How kernels access pixels. Each pattern has a pack type of pixel_pack.h (with_pack()).
enum class AccessPattern {
  luma_bytes_1,
  luma_bytes_2_0,
  luma_bytes_2_1,
  luma_words,
  packed_colour_3,
  packed_colour_4,
  planar_colour,
  scattered_luma_1,
  scattered_luma_2,
  scattered_colour,
};

template <class Pack>
constexpr bool is_words = false;
template <bool kAllBits>
constexpr bool is_words<LumaWords<kAllBits>> = true;
template <>
constexpr bool is_words<ScatteredLuma<2>> = true;

/// Calls use.template operator()<Pack>() with the pack type of a pattern.
template <class Use>
auto with_pack(AccessPattern kind, const Use& use) {
  switch (kind) {
    case AccessPattern::luma_bytes_1:
      return use.template operator()<LumaBytes<1, 0>>();
    case AccessPattern::luma_bytes_2_0:
      return use.template operator()<LumaBytes<2, 0>>();
    case AccessPattern::luma_bytes_2_1:
      return use.template operator()<LumaBytes<2, 1>>();
    case AccessPattern::luma_words:
      return use.template operator()<LumaWords<false>>();
    case AccessPattern::packed_colour_3:
      return use.template operator()<PackedColour<3>>();
    case AccessPattern::packed_colour_4:
      return use.template operator()<PackedColour<4>>();
    case AccessPattern::planar_colour:
      return use.template operator()<PlanarColour>();
    case AccessPattern::scattered_luma_1:
      return use.template operator()<ScatteredLuma<1>>();
    case AccessPattern::scattered_luma_2:
      return use.template operator()<ScatteredLuma<2>>();
    case AccessPattern::scattered_colour:
      return use.template operator()<ScatteredColour>();
  }
  __builtin_unreachable();
}

/// A plane to be copied in vectors of 16 bytes. The last vector of a row may be shorter.
struct PlaneCopy {
  PlanePair plane;
  std::uint32_t count = 0;  ///< number of vectors
  int per_row = 1;          ///< vectors per row
  int row_bytes = 0;
  int rows = 0;
};

/// Copies vectors `thread`, `thread + threads`, `thread + 2·threads`… of each plane.
CUDAVISION_HOST_DEVICE inline void copy_vectors(const PlaneCopy* copies, int count,
                                                std::uint32_t thread, std::uint32_t threads) {
  for (int p = 0; p < count; ++p) {
    const PlaneCopy& copy = copies[p];
    for (std::uint32_t i = thread; i < copy.count; i += threads) {
      const int y = static_cast<int>(i / copy.per_row);
      const int at = static_cast<int>(i % copy.per_row) * 16;
      std::uint32_t vector[4];
      load_row<1, Rows::ragged>(copy.plane.in_row(y) + at, copy.row_bytes - at, vector);
      store_row<1, Rows::ragged>(copy.plane.out_row(y) + at, copy.row_bytes - at, vector);
    }
  }
}

struct AccessPlan {
  AccessPattern kind = AccessPattern::scattered_luma_1;
  Rows rows = Rows::ragged;
  PackedImage packs;
  int copy_count = 0;
  /// Planes of which packs do not write all bytes. If scattered(), the caller must copy the planes
  /// before the launch. Otherwise the kernel copies them. Planes that `out` lacks are omitted.
  PlaneCopy copies[FrameLayout::max_planes];
  bool scattered() const noexcept { return kind >= AccessPattern::scattered_luma_1; }
  /// Enqueues all copies, so that the kernel need not copy any plane.
  void copy_planes(Device& device);
};

/// Calls use.template operator()<Pack, kRows>() with the pack type and the kind of the rows.
template <class Use>
auto with_pack_and_rows(const AccessPlan& plan, const Use& use) {
  return with_pack(plan.kind, [&]<class Pack>() {
    if constexpr (Pack::pixel_bytes != 0) {
      if (plan.rows == Rows::linear)
        return use.template operator()<Pack, Rows::linear>();
      if (plan.rows == Rows::whole)
        return use.template operator()<Pack, Rows::whole>();
    }
    return use.template operator()<Pack, Rows::ragged>();
  });
}

/// Finds the fastest access pattern for each frame of one layout.
class AccessPlanner {
 public:
  explicit AccessPlanner(const FrameLayout& layout);

  /// Planes that are empty in `out` are not written. If the frame is only read, all are empty.
  AccessPlan plan(const ConstFrame& in, const Frame& out) const;

  /// Planes with bytes that are not samples of luma, red, green or blue.
  const std::vector<int>& planes_with_other_bytes() const { return planes_with_other_bytes_; }

 private:
  bool aligned(const ConstFrame& in, const Frame& out) const;

  FrameLayout layout_;
  bool colour_;
  AccessPattern dense_pattern_;  ///< for frames with aligned rows
  std::vector<int> untouched_planes_;
  std::vector<int> planes_with_other_bytes_;
  Channel channels_[3];
};

}  // namespace cudavision
