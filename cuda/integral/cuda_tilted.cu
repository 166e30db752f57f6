// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tilted sums on CUDA, in two launches. The rising diagonal of a pixel contains the pixel and all
// pixels to its upper right. The falling diagonal contains the pixel and all pixels to its upper
// left. The first launch sums pixels along rising diagonals (A). The second launch sums A along
// falling diagonals (F):
//   A(x, y) = I(x, y) + A(x + 1, y - 1)
//   F(x, y) = A(x, y) + F(x - 1, y - 1)
// The triangle of an entry consists of the triangle of the entry to the upper left and two
// diagonals:
//   T(x + 1, y + 1) = T(x, y) + A(x, y) + A(x, y - 1) = F(x, y) + F(x, y - 1).
// A fits into 32 bits, because a diagonal has at most 65535 pixels of 16 bits.

#include "cuda/core/cuda_launch.h"
#include "cuda/core/division.h"
#include "cuda/core/warp.cuh"
#include "cuda/integral/arithmetic.h"
#include "cuda/integral/backend.h"
#include "cuda/integral/warp_rows.cuh"
#include "cuda/pixels/sample_math.h"

namespace cudavision::integral {
namespace {

struct TiltedArguments {
  InputArguments in;
  std::uint32_t* rising;        // A, in rows of in.width
  std::uint32_t* first_column;  // A(0, y)
  std::uint8_t* table;
  std::int64_t table_pitch;
  int padding;  // 1: the table has the row Y = 0 and the column X = 0
};

constexpr int warps = 32, threads = 32 * warps;
/// As many rows as the registers allow. A strip has 1088 rows, so 2160 rows take two strips.
constexpr int rows_of_warp = 34;
using Terms = std::uint32_t[rows_of_warp];
/// A set of a warp's rows: bit i is row i.
using RowSet = std::uint64_t;

/// Returns the rows begin to end - 1, clipped to the rows of the warp.
__device__ RowSet rows_between(int begin, int end) {
  const auto rows_before = [](int row) {
    return (RowSet{1} << min(max(row, 0), rows_of_warp)) - 1;
  };
  return rows_before(end) & ~rows_before(begin);
}

/// Adds up terms; for 64-bit sums in halves, because 64-bit terms would take two registers each.
template <class Sum>
__device__ Sum sum_of(const Terms& terms) {
  constexpr bool in_halves = sizeof(Sum) == 8;
  std::uint32_t low = 0, high = 0;
  // Adds in reverse order; otherwise, the compiler would keep all partial sums for store().
#pragma unroll
  for (int i = rows_of_warp - 1; i >= 0; --i) {
    low += in_halves ? terms[i] & 0xffff : terms[i];
    high += in_halves ? terms[i] >> 16 : 0;
  }
  return low + (static_cast<Sum>(high) << 16);
}

/// Adds up the terms of 32 adjacent diagonals, one per lane, in rows begin to end - 1. A block
/// processes one strip of rows after another; each of its warps has some rows of the strip.
template <class Sum, class Diagonal>
__device__ void scan_diagonals(const Diagonal& diagonal, int begin, int end) {
  __shared__ Sum sums[warps][32 + 1];  // 33, so that reading a column has no bank conflicts
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  Sum above = 0;  // sum over the earlier strips, for the diagonal of lane `warp`
  for (int top = begin; top < end; top += warps * rows_of_warp) {
    const int y = top + warp * rows_of_warp;
    Terms terms;
    diagonal.load(y, terms);
    sums[warp][lane] = sum_of<Sum>(terms);
    __syncthreads();
    // Each warp scans one diagonal; lane i has the sum of warp i.
    const Sum own = sums[lane][warp];
    const Sum upto = above + inclusive_scan(own);
    sums[lane][warp] = upto - own;
    above = __shfl_sync(~0u, upto, 31);
    __syncthreads();
    diagonal.store(y, terms, sums[warp][lane]);
  }
}

/// A rising diagonal: pixel (column - y, y) in row y. The terms are pixels, the sums are A.
template <class Value>
struct RisingDiagonal {
  const TiltedArguments& a;
  int column;

  __device__ RowSet inside(int y) const {
    return rows_between(column - a.in.width + 1 - y, min(column + 1, a.in.height) - y);
  }

  __device__ void load(int y, Terms& terms) const {
    const RowSet rows = inside(y);
    constexpr std::int64_t bytes = sizeof(Value);
    const std::uint8_t* from = a.in.data + a.in.pitch * y + bytes * (column - y);
#pragma unroll
    for (int i = 0; i < rows_of_warp; ++i, from += a.in.pitch - bytes) {
      terms[i] = rows >> i & 1 ? __ldg(from) : 0;
      if constexpr (bytes == 2) {  // samples may be at odd addresses
        const std::uint32_t high = rows >> i & 1 ? __ldg(from + 1) : 0;
        terms[i] = sample_value(terms[i] | high << 8, a.in.shift, a.in.largest);
      }
    }
  }

  /// `sum` is the sum over the rows above y.
  __device__ void store(int y, const Terms& terms, std::uint32_t sum) const {
    const RowSet rows = inside(y);
    std::uint32_t* to = a.rising + static_cast<std::int64_t>(y) * a.in.width + column - y;
#pragma unroll
    for (int i = 0; i < rows_of_warp; ++i, to += a.in.width - 1) {
      sum += terms[i];
      if (rows >> i & 1)
        *to = sum;
    }
    // Left of the picture, the sum keeps its value from column 0.
    if (column >= y && column < min(y + rows_of_warp, a.in.height))
      a.first_column[column] = sum;
  }
};

/// Falling diagonals per block. Lane 31 of a warp only provides sums to lane 30.
constexpr int falling_diagonals = 31;

/// A falling diagonal: pixel (column + y, y) in row y. The terms are A, the sums are F.
template <class Element>
struct FallingDiagonal {
  using Sum = SumOf<Element>;
  const TiltedArguments& a;
  int column;

