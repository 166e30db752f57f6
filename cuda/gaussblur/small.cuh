// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The blur with kernels so small that a lane keeps all its coefficients, and the sums along x that
// later rows need, in registers. For .cu files.

#include <cuda_runtime.h>

#include "cuda/core/cuda_launch.h"
#include "cuda/gaussblur/stage.cuh"
#include "cuda/gaussblur/tables.h"

namespace cudavision::gaussblur {

/// Warps of a block. Each works for itself.
constexpr int small_warps = 4;
/// Stages of 16 rows in shared memory: one in use, the others on their way.
constexpr int small_stages = 4;

/// A part of a picture, the work of a block or of a warp: some tiles beside each other, and some
/// below each other.
struct BlurItem {
  int picture;
  int x;      ///< position in the row of the first tile
  int begin;  ///< rows
  int end;

  __device__ BlurItem(const BlurArguments& a, int number, int bytes) : picture(0) {
    while (picture + 1 < a.picture_count && number >= a.pictures[picture + 1].first_item)
      ++picture;
    const BlurPicture& p = a.pictures[picture];
    const int within = number - p.first_item;
    const int below = within / p.strips;
    x = (within - below * p.strips) * bytes;
    begin = below * a.item_rows;
    end = min(begin + a.item_rows, p.rows);
  }
};

/// Hides where a value comes from: the compiler would rather compute some of them anew each time
/// than keep them.
template <class T>
__device__ inline void keep_in_register(T& value) {
  static_assert(sizeof(T) == 4, "a register");
  asm volatile("" : "+r"(value));
}

template <class Depth>
__device__ SampleRules<Depth> sample_rules(const BlurArguments& a, const BlurPicture& picture,
                                           int g) {
  SampleRules<Depth> rules{};
  if constexpr (Depth::sample_bytes == 2) {
    const std::uint32_t largest = (1u << (a.bits + a.shift)) - 1;
    const std::uint32_t unused = (1u << a.shift) - 1;
    rules.limit = largest << 16 | largest;
    rules.mask = ~(unused << 16 | unused);
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const bool identity = picture.row_identity >> (byte_of_row<Depth>(0, g + 8 * half) % 4) & 1;
    rules.low_bytes[half] = identity ? 0x7531 : 0x6420;
    rules.high_bytes[half] = identity ? 0x6420 : 0x7531;
    rules.row_shift[half] = identity;
    if constexpr (Depth::coefficient_bytes == 1) {
      keep_in_register(rules.low_bytes[half]);
      keep_in_register(rules.high_bytes[half]);
    }
  }
  if constexpr (Depth::coefficient_bytes == 1) {
    rules.result_factor = picture.column_identity ? 2 : 1;
    rules.rounding = 0x00800080;
    keep_in_register(rules.result_factor);
  } else {
    rules.result_shift = 8 - picture.column_identity;
    rules.rounding = 1u << (rules.result_shift - 1 + a.shift);
  }
  return rules;
}

/// A lane's words, from where each quad of them follows those of the other lanes.
template <int kWords>
__device__ inline void load_factors(const std::uint32_t* table, std::uint32_t (&words)[kWords]) {
  static_assert(kWords % 4 == 0, "whole quads");
#pragma unroll
  for (int i = 0; i < kWords / 4; ++i) {
    const uint4 quad = __ldg(reinterpret_cast<const uint4*>(table) + i * 32 + threadIdx.x % 32);
    words[4 * i] = quad.x;
    words[4 * i + 1] = quad.y;
    words[4 * i + 2] = quad.z;
    words[4 * i + 3] = quad.w;
  }
}

/// The number of this warp in its block. That all its lanes have the same one is something the
/// compiler can rely on only this way; what follows from it then needs no registers of each lane.
__device__ inline int warp_number() {
  return __shfl_sync(~0u, threadIdx.x / 32, 0);
}

/// A lane's words of the left factors of both products.
template <class Depth, int kRowSlices, int kColumnSlices>
class SmallFactors {
 public:
  using Layout = BlurFactors<Depth>;

