// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The blur on the CPU. Each output row is computed separately. The vertical pass adds the weighted
// input rows, regardless of channels. The horizontal pass pads the row of sums and adds weighted,
// shifted copies of it. Only the final result is rounded. Each vertical sum is split into a high
// and a low half, so that the horizontal pass needs no wider SIMD lanes than the vertical pass.

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "cuda/core/parallel.h"
#include "cuda/gaussblur/backend.h"
#include "cuda/gaussblur/cpu_rows.h"
#include "cuda/pixels/samples.h"
#include "cuda/regions/planebytes.h"

namespace cudavision::gaussblur {
namespace {

/// Samples per tile. The sums of a tile fit into the L1 cache.
constexpr int tile_samples = 1024;

/// Index of sample x of a channel in its row.
std::ptrdiff_t sample_index(const Channel& channel, int x) {
  return channel.offset + static_cast<std::ptrdiff_t>(channel.step) * x;
}

struct Taps {
  Taps() = default;
  explicit Taps(const GaussKernel& kernel) noexcept
      : radius(kernel.radius()), centre(kernel.coefficient(0)) {
    for (int distance = 1; distance <= radius; ++distance)
      if (kernel.coefficient(distance) != 0) {
        distances[pair_count] = distance;
        weights[pair_count++] = kernel.coefficient(distance);
      }
  }

  int radius = 0;
  std::uint32_t centre = 0;
  int pair_count = 0;
  std::array<int, GaussKernel::max_radius> distances;
  std::array<std::uint32_t, GaussKernel::max_radius> weights;
};

/// Channels of one plane that have the same kernel and step along x and are blurred together.
/// Samples between these channels are summed too, but not stored.
struct RowGroup {
  Taps x;
  int step = 1;
  struct Member {
    Channel channel;
    std::uint16_t border_value;
  };
  int member_count = 0;
  std::array<Member, FrameLayout::max_channels> members;
  /// One byte per sample of the row, non-zero for samples of the group. nullptr: all samples.
  const std::uint8_t* mask = nullptr;
};

struct PlanePlan {
  struct Field {
    int rows = 0;  ///< blurred rows
    Taps y;
  };
  std::array<Field, 2> fields;
  int row_samples = 0;  ///< number of whole samples
  int halo = 0;         ///< samples on either side of a range that influence its result
  // Samples after which the pattern of channels repeats, and the pixels per period along x and y.
  int period = 1;
  int period_pixels = 1;
  int row_pixels = 1;
  bool copied = true;  ///< first copy each row, because the groups do not store all bytes
  int group_count = 0;
  std::array<RowGroup, FrameLayout::max_channels> groups;
  const std::uint8_t* border_row = nullptr;  ///< row outside the plane, for a constant border
};

/// Samples of the longest row, and the margin that the padding for any kernel needs on either side.
struct RowSize {
  explicit RowSize(const FrameLayout& layout) {
    int step = 1;
    for (int p = 0; p < layout.plane_count; ++p)
      samples = std::max(samples, layout.planes[p].row_bytes / layout.sample_bytes());
    for (int c = 0; c < layout.channel_count; ++c)
      step = std::max(step, layout.channels[c].step);
    margin = step * GaussKernel::max_radius;
  }
  int samples = 0, margin;
};

template <class Sample, class Sum>
struct RowMemory {
  using Half = std::conditional_t<sizeof(Sum) == 4, std::uint16_t, std::uint8_t>;

  RowMemory(Scratch& scratch, const RowSize& size) : values(scratch.take<Sample>(tile_samples)) {
    for (int i = 0; i < 2; ++i) {
      halves[i] = scratch.take<Half>(size.samples, size.margin);
      sums[i] = scratch.take<Sum>(tile_samples);
      pairs[i] = scratch.take<const std::uint8_t*>(2 * GaussKernel::max_radius);
    }
  }

