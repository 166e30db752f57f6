// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The mosaic on the CPU, one row of blocks after the other. The rows of samples that belong to it
// are added up, byte by byte or word by word, whatever channels these belong to. The sums of each
// block give one row of the result, which is written to all of them.

#include <algorithm>
#include <cstring>
#include <vector>

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

/// Writes the result's bytes, and the input's where kept is 0xff.
CUDAVISION_TARGET_CLONES
void combine(const std::uint8_t* in, const std::uint8_t* result, const std::uint8_t* kept,
             int count, std::uint8_t* out) {
  for (int i = 0; i < count; ++i)
    out[i] = static_cast<std::uint8_t>((in[i] & kept[i]) | result[i]);
}

/// The sums and means that one thread keeps for a row of blocks.
struct Scratch {
  Scratch(Device& device, std::size_t row_bytes)
      : sums_(device.allocate(sizeof(std::uint32_t) * row_bytes)),
        result_(device.allocate(row_bytes)),
        kept_(device.allocate(row_bytes)) {}

  std::uint32_t* sums() const { return sums_.as<std::uint32_t>(); }  ///< by sample of a row
  std::uint8_t* result() const { return result_.as<std::uint8_t>(); }
  std::uint8_t* kept() const { return kept_.as<std::uint8_t>(); }

 private:
  Buffer sums_, result_, kept_;
};

/// A row of blocks in one plane of a field.
struct BlockRow {
  int plane;
  int number;
  int first, end;  ///< rows of samples
  View<const std::uint8_t> in;
  View<std::uint8_t> out;
};

/// Blocks [begin, end) of a row.
struct Run {
  int begin, end;
};

class MosaicCpu final : public Mosaic::Backend {
 public:
  MosaicCpu(Device& device, const FrameLayout& layout) : layout_(layout), bands_(layout.height) {
    std::size_t row_bytes = 0;
    for (int p = 0; p < layout.plane_count; ++p) {
      planes_[p] = regions::plane_bytes(layout, p);
      row_bytes = std::max(row_bytes, static_cast<std::size_t>(planes_[p].row_bytes));
    }
    for (int b = 0; b < bands_.count(); ++b)
      scratch_.emplace_back(device, row_bytes);
  }

  void set(const Parameters& parameters) override { parameters_ = parameters; }

