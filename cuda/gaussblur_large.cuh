// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The blur with kernels of any size. What the other kernel keeps in registers lies in shared memory
// here: the coefficients, and in a ring the sums along x of as many rows as the kernel is high. A
// lane reads from the ring only what it wrote there itself. Tiles are taken in twos, one below the
// other, so that what is read is used twice. For .cu files.

#include <cuda_runtime.h>

#include "gaussblur_kernel.cuh"

namespace cudavision {

constexpr int large_stages = 2;
constexpr int large_warps = 12;  ///< at most, in a block
/// Where shared memory has no room for all.
constexpr int scratch_warps = 4;
constexpr int scratch_blocks_per_multiprocessor = 2;
constexpr int large_rows = 2 * tile_rows;

/// The slices along y for kernels of that radius. Those of the upper tile are followed, those of
/// the lower one preceded by a slice that has no influence; hence one at either end of the table.
CUDAVISION_HOST_DEVICE constexpr int large_column_slices(int radius) {
  return 2 * ((radius + slice_length - 1) / slice_length) + 3;
}

/// Rows above the two tiles, where the sums begin.
CUDAVISION_HOST_DEVICE constexpr int large_column_lead(int column_slices) {
  return column_lead(column_slices) - slice_length;
}

/// Tables as they lie in shared memory: quads of the words that a lane needs at a time, so that it
/// loads them as one. Eight lanes at a time read from two lists: every other quad along x, four
/// neighbours along y. The strides see to it that these lie in different banks.
template <class Depth>
struct LargeTables {
  using Table = BlurTable<Depth>;
  static constexpr int quad_bytes = 16;
  static constexpr int row_lists = Depth::row_sums * 2;
  static constexpr int column_lists = Depth::coefficient_bytes * 4;

  int row_slices, column_slices;
  int row_stride, column_stride;  // in quads

  CUDAVISION_HOST_DEVICE LargeTables(int row_slices, int column_slices)
      : row_slices(row_slices),
        column_slices(column_slices),
        row_stride((4 * row_slices + Table::row_lead_in) | 1),
        column_stride((4 * (column_slices - 1) + Table::column_lead_in + 3) / 8 * 8 + 4) {}

  CUDAVISION_HOST_DEVICE int row_bytes() const { return row_lists * row_stride * quad_bytes; }
  CUDAVISION_HOST_DEVICE int bytes() const {
    return row_bytes() + column_lists * column_stride * quad_bytes;
  }

  /// Where a lane's quad for a sum along x begins, but for 8 · pair quads.
  __device__ int row_start(int sum, int group, int g, int t) const {
    return ((sum * 2 + g % 2) * row_stride + Table::row_lead_in - byte_of_row<Depth>(group, g) / 4 +
            2 * t) *
           quad_bytes;
  }
  /// The same for sums along y, but for 4 · slice quads.
  __device__ int column_start(int byte, int g, int t) const {
    return row_bytes() +
           ((byte * 4 + g % 4) * column_stride + Table::column_lead_in - g / 4 + t) * quad_bytes;
  }

