// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The kernels of local statistics. They read the four corners of each window from integral images
// and write the output: line_kernel for narrow windows of rows that fit in shared memory, and
// statistics_kernel for all others.

#include <type_traits>

#include "cuda/core/cuda_launch.h"
#include "cuda/localstatistics/arithmetic.h"
#include "cuda/localstatistics/backend.h"
#include "cuda/pixels/sample_math.h"

namespace cudavision::localstatistics {
namespace {

using Output = Parameters::Output;

// Blocks of statistics_kernel.
constexpr int block_columns = 256;
constexpr int block_rows = 2;
constexpr int threads = block_columns * block_rows;
constexpr int rows_of_block = 4;

// Blocks of line_kernel.
constexpr int line_threads = 256;
constexpr int line_blocks = 4;  // blocks that share a multiprocessor
/// A mean needs only one table, so a block has room for two lines and reads the edge that they
/// share only once.
__host__ __device__ constexpr int lines_of_block(Output output) {
  return output == Output::mean ? 2 : 1;
}
constexpr int line_piece = 16;  // bytes that a thread moves at a time

/// Returns the shared memory for one entry per column of a table. The second entry begins a piece.
__host__ __device__ constexpr std::size_t line_bytes(std::size_t entry_bytes, int width) {
  return (line_piece + entry_bytes * static_cast<std::size_t>(width) + line_piece - 1) /
         line_piece * line_piece;
}

struct StatisticsArguments {
  const void* sums;  // tables with a first row and column of zeros
  const void* squares;
  std::int64_t sums_pitch, squares_pitch;
  int width, height, radius;
  int lines_apart;  // rows from one line of a block to its next

  const std::uint8_t* in;  // the pixels themselves, for thresholds
  std::int64_t in_pitch;
  int sample_bytes, in_shift;
  std::uint32_t in_largest;

  std::uint8_t* out;
  std::int64_t out_pitch;
  int out_shift;  // of mean and stddev
  std::uint32_t bradley_factor;
  double k, range;
  std::uint32_t black;  // of thresholds: 0, or all bits of a sample if they are inverted
};

/// The two rows of a table at the upper and the lower edge of a window.
template <class Entry>
struct TableEdges {
  const Entry* upper;
  const Entry* lower;

  __device__ TableEdges(const void* table, std::int64_t pitch, int begin, int end)
      : upper(reinterpret_cast<const Entry*>(static_cast<const std::uint8_t*>(table) +
                                             pitch * begin)),
        lower(reinterpret_cast<const Entry*>(static_cast<const std::uint8_t*>(table) +
                                             pitch * end)) {}

  /// Returns the window's sum over columns begin to end − 1. It is exact if it fits an entry.
  __device__ Entry between(int begin, int end) const {
    return (lower[end] - lower[begin]) - (upper[end] - upper[begin]);
  }
};

__device__ std::uint32_t pixel(const StatisticsArguments& a, int x, int y) {
  const std::uint8_t* from = a.in + a.in_pitch * y + a.sample_bytes * x;
  if (a.sample_bytes == 1)
    return *from;
  return sample_value(from[0] | static_cast<std::uint32_t>(from[1]) << 8, a.in_shift, a.in_largest);
}

template <class Sample>
__device__ void write(std::uint8_t* to, std::uint32_t value) {
  // Words may lie at odd addresses.
  to[0] = static_cast<std::uint8_t>(value);
  if constexpr (sizeof(Sample) == 2)
    to[1] = static_cast<std::uint8_t>(value >> 8);
}

// The windows of pixel row y consist of the pixel rows top to bottom − 1, and their edges are these
// rows of a table.
__device__ int top_of_windows(const StatisticsArguments& a, int y) {
  return max(y - a.radius, 0);
}
__device__ int bottom_of_windows(const StatisticsArguments& a, int y) {
  return min(y + a.radius, a.height - 1) + 1;
}

/// The windows of one row of pixels. Window is NarrowWindow or WideWindow.
template <Output kOutput, class Window, class Sample>
class RowOfWindows {
 public:
  using Sum = typename Window::Sum;
  using Real = typename Window::Real;

  __device__ RowOfWindows(const StatisticsArguments& a, int y)
      : a_(a),
        y_(y),
        rows_(static_cast<std::uint32_t>(bottom_of_windows(a, y) - top_of_windows(a, y))),
        full_area_(rows_ * static_cast<std::uint32_t>(2 * a.radius + 1)),
        full_inverse_(Real{1} / static_cast<Real>(full_area_)) {}