  __device__ explicit SmallFactors(const std::uint32_t* table) { load_factors(table, words_); }

  __device__ std::uint32_t row(int group, int sum, int slice, int half) const {
    return words_[Layout::row_word(kRowSlices, group, sum, slice, half)];
  }
  __device__ std::uint32_t column(int byte, int slice, int half) const {
    return words_[Layout::column_word(kRowSlices, kColumnSlices, byte, slice, half)];
  }

 private:
  static constexpr int quads = Layout::quads(kRowSlices, kColumnSlices);
  std::uint32_t words_[4 * quads];
};

/// A lane's bytes of the sums along x, of the rows that a tile needs.
template <class Depth, int kColumnSlices>
struct SmallRing {
  std::uint32_t word[kColumnSlices][Depth::groups][2][Depth::result_bytes];

  __device__ void advance() {
#pragma unroll
    for (int k = 0; k + 1 < kColumnSlices; ++k)
#pragma unroll
      for (int group = 0; group < Depth::groups; ++group)
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
          for (int b = 0; b < Depth::result_bytes; ++b)
            word[k][group][half][b] = word[k + 1][group][half][b];
  }
};

/// Sums 16 staged rows along x. pairs, last: where this lane's first words of the window are, for
/// pairs of slices and for a last slice alone.
template <class Depth, int kRowSlices, int kColumnSlices>
__device__ inline void sum_rows(const SmallFactors<Depth, kRowSlices, kColumnSlices>& factors,
                                const SampleRules<Depth>& rules, SharedAddress pairs,
                                SharedAddress last, int pitch,
                                std::uint32_t (&result)[Depth::groups][2][Depth::result_bytes]) {
  RowSums<Depth> sums[Depth::groups];
#pragma unroll
  for (int q = 0; q < 2; ++q) {
#pragma unroll
    for (int pair = 0; pair < kRowSlices / 2; ++pair) {
      const uint2 bytes = load_pair(pairs + q * pitch + 4 * window_word(pair, 0, 0));
      const std::uint32_t first = rules.read(bytes.x), second = rules.read(bytes.y);
#pragma unroll
      for (int group = 0; group < Depth::groups; ++group)
#pragma unroll
        for (int s = 0; s < Depth::row_sums; ++s) {
          Sums& sum = sums[group].sum[q][s];
          sum = multiply_pair(
              {factors.row(group, s, 2 * pair, 0), factors.row(group, s, 2 * pair, 1),
               factors.row(group, s, 2 * pair + 1, 0), factors.row(group, s, 2 * pair + 1, 1)},
              first, second, sum);
        }
    }
    if constexpr (kRowSlices % 2 == 1) {
      constexpr int slice = kRowSlices - 1;
      const std::uint32_t bytes =
          rules.read(load_word(last + q * pitch + 4 * last_window_word(slice, 0)));
#pragma unroll
      for (int group = 0; group < Depth::groups; ++group)
#pragma unroll
        for (int s = 0; s < Depth::row_sums; ++s) {
          Sums& sum = sums[group].sum[q][s];
          sum = multiply_slice(factors.row(group, s, slice, 0), factors.row(group, s, slice, 1),
                               bytes, sum);
        }
    }
  }
#pragma unroll
  for (int group = 0; group < Depth::groups; ++group)
    sums[group].cut(rules, result[group]);
}

/// Sums the ring along y.
template <class Depth, int kRowSlices, int kColumnSlices>
__device__ inline void sum_columns(const SmallFactors<Depth, kRowSlices, kColumnSlices>& factors,
                                   const SmallRing<Depth, kColumnSlices>& ring,
                                   ColumnSums<Depth> (&sums)[Depth::groups][2]) {
#pragma unroll
  for (int group = 0; group < Depth::groups; ++group)
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int b = 0; b < Depth::result_bytes; ++b)
#pragma unroll
        for (int byte = 0; byte < Depth::coefficient_bytes; ++byte) {
          Sums& sum = sums[group][half].sum[b + byte];
#pragma unroll
          for (int k = 0; k + 1 < kColumnSlices; k += 2)
            sum =
                multiply_pair({factors.column(byte, k, 0), factors.column(byte, k, 1),
                               factors.column(byte, k + 1, 0), factors.column(byte, k + 1, 1)},
                              ring.word[k][group][half][b], ring.word[k + 1][group][half][b], sum);
          if constexpr (kColumnSlices % 2 == 1)
            sum = multiply_slice(factors.column(byte, kColumnSlices - 1, 0),
                                 factors.column(byte, kColumnSlices - 1, 1),
                                 ring.word[kColumnSlices - 1][group][half][b], sum);
        }
}

