// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// For .cu files: non-local means on the tensor cores; product.h explains the products. A block
// keeps a tile with the halo of the search in shared memory, together with the norms of all
// candidates. A warp denoises a column of squares of 4×4 pixels. It goes through the candidates
// that these need, eight of a row at a time: a first product compares them with the pixels, a table
// gives the weights, and a second product adds up what they weigh.

#include <cuda_runtime.h>

#include "cuda/core/cuda_launch.h"
#include "cuda/core/matrix_product.cuh"
#include "cuda/nlmeans/productfill.h"
#include "cuda/nlmeans/productlane.h"

namespace cudavision::nlmeans {

/// Where a kernel looks up weights.
enum class Table {
  aligned,  ///< in shared memory; the scaled distance has the place in it
  shared,   ///< in shared memory
  global,   ///< in device memory
};

template <class Kind, Table kTable>
class ProductWarp {
 public:
  __device__ ProductWarp(const NlMeansArguments& a, int top, const std::uint32_t* table,
                         const std::uint32_t* pixels, const int* norms)
      : a_(a),
        table_(table),
        table_lane_((threadIdx.x & ((1 << a.copies_log2) - 1)) * 4),
        lane_(a, threadIdx.x, top, pixels, norms) {}

  __device__ void add_candidates() {
    for (int group = 0; group < a_.shape.column_groups; ++group) {
      Candidates candidates = lane_.candidates(group);
      for (int y = 0; y < 4 * Kind::squares + 2 * a_.search_radius; y += rows_at_once) {
        if constexpr (Kind::squares == 1) {
          // Rows are loaded one by one, because there are no registers for more.
          add_rows(0, y, [&](int r) { return lane_.load(candidates, r); });
        } else {
          CandidateRow rows[rows_at_once];
#pragma unroll
          for (int r = 0; r < rows_at_once; ++r)
            rows[r] = lane_.load(candidates, r);
#pragma unroll
          for (int s = 0; s < Kind::squares; ++s)
            add_rows(s, y - 4 * s, [&](int r) -> const CandidateRow& { return rows[r]; });
        }
        candidates.skip(rows_at_once);
      }
    }
  }

  /// Calls put(x, y, samples) with the denoised samples of all channels, for each pixel in one of
  /// the four lanes that have it.
  template <class Put>
  __device__ void finish(const Put& put) const {
    constexpr int pixels = 2 * Kind::squares;
    const int t = threadIdx.x % 4;
#pragma unroll
    for (int first = 0; first < pixels; first += 4) {
      std::uint32_t sums[Kind::planes + 1];
#pragma unroll
      for (int pixel = first; pixel < first + 4 && pixel < pixels; ++pixel)
#pragma unroll
        for (int source = 0; source <= Kind::planes; ++source) {
          const auto& in_lane = sums_[pixel / 2][source < Kind::planes ? source / 2 : 0].v;
          const int half = pixel % 2 * 2;
          std::uint32_t sum = source < Kind::planes
                                  ? lane_.plane_part(in_lane[half + source % 2])
                                  : lane_.weight_part(in_lane[half], in_lane[half + 1]);
          sum += __shfl_xor_sync(~0u, sum, 1);
          sum += __shfl_xor_sync(~0u, sum, 2);
          if (pixel == first || pixel % 4 == t)
            sums[source] = sum;
        }
      std::uint32_t means[Kind::channels];
#pragma unroll
      for (int c = 0; c < Kind::channels; ++c)
        means[c] = mean_of<Kind>(sums, c, a_.low_bits);
      if (first + t < pixels)
        put(lane_.x(), lane_.y(first + t), means);
    }
  }

 private:
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  static constexpr bool few_registers = kTable != Table::aligned;
#else
  static constexpr bool few_registers = kTable == Table::global;
#endif
  static constexpr int rows_at_once = few_registers ? 2 : Kind::rows_at_once;
  using CandidateRow = typename ProductLane<Kind>::CandidateRow;
  using Candidates = typename ProductLane<Kind>::Candidates;

