// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Winner takes all from 8-bit sums. A block processes a row or a part of a row. Each group of lanes
// moves along a segment of the part; a lane has 16 of a pixel's disparities. The last right pixels
// of a part also need the sums of columns after the part, as many as there are disparities.
//
// A key is a sum with its disparity or word index in the lowest bits, so the smallest key is the
// smallest sum with the lowest disparity. A word holds the keys of d and d + disparities/2.

#include "cuda/sgm/arithmetic.h"
#include "cuda/sgm/paths8/lanes.cuh"
#include "cuda/sgm/paths8/paths8_cuda.h"
#include "cuda/sgm/winners/row_parts.h"

namespace cudavision::sgm {

constexpr int max_volumes = 4;

struct WinnersArguments {
  const std::uint8_t* sums[max_volumes];  // the volumes that add up to the sums over all paths
  WtaResult winners;
  float uniqueness;
  Subpixel subpixel;
  bool whole;  // true if map values are whole disparities
  int width;
  int columns;      // columns of the volumes, without margins
  int pitch;        // pitch of the volumes, in pixels
  int disparities;  // disparities of the config, without padding
  int right_shift;  // column r of the right map is at p = r + right_shift
  RowParts parts;
};

namespace {

constexpr int threads = 256;
constexpr int words = 8;  // words of keys per lane
constexpr std::uint32_t nothing = 0xffffffffu;

CUDAVISION_HOST_DEVICE constexpr int slot_count(int columns, int disparities) {
  return columns + disparities + (columns + disparities) / 32 + 1;
}

template <int kDisparities, int kVolumes>
struct WinnersPlan {
  static constexpr int lanes = kDisparities / (2 * words);  ///< lanes per pixel
  static constexpr int half = kDisparities / 2;
  static constexpr int groups = threads / lanes;
  static constexpr int segment_unit = 8 * groups;  ///< Segments are multiples of 8 columns.
  /// Pixels whose results the lanes of a group write at once.
  static constexpr int round = lanes < 8 ? lanes : 8;
  static constexpr int vectors = kDisparities / 16;  ///< vectors of 16 bytes per pixel
  /// Pixels whose sums are prefetched to registers. With four volumes, more would spill.
  static constexpr int prefetched = kVolumes == 2 ? 4 : 2;

  /// Sums of two volumes are at most 510, of four volumes at most 1020. The other bits of a half
  /// hold the disparity or, if it does not fit, the index of the word.
  static constexpr int sum_bits = kVolumes == 2 ? 9 : 10;
  static constexpr int wide_bits = kDisparities <= 128 ? 7 : 8;
  static constexpr int index_bits = sum_bits + wide_bits <= 16 ? wide_bits : 3;
  static constexpr int second_at = sum_bits + 8;
  static constexpr std::uint32_t disparity_mask = (1u << wide_bits) - 1;

  static __device__ std::uint32_t wide_key(std::uint32_t key, int lane, bool upper) {
    if constexpr (index_bits == wide_bits)
      return key;
    constexpr std::uint32_t index_mask = (1u << index_bits) - 1;
    return (key & ~index_mask) << (wide_bits - index_bits) |
           (words * lane + (key & index_mask) + (upper ? half : 0));
  }

