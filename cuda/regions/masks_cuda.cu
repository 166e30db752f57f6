// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The distances from masks on CUDA. One launch packs the selected pixels into bits. Later launches
// dilate the bits in registers, by one pixel at a time: the number of the dilation that reaches a
// pixel is its distance.

#include <algorithm>
#include <utility>

#include "cuda/core/cuda_launch.h"
#include "cuda/core/division.h"
#include "cuda/regions/masks.h"

namespace cudavision::regions {
namespace {

constexpr int threads = 128, warps = threads / 32;
constexpr int pass_words = 4;  // words that a warp packs at a time, to hide the latency

// A warp dilates a tile up to launch_steps times. Each lane holds lane_rows consecutive rows of the
// tile. Each dilation makes one more row and column at each edge wrong; only inner pixels count.
constexpr int launch_steps = 32, step_bits = 6;
constexpr int tile_words = 4, lane_rows = 4;
constexpr int halo_words = launch_steps / 32, halo_lanes = launch_steps / lane_rows;
constexpr int inner_words = tile_words - 2 * halo_words;
constexpr int inner_rows = (32 - 2 * halo_lanes) * lane_rows;
static_assert(launch_steps < 1 << step_bits);

struct PackArguments {
  MaskWork work;
  std::uint32_t* bits;
  int words;  ///< words per row
};

struct DilateArguments {
  const std::uint32_t* bits;  ///< the pixels whose distance is at most `first`
  std::uint32_t* dilated;     ///< nullptr, or memory for the bits after this launch
  int words;                  ///< words per row
  int tiles, columns;         ///< number of tiles, and of columns of tiles
  int first, steps;
  View<std::uint8_t> result;
};

/// Packs the selected pixels into bits. Each block packs one row.
__global__ void __launch_bounds__(threads) pack_rows(const __grid_constant__ PackArguments a) {
  __shared__ const std::uint8_t* mask_rows[Parameters::max_masks];  // nullptr: not in this row
  const int y = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  if (thread < a.work.count) {
    const MaskPlane& mask = a.work.masks[thread];
    mask_rows[thread] = y >= mask.box.y0 && y < mask.box.y1 ? mask_row(mask, y) : nullptr;
  }
  __syncthreads();
  for (int first = thread / 32 * pass_words; first < a.words; first += warps * pass_words) {
    bool selected[pass_words] = {};
    for (int i = 0; i < a.work.count; ++i) {
      if (!mask_rows[i])
        continue;
      const MaskPlane mask = a.work.masks[i];
      CUDAVISION_UNROLL
      for (int k = 0; k < pass_words; ++k) {
        const int x = 32 * (first + k) + lane;
        if (x >= mask.box.x0 && x < mask.box.x1 && x < a.work.result.width)
          selected[k] |= selects(mask, mask_rows[i], x);
      }
    }
    std::uint32_t packed = 0;
    CUDAVISION_UNROLL
    for (int k = 0; k < pass_words; ++k) {
      const std::uint32_t ballot = __ballot_sync(~0u, selected[k]);
      packed = lane == k ? ballot : packed;
    }
    if (lane < pass_words && first + lane < a.words)
      a.bits[static_cast<std::int64_t>(y) * a.words + first + lane] = packed;
  }
}

/// Returns four bytes of 0 or 1 from the lowest four bits.
__device__ std::uint32_t spread_bits(std::uint32_t bits) {
  return (bits & 15) * 0x00204081u & 0x01010101u;
}

/// The rows of a tile that one lane holds, as bits.
struct Tile {
  std::uint32_t words[lane_rows][tile_words];
};

__device__ Tile load_tile(const DilateArguments& a, int left, int top) {
  Tile tile;
  CUDAVISION_UNROLL
  for (int i = 0; i < lane_rows * tile_words; ++i) {
    const int x = left + i % tile_words, y = top + i / tile_words;
    const bool in_frame = x >= 0 && x < a.words && y >= 0 && y < a.result.height;
    tile.words[i / tile_words][i % tile_words] =
        in_frame ? a.bits[static_cast<std::int64_t>(y) * a.words + x] : 0;
  }
  return tile;
}

/// Returns true if no bit is set in any lane.
__device__ bool is_empty(const Tile& tile) {
  std::uint32_t bits = 0;
  CUDAVISION_UNROLL
  for (int i = 0; i < lane_rows * tile_words; ++i)
    bits |= tile.words[i / tile_words][i % tile_words];
  return __all_sync(~0u, bits == 0);
}

/// Returns the tile, dilated by one pixel in all eight directions.
__device__ Tile dilated(const Tile& tile) {
  Tile columns;  // dilated by the neighbours above and below
  CUDAVISION_UNROLL
  for (int word = 0; word < tile_words; ++word) {
    const std::uint32_t above = __shfl_up_sync(~0u, tile.words[lane_rows - 1][word], 1);
    const std::uint32_t below = __shfl_down_sync(~0u, tile.words[0][word], 1);
    CUDAVISION_UNROLL
    for (int row = 0; row < lane_rows; ++row)
      columns.words[row][word] = tile.words[row][word] |
                                 (row > 0 ? tile.words[row - 1][word] : above) |
                                 (row + 1 < lane_rows ? tile.words[row + 1][word] : below);
  }
  Tile result;
  CUDAVISION_UNROLL
  for (int i = 0; i < lane_rows * tile_words; ++i) {
    const int row = i / tile_words, word = i % tile_words;
    const std::uint32_t own = columns.words[row][word];
    const std::uint32_t left = word > 0 ? columns.words[row][word - 1] : 0;
    const std::uint32_t right = word + 1 < tile_words ? columns.words[row][word + 1] : 0;
    result.words[row][word] = own | __funnelshift_l(left, own, 1) | __funnelshift_r(own, right, 1);
  }
  return result;
}

__global__ void __launch_bounds__(threads) dilate_tiles(const __grid_constant__ DilateArguments a) {
  const int number = static_cast<int>(blockIdx.x) * warps + static_cast<int>(threadIdx.x) / 32;
  if (number >= a.tiles)
    return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int left = number % a.columns * inner_words - halo_words;
  const int top = number / a.columns * inner_rows + (lane - halo_lanes) * lane_rows;
  const Tile begun = load_tile(a, left, top);
  Tile tile = begun;
  // Bit planes: for each inner pixel, the index of the dilation that reached the pixel.
  std::uint32_t reached_in[step_bits][lane_rows * inner_words] = {};
  const int steps = is_empty(tile) ? 0 : a.steps;
  for (int step = 1; step <= steps; ++step) {
    const Tile next = dilated(tile);
    CUDAVISION_UNROLL
    for (int bit = 0; bit < step_bits; ++bit)
      if ((step >> bit & 1) != 0) {
        CUDAVISION_UNROLL
        for (int i = 0; i < lane_rows * inner_words; ++i) {
          const int row = i / inner_words, word = halo_words + i % inner_words;
          reached_in[bit][i] |= next.words[row][word] & ~tile.words[row][word];
        }
      }
    tile = next;
  }
  if (lane < halo_lanes || lane >= 32 - halo_lanes)
    return;
  CUDAVISION_UNROLL
  for (int i = 0; i < lane_rows * inner_words; ++i) {
    const int row = i / inner_words, word = halo_words + i % inner_words;
    const int x = left + word, y = top + row;
    if (x >= a.words || y >= a.result.height)
      continue;
    const std::uint32_t before = begun.words[row][word], after = tile.words[row][word];
    if (a.dilated)
      a.dilated[static_cast<std::int64_t>(y) * a.words + x] = after;
    auto* const out = reinterpret_cast<std::uint32_t*>(a.result.row(y) + 32 * x);
    for (int four = 0; four < 8; ++four) {
      const std::uint32_t old =
          a.first == 0 ? ~(255 * spread_bits(before >> (4 * four))) : out[four];
      const std::uint32_t reached = 255 * spread_bits((after & ~before) >> (4 * four));
      std::uint32_t distances = static_cast<std::uint32_t>(a.first) * 0x01010101u;
      CUDAVISION_UNROLL
      for (int bit = 0; bit < step_bits; ++bit)
        distances += spread_bits(reached_in[bit][i] >> (4 * four)) << bit;
      out[four] = (distances & reached) | (old & ~reached);
    }
  }
}

}  // namespace

void find_mask_distances_cuda(Device& device, const MaskWork& work) {
  const View<std::uint8_t>& result = work.result;
  const int words = divide_up(result.width, 32);
  auto* bits = reinterpret_cast<std::uint32_t*>(work.scratch);
  std::uint32_t* dilated = bits + static_cast<std::int64_t>(words) * result.height;
  const PackArguments pack{work, bits, words};
  launch_kernel(
      device.stream(),
      {reinterpret_cast<const void*>(pack_rows), static_cast<unsigned>(result.height), threads},
      &pack);
  const int columns = divide_up(words, inner_words);
  const int tiles = columns * divide_up(result.height, inner_rows);
  int first = 0;
  do {
    const int steps = std::min(work.radius - first, launch_steps);
    const bool last = first + steps == work.radius;
    const DilateArguments dilate{
        bits, last ? nullptr : dilated, words, tiles, columns, first, steps, result};
    launch_kernel(device.stream(),
                  {reinterpret_cast<const void*>(dilate_tiles),
                   static_cast<unsigned>(divide_up(tiles, warps)), threads},
                  &dilate);
    std::swap(bits, dilated);
    first += steps;
  } while (first < work.radius);
}

}  // namespace cudavision::regions