  __device__ void fill(std::uint8_t* to, const std::uint32_t* row_table,
                       const std::uint32_t* column_table) const {
    auto* const quads = reinterpret_cast<uint4*>(to);
    for (int i = threadIdx.x; i < row_lists * row_stride; i += blockDim.x) {
      const int sum = i / row_stride / 2, odd = i / row_stride % 2;
      const int word = i % row_stride - Table::row_lead_in;
      const auto at = [&](int half, int second) {
        const int start = Table::row_start(row_slices, sum, 0, odd + 8 * half);
        const int skipped = byte_of_row<Depth>(0, odd + 8 * half) / 4;  // 0, or 1 for lower rows
        const int index = word + second - skipped;
        return index < -Table::row_lead_in || index >= 4 * row_slices
                   ? 0
                   : row_table[start + skipped + index];
      };
      quads[i] = make_uint4(at(0, 0), at(1, 0), at(0, 1), at(1, 1));
    }
    auto* const column_quads = quads + row_lists * row_stride;
    for (int i = threadIdx.x; i < column_lists * column_stride; i += blockDim.x) {
      const int byte = i / column_stride / 4, phase = i / column_stride % 4;
      const int word = i % column_stride - Table::column_lead_in;
      const auto at = [&](int half, int second) {
        const int index = word - 2 * half + 4 * second;
        return index < -Table::column_lead_in || index >= 4 * column_slices
                   ? 0
                   : column_table[Table::column_start(column_slices, byte, phase) + index];
      };
      column_quads[i] = make_uint4(at(0, 0), at(1, 0), at(0, 1), at(1, 1));
    }
  }
};

/// How many parts a window is staged in.
CUDAVISION_HOST_DEVICE constexpr int window_parts(int row_slices, int chunk_pairs) {
  return (row_slices / 2 + chunk_pairs - 1) / chunk_pairs;
}

/// Whether there is a map of the edges; for many parts it would be too large.
CUDAVISION_HOST_DEVICE constexpr bool maps_edges(int parts) {
  return parts <= 4;
}

/// Memory of a block, in bytes.
template <class Depth>
struct LargeMemory {
  int tables, stage, edges, ring;

  CUDAVISION_HOST_DEVICE LargeMemory(int row_slices, int column_slices, int chunk_pairs, int warps)
      : tables(LargeTables<Depth>(row_slices, column_slices).bytes()),
        stage(stage_pitch(chunks(chunk_pairs, warps)) * large_rows),
        edges(maps_edges(window_parts(row_slices, chunk_pairs))
                  ? window_parts(row_slices, chunk_pairs) * chunks(chunk_pairs, warps) *
                        chunk_bytes * static_cast<int>(sizeof(std::uint16_t))
                  : 0),
        ring(warps * (column_slices - 1) * Depth::ring_words * 32 * 4) {}

  CUDAVISION_HOST_DEVICE static constexpr int chunks(int chunk_pairs, int warps) {
    return 2 * (chunk_pairs + warps - 1);
  }
  /// Shared memory, and what takes its place where it has no room for all.
  CUDAVISION_HOST_DEVICE int shared(bool all) const {
    return large_stages * stage + edges + (all ? scratch() : 0);
  }
  CUDAVISION_HOST_DEVICE int scratch() const { return tables + ring; }
};

/// Sends 32 rows of a part on their way, from row y on. 16 threads of a block work on the same row.
template <RareCode kRare>
__device__ inline void stage_rows(const BlurPicture& picture, Border border, const StagedPart& part,
                                  SharedAddress stage, int pitch, int y) {
  const int c0 = threadIdx.x % 16, rows = picture.rows;
  // Mostly there is nothing to look out for.
  if (y >= 0 && y + large_rows <= rows && part.first >= 0 && part.last() <= picture.inner_bytes &&
      picture.load_bytes == 16) {
    SharedAddress to_row = stage + threadIdx.x / 16 * pitch + c0 * chunk_bytes;
    const std::uint8_t* from_row =
        picture.in +
        static_cast<std::int64_t>(y + static_cast<int>(threadIdx.x) / 16) * picture.in_pitch +
        part.first + c0 * chunk_bytes;
    const int step = blockDim.x / 16;
    const std::int64_t from_step = static_cast<std::int64_t>(step) * picture.in_pitch;
#pragma unroll 1
    for (int r = threadIdx.x / 16; r < large_rows; r += step) {
#pragma unroll 4
      for (int c = c0; c < part.chunks; c += 16)
        copy_async<16>(to_row + (c - c0) * chunk_bytes, from_row + (c - c0) * chunk_bytes);
      to_row += step * pitch;
      from_row += from_step;
    }
    return;
  }
  const int whole_end = picture.load_bytes == 16 ? picture.inner_bytes - chunk_bytes : -1;
#pragma unroll 1
  for (int r = threadIdx.x / 16; r < large_rows; r += blockDim.x / 16) {
    if (y + r < part.begin || y + r >= part.end)
      continue;
    const bool inside = static_cast<unsigned>(y + r) < static_cast<unsigned>(rows);
    const std::uint8_t* const row =
        picture.in + static_cast<std::int64_t>(y + r) * picture.in_pitch;
    SharedAddress to = stage + r * pitch + c0 * chunk_bytes;
    int position = part.first + c0 * chunk_bytes;
#pragma unroll 1
    for (int c = c0; c < part.chunks;
         c += 16, to += 16 * chunk_bytes, position += 16 * chunk_bytes) {
      if (inside && position >= 0 && position <= whole_end)
        copy_async<16>(to, row + position);
      else if (!inside || is_inner_chunk(picture, position))
        kRare == RareCode::called ? call_stage_any_chunk(picture, border, to, y + r, position)
                                  : stage_any_chunk(picture, border, to, y + r, position);
    }
  }
}

/// The sums of two tiles' rows along x.
template <class Depth>
struct LargeRowSums {
  RowSums<Depth> of[2][Depth::groups];