  void run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active) override {
    bands_.for_each([&](const Band& band) {
      for (int p = 0; p < layout_.plane_count; ++p) {
        for (int field = 0; field < field_count(parameters_); ++field)
          hide_field(band, p, field, in.planes[p], out.planes[p], active);
        copy_unused_rows(band, p, in.planes[p], out.planes[p]);
      }
    });
  }

 private:
  /// Hides the rows of blocks that are a thread's share.
  void hide_field(const Band& band, int p, int field, View<const std::uint8_t> in,
                  View<std::uint8_t> out, const regions::ActiveCells* active) const {
    const regions::PlaneBytes& plane = planes_[p];
    const int rows = field_rows(parameters_, plane.sample_rows, field), n = parameters_.block_size;
    const int block_rows = block_count(n, plane.row_pixels, rows);
    BlockRow row{p,
                 0,
                 0,
                 0,
                 field_view(parameters_, in, field, rows),
                 field_view(parameters_, out, field, rows)};
    const int end = bands_.first_of(block_rows, band.number + 1);
    for (row.number = bands_.first_of(block_rows, band.number); row.number < end; ++row.number) {
      row.first = first_sample(row.number, n, plane.row_pixels, rows);
      row.end = first_sample(row.number + 1, n, plane.row_pixels, rows);
      for_each_run(row, active, [&](const Run& run) { hide(row, run, scratch_[band.number]); });
    }
  }

  /// Calls function(Run) for the blocks of a row that are needed.
  template <class Function>
  void for_each_run(const BlockRow& row, const regions::ActiveCells* active,
                    const Function& function) const {
    const int n = parameters_.block_size, blocks = block_count(n, 1, layout_.width);
    if (!active) {
      function(Run{0, blocks});
      return;
    }
    const int group = separable_blocks(planes_[row.plane], n),
              frame_rows = field_count(parameters_);
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

  void hide(const BlockRow& row, const Run& run, const Scratch& scratch) const {
    const regions::PlaneBytes& plane = planes_[row.plane];
    const int n = parameters_.block_size, bytes = layout_.sample_bytes();
    const bool last = run.end == block_count(n, 1, layout_.width);
    const int begin = first_byte(plane, run.begin, n);
    const int end = last ? plane.row_bytes : first_byte(plane, run.end, n);
    const auto length = static_cast<std::size_t>(end - begin);

    if (!parameters_.solid) {
      std::uint32_t* const sums = scratch.sums() + begin / bytes;
      std::fill_n(sums, length / static_cast<std::size_t>(bytes), 0u);
      for (int y = row.first; y < row.end; ++y)
        if (bytes == 1)
          add_bytes(row.in.row(y) + begin, end - begin, sums);
        else
          add_words(row.in.row(y) + begin, (end - begin) / 2, layout_.shift,
                    (1u << layout_.bits) - 1, sums);
    }

    std::fill_n(scratch.result() + begin, length, std::uint8_t{0});
    std::fill_n(scratch.kept() + begin, length, std::uint8_t{0xff});
    int replaced = 0;  // bytes
    for (int c = 0; c < layout_.channel_count; ++c)
      if (layout_.channels[c].plane == row.plane && hides(layout_.channels[c]))
        replaced += bytes * make_result(c, row, run, scratch);

    const bool keeps = replaced < end - begin;
    for (int y = row.first; y < row.end; ++y) {
      std::uint8_t* const out = row.out.row(y) + begin;
      if (keeps)
        combine(row.in.row(y) + begin, scratch.result() + begin, scratch.kept() + begin,
                end - begin, out);
      else
        std::memcpy(out, scratch.result() + begin, length);
    }
  }

  bool hides(const Channel& channel) const {
    return channel.role != Role::alpha || parameters_.hide_alpha;
  }

  /// Computes a channel's samples of one row. Returns their number.
  int make_result(int number, const BlockRow& row, const Run& run, const Scratch& scratch) const {
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
          sum += scratch.sums()[place(channel, x)];
        value = mean_of(sum, static_cast<std::uint32_t>((end - begin) * rows));
      }
      for (int x = begin; x < end; ++x)
        put(scratch, place(channel, x), value);
    }
    return first(run.end) - first(run.begin);
  }

  static std::ptrdiff_t place(const Channel& channel, int x) {
    return channel.offset + static_cast<std::ptrdiff_t>(channel.step) * x;
  }

  void put(const Scratch& scratch, std::ptrdiff_t place, std::uint32_t value) const {
    if (layout_.bits > 8) {
      const auto word = static_cast<std::uint16_t>(value << layout_.shift);
      std::memcpy(scratch.result() + 2 * place, &word, sizeof word);
      std::fill_n(scratch.kept() + 2 * place, sizeof word, std::uint8_t{0});
    } else {
      scratch.result()[place] = static_cast<std::uint8_t>(value);
      scratch.kept()[place] = 0;
    }
  }

  /// Copies a thread's share of the rows that belong to no channel.
  void copy_unused_rows(const Band& band, int p, View<const std::uint8_t> in,
                        View<std::uint8_t> out) const {
    const int used = planes_[p].sample_rows, rows = in.height - used;
    for (int y = bands_.first_of(rows, band.number); y < bands_.first_of(rows, band.number + 1);
         ++y)
      std::memcpy(out.row(used + y), in.row(used + y), static_cast<std::size_t>(in.width));
  }

  FrameLayout layout_;
  regions::PlaneBytes planes_[FrameLayout::max_planes];
  Bands bands_;
  std::vector<Scratch> scratch_;  // by band
  Parameters parameters_;
};

}  // namespace

std::unique_ptr<Mosaic::Backend> make_mosaic_cpu(Device& device, const FrameLayout& layout) {
  return std::make_unique<MosaicCpu>(device, layout);
}

}  // namespace cudavision::mosaic
