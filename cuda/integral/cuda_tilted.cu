// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Tilted sums on CUDA, in two launches. The rising diagonal of a pixel consists of the pixel and
// the pixels to its upper right. Its sum is
//   A(x, y) = I(x, y) + A(x + 1, y - 1).
// A triangle of the table consists of the triangle to the upper left of its tip and two diagonals:
//   T(x + 1, y + 1) = T(x, y) + A(x, y) + A(x, y - 1).
// The first launch computes A along rising diagonals, the second one T along falling diagonals.

#include <algorithm>

#include "cuda/core/cuda_launch.h"
#include "cuda/core/division.h"
#include "cuda/integral/arithmetic.h"
#include "cuda/integral/cuda_tilted.h"
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

// A block scans 32 adjacent diagonals, one per lane. Each of its warps takes a range of rows.
constexpr int warps = 16, threads = 32 * warps;
constexpr int batch = 16;  // rows whose loads are in flight together

/// Adds the terms of rows begin to end - 1. With kStores, stores the sum up to each row. kInside:
/// these pixels and those above them are inside the picture.
template <bool kStores, bool kInside, class Diagonal, class Sum>
__device__ Sum scan_rows(const Diagonal& diagonal, int begin, int end, Sum sum) {
  int y = begin;
  for (; kInside && y + batch <= end; y += batch) {
    Sum sums[batch];
    diagonal.load_batch(y, sums);
#pragma unroll
    for (int i = 0; i < batch; ++i)
      sums[i] = sum += sums[i];
    if constexpr (kStores)
      diagonal.store_batch(y, sums);
  }
#pragma unroll 8
  for (; y < end; ++y) {
    sum += diagonal.term(y);
    if constexpr (kStores)
      diagonal.store(y, sum);
  }
  return sum;
}

/// Stores the sums of a lane's diagonal up to each row from begin to end - 1.
template <class Sum, class Diagonal>
__device__ void scan_diagonal(const Diagonal& diagonal, int begin, int end) {
  __shared__ Sum totals[warps][32];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int rows = divide_up(max(end - begin, 0), warps);
  const int first = begin + warp * rows, last = min(first + rows, end);
  const bool inside = __all_sync(~0u, diagonal.is_inside(first, last - 1));
  totals[warp][lane] = inside ? scan_rows<false, true>(diagonal, first, last, Sum{0})
                              : scan_rows<false, false>(diagonal, first, last, Sum{0});
  __syncthreads();
  Sum sum = 0;
  for (int w = 0; w < warp; ++w)
    sum += totals[w][lane];
  if (inside)
    scan_rows<true, true>(diagonal, first, last, sum);
  else
    scan_rows<true, false>(diagonal, first, last, sum);
}

/// A rising diagonal: pixel (column - y, y) in row y. Its terms are pixels, its sums are A.
template <class Value>
struct RisingDiagonal {
  const TiltedArguments& a;
  int column;

  __device__ bool has(int x) const { return x >= 0 && x < a.in.width; }
  __device__ bool is_inside(int top, int bottom) const {
    return has(column - top) && has(column - bottom);
  }
  __device__ const std::uint8_t* address(int x, int y) const {
    return a.in.data + a.in.pitch * y + static_cast<std::int64_t>(sizeof(Value)) * x;
  }
  __device__ std::uint32_t pixel(const std::uint8_t* from) const {
    if constexpr (sizeof(Value) == 1)
      return __ldg(from);
    else  // samples may be at odd addresses
      return sample_value(__ldg(from) | std::uint32_t{__ldg(from + 1)} << 8, a.in.shift,
                          a.in.largest);
  }
  __device__ std::uint32_t term(int y) const {
    const int x = column - y;
    const std::uint32_t value = pixel(address(min(max(x, 0), a.in.width - 1), y));
    return has(x) ? value : 0;
  }
  __device__ void load_batch(int y, std::uint32_t (&terms)[batch]) const {
    const std::uint8_t* from = address(column - y, y);
    const std::int64_t step = a.in.pitch - static_cast<std::int64_t>(sizeof(Value));
#pragma unroll
    for (int i = 0; i < batch; ++i, from += step)
      terms[i] = pixel(from);
  }
  __device__ void store(int y, std::uint32_t sum) const {
    if (has(column - y))
      a.rising[static_cast<std::int64_t>(y) * a.in.width + column - y] = sum;
    if (column == y)
      a.first_column[y] = sum;
  }
  __device__ void store_batch(int y, const std::uint32_t (&sums)[batch]) const {
    std::uint32_t* to = a.rising + static_cast<std::int64_t>(y) * a.in.width + column - y;
#pragma unroll
    for (int i = 0; i < batch; ++i, to += a.in.width - 1) {
      *to = sums[i];
      if (column == y + i)
        a.first_column[column] = sums[i];
    }
  }
};

/// A falling diagonal: pixel (column + y, y) in row y. Its terms are sums of two rising diagonals,
/// its sums are T.
template <class Element>
struct FallingDiagonal {
  using Sum = SumOf<Element>;
  const TiltedArguments& a;
  int column;

