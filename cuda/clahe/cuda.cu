// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend: three launches count the tiles, make their tables, and apply these. With
// smoothing, averages lie between the first two, and hysteresis between the others.

#include <algorithm>
#include <vector>

#include "cuda/clahe/apply.cuh"
#include "cuda/clahe/arguments.cuh"
#include "cuda/clahe/backend.h"
#include "cuda/clahe/count.cuh"
#include "cuda/clahe/table.cuh"
#include "cuda/core/cuda_check.h"

namespace cudavision::clahe {
namespace {

using Kernel = Launcher<Arguments>::Kernel;

/// The kernels for one kind of pack.
struct Kernels {
  int pixels;  ///< of a pack
  Kernel count;
  Kernel count_in_device_memory;  ///< for words only
  Kernel apply;
  Kernel apply_plain;  ///< for contiguous bytes only
  Kernel apply_directly;
};

template <class Pack, Action kAction>
Kernels kernels_of() {
  Kernels kernels{Pack::pixels, count_kernel<Pack, kAction, SharedCounter<Pack, kAction>>,
                  nullptr,      apply_kernel<Pack, kAction, Rows::ragged, false>,
                  nullptr,      apply_directly_kernel<Pack, kAction>};
  if constexpr (is_words<Pack>)
    kernels.count_in_device_memory = count_kernel<Pack, kAction, DeviceCounter<Pack>>;
  if constexpr (std::is_same_v<Pack, LumaBytes<1, 0>>)
    kernels.apply_plain = apply_kernel<Pack, kAction, Rows::whole, true>;
  return kernels;
}

template <class Pack>
Kernels colour_kernels_of(Action action) {
  return action == Action::each ? kernels_of<Pack, Action::each>()
                                : kernels_of<Pack, Action::shift>();
}

Kernels find_kernels(AccessPattern kind, Action action) {
  switch (kind) {
    case AccessPattern::luma_bytes_1:
      return kernels_of<LumaBytes<1, 0>, Action::map>();
    case AccessPattern::luma_bytes_2_0:
      return kernels_of<LumaBytes<2, 0>, Action::map>();
    case AccessPattern::luma_bytes_2_1:
      return kernels_of<LumaBytes<2, 1>, Action::map>();
    case AccessPattern::luma_words:
      return kernels_of<LumaWords<false>, Action::map>();
    case AccessPattern::scattered_luma_1:
      return kernels_of<ScatteredLuma<1>, Action::map>();
    case AccessPattern::scattered_luma_2:
      return kernels_of<ScatteredLuma<2>, Action::map>();
    case AccessPattern::packed_colour_3:
      return colour_kernels_of<PackedColour<3>>(action);
    case AccessPattern::packed_colour_4:
      return colour_kernels_of<PackedColour<4>>(action);
    case AccessPattern::planar_colour:
      return colour_kernels_of<PlanarColour>(action);
    default:
      return colour_kernels_of<ScatteredColour>(action);
  }
}

/// Counters and quads of up to this many bits fit shared memory.
constexpr int shared_bits = 12;
constexpr int shared_bytes_of_any_kernel = 48 << 10;

class ClaheCuda final : public Clahe::Backend {
 public:
  ClaheCuda(Device& device, const FrameLayout& layout, const Tiles& tiles)
      : device_(device),
        layout_(layout),
        colour_(layout.find(Role::luma) < 0),
        planner_(layout),
        tiling_(make_tiling(layout.width, layout.height, tiles)),
        entries_(static_cast<std::size_t>(tiling_.tiles()) * (colour_ ? 3 : 1) << layout.bits),
        counts_(zeroed_words(device, entries_)),
        tables_(device.allocate(entries_ * sizeof(std::uint16_t))),
        launch_(device.stream(), table_kernel),
        launch_smoothed_(device.stream(), smoothed_table_kernel),
        multiprocessors_(multiprocessor_count()) {
    for (int cell = 0; cell <= tiling_.x.cells(); ++cell)
      cell_begins_.push_back(tiling_.x.cell_begin(cell));
    for (int cell = 0; cell < tiling_.y.cells(); ++cell)
      highest_cell_ =
          std::max(highest_cell_, tiling_.y.cell_begin(cell + 1) - tiling_.y.cell_begin(cell));
    quads_fit_ = layout.bits <= shared_bits &&
                 quad_bytes(Action::map, 2) <=
                     device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, "the shared memory");
    if (quads_fit_ && quad_bytes(Action::map, 2) > shared_bytes_of_any_kernel)
      for (const AccessPattern kind : {AccessPattern::luma_words, AccessPattern::scattered_luma_2})
        cuda_check(cudaFuncSetAttribute(find_kernels(kind, Action::map).apply,
                                        cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        quad_bytes(Action::map, 2)),
                   "reserving shared memory on the GPU");
  }