  /// Slot of a best key of the right map in shared memory. p counts from the part's first column
  /// and is at least −kDisparities. One word in 33 is unused, to avoid bank conflicts.
  static __device__ int slot_of(int p) {
    const int number = p + kDisparities;
    return number + number / 32;
  }
};

/// Masks by which find_left() excludes the best disparity and its neighbours. Entry e + 2 sets the
/// highest bit of byte k if |k − e| ≤ 1.
constexpr int mask_entries = 13;

__device__ uint2 mask_entry(int number) {
  constexpr unsigned long long three = 0x808080;
  const int shift = 8 * (number - 3);
  const unsigned long long marks = shift >= 64 ? 0 : shift >= 0 ? three << shift : three >> -shift;
  return {static_cast<std::uint32_t>(marks), static_cast<std::uint32_t>(marks >> 32)};
}

/// Replicates the sign of byte kByte of `low` in the lower half, and of `high` in the upper half.
template <int kByte>
__device__ std::uint32_t signs(std::uint32_t low, std::uint32_t high) {
  constexpr std::uint32_t select =
      (8u + kByte) | (8u + kByte) << 4 | (12u + kByte) << 8 | (12u + kByte) << 12;
#ifdef __CUDA_ARCH__
  // prmt is documented to replicate signs, __byte_perm() is not.
  std::uint32_t word;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(word) : "r"(low), "r"(high), "n"(select));
  return word;
#else
  return low & high & select;
#endif
}

__device__ std::uint32_t min_of_eight(const std::uint32_t (&keys)[words]) {
  return __vimin3_u16x2(__vimin3_u16x2(keys[0], keys[1], keys[2]),
                        __vimin3_u16x2(keys[3], keys[4], keys[5]), __vminu2(keys[6], keys[7]));
}

/// Writes a pixel of the left map. found holds the best key and, from bit second_at on, the
/// smallest sum more than one disparity away. The pixel's sums begin at byte `at` of the volumes.
template <int kDisparities, int kVolumes>
__device__ void write_left(const WinnersArguments& a, std::uint32_t found, std::int64_t at,
                           std::int64_t pixel) {
  using Plan = WinnersPlan<kDisparities, kVolumes>;
  const int best = static_cast<int>(found & Plan::disparity_mask);
  const std::uint32_t minimum = (found & ((1u << Plan::second_at) - 1)) >> Plan::wide_bits;
  const std::uint32_t second = found >> Plan::second_at;
  const bool known = is_unique(minimum, second, a.uniqueness);
  int number = a.whole ? best : 16 * best;
  if (a.subpixel != Subpixel::none && best > 0 && best < a.disparities - 1) {
    const auto sum = [&](int d) {
      const int byte = d < Plan::half ? 2 * d : 2 * (d - Plan::half) + 1;
      int all = 0;
#pragma unroll
      for (int v = 0; v < kVolumes; ++v)
        all += a.sums[v][at + byte];
      return all;
    };
    number += offset_of(a.subpixel, sum(best - 1), static_cast<int>(minimum), sum(best + 1));
  }
  a.winners.left[pixel] = known ? static_cast<std::uint16_t>(number) : unknown;
  if (a.winners.confidence)
    a.winners.confidence[pixel] = known ? confidence_of(minimum, second) : 0;
}

/// A group of lanes that walks along its segment. Columns count from the part's first column.
template <int kDisparities, int kVolumes>
class WinnersWalk {
  using Plan = WinnersPlan<kDisparities, kVolumes>;
  using Bytes = uint4[kVolumes];  // sums of 16 disparities of a pixel, for each volume

 public:
  __device__ WinnersWalk(const WinnersArguments& a, std::uint32_t* right, const uint2* near)
      : a_(a), right_(right), near_(near), lane_(static_cast<int>(threadIdx.x) % Plan::lanes) {
#pragma unroll
    for (int k = 0; k < words; ++k) {
      diagonals_[k] = nothing;
      indices_[k] = Plan::index_bits == 3
                        ? k * 0x10001u
                        : (words * lane_ + k) * 0x10001u + (std::uint32_t{Plan::half} << 16);
    }
  }

  /// Writes left_columns columns of the left map. `at` and `pixel` are for the part's first pixel.
  __device__ void run(int columns, int left_columns, std::int64_t at, std::int64_t pixel) {
    // Segments are whole rounds, in which all lanes of a warp take part. Beyond the part, lanes
    // process pixels again and drop the results.
    const int segment = (columns + Plan::segment_unit - 1) / Plan::segment_unit *
                        (Plan::segment_unit / Plan::groups);
    const int first = static_cast<int>(threadIdx.x) / Plan::lanes * segment;
    const int end = min(first + segment, columns);
    if (__all_sync(whole_warp, first >= columns))
      return;
    const std::int64_t begin = (at + (first < columns ? first : 0)) * Plan::vectors + lane_;
#pragma unroll
    for (int v = 0; v < kVolumes; ++v)
      sums_[v] = reinterpret_cast<const uint4*>(a_.sums[v]) + begin;
    Bytes bytes[Plan::prefetched];
#pragma unroll
    for (int i = 0; i < Plan::prefetched; ++i)
      load(i, bytes[i]);
    go_on(Plan::prefetched);

    for (int x = first; x < first + segment; x += Plan::round) {
      const bool live = x < end;
      if (x == end)
        update_right_by_all(end - 1);
      std::uint32_t own = 0;  // result for the pixel that this lane writes
#pragma unroll
      for (int i = 0; i < Plan::round; ++i) {
        std::uint32_t keys[words];
        make_keys(bytes[i % Plan::prefetched], keys);
        if (i + Plan::prefetched < Plan::round || x + Plan::round < end)
          load(i, bytes[i % Plan::prefetched]);
        follow_diagonals(keys, x + i, live);
        const std::uint32_t found = find_left(keys);
        if (lane_ % Plan::round == i)
          own = found;
      }
      if (x + Plan::round < end)
        go_on(Plan::round);
      if (lane_ < Plan::round && x + lane_ < min(end, left_columns))
        write_left<kDisparities, kVolumes>(a_, own, (at + x + lane_) * kDisparities,
                                           pixel + x + lane_);
    }
    if (first + segment == end)
      update_right_by_all(end - 1);
  }

