// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The mosaic on the CPU, one row of blocks at a time. For means, each column of a row of blocks is
// summed, regardless of channels. The resulting row replaces the hidden samples of every row.

#include <algorithm>
#include <cstring>

#include "cuda/core/parallel.h"
#include "cuda/mosaic/backend.h"
#include "cuda/mosaic/blocks.h"
#include "cuda/pixels/sample_math.h"
#include "cuda/pixels/samples.h"

namespace cudavision::mosaic {
namespace {

CUDAVISION_TARGET_CLONES
void add_bytes(const std::uint8_t* row, int count, std::uint32_t* sums) {
  for (int i = 0; i < count; ++i)
    sums[i] += row[i];
}

CUDAVISION_TARGET_CLONES
void add_words(const std::uint8_t* row, int count, int shift, std::uint32_t largest,
               std::uint32_t* sums) {
  for (int i = 0; i < count; ++i)
    sums[i] += sample_value(load16(row + 2 * i), shift, largest);
}

/// Writes `in` where kept is 0xff (result must be 0 there), and `result` elsewhere.
CUDAVISION_TARGET_CLONES
void combine(const std::uint8_t* in, const std::uint8_t* result, const std::uint8_t* kept,
             int count, std::uint8_t* out) {
  for (int i = 0; i < count; ++i)
    out[i] = static_cast<std::uint8_t>((in[i] & kept[i]) | result[i]);
}

struct RowMemory {
  RowMemory(Scratch& scratch, int row_bytes)
      : sums(scratch.take<std::uint32_t>(row_bytes)),
        result(scratch.take<std::uint8_t>(row_bytes)),
        kept(scratch.take<std::uint8_t>(row_bytes)) {}

  std::uint32_t* sums;  ///< one column sum per sample of a row
  std::uint8_t *result, *kept;
};

struct BlockRow {
  int plane;
  int number;
  int first, end;  ///< range of rows, in samples
  View<const std::uint8_t> in;
  View<std::uint8_t> out;
};

struct Run {
  int begin, end;
};

class MosaicCpu final : public Mosaic::Backend {
 public:
  MosaicCpu(Device& device, const FrameLayout& layout)
      : layout_(layout),
        row_bytes_(std::ranges::max(layout.planes, {}, &PlaneShape::row_bytes).row_bytes),
        bands_(device, layout.height, scratch_bytes<RowMemory>(row_bytes_)) {
    for (int p = 0; p < layout.plane_count; ++p)
      planes_[p] = regions::plane_bytes(layout, p);
  }

  void set(const Parameters& parameters) override { parameters_ = parameters; }

  void run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active) override {
    bands_.for_each([&](Band& band) {
      const RowMemory memory(band.scratch, row_bytes_);
      for (int p = 0; p < layout_.plane_count; ++p) {
        for (int field = 0; field < regions::field_count(parameters_.fields); ++field)
          hide_field(band, memory, p, field, in.planes[p], out.planes[p], active);
        const int used = planes_[p].sample_rows;
        const Band unused = band.of(in.planes[p].height - used);
        copy_rows(in.planes[p], out.planes[p], used + unused.begin, used + unused.end);
      }
    });
  }

 private:
  void hide_field(const Band& band, const RowMemory& memory, int p, int field,
                  View<const std::uint8_t> in, View<std::uint8_t> out,
                  const regions::ActiveCells* active) const {
    const regions::PlaneBytes& plane = planes_[p];
    const int rows = regions::field_rows(plane.sample_rows, field, parameters_.fields);
    const int n = parameters_.block_size;
    const Band share = band.of(block_count(n, plane.row_pixels, rows));
    for (int number = share.begin; number < share.end; ++number) {
      const BlockRow row{p,
                         number,
                         first_sample(number, n, plane.row_pixels, rows),
                         first_sample(number + 1, n, plane.row_pixels, rows),
                         regions::field_view(in, field, parameters_.fields),
                         regions::field_view(out, field, parameters_.fields)};
      for_each_run(row, active, [&](const Run& run) { hide(row, run, memory); });
    }
  }

