// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstring>

#include "cuda/core/parallel.h"
#include "cuda/pixels/samples.h"
#include "cuda/sgm/points/backend.h"

namespace cudavision::sgm {
namespace {

class PointsCpu final : public Points::Backend {
 public:
  explicit PointsCpu(int width) : width_(width) {}

  void set(const PointNumbers& numbers) override { numbers_ = numbers; }

  void run(View<const std::uint8_t> disparity, View<std::uint8_t> points) override {
    for_rows(disparity.height, [&](int y) { write_row(y, disparity.row(y), points.row(y)); });
  }

 private:
  void write_row(int y, const std::uint8_t* map, std::uint8_t* out) const {
    constexpr std::uint32_t unknown[3] = {unknown_coordinate, unknown_coordinate,
                                          unknown_coordinate};
    for (int x = 0; x < width_; ++x) {
      float xyz[3];
      const bool known = numbers_.point(x, y, load16(map + 2 * std::ptrdiff_t{x}), xyz);
      std::memcpy(out + Points::bytes_per_point * std::ptrdiff_t{x},
                  known ? static_cast<const void*>(xyz) : unknown, sizeof xyz);
    }
  }

  int width_;
  PointNumbers numbers_;
};

}  // namespace

std::unique_ptr<Points::Backend> make_points_cpu(Device&, int width) {
  return std::make_unique<PointsCpu>(width);
}

}  // namespace cudavision::sgm