  /// Adds those over a part of the window: `count` pairs of slices. from: where the part begins in
  /// this lane's first row; table: the tables' quads for its first pair.
  template <class Address>
  __device__ void add(const LargeTables<Depth>& tables, const SampleRules<Depth>& rules,
                      SharedAddress from, int pitch, Address table, int count, int g, int t) {
    Address start[Depth::groups][Depth::row_sums];
#pragma unroll
    for (int group = 0; group < Depth::groups; ++group)
#pragma unroll
      for (int sum = 0; sum < Depth::row_sums; ++sum)
        start[group][sum] = table + tables.row_start(sum, group, g, t);
    from += 4 * window_word(0, t, 0);
    const SharedAddress from_below = from + tile_rows * pitch;

#pragma unroll 2
    for (int pair = 0; pair < count; ++pair) {
      uint2 right[2][2];
#pragma unroll
      for (int q = 0; q < 2; ++q) {
        right[0][q] = load_pair(from + q * pitch + pair * tile_bytes);
        right[1][q] = load_pair(from_below + q * pitch + pair * tile_bytes);
      }
#pragma unroll
      for (int tile = 0; tile < 2; ++tile)
#pragma unroll
        for (int q = 0; q < 2; ++q)
          right[tile][q] = make_uint2(rules.read(right[tile][q].x), rules.read(right[tile][q].y));
#pragma unroll
      for (int group = 0; group < Depth::groups; ++group)
#pragma unroll
        for (int sum = 0; sum < Depth::row_sums; ++sum) {
          const uint4 left = load_quad(start[group][sum] + pair * (tile_bytes / 4 * 16));
#pragma unroll
          for (int tile = 0; tile < 2; ++tile)
#pragma unroll
            for (int q = 0; q < 2; ++q) {
              Sums& sums = of[tile][group].sum[q][sum];
              sums = multiply_pair({left.x, left.y, left.z, left.w}, right[tile][q].x,
                                   right[tile][q].y, sums);
            }
        }
    }
  }
};

/// A lane's part of the ring: slots for the sums of 32 rows each. The words of the lower 16 rows
/// lie beside those of the upper ones, with which they are multiplied.
template <class Depth, bool kInShared>
class LargeRing {
 public:
  static constexpr int quads = Depth::ring_words / 2;
  using Words = std::uint32_t[Depth::groups][2][Depth::result_bytes];

  __device__ LargeRing(void* of_block, int slots) : slots_(slots) {
    uint4* const of_lane =
        static_cast<uint4*>(of_block) + threadIdx.x / 32 * slots * quads * 32 + threadIdx.x % 32;
    if constexpr (kInShared)
      base_ = shared_address(of_lane);
    else
      base_ = of_lane;
  }