  void set(const Parameters& parameters) override { parameters_ = parameters; }

  void run(const ConstFrame& in, const Frame& out) override {
    const Action action = this->action();
    const AccessPlan plan = planner_.plan(in, out);
    const Kernels kernels = find_kernels(plan.kind, action);
    copy_mixed_planes(plan, in, out);

    Arguments a = arguments(plan, action);
    launch_count(kernels, action, a);
    launch_(table_kernel, table_blocks(a), table_threads(), 0, a);
    launch_apply(kernels, action, a);
  }

  View<const std::uint32_t> count(const ConstFrame& in) override {
    const AccessPlan plan = planner_.plan(in, Frame{});
    Arguments a = arguments(plan, action());
    launch_count(find_kernels(plan.kind, action()), action(), a);
    return rows<const std::uint32_t>(a.counts, a.table_count);
  }

  View<const std::uint16_t> make_tables(View<const std::uint32_t> averages, const ConstFrame& in,
                                        const Frame& out) override {
    const AccessPlan plan = planner_.plan(in, out);
    copy_mixed_planes(plan, in, out);
    const SmoothedArguments smoothed{arguments(plan, action()), averages.data,
                                     parameters_.clip_limit};
    const Arguments& a = smoothed.tiles;
    launch_smoothed_(smoothed_table_kernel, table_blocks(a), table_threads(), 0, smoothed);
    return rows<const std::uint16_t>(a.tables, a.table_count);
  }

  void apply(const ConstFrame& in, const Frame& out, View<const std::uint16_t> tables) override {
    const AccessPlan plan = planner_.plan(in, out);
    Arguments a = arguments(plan, action());
    a.tables = const_cast<std::uint16_t*>(tables.data);  // these kernels only read them
    launch_apply(find_kernels(plan.kind, action()), action(), a);
  }

 private:
  Action action() const {
    return !colour_                                             ? Action::map
           : parameters_.channels == Parameters::Channels::each ? Action::each
                                                                : Action::shift;
  }

  template <class Element>
  View<Element> rows(Element* data, int count) const {
    const int width = 1 << layout_.bits;
    return {data, width, count, static_cast<std::ptrdiff_t>(sizeof(Element)) * width};
  }

  void copy_mixed_planes(const AccessPlan& plan, const ConstFrame& in, const Frame& out) const {
    if (plan.scattered())
      for (const int p : planner_.mixed_planes())
        device_.copy(in.planes[p], out.planes[p]);
  }

  static int grids(Action action) { return action == Action::each ? 3 : 1; }

  int quad_bytes(Action action, int cells) const {
    return grids(action) * cells * static_cast<int>(sizeof(Quad)) << layout_.bits;
  }

  Arguments arguments(const AccessPlan& plan, Action action) const {
    const std::uint32_t area = tiling_.area();
    Arguments a{};
    a.picture = plan.packs;
    a.tiling = tiling_;
    a.bits = layout_.bits;
    a.counts = counts_.as<std::uint32_t>();
    a.tables = tables_.as<std::uint16_t>();
    a.table_count = tiling_.tiles() * grids(action);
    a.clip_count = clip_count(parameters_.clip_limit, area, 1 << layout_.bits);
    a.scale = level_scale(parameters_.low, parameters_.high, area);
    a.low = parameters_.low;
    a.high = parameters_.high;
    std::copy(plan.copies, plan.copies + plan.copy_count, a.copies);
    a.copy_count = plan.copy_count;
    a.blend = parameters_.blend;
    return a;
  }