  /// Writes the output of pixels first, first + step and so on. sums.between(left, right) and
  /// squares.between(left, right) must return a window's sum over those columns.
  template <class Sums, class Squares>
  __device__ void write_every(int step, int first, const Sums& sums, const Squares& squares) const {
    constexpr int sample_bytes = sizeof(Sample);
    std::uint8_t* to = a_.out + a_.out_pitch * y_ + sample_bytes * first;
    int x = first;
    const auto write_until = [&](int end, auto whole) {
      // Whole windows are all alike and take little work, so several in flight hide each other's
      // loads.
      constexpr bool are_whole = decltype(whole)::value;
      constexpr int at_once = are_whole && sizeof(Sum) == 4 ? whole_at_once : 1;
#pragma unroll at_once
      for (; x < end; x += step, to += sample_bytes * step) {
        if constexpr (are_whole) {
          write<Sample>(to, value(x, sums, squares, x - a_.radius, x + a_.radius + 1, full_area_,
                                  full_inverse_));
        } else {
          const int left = max(x - a_.radius, 0);
          const int right = min(x + a_.radius, a_.width - 1) + 1;
          const std::uint32_t area = rows_ * static_cast<std::uint32_t>(right - left);
          write<Sample>(
              to, value(x, sums, squares, left, right, area, Real{1} / static_cast<Real>(area)));
        }
      }
    };
    write_until(min(a_.radius, a_.width), std::false_type());
    write_until(a_.width - a_.radius, std::true_type());
    write_until(a_.width, std::false_type());
  }

 private:
  template <class Sums, class Squares>
  __device__ std::uint32_t value(int x, const Sums& sums, const Squares& squares, int left,
                                 int right, std::uint32_t area, Real inverse) const {
    constexpr std::uint32_t largest = sizeof(Sample) == 1 ? 0xff : 0xffff;
    const Sum sum = sums.between(left, right);
    typename Window::Variance variance = 0;
    if constexpr (needs_squares(kOutput))
      variance = scaled_variance<Window>(squares.between(left, right), sum, area);

    if constexpr (kOutput == Output::mean)
      return rounded_mean<Window>(sum, area, inverse) << a_.out_shift;
    else if constexpr (kOutput == Output::stddev)
      return rounded_stddev<Window>(variance, area, inverse) << a_.out_shift;
    else if constexpr (kOutput == Output::bradley)
      return is_black_by_bradley(pixel(a_, x, y_), sum, area, a_.bradley_factor)
                 ? a_.black
                 : largest - a_.black;
    else
      return is_black_by_sauvola(pixel(a_, x, y_), sum, variance, area, a_.k, a_.range)
                 ? a_.black
                 : largest - a_.black;
  }

  // On cards of compute capability 12 the registers of four thresholds by Sauvola would be spilled.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1200
  static constexpr int whole_at_once = kOutput == Output::sauvola ? 2 : 4;
#else
  static constexpr int whole_at_once = 4;
#endif

  const StatisticsArguments& a_;
  int y_;
  std::uint32_t rows_;
  std::uint32_t full_area_;  // of windows that are not cut at the left or right
  Real full_inverse_;
};

/// Lines of running sums in shared memory, one for each row of windows: the table's row at the
/// windows' lower edge minus the row at their upper edge. The windows of one line end where those
/// of the next begin.
template <class Entry, int kLines>
class LinesOfSums {
 public:
  /// memory has kLines times line_bytes(sizeof(Entry), width) bytes.
  __device__ LinesOfSums(void* memory, int width)
      : line_(static_cast<Entry*>(memory) + piece - 1),
        apart_(static_cast<int>(line_bytes(sizeof(Entry), width) / sizeof(Entry))) {}

  /// edges holds the rows of the table above, between and below the lines.
  __device__ void fill(const void* table, std::int64_t pitch, const int (&edges)[kLines + 1],
                       int lines, int width) const {
    const Entry* rows[kLines + 1];
#pragma unroll
    for (int i = 0; i <= kLines; ++i)
      rows[i] = reinterpret_cast<const Entry*>(static_cast<const std::uint8_t*>(table) +
                                               pitch * edges[i]) +
                1;
    // The first column of the table is zero; the second begins a memory transaction.
    if (threadIdx.x < lines)
      line_[apart_ * threadIdx.x] = 0;
    const int whole = width / piece * piece;
    for (int x = threadIdx.x * piece; x < whole; x += blockDim.x * piece)
      put<Pieces>(rows, lines, x);
    for (int x = whole + threadIdx.x; x < width; x += blockDim.x)
      put<Piece>(rows, lines, x);
  }