  Half* halves[2];  ///< high (0) and low (1) halves of a row's sums
  Sum* sums[2];     ///< of a tile
  Sample* values;   ///< of a tile
  const std::uint8_t** pairs[2];
};

/// Blurs rows of one plane. Sum holds the weighted sum of one pass.
template <class Sample, class Sum>
class PlaneBlur {
  using Memory = RowMemory<Sample, Sum>;
  using Half = typename Memory::Half;
  static constexpr StoredSamples stored_halves{sizeof(Half), 0, std::numeric_limits<Half>::max()};

 public:
  PlaneBlur(const Parameters& parameters, StoredSamples stored, const PlanePlan& plan,
            const Memory& memory, const regions::ActiveCells* active)
      : parameters_(parameters), stored_(stored), plan_(plan), memory_(memory), active_(active) {}

  void run(int field, View<const std::uint8_t> in, View<std::uint8_t> out, const Band& band) {
    for (int y = band.begin; y < band.end; ++y) {
      if (plan_.copied)
        copy_rows(in, out, y, y + 1);
      for_each_run(field, y, [&](const Range& range) { blur(field, in, out, y, range); });
    }
  }

 private:
  struct Range {
    int begin, end;
  };

  template <class Function>
  void for_each_run(int field, int y, const Function& function) const {
    if (!active_)
      return function(Range{0, plan_.row_samples});
    const int row = (y * regions::field_count(parameters_.fields) + field) * plan_.row_pixels;
    const int gap = 2 * plan_.halo / plan_.period * plan_.period_pixels;
    active_->for_each_run(row, gap, [&](int x0, int x1) {
      const int after = ((x1 - 1) / plan_.period_pixels + 1) * plan_.period;
      function(Range{x0 / plan_.period_pixels * plan_.period, std::min(after, plan_.row_samples)});
    });
  }

  void blur(int field, View<const std::uint8_t> in, View<std::uint8_t> out, int y,
            const Range& range) const {
    const bool whole = parameters_.border == Border::wrap;
    const Range needed{
        whole ? 0 : std::max(range.begin - plan_.halo, 0),
        whole ? plan_.row_samples : std::min(range.end + plan_.halo, plan_.row_samples)};
    add_rows(plan_.fields[field], in, y, needed);
    for (int g = 0; g < plan_.group_count; ++g) {
      for (int m = 0; m < plan_.groups[g].member_count; ++m)
        pad_row(plan_.groups[g].members[m], plan_.groups[g].x.radius);
      add_columns(plan_.groups[g], in.row(y), out.row(y), range);
    }
  }

  template <class Function>
  static void for_each_tile(const Range& range, const Function& function) {
    for (int begin = range.begin; begin < range.end; begin += tile_samples)
      function(begin, std::min(begin + tile_samples, range.end));
  }

  /// Vertical pass: writes the high and low halves of the sums.
  void add_rows(const PlanePlan::Field& field, View<const std::uint8_t> in, int y,
                const Range& range) const {
    const Taps& taps = field.y;
    Sum* const sums = memory_.sums[0];
    const auto row = [&](int index) {
      const int from = border_index(index, field.rows, parameters_.border);
      return from < 0 ? plan_.border_row : in.row(from);
    };
    for (int i = 0; i < taps.pair_count; ++i) {
      memory_.pairs[0][2 * i] = row(y - taps.distances[i]);
      memory_.pairs[0][2 * i + 1] = row(y + taps.distances[i]);
    }
    const WeightedRows rows{in.row(y), taps.centre, taps.pair_count, memory_.pairs[0],
                            taps.weights.data()};
    for_each_tile(range, [&](int begin, int end) {
      weigh(rows, stored_, begin, end, sums);
      split(sums, end - begin, memory_.halves[0] + begin, memory_.halves[1] + begin);
    });
  }

