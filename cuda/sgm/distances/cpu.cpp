// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <array>

#include "cuda/pixels/samples.h"
#include "cuda/sgm/distances/backend.h"

namespace cudavision::sgm {
namespace {

class DistancesCpu final : public Distances::Backend {
 public:
  void run(View<const std::uint8_t> disparity, std::span<const MeasuredBox> boxes,
           const BoxMasks& masks, const ValueRange& range, BoxDisparity* results) override {
    std::transform(boxes.begin(), boxes.end(), results,
                   [&](const MeasuredBox& box) { return measured(disparity, box, masks, range); });
  }

 private:
  BoxDisparity measured(View<const std::uint8_t> map, const MeasuredBox& box, const BoxMasks& masks,
                        const ValueRange& range) {
    BoxDisparity result{.low = range.invalid, .middle = range.invalid, .high = range.invalid};
    std::fill_n(counts_.begin(), range.top + 1, 0);
    if (box.mask >= 0)
      count(map, box.masked, range, result,
            [&](int x, int y) { return selects(masks.planes[box.mask], masks.rectifying, x, y); });
    result.masked = result.samples > 0;
    if (!result.masked)
      count(map, box.inner, range, result, [](int, int) { return true; });
    if (result.known == 0)
      return result;
    result.low = percentile(Distances::low_percentile, result.known, range);
    result.middle = percentile(Distances::middle_percentile, result.known, range);
    result.high = percentile(Distances::high_percentile, result.known, range);
    return result;
  }

  template <class Takes>
  void count(View<const std::uint8_t> map, const SampledBox& box, const ValueRange& range,
             BoxDisparity& result, const Takes& takes) {
    for (int i = 0; i < box.y.count; ++i) {
      const int y = box.y.first + i * box.y.step;
      for (int k = 0; k < box.x.count; ++k) {
        const int x = box.x.first + k * box.x.step;
        if (!takes(x, y))
          continue;
        ++result.samples;
        const unsigned offset = offset_in(range, load16(map.row(y) + 2 * std::ptrdiff_t{x}));
        if (offset <= range.top) {
          ++counts_[offset];
          ++result.known;
        }
      }
    }
  }

  std::uint16_t percentile(int percent, std::uint32_t known, const ValueRange& range) const {
    std::size_t offset = 0;
    for (std::uint32_t up_to = counts_[0]; up_to < percentile_rank(percent, known);)
      up_to += counts_[++offset];
    return static_cast<std::uint16_t>(range.first + offset);
  }

  std::array<std::uint32_t, max_offsets> counts_;
};

}  // namespace

std::unique_ptr<Distances::Backend> make_distances_cpu(Device&) {
  return std::make_unique<DistancesCpu>();
}

}  // namespace cudavision::sgm