  struct Line {
    const Entry* line;
    __device__ Entry between(int begin, int end) const { return line[end] - line[begin]; }
  };
  __device__ Line operator[](int line) const {
    return {line_ + apart_ * line};
  }

 private:
  static constexpr int piece = line_piece / static_cast<int>(sizeof(Entry));
  struct alignas(line_piece) Pieces {
    static constexpr int count = piece;
    Entry entries[count];
  };
  struct Piece {
    static constexpr int count = 1;
    Entry entries[count];
  };

  template <class Some>
  __device__ void put(const Entry* const (&rows)[kLines + 1], int lines, int x) const {
    Some edges[kLines + 1];
#pragma unroll
    for (int i = 0; i <= kLines; ++i)
      if (i <= lines)
        edges[i] = *reinterpret_cast<const Some*>(rows[i] + x);
#pragma unroll
    for (int i = 0; i < kLines; ++i) {
      if (i >= lines)
        break;
      Some sums;
#pragma unroll
      for (int k = 0; k < Some::count; ++k)
        sums.entries[k] = edges[i + 1].entries[k] - edges[i].entries[k];
      *reinterpret_cast<Some*>(line_ + apart_ * i + 1 + x) = sums;
    }
  }

  Entry* line_;
  int apart_;
};

/// The kernel for narrow windows of rows that fit in shared memory. Each edge is read once and
/// serves both lines that share it.
template <Output kOutput, class Square, class Sample>
__global__ void __launch_bounds__(line_threads, line_blocks)
    line_kernel(const __grid_constant__ StatisticsArguments a) {
  using Sum = NarrowWindow::Sum;
  extern __shared__ uint4 memory[];
  constexpr int max_lines = lines_of_block(kOutput);
  const LinesOfSums<Sum, max_lines> sums(memory, a.width);
  const LinesOfSums<Square, max_lines> squares(
      reinterpret_cast<std::uint8_t*>(memory) + max_lines * line_bytes(sizeof(Sum), a.width),
      a.width);
  launch_dependents();
  grid_dependency_wait();

  const int first = blockIdx.x / a.lines_apart * (a.lines_apart * max_lines) +
                    static_cast<int>(blockIdx.x) % a.lines_apart;
  if (first >= a.height)
    return;
  const int lines = max_lines > 1 && first + a.lines_apart < a.height ? 2 : 1;
  const int last = first + (lines - 1) * a.lines_apart;
  int edges[max_lines + 1] = {top_of_windows(a, first), bottom_of_windows(a, first)};
  edges[max_lines] = bottom_of_windows(a, last);
  sums.fill(a.sums, a.sums_pitch, edges, lines, a.width);
  if constexpr (needs_squares(kOutput))
    squares.fill(a.squares, a.squares_pitch, edges, lines, a.width);
  __syncthreads();
#pragma unroll 1
  for (int i = 0; i < lines; ++i) {
    const RowOfWindows<kOutput, NarrowWindow, Sample> row(a, first + i * a.lines_apart);
    row.write_every(line_threads, static_cast<int>(threadIdx.x), sums[i], squares[i]);
  }
}

/// The kernel for windows and rows of any width. Square is the type of entries in the table of
/// squares.
template <Output kOutput, class Window, class Square, class Sample>
__global__ void __launch_bounds__(threads)
    statistics_kernel(const __grid_constant__ StatisticsArguments a) {
  launch_dependents();
  grid_dependency_wait();

  // A block works on whole rows, so that both edges of all their windows stay in the L1 cache,
  // however wide the windows are.
  const int first_row = blockIdx.x * rows_of_block + threadIdx.x / block_columns;
  const int last_row = min((blockIdx.x + 1) * rows_of_block, a.height) - 1;
  for (int y = first_row; y <= last_row; y += block_rows) {
    const RowOfWindows<kOutput, Window, Sample> windows(a, y);
    const int top = top_of_windows(a, y);
    const int bottom = bottom_of_windows(a, y);
    const TableEdges<typename Window::Sum> sums(a.sums, a.sums_pitch, top, bottom);
    const TableEdges<Square> squares(a.squares, a.squares_pitch, top, bottom);
    windows.write_every(block_columns, static_cast<int>(threadIdx.x) % block_columns, sums,
                        squares);
  }
}

}  // namespace
}  // namespace cudavision::localstatistics