  __device__ int after(int slot) const { return slot + 1 == slots_ ? 0 : slot + 1; }

  __device__ void put(int slot, const Words& upper, const Words& lower) const {
    const std::uint32_t* const u = &upper[0][0][0];
    const std::uint32_t* const l = &lower[0][0][0];
#pragma unroll
    for (int v = 0; v < quads; ++v)
      put_quad(slot * quads + v, make_uint4(u[2 * v], l[2 * v], u[2 * v + 1], l[2 * v + 1]));
  }
  __device__ void get(int slot, uint2 (&words)[Depth::ring_words]) const {
#pragma unroll
    for (int v = 0; v < quads; ++v) {
      const uint4 quad = get_quad(slot * quads + v);
      words[2 * v] = make_uint2(quad.x, quad.y);
      words[2 * v + 1] = make_uint2(quad.z, quad.w);
    }
  }

 private:
  __device__ void put_quad(int number, uint4 quad) const {
    if constexpr (kInShared)
      asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(base_ + number * 512),
                   "r"(quad.x), "r"(quad.y), "r"(quad.z), "r"(quad.w)
                   : "memory");
    else
      base_[number * 32] = quad;
  }
  __device__ uint4 get_quad(int number) const {
    if constexpr (kInShared)
      return load_quad(base_ + number * 512);
    else
      return base_[number * 32];
  }

  std::conditional_t<kInShared, SharedAddress, uint4*> base_;
  int slots_;
};

/// The sums of kTiles tiles along y, the first of them being tile number kFirst of the two.
template <class Depth, int kFirst, int kTiles>
struct LargeColumnSums {
  ColumnSums<Depth> of[kTiles][Depth::groups][2];

  /// slot: the oldest of the ring.
  template <class Address, class Ring>
  __device__ LargeColumnSums(const LargeTables<Depth>& tables, Address table, const Ring& ring,
                             int slot, int slots, int g, int t) {
    constexpr int bytes = Depth::coefficient_bytes;
    Address start[bytes];
#pragma unroll
    for (int byte = 0; byte < bytes; ++byte)
      start[byte] = table + tables.column_start(byte, g, t);
#pragma unroll(Depth::sample_bytes == 1 ? 2 : 1)
    for (int k = 0; k < slots; ++k) {
      uint2 right[Depth::ring_words];
      ring.get(slot, right);
      slot = ring.after(slot);
#pragma unroll
      for (int byte = 0; byte < bytes; ++byte)
#pragma unroll
        for (int tile = 0; tile < kTiles; ++tile) {
          // The upper tile's coefficients are one slice further on.
          const uint4 left = load_quad(start[byte] + (8 * k + (kFirst + tile == 0 ? 4 : 0)) * 16);
#pragma unroll
          for (int group = 0; group < Depth::groups; ++group)
#pragma unroll
            for (int half = 0; half < 2; ++half)
#pragma unroll
              for (int b = 0; b < Depth::result_bytes; ++b) {
                const uint2 words = right[(group * 2 + half) * Depth::result_bytes + b];
                Sums& sums = of[tile][group][half].sum[b + byte];
                sums = multiply_pair({left.x, left.y, left.z, left.w}, words.x, words.y, sums);
              }
        }
    }
  }

  /// rows_left: from this lane's first row of the first tile on.
  template <class Storer>
  __device__ void store(const SampleRules<Depth>& rules, Storer& storer, int rows_left) const {
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      storer.store(rules, 0, result_row(rules, of[tile], 0), result_row(rules, of[tile], 1),
                   rows_left - tile * tile_rows);
      storer.advance();
    }
  }
};

