// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <vector>

#include "cuda/clahe/arithmetic.h"
#include "cuda/clahe/backend.h"
#include "cuda/core/border.h"
#include "cuda/core/parallel.h"
#include "cuda/histequalize/bandedhistogram.h"
#include "cuda/pixels/access_pattern.h"
#include "cuda/pixels/sample_math.h"
#include "cuda/pixels/samples.h"

namespace cudavision::clahe {
namespace {

CUDAVISION_TARGET_CLONES
std::uint32_t clip(std::uint32_t* counts, int bins, std::uint32_t limit) {
  std::uint32_t excess = 0;
  for (int bin = 0; bin < bins; ++bin) {
    excess += counts[bin] - std::min(counts[bin], limit);
    counts[bin] = std::min(counts[bin], limit);
  }
  return excess;
}

CUDAVISION_TARGET_CLONES
void level_sums(const std::uint32_t* sums, int bins, float scale, std::uint32_t low,
                std::uint32_t high, std::uint16_t* table) {
  for (int bin = 0; bin < bins; ++bin)
    table[bin] = static_cast<std::uint16_t>(table_level(sums[bin], scale, low, high));
}

/// The tables of a cell: upper left, upper right, lower left, lower right.
using CellTables = std::array<const std::uint16_t*, 4>;

/// The four entries of one value in the tables of a cell, as the bytes of one word.
using Quad = std::uint32_t;

void pack_quads(const CellTables& tables, Quad* quads) {
  for (int value = 0; value < 256; ++value)
    quads[value] = static_cast<Quad>(tables[0][value]) | static_cast<Quad>(tables[1][value]) << 8 |
                   static_cast<Quad>(tables[2][value]) << 16 |
                   static_cast<Quad>(tables[3][value]) << 24;
}

float byte_as_float(Quad quad, int number) {
  return static_cast<float>(static_cast<int>(quad >> (8 * number) & 0xff));
}

CUDAVISION_TARGET_CLONES
void interpolate8(const std::uint8_t* values, const float* right, int n, const Quad* quads,
                  float lower, std::uint8_t* levels) {
  for (int x = 0; x < n; ++x) {
    const Quad quad = quads[values[x]];
    const Levels four = {byte_as_float(quad, 0), byte_as_float(quad, 1), byte_as_float(quad, 2),
                         byte_as_float(quad, 3)};
    levels[x] = static_cast<std::uint8_t>(interpolated(four, right[x], lower));
  }
}

CUDAVISION_TARGET_CLONES
void interpolate16(const std::uint16_t* values, const float* right, int n, const CellTables& tables,
                   float lower, std::uint16_t* levels) {
  for (int x = 0; x < n; ++x) {
    const int value = values[x];
    const Levels four = {static_cast<float>(tables[0][value]), static_cast<float>(tables[1][value]),
                         static_cast<float>(tables[2][value]),
                         static_cast<float>(tables[3][value])};
    levels[x] = static_cast<std::uint16_t>(interpolated(four, right[x], lower));
  }
}

CUDAVISION_TARGET_CLONES
void write8(const std::uint8_t* from, const std::uint8_t* levels, int n, int step, int blend,
            std::uint8_t* to) {
  const auto loop = [=](std::ptrdiff_t s) __attribute__((always_inline)) {
    for (int x = 0; x < n; ++x)
      to[s * x] = static_cast<std::uint8_t>(histequalize::blended(from[s * x], levels[x], blend));
  };
  // The compiler vectorises the loop only if step is a constant.
  if (step == 1)
    loop(1);
  else
    loop(step);
}

CUDAVISION_TARGET_CLONES
void shift8(const std::uint8_t* from, const std::uint8_t* luminances, const std::uint8_t* levels,
            int n, int step, int blend, std::uint8_t* to) {
  const auto loop = [=](std::ptrdiff_t s) __attribute__((always_inline)) {
    for (int x = 0; x < n; ++x) {
      const int value = from[s * x];
      const int equalised = histequalize::clamp_level(value + levels[x] - luminances[x], 255);
      to[s * x] = static_cast<std::uint8_t>(histequalize::blended(value, equalised, blend));
    }
  };
  if (step == 1)
    loop(1);
  else if (step == 4)
    loop(4);
  else
    loop(step);
}

void write16(const std::uint16_t* values, const std::uint16_t* levels, int n, int step, int shift,
             int blend, std::uint8_t* to) {
  for (int x = 0; x < n; ++x)
    store16(to + 2 * static_cast<std::ptrdiff_t>(step) * x,
            static_cast<std::uint32_t>(histequalize::blended(values[x], levels[x], blend))
                << shift);
}

/// Samples with one grid of tables: a channel, or the computed luminance of RGB.
struct Source {
  View<const std::uint8_t> rows;
  Channel channel;
};

template <class Value>
struct RowMemory {
  RowMemory(Scratch& scratch, int width)
      : values(scratch.take<Value>(width)), levels(scratch.take<Value>(width)) {}

