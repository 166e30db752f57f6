// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend. One launch counts the tiles and makes their tables; another launch applies the
// tables. A separate launch makes the tables in two cases: with smoothing, because the counts are
// averaged first, and for some pictures of more than 12 bits, such as those with few tiles.

#include <algorithm>

#include "cuda/clahe/apply_bytes.cuh"
#include "cuda/clahe/backend.h"
#include "cuda/clahe/count_shape.h"
#include "cuda/clahe/kernels.cuh"
#include "cuda/clahe/table.cuh"
#include "cuda/core/cuda_check.h"

namespace cudavision::clahe {
namespace {

/// Up to this many bits, counters and quads fit into shared memory.
constexpr int shared_bits = 12;
/// 32-bit words of RangeSums per tile: four per range. No GPU needs more than 32 ranges.
constexpr std::size_t range_words = 32 * 4;

class ClaheCuda final : public Clahe::Backend {
 public:
  ClaheCuda(Device& device, const FrameLayout& layout, const Tiles& tiles)
      : device_(device),
        layout_(layout),
        colour_(layout.find(Role::luma) < 0),
        planner_(layout),
        tiling_(make_tiling(layout.width, layout.height, tiles)),
        cells_x_(tiling_.x),
        cells_y_(tiling_.y),
        estimates_(tiling_.x),
        entries_(static_cast<std::size_t>(tiling_.tiles()) * (colour_ ? 3 : 1) << layout.bits),
        counts_(zeroed_words(device, entries_)),
        tables_(device.allocate(entries_ * sizeof(std::uint16_t))),
        exchange_(zeroed_words(device, tiling_.tiles() + Launches::words)),
        range_sums_(
            zeroed_words(device, layout.bits > shared_bits ? range_words * tiling_.tiles() : 0)),
        launch_(device.stream(), apply_bytes_kernel),
        launch_tables_(device.stream(), table_kernel),
        multiprocessors_(multiprocessor_count()),
        overlapping_(can_overlap(reinterpret_cast<const void*>(table_kernel))),
        shares_evenly_(overlapping_ && !colour_ && layout.sample_bytes() == 1),
        reserved_bytes_(device_attribute(cudaDevAttrReservedSharedMemoryPerBlock,
                                         "the reserved shared memory")),
        shared_of_multiprocessor_(
            device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, "the shared memory")),
        shared_bytes_(
            device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, "the shared memory")) {
    if (shares_evenly_) {
      allow_shared(apply_bytes_kernel, shared_bytes_ - kBytesShared);
      for (const AccessPattern kind : byte_patterns)
        allow_shared(find_kernels(kind, Action::map).count, shared_bytes_ - count_bytes);
    }
    quads_fit_ = layout.bits <= shared_bits && quad_bytes(Action::map) <= shared_bytes_;
    if (colour_ || layout.sample_bytes() == 1)
      return;
    counted_range_ = largest_range(sizeof(std::uint32_t));
    applied_range_ = largest_range(sizeof(Quad<true>));
    for (const AccessPattern kind : {AccessPattern::luma_words, AccessPattern::scattered_luma_2}) {
      const Kernels kernels = find_kernels(kind, Action::map);
      if (quads_fit_)
        allow_shared(kernels.apply, quad_bytes(Action::map));
      const int counted_bytes = counted_range_ * static_cast<int>(sizeof(std::uint32_t));
      allow_shared(kernels.count_ranges, counted_bytes);
      if (kernels.make_ranges)
        allow_shared(kernels.make_ranges, counted_bytes);
      allow_shared(kernels.apply_ranges, applied_range_ * static_cast<int>(sizeof(Quad<true>)));
    }
  }

  void set(const Parameters& parameters) override { parameters_ = parameters; }

  void run(const ConstFrame& in, const Frame& out) override {
    AccessPlan plan = planner_.plan(in, out);
    if (plan.scattered())
      plan.copy_planes(device_);
    Arguments a = arguments(plan);
    a.make_tables = true;
    launch_count(plan, a);
    if (!a.make_tables)
      make_tables({a, nullptr, 0});
    launch_apply(plan, a);
  }

