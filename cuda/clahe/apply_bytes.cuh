// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Applies the tables to contiguous 8-bit samples. A thread processes a strip of columns from top to
// bottom and keeps the weights of the columns in registers. Most pixels use estimated levels
// (estimate.h). Few estimates are in doubt, but most warps have at least one. Each warp therefore
// queues its doubtful pixels, and all lanes together compute the exact levels. Blends, blocks at a
// ragged right edge, and cells between two tiles (with many exact half-integers) use no estimates.

#include "cuda/clahe/byte_rows.cuh"
#include "cuda/clahe/patch.cuh"

namespace cudavision::clahe {
namespace {

constexpr int kBytesThreads = 128;
constexpr int kBytesBlocks = 6;                                  // per multiprocessor
constexpr std::uint32_t kQuadBytes = 256 * sizeof(Quad<false>);  // per cell

/// Which tables of a cell are equal. Cells at an edge have two different tables, corner cells one.
enum class Same { none, upper_and_lower, left_and_right };

/// Unpacks the levels of a quad. Equal tables are converted once.
template <Same kSame>
__device__ BiasedLevels levels_of(std::uint32_t quad) {
  BiasedLevels levels = levels_of(quad);
  if (kSame == Same::upper_and_lower) {
    levels.lower_left = levels.upper_left;
    levels.lower_right = levels.upper_right;
  } else if (kSame == Same::left_and_right) {
    levels.upper_right = levels.upper_left;
    levels.lower_right = levels.lower_left;
  }
  return levels;
}

struct ExactColumns {
  BiasedWeight left[kBytesPixels], right[kBytesPixels];
  std::uint32_t quads[kBytesPixels];  // shared-memory address of each column's quads

  __device__ ExactColumns(const Arguments& a, int x, const BlockPatch& patch, const uint2* own) {
    const std::uint32_t own_quads = shared_address(own);
#pragma unroll
    for (int i = 0; i < kBytesPixels; ++i) {
      const bool next = x + i >= patch.cell_end;
      const float weight = a.tiling.x.weight_in_cell(x + i, patch.cell_x + (next ? 1 : 0));
      right[i] = BiasedWeight(weight);
      left[i] = BiasedWeight(1.0f - weight);
      quads[i] = own_quads + (next ? kQuadBytes : 0);
      // Keeps the compiler from recomputing the address for each row.
      asm volatile("" : "+r"(quads[i]));
    }
  }

  template <int kFirst, Same kSame>
  __device__ std::uint32_t equalised(std::uint32_t word, const RowWeights& row) const {
    std::uint32_t levels[4];
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      const int i = kFirst + b;
      levels[b] = rounded_in_low_bits(
          interpolated_sum(levels_of<kSame>(*element_of_byte(word, b, quads[i])), left[i], right[i],
                           row.upper, row.lower));
    }
    return select_bytes(select_bytes(levels[0], levels[1], 0x0040),
                        select_bytes(levels[2], levels[3], 0x0040), 0x5410);
  }
};

struct EstimatedColumns {
  std::uint32_t weights[kBytesPixels];
  std::uint32_t quads[kBytesPixels];  // shared-memory address of each column's quads
  EstimateDoubt doubt;

  __device__ EstimatedColumns(const Arguments& a, int x, const BlockPatch& patch, const uint2* own)
      : doubt(a.estimates, uncertain_bits(a, x, patch)) {
    const WeightPairs pairs(a.tiling.x, a.estimates, x, patch.cell_x);
    const std::uint32_t own_quads = shared_address(own);
#pragma unroll
    for (int i = 0; i < kBytesPixels; ++i) {
      const bool next = x + i >= patch.cell_end;
      weights[i] = pairs.first + i * pairs.step + (next ? pairs.wrap : 0);
      quads[i] = own_quads + (next ? kQuadBytes : 0);
      // Keeps the compiler from recomputing weights and addresses for each row.
      asm volatile("" : "+r"(weights[i]), "+r"(quads[i]));
    }
  }

  __device__ std::uint32_t quad(std::uint32_t word, int column) const {
    return *element_of_byte(word, column % 4, quads[column]);
  }