/// Sends slices of 16 rows on their way, for one warp: kLanes of its lanes share a row, of which
/// each takes every kLanes-th chunk. What is the same for all slices is worked out once.
template <int kChunks, int kPitch, int kLanes, RareCode kRare>
class SmallLoader {
 public:
  /// stages: where the first one begins; y: the first row of the first slice.
  __device__ SmallLoader(const BlurPicture& picture, Border border, const StagedPart& part,
                         SharedAddress stages, int y)
      : picture_(picture), border_(border), part_(part), y_(y + lane() / kLanes) {
    const int c = lane() % kLanes;
    position_ = part.first + c * chunk_bytes;
    to_ = stages + lane() / kLanes * kPitch + c * chunk_bytes;
    from_ = picture.in + position_;
    in_pitch_ = picture.in_pitch;
    begin_ = max(part.begin, 0);
#pragma unroll
    for (int j = 0; j < columns; ++j) {
      const int position = position_ + j * column_bytes;
      const bool staged = c + j * kLanes < kChunks, whole = is_whole_chunk(picture, position);
      count_[j] = staged && whole ? max(min(part.end, picture.rows) - begin_, 0) : 0;
      odd_ = odd_ || (staged && !whole && is_inner_chunk(picture, position));
    }
    outer_ = c < kChunks && (part.begin < 0 || part.end > picture.rows);
  }

  /// The next slice, to the stage that begins so far behind the first one.
  __device__ void load(int stage) {
    // The addresses first: a register that a copy is going to read cannot be written to.
    const std::uint8_t* from[tile_rows / rows_at_a_time];
#pragma unroll
    for (int k = 0; k < tile_rows / rows_at_a_time; ++k)
      from[k] = from_ + static_cast<std::int64_t>(y_ + k * rows_at_a_time) * in_pitch_;
#pragma unroll
    for (int k = 0; k < tile_rows / rows_at_a_time; ++k)
#pragma unroll
      for (int j = 0; j < columns; ++j)
        if (static_cast<unsigned>(y_ + k * rows_at_a_time - begin_) <
            static_cast<unsigned>(count_[j]))
          copy_async<16>(to_ + stage + k * rows_at_a_time * kPitch + j * column_bytes,
                         from[k] + j * column_bytes);
    // Chunks and rows that need more than a copy.
    if (odd_ || (outer_ && (y_ < 0 || y_ + tile_rows > picture_.rows)))
      load_specially(to_ + stage);
    y_ += tile_rows;
  }

 private:
  static constexpr int rows_at_a_time = 32 / kLanes;
  static constexpr int columns = (kChunks + kLanes - 1) / kLanes;
  static constexpr int column_bytes = kLanes * chunk_bytes;
  static_assert(columns == 1 || kChunks % kLanes == 0, "a lane that has a chunk has one of each");

  __device__ static int lane() {
    return threadIdx.x % 32;
  }

  __device__ void load_specially(SharedAddress to) const {
#pragma unroll 1
    for (int k = 0; k < tile_rows; k += rows_at_a_time) {
      const int y = y_ + k;
      const bool inside = static_cast<unsigned>(y) < static_cast<unsigned>(picture_.rows);
      if (y < part_.begin || y >= part_.end)
        continue;
#pragma unroll 1
      for (int b = 0; b < columns * column_bytes; b += column_bytes) {
        const int position = position_ + b;
        if (inside && (is_whole_chunk(picture_, position) || !is_inner_chunk(picture_, position)))
          continue;
        if constexpr (kRare == RareCode::called)
          call_stage_any_chunk(picture_, border_, to + k * kPitch + b, y, position);
        else
          stage_any_chunk(picture_, border_, to + k * kPitch + b, y, position);
      }
    }
  }