 private:
  __device__ void load(int i, Bytes& bytes) const {
#pragma unroll
    for (int v = 0; v < kVolumes; ++v)
      bytes[v] = sums_[v][i * Plan::vectors];
  }

  __device__ void go_on(int pixels) {
#pragma unroll
    for (int v = 0; v < kVolumes; ++v)
      sums_[v] += pixels * Plan::vectors;
  }

  __device__ void make_keys(const Bytes& bytes, std::uint32_t (&keys)[words]) const {
#pragma unroll
    for (int k = 0; k < words; ++k) {
      const unsigned take = k % 2 == 0 ? 0x4140 : 0x4342;
      std::uint32_t sum = 0;
#pragma unroll
      for (int v = 0; v < kVolumes; ++v) {
        const std::uint32_t four[4] = {bytes[v].x, bytes[v].y, bytes[v].z, bytes[v].w};
        sum += __byte_perm(four[k / 2], 0, take);
      }
      keys[k] = multiply_add(sum, 1u << Plan::index_bits, indices_[k]);
    }
  }

  __device__ std::uint32_t find_left(const std::uint32_t (&keys)[words]) const {
    const std::uint32_t minimum = min_of_eight(keys);
    std::uint32_t best = min(Plan::wide_key(minimum & 0xffff, lane_, false),
                             Plan::wide_key(minimum >> 16, lane_, true));
#pragma unroll
    for (int apart = 1; apart < Plan::lanes; apart *= 2)
      best = min(best, __shfl_xor_sync(whole_warp, best, apart));
    const int e = static_cast<int>(best & Plan::disparity_mask) - words * lane_;
    const uint2 low = near_[min(max(e + 2, 0), mask_entries - 1)];
    const uint2 high = near_[min(max(e - Plan::half + 2, 0), mask_entries - 1)];
    const std::uint32_t others[words] = {
        keys[0] | signs<0>(low.x, high.x), keys[1] | signs<1>(low.x, high.x),
        keys[2] | signs<2>(low.x, high.x), keys[3] | signs<3>(low.x, high.x),
        keys[4] | signs<0>(low.y, high.y), keys[5] | signs<1>(low.y, high.y),
        keys[6] | signs<2>(low.y, high.y), keys[7] | signs<3>(low.y, high.y)};
    std::uint32_t other = min_of_eight(others);
    other = __vminu2(other, __byte_perm(other, 0, 0x1032));
#pragma unroll
    for (int apart = 1; apart < Plan::lanes; apart *= 2)
      other = __vminu2(other, __shfl_xor_sync(whole_warp, other, apart));
    return ((other & 0xffff) >> Plan::index_bits) << Plan::second_at | best;
  }

  /// Updates the right map, where sum (x, d) belongs to pixel x − d. The lane's word k at x and
  /// word k + 1 at x + 1 belong to the same pixels.
  __device__ void follow_diagonals(const std::uint32_t (&keys)[words], int x, bool live) {
    const std::uint32_t leaving = __vminu2(diagonals_[words - 2], keys[words - 1]);
#pragma unroll
    for (int k = words - 2; k > 0; --k)
      diagonals_[k] = __vminu2(diagonals_[k - 1], keys[k]);
    diagonals_[0] = keys[0];
    if (live)
      update_right(x - words * lane_ - (words - 1), leaving);
  }

  __device__ void update_right(int p, std::uint32_t keys) {
    atomicMin(right_ + Plan::slot_of(p), Plan::wide_key(keys & 0xffff, lane_, false));
    atomicMin(right_ + Plan::slot_of(p - Plan::half), Plan::wide_key(keys >> 16, lane_, true));
  }

  __device__ void update_right_by_all(int x) {
#pragma unroll
    for (int k = 0; k < words - 1; ++k)
      update_right(x - words * lane_ - k, diagonals_[k]);
  }