/// For each part of the window: where the bytes beyond the ends of the rows are mirrored from,
/// which is the same for all rows.
template <RareCode kRare>
class LargeEdges {
 public:
  /// map: of as many words for each part as it has bytes. part_at: the part of that number.
  template <class PartAt>
  __device__ LargeEdges(const BlurPicture& picture, Border border, std::uint16_t* map, int parts,
                        const PartAt& part_at)
      : map_(map) {
    bool mirrored = maps_edges(parts);
    for (int p = 0; p < parts; ++p) {
      const StagedPart part = part_at(p);
      const int edges = part.edge_bytes(picture);
      for (int i = threadIdx.x; i < edges && maps_edges(parts); i += blockDim.x) {
        const int from = source_of_edge(picture, border, part.edge_position(picture, i));
        mirrored = mirrored && part.has(picture, from);
        map[p * part.chunks * chunk_bytes + i] = static_cast<std::uint16_t>(from - part.first);
      }
      any_ = any_ || edges > 0;
    }
    mirrored_ = !any_ || __syncthreads_and(mirrored);
  }

  __device__ bool any() const { return any_; }

  /// Adds the bytes to a stage that has arrived, with the rows from y on.
  __device__ void add(const BlurPicture& picture, Border border, const StagedPart& part, int number,
                      SharedAddress stage, int pitch, int y) const {
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    if (!mirrored_) {
      if constexpr (kRare == RareCode::called)
        call_add_edges(picture, border, part, stage, pitch, y, large_rows, warp, warps);
      else
        add_edges(picture, border, part, stage, pitch, y, large_rows, warp, warps);
      return;
    }
    const int edges = part.edge_bytes(picture);
#pragma unroll 1
    for (int i = threadIdx.x % 32; i < edges; i += 32) {
      const SharedAddress to = stage + part.edge_position(picture, i) - part.first;
      const SharedAddress from = stage + map_[number * part.chunks * chunk_bytes + i];
#pragma unroll 4
      for (int r = warp; r < large_rows; r += warps)
        store_byte(to + r * pitch, load_byte(from + r * pitch));
    }
  }

 private:
  const std::uint16_t* map_;
  bool any_ = false;
  bool mirrored_;
};