  const BlurPicture& picture_;
  const Border border_;
  const StagedPart part_;
  const std::uint8_t* from_;  // in row 0
  int in_pitch_;
  SharedAddress to_;
  int position_;
  int y_;
  int begin_, count_[columns];  // rows that are copied, of each chunk
  bool odd_ = false;            // a chunk reaches beyond the row, or is badly aligned
  bool outer_;                  // some of the rows are beyond the picture
};

/// What lies beyond the ends of the rows, mirrored from what is in the same rows, in units of kUnit
/// bytes: where a lane takes its units from and where it puts them, which is the same for all rows.
template <int kUnit>
class EdgeMirror {
 public:
  __device__ EdgeMirror(const BlurPicture& picture, Border border, const StagedPart& part,
                        int pitch)
      : edges_(part.edge_bytes(picture) / kUnit) {
    if (edges_ == 0)
      return;
    const int lane = threadIdx.x % 32;
    log_lanes_ = edges_ <= 8 ? 3 : edges_ <= 16 ? 4 : 5;
    const int first = lane & ((1 << log_lanes_) - 1);
    const int row = (lane >> log_lanes_) * pitch - part.first;
    bool mirrored = edges_ <= 32 * lists;
#pragma unroll
    for (int& to : to_)
      to = -1;
#pragma unroll
    for (int k = 0; k < lists; ++k) {
      const int i = first + 32 * k;
      if (!mirrored || i >= edges_)
        break;
      const int position = part.edge_position(picture, i * kUnit);
      const int from = source_of_edge(picture, border, position);
      mirrored = part.has(picture, from);
      to_[k] = row + position;
      from_[k] = row + from;
    }
    complete_ = __all_sync(~0u, mirrored);
  }

  __device__ bool any() const {
    return edges_ > 0;
  }
  /// Whether everything is mirrored; else add() must not be called.
  __device__ bool complete() const {
    return complete_;
  }

  /// Of 16 staged rows.
  __device__ void add(SharedAddress stage, int pitch) const {
    const int step = 32 >> log_lanes_;
#pragma unroll
    for (int k = 0; k < lists; ++k)
      if (to_[k] >= 0)
#pragma unroll 4
        for (int r = 0; r < tile_rows; r += step)
          copy_unit(stage + to_[k] + r * pitch, stage + from_[k] + r * pitch);
  }

 private:
  static constexpr int lists = kUnit == 1 ? 2 : 1;

  __device__ static void copy_unit(SharedAddress to, SharedAddress from) {
    if constexpr (kUnit == 1)
      store_byte(to, load_byte(from));
    else
      store_word(to, load_word(from));
  }

  int edges_;
  int from_[lists], to_[lists];  // of this lane; to_ is negative where there is none
  int log_lanes_ = 0;
  bool complete_ = true;
};

/// Adds what lies beyond the ends of 16 rows, from row y on, that have arrived in a stage.
template <RareCode kRare, int kUnit>
__device__ inline void add_beyond_ends(const EdgeMirror<kUnit>& mirror, const BlurPicture& picture,
                                       Border border, const StagedPart& part, SharedAddress stage,
                                       int pitch, int y) {
  if (!mirror.any())
    return;
  if (mirror.complete())
    mirror.add(stage, pitch);
  else if constexpr (kRare == RareCode::called)
    call_add_edges(picture, border, part, stage, pitch, y, tile_rows, 0, 1);
  else
    add_edges(picture, border, part, stage, pitch, y, tile_rows, 0, 1);
  __syncwarp();
}

/// Sends the first slices on their way, to all stages but the last. Returns where that begins.
template <int kStageBytes, class Loader>
__device__ inline int load_first(Loader& loader, int slices) {
  int stage = 0;
#pragma unroll 1
  for (int s = 0; s < small_stages - 1; ++s, stage += kStageBytes) {
    if (s < slices)
      loader.load(stage);
    commit_copies();
  }
  return stage;
}