  /// Adds what candidates give to the pixels of square s. `row` is the first of their rows, counted
  /// from the first one that the square needs. candidates(r) returns the one r rows below.
  template <class Rows>
  __device__ __forceinline__ void add_rows(int s, int row, const Rows& candidates) {
    const int last = 2 * a_.search_radius + 2;
    if (row < 0 || row > last)
      return;
    if constexpr (rows_at_once == 4) {
      if (row == 0)
        add_pairs<RowPair::first, RowPair::middle>(s, row, candidates);
      else if (row + 6 <= last)
        add_pairs<RowPair::all, RowPair::all>(s, row, candidates);
      else if (row + 4 == last)
        add_pairs<RowPair::all, RowPair::middle>(s, row, candidates);
      else if (row + 2 == last)
        add_pairs<RowPair::middle, RowPair::last>(s, row, candidates);
      else
        add_pairs<RowPair::last, RowPair::none>(s, row, candidates);
    } else {
      if (row == 0)
        add_pairs<RowPair::first, RowPair::none>(s, row, candidates);
      else if (row == last)
        add_pairs<RowPair::last, RowPair::none>(s, row, candidates);
      else if (row == 2 || row + 2 == last)
        add_pairs<RowPair::middle, RowPair::none>(s, row, candidates);
      else
        add_pairs<RowPair::all, RowPair::none>(s, row, candidates);
    }
  }

  template <RowPair kFirst, RowPair kSecond, class Rows>
  __device__ __forceinline__ void add_pairs(int s, int row, const Rows& candidates) {
#pragma unroll
    for (int r = 0; r < rows_at_once; ++r) {
      const RowPair pair = r < 2 ? kFirst : kSecond;
      if (pair != RowPair::none)
        add_row(s, pair, row + r / 2 * 2, r % 2, candidates(r));
    }
  }

  __device__ __forceinline__ void add_row(int s, RowPair pair, int pair_row, int r,
                                          const CandidateRow& candidates) {
    constexpr int bytes = Kind::sample_bytes;
    const auto& right = candidates.right;
    Sums high{}, mixed{}, low{};
#pragma unroll
    for (int i = 0; i < 4; ++i)
      high.v[i] = lane_.first_high(s, i / 2);
#pragma unroll
    for (int c = 0; c < Kind::channels; ++c) {
      const int upper = bytes * c, lower = bytes * c + bytes - 1;
      high = add_product(lane_.left(s, upper), right[upper], high);
      if (bytes == 2) {
        mixed = add_product(lane_.left(s, upper), right[lower], mixed);
        mixed = add_product(lane_.left(s, lower), right[upper], mixed);
        if (!Kind::joins_planes)
          low = add_product(lane_.left(s, lower), right[lower], low);
      }
    }
    if constexpr (Kind::joins_planes) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        low.v[i] = mixed.v[i] << a_.low_bits;
      low = add_product(lane_.left(s, 1), right[1], low);
    }
    std::uint32_t weights[4] = {};
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (!skips(pair, i / 2))
        weights[i] = weight(lane_.distance(s, i / 2, i % 2, candidates, pair, pair_row, r,
                                           high.v[i], mixed.v[i], low.v[i]));
    const std::uint32_t factor[4] = {weights[0], weights[2], weights[1], weights[3]};
#pragma unroll
    for (int m = 0; m < Kind::products; ++m)
      sums_[s][m] =
          multiply_pair(factor, candidates.samples[m][0], candidates.samples[m][1], sums_[s][m]);
  }

  static __device__ Sums add_product(const std::uint32_t (&left)[2 * Kind::words],
                                     const std::uint32_t (&right)[Kind::words], Sums sums) {
#pragma unroll
    for (int i = 0; i + 1 < Kind::words; i += 2) {
      const std::uint32_t factor[4] = {left[2 * i], left[2 * i + 1], left[2 * i + 2],
                                       left[2 * i + 3]};
      sums = multiply_pair(factor, right[i], right[i + 1], sums);
    }
    if (Kind::words % 2 == 1)
      sums = multiply_slice(left[2 * Kind::words - 2], left[2 * Kind::words - 1],
                            right[Kind::words - 1], sums);
    return sums;
  }