  Value *values, *levels;
};

class ClaheCpu final : public Clahe::Backend {
 public:
  ClaheCpu(Device& device, const FrameLayout& layout, const Tiles& tiles)
      : layout_(layout),
        rgb_(layout.find(Role::luma) < 0),
        bins_(1 << layout.bits),
        tiling_(make_tiling(layout.width, layout.height, tiles)),
        planes_with_other_bytes_(AccessPlanner(layout).planes_with_other_bytes()),
        tile_bands_(device, tiling_.tiles(), scratch_bytes<RowMemory<std::uint16_t>>(layout.width)),
        row_bands_(device, layout.height, scratch_bytes<RowMemory<std::uint16_t>>(layout.width)),
        counts_(device.allocate((rgb_ ? 3 : 1) * grid_entries() * sizeof(std::uint32_t))),
        tables_(device.allocate((rgb_ ? 3 : 1) * grid_entries() * sizeof(std::uint16_t))),
        quads_(device.allocate(layout.bits == 8 ? cells() * 256 * sizeof(Quad) : 0)),
        weights_(device.allocate(static_cast<std::size_t>(layout.width) * sizeof(float))) {
    if (rgb_)
      luminance_.emplace(device, layout, "adaptive histogram equalisation");
    for (int x = 0; x < layout.width; ++x)
      weights_.as<float>()[x] = tiling_.x.weight(x);
    for (int cell = 0; cell <= tiling_.x.cells(); ++cell)
      cell_edges_.push_back(tiling_.x.cell_begin(cell));
    counted_.reserve(3);
  }

  void set(const Parameters& parameters) override { parameters_ = parameters; }

  void run(const ConstFrame& in, const Frame& out) override {
    const auto counts = count(in);
    apply(in, out, make_tables(counts, in, out));
  }

  View<const std::uint32_t> count(const ConstFrame& in) override {
    counted_.clear();
    if (shifts())
      counted_.push_back({luminance_->of(in).rows, {}});
    else
      for (const Role role : {Role::luma, Role::red, Role::green, Role::blue})
        if (const int c = layout_.find(role); c >= 0)
          counted_.push_back({in.planes[layout_.channels[c].plane], layout_.channels[c]});
    int tiles = 0;
    for (const Source& source : counted_) {
      if (layout_.bits == 8)
        count_tiles<std::uint8_t>(source, counts(tiles));
      else
        count_tiles<std::uint16_t>(source, counts(tiles));
      tiles += tiling_.tiles();
    }
    return contiguous_rows(counts(0), bins_, tiles);
  }

  View<const std::uint16_t> make_tables(View<const std::uint32_t> averages, const ConstFrame& in,
                                        const Frame& out) override {
    for (const int p : planes_with_other_bytes_)
      if (out.planes[p])
        copy_plane(in.planes[p], out.planes[p]);
    for_rows(averages.height, [&](int number) {
      const std::uint32_t* bins = averages.row(number);
      const std::uint32_t area = std::accumulate(bins, bins + bins_, std::uint32_t{0});
      if (area == 0)
        return std::iota(table(number), table(number) + bins_, std::uint16_t{0});
      if (bins != counts(number))
        std::copy(bins, bins + bins_, counts(number));
      make_table(counts(number), area, table(number));
    });
    return contiguous_rows(table(0), bins_, averages.height);
  }

  void apply(const ConstFrame& in, const Frame& out, View<const std::uint16_t> tables) override {
    const std::uint16_t* grid = tables.data;
    for (const Source& source : counted_) {
      equalise(source, grid, in, out);
      grid += grid_entries();
    }
  }