  /// Launches enough blocks to fill the GPU. In large pictures, each thread gets several packs, so
  /// that clearing and adding up a block's counters takes the smaller part of its time.
  void launch_count(const Kernels& kernels, Action action, Arguments& a) const {
    constexpr int packs_per_thread = 4, min_per_multiprocessor = 2, max_per_multiprocessor = 8;
    const int tiles = tiling_.tiles();
    const int single = static_cast<int>(a.picture.count / kThreads);  // blocks of one pack a thread
    const int blocks =
        std::min(std::max(single / packs_per_thread,
                          std::min(single, multiprocessors_ * min_per_multiprocessor)),
                 multiprocessors_ * max_per_multiprocessor);
    a.counting_parts = std::clamp((blocks + tiles - 1) / tiles, 1, tiling_.y.tile_size);
    const bool shared = layout_.bits <= shared_bits;
    launch_(shared ? kernels.count : kernels.count_in_device_memory, tiles * a.counting_parts,
            kThreads, shared ? grids(action) * sizeof(std::uint32_t) << layout_.bits : 0, a);
  }

  unsigned table_threads() const {
    return std::min((1 << layout_.bits) / kTableBins, kMaxTableThreads);
  }

  /// A block for each table, and blocks that copy planes.
  unsigned table_blocks(const Arguments& a) const {
    std::uint32_t pieces = 0;
    for (int c = 0; c < a.copy_count; ++c)
      pieces = std::max(pieces, a.copies[c].count);
    constexpr int pieces_per_thread = 4, blocks_per_multiprocessor = 4;
    const std::uint32_t copying = std::min<std::uint32_t>(
        (pieces + table_threads() * pieces_per_thread - 1) / (table_threads() * pieces_per_thread),
        multiprocessors_ * blocks_per_multiprocessor);
    return a.table_count + copying;
  }

  void launch_apply(const Kernels& kernels, Action action, Arguments& a) const {
    // A pack must not reach beyond the next cell. Besides, tables that are larger than their tile
    // are read faster than they are copied to shared memory.
    constexpr int min_pixels_per_bin = 4;
    if (!quads_fit_ || tiling_.x.tile_size / 2 <= kernels.pixels ||
        tiling_.area() >> layout_.bits < min_pixels_per_bin) {
      launch_(kernels.apply_directly, (a.picture.count + kThreads - 1) / kThreads, kThreads, 0, a);
      return;
    }
    bool divided = a.picture.width % kernels.pixels != 0;  // a pack that is not in one cell
    int widest = 1;
    for (int cell = 0; cell < tiling_.x.cells(); ++cell) {
      divided |= cell_begins_[cell] < layout_.width && cell_begins_[cell] % kernels.pixels != 0;
      const auto first_pack_from = [&](int pixel) {
        return pixel < layout_.width ? (pixel + kernels.pixels - 1) / kernels.pixels
                                     : a.picture.per_row;
      };
      widest = std::max(
          widest, first_pack_from(cell_begins_[cell + 1]) - first_pack_from(cell_begins_[cell]));
    }
    const bool plain =
        kernels.apply_plain && !divided && a.blend == 256 && a.picture.row_bytes == a.picture.width;
    a.columns = columns_at_once(widest);
    a.chunks = (widest + a.columns - 1) / a.columns;
    // Large pictures get blocks of several rounds, so that weights and quads take the smaller part
    // of their time.
    constexpr int max_rounds = 8, blocks_per_multiprocessor = 2;
    const int threads = multiprocessors_ * blocks_per_multiprocessor * kThreads;
    const int rounds =
        std::min((static_cast<int>(a.picture.count) + threads - 1) / threads, max_rounds);
    const int rows = kThreads / a.columns * rounds;
    a.applying_parts = (highest_cell_ + rows - 1) / rows;
    const int cells = tiling_.x.cells() * tiling_.y.cells();
    launch_(plain ? kernels.apply_plain : kernels.apply, cells * a.chunks * a.applying_parts,
            kThreads, quad_bytes(action, plain ? 1 : 2), a);
  }

  Device& device_;
  FrameLayout layout_;
  bool colour_;
  Parameters parameters_;
  AccessPlanner planner_;
  Tiling tiling_;
  std::size_t entries_;  // of all tables
  Buffer counts_;
  Buffer tables_;
  Launcher<Arguments> launch_;
  Launcher<SmoothedArguments> launch_smoothed_;
  int multiprocessors_;
  std::vector<int> cell_begins_;
  int highest_cell_ = 0;
  bool quads_fit_ = false;
};

}  // namespace

std::unique_ptr<Clahe::Backend> make_clahe_cuda(Device& device, const FrameLayout& layout,
                                                const Tiles& tiles, Averages) {
  return std::make_unique<ClaheCuda>(device, layout, tiles);
}

}  // namespace cudavision::clahe