 private:
  static __device__ int uncertain_bits(const Arguments& a, int x, const BlockPatch& patch) {
    const int own = a.estimates.uncertain_bits[patch.cell_x];
    if (x + kBytesPixels <= patch.cell_end)
      return own;
    return max(own, a.estimates.uncertain_bits[min(patch.cell_x + 1, a.tiling.x.tiles)]);
  }
};

/// Packs bits 15 to 22 of four estimates into the bytes of a word.
__device__ std::uint32_t pack_levels(const std::uint32_t* estimates) {
  const std::uint32_t first = select_bytes(estimates[0], estimates[1], 0x6521);
  const std::uint32_t last = select_bytes(estimates[2], estimates[3], 0x6521);
  return select_bytes(first << 1, last << 1, 0x7531);
}

/// Computes the levels of eight pixels. Returns true if any estimate is in doubt.
__device__ bool estimate_levels(const EstimatedColumns& columns, const RowWeights& row,
                                const uint2& values, uint2* levels) {
  std::uint32_t estimates[kBytesPixels];
  bool in_doubt = false;
#pragma unroll
  for (int i = 0; i < kBytesPixels; ++i) {
    estimates[i] = estimate(columns.quad(i < 4 ? values.x : values.y, i), columns.weights[i], row,
                            columns.doubt.offset);
    in_doubt |= columns.doubt.about(estimates[i]);
  }
  *levels = make_uint2(pack_levels(estimates), pack_levels(estimates + 4));
  return in_doubt;
}

/// Eight adjacent pixels of a row. At least one of their estimates is in doubt.
struct DoubtfulBytes {
  uint2 values;
  std::uint32_t position;  // row in the high half, first column in the low half
};

class DoubtfulQueue {
 public:
  static constexpr int capacity = 64;

  __device__ explicit DoubtfulQueue(DoubtfulBytes* entries) : entries_(entries) {}

  /// Appends the pixels if in_doubt is set. All lanes of the warp must call this.
  __device__ void add(bool in_doubt, const uint2& values, int x, int y) {
    const unsigned lanes = __ballot_sync(~0u, in_doubt);
    if (lanes == 0)
      return;
    const unsigned before = lanes & ((1u << threadIdx.x % 32) - 1);
    if (in_doubt)
      entries_[count_ + __popc(before)] = {values, static_cast<std::uint32_t>(y) << 16 | x};
    count_ += __popc(lanes);
  }
  /// Returns true if another add() might overflow the queue.
  __device__ bool full() const { return count_ > capacity - 32; }

  /// Overwrites the estimates of the queued pixels with exact levels, and empties the queue.
  __device__ void flush(const Arguments& a, const BlockPatch& patch, const std::uint32_t* quads) {
    __syncwarp();
    const int column = threadIdx.x % kBytesPixels;
#pragma unroll 1
    for (int i = threadIdx.x % 32 / kBytesPixels; i < count_; i += 32 / kBytesPixels) {
      const DoubtfulBytes& entry = entries_[i];
      const std::uint32_t value =
          (column < 4 ? entry.values.x : entry.values.y) >> (8 * (column % 4)) & 0xff;
      const int x = static_cast<int>(entry.position & 0xffff) + column;
      const int y = static_cast<int>(entry.position >> 16);
      const int next = x >= patch.cell_end ? 1 : 0;
      a.picture.planes[0].out_row(y)[x] = static_cast<std::uint8_t>(level_between(
          levels_of(quads[256 * next + value]), a.tiling.x.weight_in_cell(x, patch.cell_x + next),
          a.tiling.y.weight_in_cell(y, patch.cell_y)));
    }
    __syncwarp();
    count_ = 0;
  }

