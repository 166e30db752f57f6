// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Chooses, for all pictures of one kind: the kernel, the tile size, the memory that holds the
// table of weights, and the number of blocks.

#include <algorithm>

#include "cuda/core/cuda_check.h"
#include "cuda/core/cuda_launch.h"
#include "cuda/nlmeans/backend.h"
#include "cuda/nlmeans/generic.cuh"
#include "cuda/nlmeans/mma.cuh"
#include "cuda/nlmeans/tile.cuh"

namespace cudavision::nlmeans {

using Kernel = Launcher<NlMeansArguments>::Kernel;

constexpr int max_tile_radius = 3;

template <int kRadius>
constexpr Kernel tile_kernels[2][2] = {
    {denoise_tiles<kRadius, 1, false>, denoise_tiles<kRadius, 1, true>},
    {denoise_tiles<kRadius, 3, false>, denoise_tiles<kRadius, 3, true>}};

inline Kernel tile_kernel(int radius, int channels, bool shared_table) {
  const auto& kernels = radius == 1   ? tile_kernels<1>
                        : radius == 2 ? tile_kernels<2>
                                      : tile_kernels<max_tile_radius>;
  return kernels[channels > 1][shared_table];
}

inline Kernel generic_kernel(int sample_bytes, int channels) {
  if (sample_bytes == 1)
    return channels == 1 ? denoise_generic<std::uint8_t, std::uint32_t, 1>
                         : denoise_generic<std::uint8_t, std::uint32_t, 3>;
  return channels == 1 ? denoise_generic<std::uint16_t, std::uint64_t, 1>
                       : denoise_generic<std::uint16_t, std::uint64_t, 3>;
}

inline Kernel padding_kernel(int sample_bytes) {
  return sample_bytes == 1 ? pad_pictures<std::uint8_t> : pad_pictures<std::uint16_t>;
}

constexpr int min_product_side = 2, max_product_side = 4;

/// Returns nullptr if a warp has too few registers for the squares of this kind and this table.
template <class Kind, Table kTable>
Kernel product_kernel() {
  if constexpr (has_registers<Kind>(kTable))
    return denoise_mma<Kind, kTable>;
  return nullptr;
}

template <class Kind>
Kernel product_kernel(Table table) {
  return table == Table::aligned  ? product_kernel<Kind, Table::aligned>()
         : table == Table::shared ? product_kernel<Kind, Table::shared>()
                                  : product_kernel<Kind, Table::global>();
}

/// Calls function(kind) with the kind of the smallest side that holds the patch and of the most
/// squares that the search radius allows. Returns false if there is no such kind.
template <class Function>
bool with_product_kind(int patch_radius, int search_radius, int channels, int sample_bytes,
                       const Function& function) {
  const int side = patch_radius / 2 + 1;
  const auto chosen = [&](auto kind) {
    using Kind = decltype(kind);
    if (std::max(side, min_product_side) != Kind::side || search_radius < Kind::min_search_radius ||
        channels != Kind::channels || sample_bytes != Kind::sample_bytes)
      return false;
    function(kind);
    return true;
  };
  return chosen(ProductKind<2, 1, 1>{}) || chosen(ProductKind<2, 1, 1, true>{}) ||
         chosen(ProductKind<3, 1, 1>{}) || chosen(ProductKind<3, 1, 1, true>{}) ||
         chosen(ProductKind<4, 1, 1>{}) || chosen(ProductKind<2, 3, 1>{}) ||
         chosen(ProductKind<3, 3, 1>{}) || chosen(ProductKind<2, 1, 2>{}) ||
         chosen(ProductKind<2, 1, 2, true>{}) || chosen(ProductKind<3, 1, 2>{}) ||
         chosen(ProductKind<4, 1, 2>{}) || chosen(ProductKind<2, 3, 2>{});
}

/// A launch that denoises all groups of one kind.
struct Plan {
  int groups[FrameLayout::max_channels] = {};  ///< group of each picture in the arguments
  NlMeansArguments arguments{};
  Kernel kernel = nullptr;
  unsigned blocks = 0;
  unsigned resident_blocks = 0;  ///< blocks that share the strips; 0 except for mma.cuh
  int threads = 0;
  int shared_bytes = 0;
  unsigned padding_blocks = 0;  ///< 0: the kernel reads the frame itself
};

/// Chooses kernels for pictures of one layout, on the GPU of the current context.
class KernelChoice {
 public:
  explicit KernelChoice(const FrameLayout& layout)
      : layout_(layout),
        shared_bytes_(
            device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, "the shared memory")),
        multiprocessor_bytes_(
            device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, "the shared memory")),
        reserved_bytes_(device_attribute(cudaDevAttrReservedSharedMemoryPerBlock,
                                         "the reserved shared memory")),
        multiprocessors_(multiprocessor_count()) {
    for (int radius = 1; radius <= max_tile_radius; ++radius)
      for (const int channels : {1, DenoisedChannels::max_count})
        for (const bool shared_table : {false, true})
          allow_shared_memory(tile_kernel(radius, channels, shared_table));
    for (const int channels : {1, DenoisedChannels::max_count})
      for (int side = min_product_side; side <= max_product_side; ++side)
        for (const int search_radius : {1, Parameters::Ranges::search.max / 2})
          with_product_kind(
              2 * side - 2, search_radius, channels, layout.sample_bytes(), [&](auto kind) {
                for (const Table table : {Table::aligned, Table::shared, Table::global})
                  if (const Kernel kernel = product_kernel<decltype(kind)>(table))
                    allow_shared_memory(kernel);
              });
  }

  /// Chooses the kernel of a plan and the arguments that depend on the kernel. Pictures, search and
  /// table must be set. weights is the number of words in the table, including the final 0.
  void choose(const Parameters& parameters, Plan& plan, int weights) const {
    NlMeansArguments& a = plan.arguments;
    plan.padding_blocks = plan.resident_blocks = 0;
    if (choose_tile_kernel(parameters, plan))
      return;
    if (with_product_kind(a.patch_radius, a.search_radius, a.channels, layout_.sample_bytes(),
                          [&](auto kind) {
                            plan.kernel = nullptr;
                            choose_product_kernel<decltype(kind)>(plan, weights);
                          }) &&
        plan.kernel)
      return;
    plan.kernel = generic_kernel(layout_.sample_bytes(), a.channels);
    plan.threads = generic_threads;
    plan.shared_bytes = 0;
    plan.blocks = place_tiles(plan, generic_tile, generic_tile);
    for (int i = 0; i < a.picture_count; ++i) {
      a.pictures[i].first_padding_block = plan.padding_blocks;
      plan.padding_blocks += static_cast<unsigned>(parameters.frames * a.channels) *
                             (a.pictures[i].height + 2 * denoising_halo(parameters));
    }
  }

  /// Divides the strips evenly among the resident blocks. With active cells, a share is at most as
  /// large as a tile, so that all blocks get about equally many active tiles.
  static void share_strips(Plan& plan) {
    NlMeansArguments& a = plan.arguments;
    const auto tile_strips = static_cast<unsigned>(a.shape.strips);
    const unsigned tiles = divide_up(a.strips, tile_strips);
    a.shares = std::min(
        a.strips, a.everywhere ? plan.resident_blocks : std::max(plan.resident_blocks, tiles));
    a.strips_of_share = a.strips / a.shares;
    a.longer_shares = a.strips % a.shares;
    plan.blocks = std::min(a.shares, plan.resident_blocks);
  }

 private:
  void allow_shared_memory(Kernel kernel) const {
    cuda_check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes_),
        "reserving shared memory on the GPU");
  }

  /// Returns false if no tile kernel fits or if the tensor cores are faster. The tensor cores
  /// compare whole groups of candidates: with 1.3 times as many comparisons, they take 0.85 times
  /// as long for one channel and 0.53 times as long for three (H100).
  bool choose_tile_kernel(const Parameters& parameters, Plan& plan) const {
    NlMeansArguments& a = plan.arguments;
    const int needed = a.search_radius * 2 + 4;
    const int compared = round_up(needed, 8) * needed;
    const int searched = parameters.search * parameters.search;
    const int tile_bytes = tile_shared_bytes(a.channels, denoising_halo(parameters));
    if (layout_.bits != 8 || (a.frame_count > 1 && !searches_neighbours(a.channels)) ||
        a.patch_radius < 1 || a.patch_radius > max_tile_radius ||
        a.search_radius > DenoisingTile::max_search_radius || tile_bytes > shared_bytes_ ||
        2 * compared <= (a.channels == 1 ? 3 : 5) * searched)
      return false;
    const int table_bytes = static_cast<int>((a.last_weight + 1) * sizeof(std::uint32_t));
    const bool shared_table =
        a.last_weight < max_shared_weights && tile_bytes + table_bytes <= shared_bytes_;
    plan.kernel = tile_kernel(a.patch_radius, a.channels, shared_table);
    plan.threads = tile_threads;
    plan.shared_bytes = tile_bytes + (shared_table ? table_bytes : 0);
    plan.blocks = place_tiles(plan, DenoisingTile::width,
                              DenoisingTile::warps * tile_thread_rows(a.channels));
    return true;
  }

  static unsigned place_tiles(Plan& plan, int width, int height) {
    unsigned count = 0;
    for (int i = 0; i < plan.arguments.picture_count; ++i) {
      DenoisedPicture& picture = plan.arguments.pictures[i];
      picture.first_block = count;
      count += static_cast<unsigned>(divide_up(picture.width, width)) *
               static_cast<unsigned>(divide_up(picture.height, height));
    }
    return count;
  }

  int share(int resident_blocks) const {
    return std::min(shared_bytes_, multiprocessor_bytes_ / resident_blocks - reserved_bytes_);
  }

  /// Sets the shape of the tile and returns its size in bytes. Gives up at most a quarter of the
  /// strips for more copies of the table (1424 instead of 1461 µs for three frames on an H200). If
  /// no tile leaves room for Kind::resident_blocks blocks, a tile has Kind::tile_strips strips.
  template <class Kind>
  int shape_tile(NlMeansArguments& a, int weights, int max_copies_log2) const {
    const auto tile_bytes = [&](int strips) {
      a.shape = product_shape<Kind>(a.search_radius, strips);
      return 4 * (a.shape.words(Kind::planes, Kind::sample_bytes) +
                  (a.frame_count > 1 ? ReferenceFrame<Kind>(strips).words() : 0));
    };
    for (int copies_log2 = max_copies_log2; copies_log2 >= 0; --copies_log2)
      for (int strips = Kind::tile_strips;
           strips >= (copies_log2 > 0 ? Kind::tile_strips * 3 / 4 : 1); --strips)
        if (tile_bytes(strips) + 4 * (weights << copies_log2) <= share(Kind::resident_blocks))
          return tile_bytes(strips);
    return tile_bytes(Kind::tile_strips);
  }

  /// Leaves plan.kernel unchanged if no tile fits into shared memory.
  template <class Kind>
  void choose_product_kernel(Plan& plan, int weights) const {
    NlMeansArguments& a = plan.arguments;
    a.low_bits = Kind::sample_bytes == 2 ? layout_.bits - 8 : 0;
    const int shift = a.distance_shift - 2 * a.low_bits;
    // With joined planes, a distance has at most 2 · low_bits further bits to select a copy.
    const int max_copies_log2 = Kind::joins_planes ? std::min(5, 2 * a.low_bits + shift - 2) : 5;
    const int tile_bytes = shape_tile<Kind>(a, weights, max_copies_log2);
    if (tile_bytes > shared_bytes_)
      return;
    // Copies of the table avoid bank conflicts, but must not reduce the number of resident blocks.
    const auto table_words = [&](int copies_log2) { return round_up(weights << copies_log2, 32); };
    int copies_log2 = max_copies_log2;
    while (copies_log2 >= 0 && tile_bytes + 4 * table_words(copies_log2) >
                                   (copies_log2 > 0 ? share(Kind::resident_blocks) : shared_bytes_))
      --copies_log2;
    Table table = copies_log2 >= 0 ? Table::shared : Table::global;
    a.copies_log2 = std::max(copies_log2, 0);
    a.table_words = table == Table::shared ? table_words(copies_log2) : 0;
    int scale_log2 = 0;
    a.index_shift = shift;
    if (table == Table::shared) {
      a.index_shift = shift - 2 - copies_log2;
      if (a.index_shift <= 0) {
        scale_log2 = -a.index_shift;
        a.index_shift = 0;
        table = Table::aligned;
      }
    }
    plan.kernel = product_kernel<Kind>(table);
    if constexpr (Kind::squares > 1)
      if (!plan.kernel)
        return choose_product_kernel<typename Kind::OneSquare>(plan, weights);
    a.scale_log2 = scale_log2;
    a.product_scale = -2 * (1 << scale_log2);
    a.joined_shift = 2 * a.low_bits - scale_log2;
    a.max_distance = (weights - 1) << (shift + scale_log2);
    a.table_mask = ~((4 << a.copies_log2) - 1);
    a.strips = place_tiles(plan, Kind::strip_width, Kind::strip_height);
    plan.threads = product_threads;
    plan.shared_bytes = tile_bytes + 4 * a.table_words;
    int resident = 0;
    cuda_check(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, plan.kernel, plan.threads,
                                                      static_cast<std::size_t>(plan.shared_bytes)),
        "querying the occupancy of a kernel");
    plan.resident_blocks = static_cast<unsigned>(std::max(1, resident) * multiprocessors_);
  }

  FrameLayout layout_;
  int shared_bytes_;          ///< limit per block
  int multiprocessor_bytes_;  ///< limit for all resident blocks
  int reserved_bytes_;        ///< bytes that CUDA reserves per block
  int multiprocessors_;
};

}  // namespace cudavision::nlmeans