  __device__ void load(int y, Terms& terms) const {
    const int end = min(a.in.width - column, a.in.height) - y;
    const RowSet rows = rows_between(-column - y, end);
    const std::uint32_t* from = a.rising + static_cast<std::int64_t>(y) * a.in.width + column + y;
#pragma unroll
    for (int i = 0; i < rows_of_warp; ++i, from += a.in.width + 1)
      terms[i] = rows >> i & 1 ? __ldg(from) : 0;
    // Left of the picture, A(x, y) = A(0, x + y).
    const RowSet left = rows_between(divide_up(-column, 2) - y, min(-column, a.in.height) - y);
    if (left == 0)
      return;
    from = a.first_column + column + 2 * y;
#pragma unroll
    for (int i = 0; i < rows_of_warp; ++i)
      if (left >> i & 1)
        terms[i] = __ldg(from + 2 * i);
  }

  /// `sum` is the sum over the rows above y. Stores the entries of T.
  __device__ void store(int y, const Terms& terms, Sum sum) const {
    const int end = min(a.in.width - column, a.in.height) - y;
    const bool has_entries = threadIdx.x % 32 < falling_diagonals;
    const RowSet rows = has_entries ? rows_between(-a.padding - column - y, end) : 0;
    constexpr std::int64_t bytes = sizeof(Element);
    std::uint8_t* to = a.table + a.table_pitch * (y + a.padding) + bytes * (column + y + a.padding);
#pragma unroll
    for (int i = 0; i < rows_of_warp; ++i, to += a.table_pitch + bytes) {
      const Sum right = __shfl_down_sync(~0u, sum, 1);  // F(x, y - 1)
      sum += terms[i];
      if (rows >> i & 1)
        __stcs(reinterpret_cast<Element*>(to), table_element<Element>(sum + right));
      asm volatile("" : "+l"(to));  // otherwise, each store gets a branch to compute the address
    }
  }
};

template <class Value>
__global__ void __launch_bounds__(threads)
    rising_kernel(const __grid_constant__ TiltedArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const int first = 32 * static_cast<int>(blockIdx.x);  // column in row 0 of the first diagonal
  scan_diagonals<std::uint32_t>(
      RisingDiagonal<Value>{a, first + static_cast<int>(threadIdx.x) % 32},
      max(first - a.in.width + 1, 0), min(first + 32, a.in.height));
}

template <class Element>
__global__ void __launch_bounds__(threads)
    tilted_kernel(const __grid_constant__ TiltedArguments a) {
  launch_dependents();
  grid_dependency_wait();
  // Diagonals begin up to in.height columns left of the picture.
  const int first = falling_diagonals * static_cast<int>(blockIdx.x) - a.in.height;
  scan_diagonals<SumOf<Element>>(
      FallingDiagonal<Element>{a, first + static_cast<int>(threadIdx.x) % 32},
      max(0, -(first + falling_diagonals) / 2), min(a.in.height, a.in.width - first));
  const int x = static_cast<int>(blockIdx.x) * threads + static_cast<int>(threadIdx.x);
  if (a.padding && x <= a.in.width)
    reinterpret_cast<Element*>(a.table)[x] = Element{0};
}

using Kernel = Launcher<TiltedArguments>::Kernel;

class TiltedCuda final : public Integral::Backend {
 public:
  TiltedCuda(Device& device, const PlaneSize& size, const Parameters& parameters)
      : add_rising_(size.bits == 8 ? rising_kernel<std::uint8_t> : rising_kernel<std::uint16_t>),
        make_table_(
            with_element(parameters.element,
                         []<class Element>(Element) -> Kernel { return tilted_kernel<Element>; })),
        launch_(device.stream(), make_table_),
        sums_(device.allocate(sizeof(std::uint32_t) * (size.width + std::size_t{1}) *
                              static_cast<std::size_t>(size.height))) {
    arguments_.in.width = size.width;
    arguments_.in.height = size.height;
    arguments_.first_column = sums_.as<std::uint32_t>();
    arguments_.rising = arguments_.first_column + size.height;
    arguments_.padding = parameters.same_size ? 0 : 1;
  }

  void run(const SamplePlane& in, View<std::uint8_t> table) override {
    TiltedArguments& a = arguments_;
    set_input(in, a.in);
    a.table = table.data;
    a.table_pitch = table.pitch;
    const auto diagonals = static_cast<unsigned>(a.in.width + a.in.height);
    launch_(add_rising_, divide_up(diagonals, 32), threads, 0, a);
    launch_(make_table_, divide_up(diagonals, falling_diagonals), threads, 0, a);
  }

 private:
  Kernel add_rising_, make_table_;
  Launcher<TiltedArguments> launch_;
  Buffer sums_;
  TiltedArguments arguments_{};
};

}  // namespace

std::unique_ptr<Integral::Backend> make_tilted_cuda(Device& device, const PlaneSize& size,
                                                    const Parameters& parameters) {
  return std::make_unique<TiltedCuda>(device, size, parameters);
}

}  // namespace cudavision::integral