/// kTiles: beside each other, which a warp makes at a time. kBlocks: how many are to share a
/// multiprocessor.
template <class Depth, int kRowSlices, int kColumnSlices, int kTiles, int kBlocks>
__global__ void __launch_bounds__(32 * small_warps, kBlocks)
    blur_small(const __grid_constant__ BlurArguments a) {
  // As it turned out to be faster, and possible without spilling registers.
  constexpr bool full = kBlocks > 3 || (kRowSlices == 6 && kColumnSlices == 3);
  constexpr RareCode rare = full ? RareCode::called : RareCode::inlined;
  constexpr int lead = window_lead(kRowSlices);
  constexpr int staged_lead = (lead + chunk_bytes - 1) / chunk_bytes * chunk_bytes;
  constexpr int chunks = chunks_for(kTiles * tile_bytes, lead);
  constexpr int pitch = stage_pitch(chunks);
  constexpr int stage_bytes = pitch * tile_rows;
  constexpr int last_stage = (small_stages - 1) * stage_bytes;
  extern __shared__ __align__(16) std::uint8_t shared[];

  const int warp = warp_number(), g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const int number = blockIdx.x * small_warps + warp;
  if (number >= a.item_count) {
    grid_dependency_wait();
    launch_dependents();
    return;
  }
  const BlurItem item(a, number, kTiles * tile_bytes);
  const BlurPicture& picture = a.pictures[item.picture];
  const SmallFactors<Depth, kRowSlices, kColumnSlices> factors(a.tables + picture.factors);
  const SharedAddress stages = shared_address(shared) + warp * (small_stages * stage_bytes);
  const int slices = (item.end - item.begin + tile_rows - 1) / tile_rows + kColumnSlices - 1;
  const int first_row = item.begin - column_lead(kColumnSlices);
  const StagedPart part{item.x - staged_lead, chunks, item.begin - picture.column_radius,
                        item.end + picture.column_radius};
  SmallLoader<chunks, pitch, chunks <= 8 ? 8 : 16, rare> loader(picture, a.border, part, stages,
                                                                first_row);
  const EdgeMirror<1> mirror(picture, a.border, part, pitch);
  const SampleRules<Depth> rules = sample_rules<Depth>(a, picture, g);
  Storer<Depth, rare, kTiles> storer(a, picture, item.x + 8 * t, item.begin + g);
  SharedAddress window = stages + row_of_column(0, g) * pitch + staged_lead - lead + 8 * t;
  keep_in_register(window);
  int rows_left = item.end - item.begin - g;  // from this lane's next one on
  SmallRing<Depth, kColumnSlices> ring[kTiles];

  grid_dependency_wait();
  int stage = 0, next_stage = load_first<stage_bytes>(loader, slices);
#pragma unroll 1
  for (int s = 0; s < slices; ++s) {
    wait_for_copies<small_stages - 2>();
    __syncwarp();
    add_beyond_ends<rare>(mirror, picture, a.border, part, stages + stage, pitch,
                          first_row + s * tile_rows);
    if (s + small_stages - 1 < slices)
      loader.load(next_stage);
    commit_copies();

#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      ring[tile].advance();
      const SharedAddress from = window + stage + tile * tile_bytes;
      sum_rows(factors, rules, from, from - 4 * t, pitch, ring[tile].word[kColumnSlices - 1]);
    }
    if (s >= kColumnSlices - 1) {
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        ColumnSums<Depth> sums[Depth::groups][2];
        sum_columns(factors, ring[tile], sums);
        storer.store(rules, tile, result_row(rules, sums, 0), result_row(rules, sums, 1),
                     rows_left);
      }
      storer.advance();
      rows_left -= tile_rows;
    }
    next_stage = stage;
    stage = stage == last_stage ? 0 : stage + stage_bytes;
  }
  launch_dependents();
}

}  // namespace cudavision::gaussblur