  View<const std::uint32_t> count(const ConstFrame& in) override {
    const AccessPlan plan = planner_.plan(in, Frame{});
    Arguments a = arguments(plan);
    launch_count(plan, a);
    return contiguous_rows(a.counts, 1 << layout_.bits, a.table_count);
  }

  View<const std::uint16_t> make_tables(View<const std::uint32_t> averages, const ConstFrame& in,
                                        const Frame& out) override {
    AccessPlan plan = planner_.plan(in, out);
    if (plan.scattered())
      plan.copy_planes(device_);
    const Arguments a = arguments(plan);
    make_tables({a, averages.data, parameters_.clip_limit});
    return contiguous_rows(a.tables, 1 << layout_.bits, a.table_count);
  }

  void apply(const ConstFrame& in, const Frame& out, View<const std::uint16_t> tables) override {
    const AccessPlan plan = planner_.plan(in, out);
    Arguments a = arguments(plan);
    a.tables = const_cast<std::uint16_t*>(tables.data);  // the kernels only read the tables
    launch_apply(plan, a);
  }

 private:
  Action action() const {
    return !colour_                                             ? Action::map
           : parameters_.channels == Parameters::Channels::each ? Action::each
                                                                : Action::shift;
  }

  static int grids(Action action) { return action == Action::each ? 3 : 1; }

  int quad_bytes(Action action) const {
    const auto quad = layout_.sample_bytes() == 1 ? sizeof(Quad<false>) : sizeof(Quad<true>);
    return grids(action) * 2 * static_cast<int>(quad) << layout_.bits;
  }

  int largest_range(std::size_t element_bytes) const {
    constexpr int for_sums = 1024;  // bytes for the kernels' other shared variables
    int values = 1 << layout_.bits;
    while (values * static_cast<int>(element_bytes) > shared_bytes_ - for_sums)
      values /= 2;
    return values;
  }

