// SPDX-License-Identifier: LGPL-2.1-or-later

#include <array>
#include <numeric>

#include "cuda/core/parallel.h"
#include "cuda/pixels/samples.h"
#include "cuda/scenecut/arithmetic.h"
#include "cuda/scenecut/backend.h"

namespace cudavision::scenecut {
namespace {

class AreaMeansCpu final : public AreaMeans::Backend {
 public:
  AreaMeansCpu(Device& device, const FrameLayout& layout)
      : bits_(layout.bits),
        samples_(layout, sampled_role(layout)),
        columns_(samples_.channel().width),
        rows_(samples_.channel().height),
        bands_(device, rows_.count, sizeof(std::uint16_t) * layout.width) {}

  void run(const ConstFrame& in) override {
    bands_.for_each([&](Band& band) {
      auto* const values = band.scratch.take<std::uint16_t>(columns_.size);
      for (int row = band.begin; row < band.end; ++row)
        if (bits_ == 8)
          add_up(in, row, reinterpret_cast<std::uint8_t*>(values));
        else
          add_up(in, row, values);
    });
    compare();
  }

  const std::uint32_t* change() const noexcept override { return &change_; }

 private:
  template <class Value>
  void add_up(const ConstFrame& in, int row, Value* buffer) {
    std::array<std::uint32_t, max_areas_along> sums{};
    const int first = rows_.begin(row), rows = rows_.size_of(row);
    for (int i = 0; i < sampled_rows(rows); ++i) {
      const Value* const values = samples_.row(in, sampled_row(i, first, rows), buffer);
      for (int column = 0; column < columns_.count; ++column)
        sums[column] = std::accumulate(values + columns_.begin(column),
                                       values + columns_.begin(column + 1), sums[column]);
    }
    for (int column = 0; column < columns_.count; ++column) {
      AreaPair& mean = means_[row * columns_.count + column];
      mean.before = mean.now;
      mean.now = mean_of(sums[column], columns_.size_of(column) * sampled_rows(rows), bits_);
    }
  }

  void compare() {
    const int areas = columns_.count * rows_.count;
    AreaPair sums;
    for (const AreaPair& mean : means_) {
      sums.now += mean.now;
      sums.before += mean.before;
    }
    Comparison all;
    for (int area = 0; area < areas; ++area) {
      const Comparison one = compared(means_[area], sums, areas);
      all.difference += one.difference;
      all.structure += one.structure;
    }
    change_ = change_of(all, areas);
  }

  const int bits_;
  const Samples samples_;
  const Parts columns_, rows_;
  const Bands bands_;
  std::array<AreaPair, max_areas> means_{};
  std::uint32_t change_ = 0;
};

}  // namespace

std::unique_ptr<AreaMeans::Backend> make_area_means_cpu(Device& device, const FrameLayout& layout) {
  return std::make_unique<AreaMeansCpu>(device, layout);
}

}  // namespace cudavision::scenecut