  void pad_row(const RowGroup::Member& member, int radius) const {
    const Channel& channel = member.channel;
    Half *const high = memory_.halves[0], *const low = memory_.halves[1];
    const auto put = [&](int index) {
      const int from = border_index(index, channel.width, parameters_.border);
      const std::ptrdiff_t to = sample_index(channel, index);
      const std::ptrdiff_t source = sample_index(channel, from);
      // The vertical weights add up to 2^b, so the high half of a sum of constants is the constant.
      high[to] = from < 0 ? static_cast<Half>(member.border_value) : high[source];
      low[to] = from < 0 ? Half{0} : low[source];
    };
    for (int i = 1; i <= radius; ++i) {
      put(-i);
      put(channel.width - 1 + i);
    }
  }

  /// Horizontal pass: reads the halves of the vertical sums.
  void add_columns(const RowGroup& group, const std::uint8_t* in, std::uint8_t* out,
                   const Range& range) const {
    const Taps& taps = group.x;
    Sum *const high = memory_.sums[0], *const low = memory_.sums[1];
    WeightedRows rows[2];
    for (int which = 0; which < 2; ++which) {
      Half* const halves = memory_.halves[which];
      const std::uint8_t** const pairs = memory_.pairs[which];
      for (int i = 0; i < taps.pair_count; ++i) {
        const std::ptrdiff_t shift = std::ptrdiff_t{group.step} * taps.distances[i];
        pairs[2 * i] = bytes(halves - shift);
        pairs[2 * i + 1] = bytes(halves + shift);
      }
      rows[which] = {bytes(halves), taps.centre, taps.pair_count, pairs, taps.weights.data()};
    }
    Sample* const values = memory_.values;
    for_each_tile(range, [&](int begin, int end) {
      const std::ptrdiff_t byte = std::ptrdiff_t{begin} * stored_.bytes;
      weigh(rows[0], stored_halves, begin, end, high);
      weigh(rows[1], stored_halves, begin, end, low);
      round_halves(high, low, end - begin, values);
      if (parameters_.sharpen)
        sharpen(in + byte, stored_, end - begin, values);
      store(values, stored_, end - begin, group.mask ? group.mask + begin : nullptr, out + byte);
    });
  }

  static const std::uint8_t* bytes(const Half* halves) {
    return reinterpret_cast<const std::uint8_t*>(halves);
  }

  const Parameters& parameters_;
  StoredSamples stored_;
  const PlanePlan& plan_;
  const Memory& memory_;
  const regions::ActiveCells* active_;
};

class GaussBlurCpu final : public GaussBlur::Backend {
 public:
  GaussBlurCpu(Device& device, const FrameLayout& layout)
      : layout_(layout),
        stored_{layout.sample_bytes(), layout.shift, (1u << layout.bits) - 1},
        size_(layout),
        bands_(device, layout.height,
               scratch_bytes<RowMemory<std::uint16_t, std::uint32_t>>(size_)) {
    for (int p = 0; p < layout.plane_count; ++p)
      rows_[p] = device.allocate(plane_samples(p) * (stored_.bytes + layout.channel_count));
  }

  void set(const Parameters& parameters, const ChannelKernels& kernels) override {
    parameters_ = parameters;
    for (int p = 0; p < layout_.plane_count; ++p)
      make_plan(kernels, p);
  }

  void run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active) override {
    if (layout_.bits > 8)
      run_as<std::uint16_t, std::uint32_t>(in, out, active);
    else if (parameters_.fine)
      run_as<std::uint8_t, std::uint32_t>(in, out, active);
    else
      run_as<std::uint8_t, std::uint16_t>(in, out, active);
  }

 private:
  std::size_t plane_samples(int plane) const {
    return static_cast<std::size_t>(layout_.planes[plane].row_bytes / layout_.sample_bytes());
  }

  /// The blur clears unused low bits, so it can change words even if no axis is blurred.
  bool unchanged(const ChannelBlur& blur) const {
    return blur.copied ||
           (blur.x->identity() && blur.y->identity() && (layout_.bits == 8 || layout_.bits == 16));
  }