 private:
  int cells() const { return tiling_.x.cells() * tiling_.y.cells(); }
  std::size_t grid_entries() const {
    return static_cast<std::size_t>(tiling_.tiles()) << layout_.bits;
  }
  std::uint32_t* counts(int tile) const {
    return counts_.as<std::uint32_t>() + (static_cast<std::size_t>(tile) << layout_.bits);
  }
  std::uint16_t* table(int tile) const {
    return tables_.as<std::uint16_t>() + (static_cast<std::size_t>(tile) << layout_.bits);
  }
  Quad* quads(int cell_y, int cell_x) const {
    return quads_.as<Quad>() +
           (static_cast<std::size_t>(cell_y) * tiling_.x.cells() + cell_x) * 256;
  }

  /// Returns n samples of row y from column x on: contiguous bytes in place, others in buffer.
  const std::uint8_t* values(const Source& source, int y, int x, int n,
                             std::uint8_t* buffer) const {
    const auto& [rows, channel] = source;
    const std::uint8_t* from =
        rows.row(y) + channel.offset + static_cast<std::ptrdiff_t>(channel.step) * x;
    if (channel.step == 1)
      return from;
    gather8(from, channel.step, n, buffer);
    return buffer;
  }
  const std::uint16_t* values(const Source& source, int y, int x, int n,
                              std::uint16_t* buffer) const {
    const auto& [rows, channel] = source;
    const std::uint8_t* from =
        rows.row(y) + 2 * (channel.offset + static_cast<std::ptrdiff_t>(channel.step) * x);
    gather16(from, channel.step, n, layout_.shift, static_cast<std::uint32_t>(bins_ - 1), buffer);
    return buffer;
  }

  bool shifts() const { return rgb_ && parameters_.channels == Parameters::Channels::luminance; }

  template <class Value>
  void count_tiles(const Source& source, std::uint32_t* counts) const {
    tile_bands_.for_each([&](Band& band) {
      const RowMemory<Value> memory(band.scratch, layout_.width);
      for (int tile = band.begin; tile < band.end; ++tile)
        count_tile(source, tile, counts + (static_cast<std::size_t>(tile) << layout_.bits),
                   memory.values);
    });
  }

  template <class Value>
  void count_tile(const Source& source, int tile, std::uint32_t* bins, Value* buffer) const {
    // Bytes are counted in several tables (see count_row()).
    std::uint32_t bytes[histequalize::tables_per_band(8)][256] = {};
    std::fill(bins, bins + bins_, 0u);
    const int top = tile / tiling_.x.tiles * tiling_.y.tile_size;
    const int left = tile % tiling_.x.tiles * tiling_.x.tile_size;
    const int right = left + tiling_.x.tile_size;
    for (int row = top; row < top + tiling_.y.tile_size; ++row) {
      const int y = border_index(row, layout_.height, Border::reflect_101);
      for (int x = left; x < right;) {
        const Run run = reflected_run(x, right, layout_.width);
        histequalize::count_row(values(source, y, run.first, run.count, buffer), run.count,
                                sizeof(Value) == 1 ? bytes[0] : bins);
        x += run.count;
      }
    }
    if (sizeof(Value) == 1)
      for (int bin = 0; bin < 256; ++bin)
        for (const auto& each : bytes)
          bins[bin] += each[bin];
  }

  /// Makes a table from counts whose sum is area. Overwrites the counts.
  void make_table(std::uint32_t* bins, std::uint32_t area, std::uint16_t* table) const {
    const std::uint32_t excess = clip(bins, bins_, clip_count(parameters_.clip_limit, area, bins_));
    const Redistribution more(excess, static_cast<std::uint32_t>(bins_));
    for (std::uint32_t i = 0; i < more.residue; ++i)
      ++bins[i * more.step];
    std::uint32_t sum = 0;
    for (int bin = 0; bin < bins_; ++bin)
      bins[bin] = sum += bins[bin] + more.batch;
    level_sums(bins, bins_, level_scale(parameters_.low, parameters_.high, area),
               static_cast<std::uint32_t>(parameters_.low),
               static_cast<std::uint32_t>(parameters_.high), table);
  }