  __device__ bool is_inside(int top, int bottom) const {
    return top > 0 && column + top >= 0 && column + bottom < a.in.width;
  }
  /// Left of the picture, A(x, y) = A(0, x + y).
  __device__ Sum rising(int x, int y) const {
    const int width = a.in.width;
    const std::uint32_t sum =
        __ldg(x < 0 ? a.first_column + max(x + y, 0)
                    : a.rising + static_cast<std::int64_t>(max(y, 0)) * width + min(x, width - 1));
    return y < 0 || x + y < 0 || x >= width ? 0 : sum;
  }
  __device__ Sum term(int y) const { return rising(column + y, y) + rising(column + y, y - 1); }
  __device__ void load_batch(int y, Sum (&terms)[batch]) const {
    const std::uint32_t* from = a.rising + static_cast<std::int64_t>(y) * a.in.width + column + y;
#pragma unroll
    for (int i = 0; i < batch; ++i, from += a.in.width + 1)
      terms[i] = static_cast<Sum>(__ldg(from)) + static_cast<Sum>(__ldg(from - a.in.width));
  }
  __device__ Element* entry(int x, int y) const {
    return reinterpret_cast<Element*>(a.table + a.table_pitch * (y + a.padding)) + x + a.padding;
  }
  __device__ void store(int y, Sum sum) const {
    if (column + y >= -a.padding && column + y < a.in.width)
      *entry(column + y, y) = table_element<Element>(sum);
  }
  __device__ void store_batch(int y, const Sum (&sums)[batch]) const {
    auto* to = reinterpret_cast<std::uint8_t*>(entry(column + y, y));
    const std::int64_t step = a.table_pitch + static_cast<std::int64_t>(sizeof(Element));
#pragma unroll
    for (int i = 0; i < batch; ++i, to += step)
      *reinterpret_cast<Element*>(to) = table_element<Element>(sums[i]);
  }
};

template <class Value>
__global__ void __launch_bounds__(threads)
    rising_kernel(const __grid_constant__ TiltedArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const int first = 32 * static_cast<int>(blockIdx.x);  // column in row 0 of the block's diagonals
  scan_diagonal<std::uint32_t>(RisingDiagonal<Value>{a, first + static_cast<int>(threadIdx.x) % 32},
                               max(first - a.in.width + 1, 0), min(first + 32, a.in.height));
}

template <class Element>
__global__ void __launch_bounds__(threads)
    tilted_kernel(const __grid_constant__ TiltedArguments a) {
  launch_dependents();
  grid_dependency_wait();
  // Diagonals begin up to in.height columns left of the picture.
  const int first = 32 * static_cast<int>(blockIdx.x) - a.in.height;
  const FallingDiagonal<Element> diagonal{a, first + static_cast<int>(threadIdx.x) % 32};
  scan_diagonal<SumOf<Element>>(diagonal, max(0, -(first + 31) / 2),
                                min(a.in.height, a.in.width - first));
  const int thread = static_cast<int>(blockIdx.x) * threads + static_cast<int>(threadIdx.x);
  if (a.padding && thread <= a.in.width)
    *diagonal.entry(thread - 1, -1) = Element{0};
}

using Kernel = Launcher<TiltedArguments>::Kernel;

Kernel kernel_for(TableElement element) {
  switch (element) {
    case TableElement::uint32:
      return tilted_kernel<std::uint32_t>;
    case TableElement::uint64:
      return tilted_kernel<std::uint64_t>;
    case TableElement::float32:
      return tilted_kernel<float>;
    default:
      return tilted_kernel<double>;
  }
}

class TiltedCuda final : public Integral::Backend {
 public:
  TiltedCuda(Device& device, const PlaneSize& size, const Parameters& parameters)
      : add_rising_(size.bits == 8 ? rising_kernel<std::uint8_t> : rising_kernel<std::uint16_t>),
        make_table_(kernel_for(parameters.element)),
        launch_(device.stream(), make_table_),
        rising_(device.allocate(sizeof(std::uint32_t) * static_cast<std::size_t>(size.width) *
                                static_cast<std::size_t>(size.height))),
        first_column_(
            device.allocate(sizeof(std::uint32_t) * static_cast<std::size_t>(size.height))) {
    arguments_.in.width = size.width;
    arguments_.in.height = size.height;
    arguments_.rising = rising_.as<std::uint32_t>();
    arguments_.first_column = first_column_.as<std::uint32_t>();
    arguments_.padding = parameters.same_size ? 0 : 1;
  }

  void run(const SamplePlane& in, View<std::uint8_t> table) override {
    TiltedArguments& a = arguments_;
    set_input(in, a.in);
    a.table = table.data;
    a.table_pitch = table.pitch;
    const auto blocks = static_cast<unsigned>(divide_up(a.in.width + a.in.height, 32));
    launch_(add_rising_, blocks, threads, 0, a);
    launch_(make_table_, blocks, threads, 0, a);
  }

 private:
  Kernel add_rising_, make_table_;
  Launcher<TiltedArguments> launch_;
  Buffer rising_, first_column_;
  TiltedArguments arguments_{};
};

}  // namespace

std::unique_ptr<Integral::Backend> make_tilted_cuda(Device& device, const PlaneSize& size,
                                                    const Parameters& parameters) {
  return std::make_unique<TiltedCuda>(device, size, parameters);
}

}  // namespace cudavision::integral