template <class Depth, bool kAllInShared>
__device__ inline void blur_item(const BlurArguments& a, const BlurItem& item,
                                 std::uint8_t* shared) {
  constexpr RareCode rare = kAllInShared ? RareCode::called : RareCode::inlined;
  const BlurPicture& picture = a.pictures[item.picture];
  const int warps = blockDim.x / 32, warp = threadIdx.x / 32;
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;

  const LargeMemory<Depth> memory(a.row_slices, a.column_slices, a.chunk_pairs, warps);
  const LargeTables<Depth> tables(a.row_slices, a.column_slices);
  // Stages and the map of the edges; the tables and the ring, behind them or elsewhere.
  const SharedAddress stages = shared_address(shared);
  std::uint8_t* const scratch =
      kAllInShared ? shared + memory.shared(false)
                   : a.scratch + static_cast<std::size_t>(blockIdx.x) * memory.scratch();
  std::conditional_t<kAllInShared, SharedAddress, const std::uint8_t*> table;
  if constexpr (kAllInShared)
    table = shared_address(scratch);
  else
    table = scratch;
  const int slots = (a.column_slices - 1) / 2;
  const LargeRing<Depth, kAllInShared> ring(scratch + memory.tables, slots);

  const int chunks = LargeMemory<Depth>::chunks(a.chunk_pairs, warps);
  const int pitch = stage_pitch(chunks);
  const int pairs = a.row_slices / 2;
  const int parts = window_parts(a.row_slices, a.chunk_pairs);
  const int left = item.x - window_lead(a.row_slices);
  const int lead = large_column_lead(a.column_slices);
  const int first_row = item.begin - lead;
  const int steps = (item.end - item.begin + large_rows - 1) / large_rows + lead / tile_rows;
  const int loads = steps * parts;

  const int begin = item.begin - picture.column_radius, end = item.end + picture.column_radius;
  const auto part_at = [&](int number) {
    return StagedPart{left + number * a.chunk_pairs * tile_bytes, chunks, begin, end};
  };
  int next_step = 0, next_part = 0;
  const auto load = [&](int number) {
    if (number < loads) {
      stage_rows<rare>(picture, a.border, part_at(next_part),
                       stages + number % large_stages * memory.stage, pitch,
                       first_row + next_step * large_rows);
      if (++next_part == parts) {
        next_part = 0;
        ++next_step;
      }
    }
    commit_copies();
  };

#pragma unroll 1
  for (int i = 0; i < large_stages - 1; ++i)
    load(i);
  const LargeEdges<rare> edges(
      picture, a.border, reinterpret_cast<std::uint16_t*>(shared + large_stages * memory.stage),
      parts, part_at);
  tables.fill(scratch, a.tables + picture.row_table, a.tables + picture.column_table);
  const SampleRules<Depth> rules = sample_rules<Depth>(a, picture, g);

  const int x = item.x + warp * tile_bytes;
  const bool works = x < picture.row_bytes;
  Storer<Depth, rare> storer(a, picture, x + 8 * t, item.begin + g);
  int rows_left = item.end - item.begin - g;
  const int window = row_of_column(0, g) * pitch + warp * tile_bytes;
  int step = 0, part = 0, slot = 0;
  LargeRowSums<Depth> sums{};

#pragma unroll 1
  for (int i = 0; i < loads; ++i) {
    wait_for_copies<large_stages - 2>();
    __syncthreads();
    const SharedAddress staged = stages + i % large_stages * memory.stage;
    if (edges.any()) {
      edges.add(picture, a.border, part_at(part), part, staged, pitch,
                first_row + step * large_rows);
      __syncthreads();
    }
    load(i + large_stages - 1);

    const int first_pair = part * a.chunk_pairs;
    if (works)
      sums.add(tables, rules, staged + window, pitch, table + first_pair * (tile_bytes / 4 * 16),
               min(a.chunk_pairs, pairs - first_pair), g, t);
    if (++part < parts)
      continue;
    part = 0;
    ++step;
    if (!works)
      continue;

    // All sums along x of these rows are there.
    std::uint32_t words[2][Depth::groups][2][Depth::result_bytes];
#pragma unroll
    for (int tile = 0; tile < 2; ++tile)
#pragma unroll
      for (int group = 0; group < Depth::groups; ++group)
        sums.of[tile][group].cut(rules, words[tile][group]);
    ring.put(slot, words[0], words[1]);
    slot = ring.after(slot);
    sums = {};
    if (step <= lead / tile_rows)
      continue;
    // Finer sums are too many for both tiles at once.
    if constexpr (Depth::column_sums * Depth::groups <= 5) {
      LargeColumnSums<Depth, 0, 2>(tables, table, ring, slot, slots, g, t)
          .store(rules, storer, rows_left);
    } else {
      LargeColumnSums<Depth, 0, 1>(tables, table, ring, slot, slots, g, t)
          .store(rules, storer, rows_left);
      LargeColumnSums<Depth, 1, 1>(tables, table, ring, slot, slots, g, t)
          .store(rules, storer, rows_left - tile_rows);
    }
    rows_left -= large_rows;
  }
}

template <class Depth, bool kAllInShared>
__global__ void __launch_bounds__(32 * (kAllInShared ? large_warps : scratch_warps),
                                  kAllInShared ? 1 : scratch_blocks_per_multiprocessor)
    blur_any(const __grid_constant__ BlurArguments a) {
  extern __shared__ __align__(16) std::uint8_t shared[];
  wait_for_last_launch();
#pragma unroll 1
  for (int number = blockIdx.x; number < a.item_count; number += gridDim.x) {
    blur_item<Depth, kAllInShared>(a, BlurItem(a, number, blockDim.x / 32), shared);
    __syncthreads();
  }
  let_next_launch_in();
}

}  // namespace cudavision