 private:
  DoubtfulBytes* entries_;
  int count_ = 0;
};

__device__ std::uint32_t blended_bytes(std::uint32_t values, std::uint32_t levels, int blend) {
  std::uint32_t result = 0;
#pragma unroll
  for (int b = 0; b < 4; ++b)
    result |=
        static_cast<std::uint32_t>(histequalize::blended(
            static_cast<int>(byte_of(values, b)), static_cast<int>(byte_of(levels, b)), blend))
        << (8 * b);
  return result;
}

__device__ void take_quads(const CellTables& tables, uint2* quads) {
#pragma unroll 1
  for (int i = threadIdx.x; i < 256 / 2; i += static_cast<int>(blockDim.x)) {
    const auto two = [=](const std::uint16_t* table) {
      return reinterpret_cast<const std::uint32_t*>(table)[i];
    };
    const std::uint32_t upper =
        select_bytes(two(tables.upper_left), two(tables.upper_right), 0x6240);
    const std::uint32_t lower =
        select_bytes(two(tables.lower_left), two(tables.lower_right), 0x6240);
    quads[i] = make_uint2(select_bytes(upper, lower, 0x5410), select_bytes(upper, lower, 0x7632));
  }
}

/// kWhole: all columns are inside the picture, and blend is 256.
template <bool kWhole, Same kSame>
__device__ void equalise_exactly(const Arguments& a, ByteRows& rows, const ExactColumns& columns) {
  const int existing = kWhole ? kBytesPixels : a.picture.width - rows.x;
#pragma unroll 1
  while (rows.y < rows.end) {
    const uint2 values = rows.take(existing);
    const RowWeights row = *rows.weights;
    uint2 levels = make_uint2(columns.equalised<0, kSame>(values.x, row),
                              columns.equalised<4, kSame>(values.y, row));
    if (!kWhole && a.blend != 256)
      levels = make_uint2(blended_bytes(values.x, levels.x, a.blend),
                          blended_bytes(values.y, levels.y, a.blend));
    rows.put(existing, levels);
  }
}

/// All columns must be inside the picture, and blend must be 256. All threads must call this.
__device__ void equalise_by_estimates(const Arguments& a, const BlockPatch& patch, ByteRows& rows,
                                      const std::uint32_t* quads, const EstimatedColumns& columns,
                                      DoubtfulQueue doubtful) {
  int left = patch.end - patch.begin;
  bool last;
  RowWeights row{};
#pragma unroll 1
  do {
    const uint2 values = rows.take(kBytesPixels);
    if (rows.y < rows.end)
      row = *rows.weights;
    uint2 levels;
    const bool in_doubt = estimate_levels(columns, row, values, &levels);
    const int y = rows.y;
    rows.put(kBytesPixels, levels);
    left -= rows.step;
    last = left <= 0;
    if (__any_sync(~0u, in_doubt || last)) {
      doubtful.add(in_doubt && y < rows.end, values, rows.x, y);
      if (doubtful.full() || last)
        doubtful.flush(a, patch, quads);
    }
  } while (!last);
}

constexpr int kBytesShared = 2 * kQuadBytes + kBytesRows * sizeof(RowWeights) +
                             kBytesThreads / 32 * DoubtfulQueue::capacity * sizeof(DoubtfulBytes);

__global__ void __launch_bounds__(kBytesThreads, kBytesBlocks)
    apply_bytes_kernel(const __grid_constant__ Arguments a) {
  __shared__ uint2 pairs_of_quads[2 * 256 / 2];  // quads of the cell and of the next cell
  __shared__ RowWeights weights[kBytesRows];
  __shared__ DoubtfulBytes doubtful[kBytesThreads / 32][DoubtfulQueue::capacity];
  launch_dependents();
  const BlockPatch patch(a, kBytesPixels, (a.picture.width + kBytesPixels - 1) / kBytesPixels);
  if (patch.empty()) {
    grid_dependency_wait();
    return;
  }
  // Reading pixels before the wait is safe: the previous launch triggered only after its own wait.
  ByteRows rows(a, patch, weights);
  const bool whole = (patch.first + patch.columns) * kBytesPixels <= a.picture.width;
  const bool estimated = whole && a.blend == 256 && !patch.has_two_tiles(a);
#pragma unroll 1
  for (int y = patch.begin + static_cast<int>(threadIdx.x); y < patch.end;
       y += static_cast<int>(blockDim.x)) {
    const float lower = a.tiling.y.weight_in_cell(y, patch.cell_y);
    weights[y - patch.begin] =
        estimated ? estimate_row(a.estimates, lower) : RowWeights{1.0f - lower, lower};
  }
  const int cells = patch.cell_end % kBytesPixels != 0 ? 2 : 1;
  const auto wait_for_quads = [&] {
    grid_dependency_wait();
    for (int c = 0; c < cells; ++c)
      take_quads(CellTables(a, 0, min(patch.cell_x + c, a.tiling.x.tiles), patch.cell_y),
                 pairs_of_quads + 128 * c);
    __syncthreads();
  };

  if (estimated) {
    const EstimatedColumns columns(a, rows.x, patch, pairs_of_quads);
    wait_for_quads();
    equalise_by_estimates(a, patch, rows, reinterpret_cast<const std::uint32_t*>(pairs_of_quads),
                          columns, DoubtfulQueue(doubtful[threadIdx.x / 32]));
  } else {
    const ExactColumns columns(a, rows.x, patch, pairs_of_quads);
    wait_for_quads();
    // If `plain` is set, this branch only runs for cells at an edge of the picture. At the left
    // edge, the last pixels of a pack may belong to a cell with four different tables.
    const bool plain = whole && a.blend == 256;
    if (plain && (patch.cell_y == 0 || patch.cell_y == a.tiling.y.tiles))
      equalise_exactly<true, Same::upper_and_lower>(a, rows, columns);
    else if (plain && cells == 1)
      equalise_exactly<true, Same::left_and_right>(a, rows, columns);
    else
      equalise_exactly<false, Same::none>(a, rows, columns);
  }
}

}  // namespace
}  // namespace cudavision::clahe
