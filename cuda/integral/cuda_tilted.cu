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
constexpr int batch = 8;  // rows whose loads are in flight together

/// Adds term(y), and calls store(y, sum) with each sum up to row y.
template <class Sum, class Term, class Store>
__device__ Sum scan_rows(int begin, int end, Sum sum, const Term& term, const Store& store) {
  for (int y = begin; y < end; y += batch) {
    Sum terms[batch];
#pragma unroll
    for (int i = 0; i < batch; ++i)
      terms[i] = term(min(y + i, end - 1));
#pragma unroll
    for (int i = 0; i < batch; ++i)
      if (y + i < end)
        store(y + i, sum += terms[i]);
  }
  return sum;
}

/// Calls store(y, sum) for rows begin to end - 1, with the sum of term() from begin to y.
/// is_inside(first, last) is true if inner_term() may replace term() in these rows of all lanes.
template <class Sum, class IsInside, class InnerTerm, class Term, class Store>
__device__ void scan_diagonals(int begin, int end, const IsInside& is_inside,
                               const InnerTerm& inner_term, const Term& term, const Store& store) {
  __shared__ Sum totals[warps][32];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int rows = divide_up(max(end - begin, 0), warps);
  const int first = begin + warp * rows, last = min(first + rows, end);
  const bool inside = is_inside(first, last - 1);
  const auto scan = [&](Sum sum, const auto& to) {
    return inside ? scan_rows(first, last, sum, inner_term, to)
                  : scan_rows(first, last, sum, term, to);
  };
  totals[warp][lane] = scan(0, [](int, Sum) {});
  __syncthreads();
  Sum sum = 0;
  for (int w = 0; w < warp; ++w)
    sum += totals[w][lane];
  scan(sum, store);
}

template <class Value>
__device__ std::uint32_t pixel(const InputArguments& in, int x, int y) {
  const std::uint8_t* const from = in.data + in.pitch * y + sizeof(Value) * x;
  if constexpr (sizeof(Value) == 1)
    return __ldg(from);
  else  // samples may be at odd addresses
    return sample_value(__ldg(from) | std::uint32_t{__ldg(from + 1)} << 8, in.shift, in.largest);
}

template <class Value>
__global__ void __launch_bounds__(threads)
    rising_kernel(const __grid_constant__ TiltedArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const int width = a.in.width;
  const int first = 32 * static_cast<int>(blockIdx.x);  // column in row 0 of the block's diagonals
  const int column = first + static_cast<int>(threadIdx.x) % 32;
  const auto is_inside = [&](int x) { return x >= 0 && x < width; };
  scan_diagonals<std::uint32_t>(
      max(first - width + 1, 0), min(first + 32, a.in.height),
      [&](int top, int bottom) { return is_inside(first + 31 - top) && is_inside(first - bottom); },
      [&](int y) { return pixel<Value>(a.in, column - y, y); },
      [&](int y) {
        const int x = column - y;
        const std::uint32_t value = pixel<Value>(a.in, min(max(x, 0), width - 1), y);
        return is_inside(x) ? value : 0;
      },
      [&](int y, std::uint32_t sum) {
        if (is_inside(column - y))
          a.rising[static_cast<std::int64_t>(y) * width + column - y] = sum;
        if (column == y)
          a.first_column[y] = sum;
      });
}

template <class Element>
__global__ void __launch_bounds__(threads)
    tilted_kernel(const __grid_constant__ TiltedArguments a) {
  using Sum = SumOf<Element>;
  launch_dependents();
  grid_dependency_wait();
  const int width = a.in.width;
  // Diagonals begin up to in.height columns left of the picture.
  const int first = 32 * static_cast<int>(blockIdx.x) - a.in.height;
  const int column = first + static_cast<int>(threadIdx.x) % 32;
  const auto inner_rising = [&](int x, int y) {
    return __ldg(a.rising + static_cast<std::int64_t>(y) * width + x);
  };
  // Left of the picture, A(x, y) = A(0, x + y).
  const auto rising = [&](int x, int y) {
    const std::uint32_t sum =
        __ldg(x < 0 ? a.first_column + max(x + y, 0)
                    : a.rising + static_cast<std::int64_t>(max(y, 0)) * width + min(x, width - 1));
    return y < 0 || x + y < 0 || x >= width ? 0 : sum;
  };
  const auto entry = [&](int x, int y) {
    return reinterpret_cast<Element*>(a.table + a.table_pitch * (y + a.padding)) + x + a.padding;
  };
  scan_diagonals<Sum>(
      max(0, -(first + 31) / 2), min(a.in.height, width - first),
      [&](int top, int bottom) {
        return top > 0 && first + top >= 0 && first + 31 + bottom < width;
      },
      [&](int y) {
        return static_cast<Sum>(inner_rising(column + y, y)) +
               static_cast<Sum>(inner_rising(column + y, y - 1));
      },
      [&](int y) {
        return static_cast<Sum>(rising(column + y, y)) +
               static_cast<Sum>(rising(column + y, y - 1));
      },
      [&](int y, Sum sum) {
        if (column + y >= -a.padding && column + y < width)
          *entry(column + y, y) = table_element<Element>(sum);
      });
  const int thread = static_cast<int>(blockIdx.x) * threads + static_cast<int>(threadIdx.x);
  if (a.padding && thread <= width)
    *entry(thread - 1, -1) = Element{0};
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
