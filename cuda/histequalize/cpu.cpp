// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>
#include <numeric>
#include <vector>

#include "cuda/histequalize/arithmetic.h"
#include "cuda/histequalize/backend.h"
#include "cuda/histequalize/bandedhistogram.h"
#include "cuda/pixels/access_pattern.h"
#include "cuda/pixels/sample_math.h"
#include "cuda/pixels/samples.h"

namespace cudavision::histequalize {
namespace {

void build_table(const std::uint32_t* bins, int size, std::uint32_t total, int low, int high,
                 std::uint16_t* table) {
  const auto* const first_bin =
      std::find_if(bins, bins + size, [](auto count) { return count > 0; });
  // All counts of an averaged histogram may be 0.
  if (first_bin == bins + size || *first_bin == total) {
    std::iota(table, table + size, std::uint16_t{0});
    return;
  }
  const auto first = static_cast<int>(first_bin - bins);
  const float scale = equalisation_scale(total, bins[first], low, high);
  std::fill(table, table + first + 1, static_cast<std::uint16_t>(low));
  std::uint32_t counted = 0;
  for (int v = first + 1; v < size; ++v) {
    counted += bins[v];
    table[v] = static_cast<std::uint16_t>(equalised_level(counted, scale, low, high));
  }
}

class HistEqualizeCpu final : public Histogram::Backend {
 public:
  HistEqualizeCpu(Device& device, const FrameLayout& layout)
      : layout_(layout),
        rgb_(layout.find(Role::luma) < 0),
        planes_with_other_bytes_(AccessPlanner(layout).planes_with_other_bytes()),
        histogram_(device, layout),
        luminance_(layout, Role::luma) {
    for (int c = 0; c < (rgb_ ? 3 : 1); ++c) {
      tables_[c] = device.allocate(sizeof(std::uint16_t) << layout.bits);
      channels_.emplace_back(layout, rgb_ ? rgb_roles[c] : Role::luma);
    }
  }

  void set(const Parameters& parameters) override { parameters_ = parameters; }

  void count(const ConstFrame& in, View<std::uint32_t> bins) override {
    histogram_.run(in, luminance_, bins.data);
  }

  void count_each(const ConstFrame& in, View<std::uint32_t> counts) override {
    for (std::size_t c = 0; c < channels_.size(); ++c)
      histogram_.run(in, channels_[c], counts.row(static_cast<int>(c)));
  }

  void make_tables(View<const std::uint32_t> counts, View<std::uint16_t> tables) override {
    for (int t = 0; t < counts.height; ++t) {
      const std::uint32_t* bins = counts.row(t);
      build_table(bins, counts.width, std::accumulate(bins, bins + counts.width, std::uint32_t{0}),
                  parameters_.low, parameters_.high, tables.row(t));
    }
  }

  void look_up(const ConstFrame& in, const Frame& out, View<const std::uint16_t> tables) override {
    const bool shifts = rgb_ && parameters_.channels == Parameters::Channels::luminance;
    // shift_by_luminance() blends after it has clamped the shifted samples.
    const int blend = shifts ? Parameters::Ranges::blend.max : parameters_.blend;
    for (int t = 0; t < tables.height; ++t)
      for (int v = 0; v < tables.width; ++v)
        tables_[t].as<std::uint16_t>()[v] =
            static_cast<std::uint16_t>(blended(v, tables.row(t)[v], blend));
    histogram_.bands().for_each([&](Band& band) {
      const CountMemory memory(band.scratch, layout_);
      copy_mixed(in, out, band);
      for (int y = band.begin; y < band.end; ++y)
        if (shifts)
          shift_by_luminance(in, out, y, reinterpret_cast<std::uint8_t*>(memory.values));
        else
          for (std::size_t c = 0; c < channels_.size(); ++c)
            map_row(in, out, y, channels_[c].channel(), tables_[c].as<std::uint16_t>());
    });
  }

 private:
  /// Copies planes that contain bytes which no table changes, including rows below the picture.
  /// Each band copies its rows before it equalises them, so that no copy overwrites results.
  void copy_mixed(const ConstFrame& in, const Frame& out, const Band& band) const {
    for (const int p : planes_with_other_bytes_) {
      if (!out.planes[p])
        continue;
      const int rows = in.planes[p].height;
      const Band own = rows < layout_.height ? band.of(rows) : band;
      copy_rows(in.planes[p], out.planes[p], own.begin, own.end == layout_.height ? rows : own.end);
    }
  }

  void map_row(const ConstFrame& in, const Frame& out, int y, const Channel& channel,
               const std::uint16_t* table) const {
    const std::ptrdiff_t offset = channel.offset * layout_.sample_bytes();
    const std::uint8_t* from = in.planes[channel.plane].row(y) + offset;
    std::uint8_t* to = out.planes[channel.plane].row(y) + offset;
    const std::ptrdiff_t step = static_cast<std::ptrdiff_t>(channel.step) * layout_.sample_bytes();
    const int width = layout_.width;  // a local constant, which byte stores cannot alias
    if (layout_.bits == 8) {
      for (int x = 0; x < width; ++x)
        to[step * x] = static_cast<std::uint8_t>(table[from[step * x]]);
      return;
    }
    const std::uint32_t largest = (1u << layout_.bits) - 1;
    for (int x = 0; x < width; ++x)
      store16(to + step * x,
              std::uint32_t{table[sample_value(load16(from + step * x), layout_.shift, largest)]}
                  << layout_.shift);
  }

  void shift_by_luminance(const ConstFrame& in, const Frame& out, int y,
                          std::uint8_t* buffer) const {
    const auto* table = tables_[0].as<std::uint16_t>();
    const std::uint8_t* values = luminance_.row(in, y, buffer);
    for (const Samples& samples : channels_) {
      const Channel& channel = samples.channel();
      const std::uint8_t* from = in.planes[channel.plane].row(y) + channel.offset;
      std::uint8_t* to = out.planes[channel.plane].row(y) + channel.offset;
      for (int x = 0; x < layout_.width; ++x) {
        const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(channel.step) * x;
        const int value = from[at];
        const int equalised = clamp_level(value + table[values[x]] - values[x], 255);
        to[at] = static_cast<std::uint8_t>(blended(value, equalised, parameters_.blend));
      }
    }
  }

  FrameLayout layout_;
  bool rgb_;
  std::vector<int> planes_with_other_bytes_;
  Parameters parameters_;
  BandedHistogram histogram_;
  Samples luminance_;
  std::vector<Samples> channels_;
  Buffer tables_[3];
};

}  // namespace

std::unique_ptr<Histogram::Backend> make_histequalize_cpu(Device& device,
                                                          const FrameLayout& layout) {
  return std::make_unique<HistEqualizeCpu>(device, layout);
}

}  // namespace cudavision::histequalize