  void make_plan(const ChannelKernels& kernels, int plane) {
    PlanePlan& plan = plans_[plane];
    plan = {};
    plan.row_samples = static_cast<int>(plane_samples(plane));
    auto* border_row = rows_[plane].as<std::uint8_t>();
    std::uint8_t* masks = border_row + plane_samples(plane) * stored_.bytes;
    std::memset(border_row, 0, rows_[plane].size());
    plan.border_row = border_row;

    std::array<const GaussKernel*, FrameLayout::max_channels> group_kernels{};
    for (int c = 0; c < layout_.channel_count; ++c) {
      const ChannelBlur blur = channel_blur(layout_, parameters_, kernels, 0, c);
      if (blur.channel.plane != plane || unchanged(blur))
        continue;
      for (int field = 0; field < regions::field_count(parameters_.fields); ++field) {
        const ChannelBlur in_field = channel_blur(layout_, parameters_, kernels, field, c);
        plan.fields[field] = {in_field.channel.height, Taps(*in_field.y)};
      }
      int g = 0;
      while (g < plan.group_count &&
             (group_kernels[g] != blur.x || plan.groups[g].step != blur.channel.step))
        ++g;
      plan.group_count = std::max(plan.group_count, g + 1);
      group_kernels[g] = blur.x;
      RowGroup& group = plan.groups[g];
      std::uint8_t* const mask = masks + static_cast<std::size_t>(g) * plan.row_samples;
      group.x = Taps(*blur.x);
      group.step = blur.channel.step;
      group.members[group.member_count++] = {blur.channel, blur.border_value};
      group.mask = mask;
      for (int x = 0; x < blur.channel.width; ++x) {
        mask[sample_index(blur.channel, x)] = 0xff;
        store_value(border_row, sample_index(blur.channel, x), stored_, blur.border_value);
      }
      plan.halo = std::max(plan.halo, blur.x->radius() * blur.channel.step);
      if (blur.channel.step >= plan.period) {
        plan.period = blur.channel.step;
        plan.period_pixels = blur.channel.subsampling_x;
        plan.row_pixels = blur.channel.subsampling_y;
      }
    }
    RowGroup& only = plan.groups[0];
    if (plan.group_count == 1 && layout_.planes[plane].row_bytes % stored_.bytes == 0 &&
        std::all_of(only.mask, only.mask + plan.row_samples,
                    [](std::uint8_t in_group) { return in_group != 0; })) {
      only.mask = nullptr;
      plan.copied = false;
    }
  }

  template <class Sample, class Sum>
  void run_as(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active) {
    bands_.for_each([&](Band& band) {
      const RowMemory<Sample, Sum> memory(band.scratch, size_);
      for (int p = 0; p < layout_.plane_count; ++p) {
        const PlanePlan& plan = plans_[p];
        PlaneBlur<Sample, Sum> blur(parameters_, stored_, plan, memory, active);
        int blurred = 0;
        for (int field = 0; field < regions::field_count(parameters_.fields); ++field) {
          const int rows = plan.fields[field].rows;
          blur.run(field, regions::field_view(in.planes[p], field, parameters_.fields),
                   regions::field_view(out.planes[p], field, parameters_.fields), band.of(rows));
          blurred += rows;
        }
        const Band left = band.of(layout_.planes[p].rows - blurred);
        copy_rows(in.planes[p], out.planes[p], blurred + left.begin, blurred + left.end);
      }
    });
  }

  FrameLayout layout_;
  StoredSamples stored_;
  RowSize size_;
  Bands bands_;
  std::array<Buffer, FrameLayout::max_planes> rows_;  // each plane's border row and masks
  Parameters parameters_;
  std::array<PlanePlan, FrameLayout::max_planes> plans_;
};

}  // namespace

std::unique_ptr<GaussBlur::Backend> make_gauss_blur_cpu(Device& device, const FrameLayout& layout) {
  return std::make_unique<GaussBlurCpu>(device, layout);
}

}  // namespace cudavision::gaussblur