  const WinnersArguments& a_;
  std::uint32_t* const right_;
  const uint2* const near_;
  const int lane_;
  const uint4* sums_[kVolumes];
  std::uint32_t diagonals_[words];  // the best key so far of each diagonal of the lane
  std::uint32_t indices_[words];    // index bits of the keys
};

template <int kDisparities, int kVolumes>
__global__ void __launch_bounds__(threads, 2)
    winners_kernel(const __grid_constant__ WinnersArguments a) {
  extern __shared__ uint2 winners_shared[];
  using Plan = WinnersPlan<kDisparities, kVolumes>;
  uint2* const near = winners_shared;
  auto* const right = reinterpret_cast<std::uint32_t*>(near + mask_entries);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < mask_entries)
    near[thread] = mask_entry(thread);
  const RowParts::Part part = a.parts.part_of(static_cast<int>(blockIdx.x), a.columns);
  const bool is_first = part.begin == 0, is_last = part.end == a.columns;
  const int columns = min(part.end + (is_last ? 0 : kDisparities), a.columns) - part.begin;
  for (int i = thread; i < slot_count(columns, kDisparities); i += threads)
    right[i] = nothing;
  __syncthreads();
  const std::int64_t row = part.row;
  WinnersWalk<kDisparities, kVolumes>(a, right, near)
      .run(columns, min(part.end, a.width) - part.begin, row * a.pitch + part.begin,
           row * a.width + part.begin);
  __syncthreads();
  const int begin = is_first ? 0 : max(0, part.begin - a.right_shift);
  const int end = is_last ? a.width : min(a.width, part.end - a.right_shift);
  for (int r = begin + thread; r < end; r += threads) {
    const int p = r + a.right_shift;
    a.winners.right[row * a.width + r] =
        p > -a.disparities && p < a.width
            ? static_cast<std::uint16_t>(right[Plan::slot_of(p - part.begin)] &
                                         Plan::disparity_mask)
            : unknown;
  }
}

std::size_t shared_bytes(const StageConfig& config) {
  const MatchExtent extent(config);
  const int slots = slot_count(extent.columns, extent.disparities);
  return sizeof(uint2) * mask_entries + sizeof(std::uint32_t) * static_cast<std::size_t>(slots);
}

Kernel<WinnersArguments> kernel_for(const StageConfig& config) {
  return with_constants(config, [&](auto disparities, auto) -> Kernel<WinnersArguments> {
    return config.paths == 4 ? winners_kernel<disparities, 2> : winners_kernel<disparities, 4>;
  });
}

std::size_t max_shared_bytes() {
  return static_cast<std::size_t>(
      device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, "the shared memory"));
}

}  // namespace

Select8Cuda::Select8Cuda(LaunchQueue& queue, const StageConfig& config)
    : queue_(queue), config_(config) {
  const Kernel<WinnersArguments> kernel = kernel_for(config);
  // The attribute belongs to the kernel, which objects for other widths share.
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(max_shared_bytes())),
             "reserving shared memory for winner-takes-all");
  resident_blocks_ =
      resident_blocks(reinterpret_cast<const void*>(kernel), threads, shared_bytes(config));
}

bool Select8Cuda::supports(const StageConfig& config) {
  return shared_bytes(config) <= max_shared_bytes();
}

void Select8Cuda::run(const SumVolumes& sums, int rows, float uniqueness, Subpixel subpixel,
                      const WtaResult& winners) const {
  WinnersArguments a{};
  a.sums[0] = sums.columns;
  a.sums[1] = sums.rows;
  a.sums[2] = sums.diagonals[0];
  a.sums[3] = sums.diagonals[1];
  a.winners = winners;
  a.uniqueness = uniqueness;
  a.subpixel = subpixel;
  a.whole = config_.libsgm() && subpixel == Subpixel::none;
  a.width = config_.width;
  a.columns = MatchExtent(config_).columns;
  a.pitch = sums.pitch;
  a.disparities = config_.disparities;
  a.right_shift = config_.right_shift();
  const int disparities = MatchExtent(config_).disparities;
  a.parts = parts_of_rows(rows, a.columns, disparities, 8 * threads * 2 * words / disparities,
                          resident_blocks_);
  // The launch does not start early; matching/match8_cuda.cu gives the reason.
  queue_.launch(kernel_for(config_), static_cast<unsigned>(a.parts.blocks(rows)), threads,
                shared_bytes(config_), a, Start::in_order);
}

}  // namespace cudavision::sgm