  static void allow_shared(Kernel kernel, int bytes) {
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
               "reserving shared memory on the GPU");
  }

  Arguments arguments(const AccessPlan& plan) const {
    const std::uint32_t area = tiling_.area();
    Arguments a{};
    a.picture = plan.packs;
    a.tiling = tiling_;
    a.cells_x = cells_x_;
    a.cells_y = cells_y_;
    a.bits = layout_.bits;
    a.tiles_x = make_division(tiling_.x.tiles);
    a.counts = counts_.as<std::uint32_t>();
    a.tables = tables_.as<std::uint16_t>();
    a.arrivals = exchange_.as<std::uint32_t>();
    a.launches = a.arrivals + tiling_.tiles();
    a.range_sums = range_sums_.as<std::uint64_t>();
    a.table_count = tiling_.tiles() * grids(action());
    a.clip_count = clip_count(parameters_.clip_limit, area, 1 << layout_.bits);
    a.scale = level_scale(parameters_.low, parameters_.high, area);
    a.low = parameters_.low;
    a.high = parameters_.high;
    std::copy(plan.copies, plan.copies + plan.copy_count, a.copies);
    a.copy_count = plan.copy_count;
    a.blend = parameters_.blend;
    a.estimates = estimates_;
    return a;
  }

  void launch_count(const AccessPlan& plan, Arguments& a) const {
    const Kernels kernels = find_kernels(plan.kind, action());
    const int tiles = tiling_.tiles();
    if (layout_.bits > shared_bits) {
      const int ranges = (1 << layout_.bits) / counted_range_;
      const std::size_t shared = counted_range_ * sizeof(std::uint32_t);
      a.range_bins = counted_range_;
      const int parts = std::clamp(multiprocessors_ / (tiles * ranges), 1, tiling_.y.tile_size);
      a.counting_parts = make_division(parts);
      a.make_tables &= kernels.make_ranges && parts == 1 && ranges <= multiprocessors_;
      if (a.make_tables)
        launch_(kernels.make_ranges, std::min(tiles, multiprocessors_ / ranges) * ranges,
                kRangeThreads, shared, a, true);
      else
        launch_(kernels.count_ranges, tiles * ranges * parts, kRangeThreads, shared, a);
      return;
    }
    // Copying blocks fill multiprocessors with fewer counting blocks, so shares need not be even.
    const bool even = shares_evenly_ && a.copy_count == 0;
    const auto [threads, parts] = count_shape(tiling_, kernels.pixels, multiprocessors_, even);
    a.counting_parts = make_division(parts);
    const unsigned copying = a.make_tables ? copying_blocks(a, threads) : 0;
    const std::size_t shared = grids(action()) * sizeof(std::uint32_t) << layout_.bits;
    const std::size_t share = even ? even_share(tiles * parts, count_bytes) : 0;
    launch_(kernels.count, tiles * parts + copying, threads, std::max(shared, share), a);
  }

  void make_tables(const TableArguments& a) const {
    const unsigned threads = std::min((1 << layout_.bits) / kTableBins, kMaxTableThreads);
    launch_tables_(table_kernel, a.tiles.table_count + copying_blocks(a.tiles, threads), threads, 0,
                   a);
  }

  /// Dynamic shared memory per block that limits a multiprocessor to its share of the blocks, but
  /// leaves room for another launch. Without this limit, the multiprocessors that finish the
  /// previous launch first get too many blocks: 3840×2160 took 16.9 instead of 15.8 µs on an H200.
  std::size_t even_share(int blocks, int static_bytes) const {
    constexpr int margin = 512, max_blocks = 16;
    const int share = divide_up(blocks, multiprocessors_);
    if (!overlapping_ || share > max_blocks)
      return 0;
    // With this size, share + 1 blocks do not fit.
    const int bytes = shared_of_multiprocessor_ / (share + 1) + margin - reserved_bytes_;
    return std::max(std::min(bytes, shared_bytes_) - static_bytes, 0);
  }

  unsigned copying_blocks(const Arguments& a, unsigned threads) const {
    std::uint32_t pieces = 0;
    for (int c = 0; c < a.copy_count; ++c)
      pieces = std::max(pieces, a.copies[c].count);
    constexpr int pieces_per_thread = 4, threads_per_multiprocessor = 1024;
    return std::min(divide_up(pieces, threads * pieces_per_thread),
                    multiprocessors_ * threads_per_multiprocessor / threads);
  }

  /// Returns true if quads fit and are faster. A pack must not overlap more than two
  /// cells. With few pixels per table entry, copying the tables takes longer than reading entries.
  bool quads_are_worth_it(int pack_pixels) const {
    constexpr int min_pixels_per_bin = 4;
    return quads_fit_ && tiling_.x.tile_size / 2 > pack_pixels &&
           static_cast<int>(tiling_.area() >> layout_.bits) >= min_pixels_per_bin;
  }

  void launch_apply(const AccessPlan& plan, Arguments& a) const {
    const Kernels kernels = find_kernels(plan.kind, action());
    constexpr std::uint32_t min_pixels = 4096;  // per tile, to amortise reading tables
    if (!quads_fit_ && kernels.apply_ranges && tiling_.area() >= min_pixels &&
        tiling_.x.tile_size / 2 > kernels.pixels) {
      a.range_bins = applied_range_;
      // Each block reads whole tables, so fewer blocks are faster.
      const auto divide_into = [&](Patches kind) {
        const PatchGrid grid = divide(a, kind, kernels.pixels, a.picture.per_row, kRangesThreads);
        const int rows = kRangesThreads / a.columns * kHeldPacks;
        return divide_rows(a, grid, divide_up(grid.highest, rows));
      };
      const int half_tiles = divide_into(Patches::half_tiles);
      int blocks = divide_into(Patches::cells);
      if (half_tiles < blocks)
        blocks = divide_into(Patches::half_tiles);
      launch_(kernels.apply_ranges, blocks, kRangesThreads, applied_range_ * sizeof(Quad<true>), a);
      return;
    }
    if (!quads_are_worth_it(kernels.pixels)) {
      launch_(kernels.apply_directly, divide_up(a.picture.count, kThreads), kThreads, 0, a);
      return;
    }
    if (plan.kind == AccessPattern::luma_bytes_1 && plan.packs.row_bytes == plan.packs.width) {
      // In small tiles, more threads would spend most of their time on setup.
      constexpr std::uint32_t min_pixels = 8192;
      const int threads = tiling_.area() < min_pixels ? kBytesThreads / 2 : kBytesThreads;
      constexpr std::uint32_t min_half_tile = 4096;  // bytes; a cell's four tables have 2048 bytes
      const PatchGrid grid =
          divide(a, tiling_.area() / 4 >= min_half_tile ? Patches::half_tiles : Patches::cells,
                 kBytesPixels, divide_up(a.picture.width, kBytesPixels), threads);
      const int resident = multiprocessors_ * kBytesBlocks * (kBytesThreads / threads);
      const int min_parts = divide_up(grid.highest, kBytesRows);
      const int max_parts = std::max(min_parts, divide_up(grid.highest, threads / a.columns));
      const int blocks =
          divide_rows(a, grid, std::clamp(resident / grid.blocks, min_parts, max_parts));
      launch_(apply_bytes_kernel, blocks, threads, even_share(blocks, kBytesShared), a);
      return;
    }
    const PatchGrid grid = divide(a, Patches::cells, kernels.pixels, a.picture.per_row, kThreads);
    // In large pictures, each thread processes several rows, to amortise the setup of weights.
    constexpr int max_rounds = 8, blocks_per_multiprocessor = 2;
    const int threads = multiprocessors_ * blocks_per_multiprocessor * kThreads;
    const int rounds = std::min(divide_up(static_cast<int>(a.picture.count), threads), max_rounds);
    const int rows = kThreads / a.columns * rounds;
    launch_(kernels.apply, divide_rows(a, grid, divide_up(grid.highest, rows)), kThreads,
            quad_bytes(action()), a);
  }

  struct PatchGrid {
    int blocks;   ///< chunks of patches
    int highest;  ///< height of the tallest patch, in rows
  };

  static int divide_rows(Arguments& a, const PatchGrid& grid, int parts) {
    a.applying_parts = make_division(parts);
    return grid.blocks * parts;
  }

  /// Divides the picture into patches, and each patch into chunks of columns.
  PatchGrid divide(Arguments& a, Patches kind, int pixels, int per_row, int threads) const {
    const auto first_pack_of = [&](int patch) {
      const int pixel = patch_begin(tiling_.x, cells_x_, patch, kind);
      return pixel < layout_.width ? divide_up(pixel, pixels) : per_row;
    };
    const int patches_x = patches_along(tiling_.x, kind),
              patches_y = patches_along(tiling_.y, kind);
    int widest = 1, highest = 0;
    for (int patch = 0; patch < patches_x; ++patch)
      widest = std::max(widest, first_pack_of(patch + 1) - first_pack_of(patch));
    for (int patch = 0; patch < patches_y; ++patch)
      highest = std::max(highest, patch_begin(tiling_.y, cells_y_, patch + 1, kind) -
                                      patch_begin(tiling_.y, cells_y_, patch, kind));
    // Divides wide patches into chunks, because threads that do not fill a whole row are idle.
    const int max_columns = threads / 4, chunk_columns = threads / 8;
    a.patches = kind;
    a.columns = widest <= max_columns ? widest : chunk_columns;
    const int chunks = divide_up(widest, a.columns);
    a.chunks = make_division(chunks);
    a.patches_x = make_division(patches_x);
    return {patches_x * patches_y * chunks, highest};
  }

  Device& device_;
  FrameLayout layout_;
  bool colour_;
  Parameters parameters_;
  AccessPlanner planner_;
  Tiling tiling_;
  CellBegins cells_x_, cells_y_;
  EstimateScale estimates_;
  std::size_t entries_;  // number of entries in all tables
  Buffer counts_;
  Buffer tables_;
  Buffer exchange_;
  Buffer range_sums_;
  Launcher<Arguments> launch_;
  Launcher<TableArguments> launch_tables_;
  int multiprocessors_;
  bool overlapping_;
  bool shares_evenly_;
  int reserved_bytes_;
  int shared_of_multiprocessor_;
  int shared_bytes_;  // limit per block
  bool quads_fit_ = false;
  int counted_range_ = 0, applied_range_ = 0;  // in values, for samples of two bytes
};

}  // namespace

std::unique_ptr<Clahe::Backend> make_clahe_cuda(Device& device, const FrameLayout& layout,
                                                const Tiles& tiles) {
  return std::make_unique<ClaheCuda>(device, layout, tiles);
}

}  // namespace cudavision::clahe