  template <class Function>
  void for_each_run(const BlockRow& row, const regions::ActiveCells* active,
                    const Function& function) const {
    const int n = parameters_.block_size, blocks = block_count(n, 1, layout_.width);
    if (!active)
      return function(Run{0, blocks});
    const int group = separable_blocks(planes_[row.plane], n);
    const int frame_rows = regions::field_count(parameters_.fields);
    const int top = row.number * n * frame_rows, bottom = top + (n + max_overhang) * frame_rows;
    Run run{0, 0};
    for (int block = 0; block < blocks; block += group) {
      if (!active->touch({block * n, top, (block + group) * n + max_overhang, bottom}))
        continue;
      if (block > run.end) {
        if (run.begin < run.end)
          function(run);
        run.begin = block;
      }
      run.end = std::min(block + group, blocks);
    }
    if (run.begin < run.end)
      function(run);
  }

  void hide(const BlockRow& row, const Run& run, const RowMemory& memory) const {
    const regions::PlaneBytes& plane = planes_[row.plane];
    const int n = parameters_.block_size, bytes = layout_.sample_bytes();
    const bool last = run.end == block_count(n, 1, layout_.width);
    const int begin = first_byte(plane, run.begin, n);
    const int end = last ? plane.row_bytes : first_byte(plane, run.end, n);
    const auto length = static_cast<std::size_t>(end - begin);

    if (!parameters_.solid) {
      std::uint32_t* const sums = memory.sums + begin / bytes;
      std::fill_n(sums, length / static_cast<std::size_t>(bytes), 0u);
      for (int y = row.first; y < row.end; ++y)
        if (bytes == 1)
          add_bytes(row.in.row(y) + begin, end - begin, sums);
        else
          add_words(row.in.row(y) + begin, (end - begin) / 2, layout_.shift,
                    (1u << layout_.bits) - 1, sums);
    }

    std::fill_n(memory.result + begin, length, std::uint8_t{0});
    std::fill_n(memory.kept + begin, length, std::uint8_t{0xff});
    int replaced = 0;  // number of bytes
    for (int c = 0; c < layout_.channel_count; ++c)
      if (layout_.channels[c].plane == row.plane &&
          (layout_.channels[c].role != Role::alpha || parameters_.hide_alpha))
        replaced += bytes * make_result(c, row, run, memory);

    const bool keeps = replaced < end - begin;
    for (int y = row.first; y < row.end; ++y) {
      std::uint8_t* const out = row.out.row(y) + begin;
      if (keeps)
        combine(row.in.row(y) + begin, memory.result + begin, memory.kept + begin, end - begin,
                out);
      else
        std::memcpy(out, memory.result + begin, length);
    }
  }

  /// Writes the results of a channel into a row. Returns the number of samples written.
  int make_result(int number, const BlockRow& row, const Run& run, const RowMemory& memory) const {
    const Channel& channel = layout_.channels[number];
    const int n = parameters_.block_size, rows = row.end - row.first;
    const auto first = [&](int block) {
      return first_sample(block, n, channel.subsampling_x, channel.width);
    };
    for (int block = run.begin; block < run.end; ++block) {
      const int begin = first(block), end = first(block + 1);
      if (begin == end)
        continue;
      std::uint32_t value = parameters_.values[number];
      if (!parameters_.solid) {
        std::uint32_t sum = 0;
        for (int x = begin; x < end; ++x)
          sum += memory.sums[sample_index(channel, x)];
        value = mean_of(sum, static_cast<std::uint32_t>((end - begin) * rows));
      }
      for (int x = begin; x < end; ++x)
        if (const std::ptrdiff_t at = sample_index(channel, x); layout_.bits > 8) {
          store16(memory.result + 2 * at, value << layout_.shift);
          store16(memory.kept + 2 * at, 0);
        } else {
          memory.result[at] = static_cast<std::uint8_t>(value);
          memory.kept[at] = 0;
        }
    }
    return first(run.end) - first(run.begin);
  }

  static std::ptrdiff_t sample_index(const Channel& channel, int x) {
    return channel.offset + static_cast<std::ptrdiff_t>(channel.step) * x;
  }

  FrameLayout layout_;
  regions::PlaneBytes planes_[FrameLayout::max_planes];
  int row_bytes_;  // bytes of the longest row
  Bands bands_;
  Parameters parameters_;
};

}  // namespace

std::unique_ptr<Mosaic::Backend> make_mosaic_cpu(Device& device, const FrameLayout& layout) {
  return std::make_unique<MosaicCpu>(device, layout);
}

}  // namespace cudavision::mosaic