  __device__ std::uint32_t weight(int distance) const {
    if (kTable == Table::global)
      return __ldg(a_.weights + (distance >> a_.index_shift));
    const int place = kTable == Table::aligned ? distance : distance >> a_.index_shift;
    return *reinterpret_cast<const std::uint32_t*>(reinterpret_cast<const char*>(table_) +
                                                   ((place & a_.table_mask) | table_lane_));
  }

  const NlMeansArguments& a_;
  const std::uint32_t* table_;
  int table_lane_;  // address of the lane's copy of the first entry, in the table
  ProductLane<Kind> lane_;
  Sums sums_[Kind::squares][Kind::products] = {};
};

/// All threads of the block call this.
template <class Kind, Table kTable>
__device__ __forceinline__ void denoise_tile(const NlMeansArguments& a, const ProductTile& tile,
                                             const std::uint32_t* table, std::uint32_t* pixels,
                                             int* norms) {
  const DenoisedPicture& picture = tile.picture;
  __syncthreads();  // until all warps are done with the last tile
  load_samples<Kind>(a, tile, threadIdx.x, pixels);
  __syncthreads();
  copy_samples<Kind>(a.shape, threadIdx.x, pixels);
  __syncthreads();
  find_norms<Kind>(a, tile.strips, threadIdx.x, pixels, norms);
  __syncthreads();
  for (int strip = 0; strip < tile.strips; ++strip) {
    ProductWarp<Kind, kTable> work(a, Kind::strip_height * strip, table, pixels, norms);
    work.add_candidates();
    work.finish([&](int tile_x, int tile_y, const std::uint32_t(&means)[Kind::channels]) {
      const int x = tile.left + tile_x, y = tile.top + tile_y;
      if (x >= picture.width || y >= picture.height)
        return;
#pragma unroll
      for (int c = 0; c < Kind::channels; ++c) {
        const DenoisedPlane& plane = picture.planes[c];
        std::uint8_t* const bytes = plane.out + plane.offset +
                                    static_cast<std::int64_t>(y) * plane.out_pitch +
                                    static_cast<std::int64_t>(x) * plane.step;
        const std::uint32_t word = Kind::sample_bytes == 2 ? means[c] << a.shift : means[c];
        bytes[0] = static_cast<std::uint8_t>(word);
        if (Kind::sample_bytes == 2)
          bytes[1] = static_cast<std::uint8_t>(word >> 8);
      }
    });
  }
}

template <class Kind, Table kTable>
__global__ void __launch_bounds__(product_threads, Kind::resident_blocks)
    denoise_by_products(const __grid_constant__ NlMeansArguments a) {
  extern __shared__ std::uint32_t shared[];
  grid_dependency_wait();
  // Where little of the frame is denoised, the next launch may use the rest of the GPU.
  if (!a.everywhere)
    launch_dependents();
  // The table comes first, because its address is then a constant.
  std::uint32_t* const table = shared;
  std::uint32_t* const pixels = table + (kTable == Table::global ? 0 : a.table_words);
  int* const norms = reinterpret_cast<int*>(pixels + Kind::planes * a.shape.plane_words);
  if (kTable != Table::global)
    for (int i = threadIdx.x; i < a.table_words; i += product_threads)
      // The table ends with a weight of 0; words after it only fill the last line.
      table[i] =
          __ldg(a.weights + min(static_cast<std::uint32_t>(i >> a.copies_log2), a.last_weight + 1));

  for (unsigned first = blockIdx.x * a.strips_at_once; first < a.strips;
       first += gridDim.x * a.strips_at_once) {
    const unsigned end = min(first + a.strips_at_once, a.strips);
    for (unsigned strip = first; strip < end;) {
      const ProductTile tile = tile_at<Kind>(a, strip, end);
      strip += tile.strips;
      if (is_active(a, tile.picture, tile.left, tile.top, Kind::strip_width,
                    Kind::strip_height * tile.strips))
        denoise_tile<Kind, kTable>(a, tile, table, pixels, norms);
    }
  }
  launch_dependents();
}

}  // namespace cudavision::nlmeans