  CellTables tables_of(const std::uint16_t* grid, int cell_y, int cell_x) const {
    const int upper = tiling_.y.tile_before(cell_y) * tiling_.x.tiles;
    const int lower = tiling_.y.tile_after(cell_y) * tiling_.x.tiles;
    const int left = tiling_.x.tile_before(cell_x), right = tiling_.x.tile_after(cell_x);
    const auto table = [&](int tile) {
      return grid + (static_cast<std::size_t>(tile) << layout_.bits);
    };
    return {table(upper + left), table(upper + right), table(lower + left), table(lower + right)};
  }

  void equalise(const Source& source, const std::uint16_t* grid, const ConstFrame& in,
                const Frame& out) const {
    if (layout_.bits > 8)
      return equalise_as<std::uint16_t>(source, grid, in, out);
    for_rows(cells(), [&](int cell) {
      const int cell_y = cell / tiling_.x.cells(), cell_x = cell % tiling_.x.cells();
      pack_quads(tables_of(grid, cell_y, cell_x), quads(cell_y, cell_x));
    });
    equalise_as<std::uint8_t>(source, grid, in, out);
  }

  template <class Value>
  void equalise_as(const Source& source, const std::uint16_t* grid, const ConstFrame& in,
                   const Frame& out) const {
    row_bands_.for_each([&](Band& band) {
      const RowMemory<Value> memory(band.scratch, layout_.width);
      for (int y = band.begin; y < band.end; ++y) {
        const Value* row = values(source, y, 0, layout_.width, memory.values);
        interpolate_row(row, y, grid, memory.levels);
        write(in, out, y, source, row, memory.levels);
      }
    });
  }

  template <class Value>
  void interpolate_row(const Value* values, int y, const std::uint16_t* grid, Value* levels) const {
    const int cell_y = tiling_.y.cell_of(y);
    const float lower = tiling_.y.weight(y);
    for (int cell_x = 0; cell_x < tiling_.x.cells(); ++cell_x) {
      const int begin = cell_edges_[cell_x], n = cell_edges_[cell_x + 1] - begin;
      const float* right = weights_.as<float>() + begin;
      if constexpr (sizeof(Value) == 1)
        interpolate8(values + begin, right, n, quads(cell_y, cell_x), lower, levels + begin);
      else
        interpolate16(values + begin, right, n, tables_of(grid, cell_y, cell_x), lower,
                      levels + begin);
    }
  }

  void write(const ConstFrame& in, const Frame& out, int y, const Source& source,
             const std::uint8_t* values, const std::uint8_t* levels) const {
    if (!shifts()) {
      const Channel& channel = source.channel;
      write8(in.planes[channel.plane].row(y) + channel.offset, levels, layout_.width, channel.step,
             parameters_.blend, out.planes[channel.plane].row(y) + channel.offset);
      return;
    }
    for (const Role role : rgb_roles) {
      const Channel& channel = layout_.channels[layout_.find(role)];
      shift8(in.planes[channel.plane].row(y) + channel.offset, values, levels, layout_.width,
             channel.step, parameters_.blend, out.planes[channel.plane].row(y) + channel.offset);
    }
  }
  void write(const ConstFrame&, const Frame& out, int y, const Source& source,
             const std::uint16_t* values, const std::uint16_t* levels) const {
    const Channel& channel = source.channel;
    write16(values, levels, layout_.width, channel.step, layout_.shift, parameters_.blend,
            out.planes[channel.plane].row(y) + 2 * std::ptrdiff_t{channel.offset});
  }

  FrameLayout layout_;
  bool rgb_;
  int bins_;
  Parameters parameters_;
  Tiling tiling_;
  std::vector<int> planes_with_other_bytes_;
  Bands tile_bands_, row_bands_;
  std::vector<Source> counted_;  // sources of the last count()
  Buffer counts_;                // counts of all tiles, until their tables are made
  Buffer tables_;                // tables of all tiles
  Buffer quads_;                 // quads of all cells, for 8-bit samples only
  Buffer weights_;               // weight of the right tile, for each column
  std::vector<int> cell_edges_;
  std::optional<Luminance> luminance_;
};

}  // namespace

std::unique_ptr<Clahe::Backend> make_clahe_cpu(Device& device, const FrameLayout& layout,
                                               const Tiles& tiles) {
  return std::make_unique<ClaheCpu>(device, layout, tiles);
}

}  // namespace cudavision::clahe
