// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Local statistics on CUDA: integral images of the picture, and one launch that looks up the four
// corners of each window.

#include <algorithm>
#include <type_traits>

#include "cuda_launch.h"
#include "histequalize_arithmetic.h"
#include "integral_cuda.h"
#include "localstatistics_arithmetic.h"
#include "localstatistics_implementation.h"

namespace cudavision {
namespace {

using Output = LocalStatisticsParameters::Output;

constexpr int block_columns = 256;
constexpr int block_rows = 2;
constexpr int threads = block_columns * block_rows;
constexpr int rows_of_block = 4;
/// What a block of the kernel for whole lines takes. Means are bound by what is read of the table,
/// the others by what they do with it.
struct LineShape {
  int lines, threads, blocks_at_once;
};
__host__ __device__ constexpr LineShape line_shape(LocalStatisticsParameters::Output output) {
  return output == LocalStatisticsParameters::Output::mean ? LineShape{2, 256, 4}
                                                           : LineShape{1, 512, 2};
}
constexpr int line_piece = 16;  // bytes that a thread moves at a time

/// Shared memory for an entry per column of a table, of which the second begins a piece.
__host__ __device__ constexpr std::size_t line_bytes(std::size_t entry_bytes, int width) {
  return (line_piece + entry_bytes * static_cast<std::size_t>(width) + line_piece - 1) /
         line_piece * line_piece;
}

struct StatisticsArguments {
  const void* sums;  // tables with a first row and column of zeros
  const void* squares;
  std::int64_t sums_pitch, squares_pitch;
  int width, height, radius;
  int lines_apart;  // rows from one line of a block to the other

  const std::uint8_t* in;  // the pixels themselves, for thresholds
  std::int64_t in_pitch;
  int sample_bytes, in_shift;
  std::uint32_t in_largest;

  std::uint8_t* out;
  std::int64_t out_pitch;
  int out_shift;  // of levels
  std::uint32_t bradley_factor;
  double k, range;
};

/// Two rows of a table: those at the upper and the lower edge of a window.
template <class Entry>
struct TableEdges {
  const Entry* upper;
  const Entry* lower;

  __device__ TableEdges(const void* table, std::int64_t pitch, int begin, int end)
      : upper(reinterpret_cast<const Entry*>(static_cast<const std::uint8_t*>(table) +
                                             pitch * begin)),
        lower(reinterpret_cast<const Entry*>(static_cast<const std::uint8_t*>(table) +
                                             pitch * end)) {}

  /// The sum over columns begin to end − 1, exact where it fits an entry.
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
  // Words need not lie at even addresses.
  to[0] = static_cast<std::uint8_t>(value);
  if constexpr (sizeof(Sample) == 2)
    to[1] = static_cast<std::uint8_t>(value >> 8);
}

// Rows of a table, so that the windows of row y reach from the first to just before the second.
__device__ int top_of_windows(const StatisticsArguments& a, int y) {
  return max(y - a.radius, 0);
}
__device__ int bottom_of_windows(const StatisticsArguments& a, int y) {
  return min(y + a.radius, a.height - 1) + 1;
}

/// The windows of one row of pixels. Window: of the arithmetic.
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

  /// Looks at the window of pixel x. sums, squares: what between(left, right) tells of columns of
  /// the tables. Whole windows are all alike.
  template <class Sums, class Squares>
  __device__ void write_pixel(int x, const Sums& sums, const Squares& squares) const {
    if (x >= a_.radius && x < a_.width - a_.radius) {
      write_pixel(x, sums, squares, x - a_.radius, x + a_.radius + 1, full_area_, full_inverse_);
    } else {
      const int left = max(x - a_.radius, 0);
      const int right = min(x + a_.radius, a_.width - 1) + 1;
      const std::uint32_t area = rows_ * static_cast<std::uint32_t>(right - left);
      write_pixel(x, sums, squares, left, right, area, Real{1} / static_cast<Real>(area));
    }
  }

 private:
  template <class Sums, class Squares>
  __device__ void write_pixel(int x, const Sums& sums, const Squares& squares, int left, int right,
                              std::uint32_t area, Real inverse) const {
    constexpr std::uint32_t white = sizeof(Sample) == 1 ? 0xff : 0xffff;
    const Sum sum = sums.between(left, right);
    typename Window::Variance variance = 0;
    if constexpr (needs_squares(kOutput))
      variance = scaled_variance<Window>(squares.between(left, right), sum, area);

    std::uint32_t value = 0;
    if constexpr (kOutput == Output::mean)
      value = rounded_mean<Window>(sum, area, inverse) << a_.out_shift;
    else if constexpr (kOutput == Output::deviation)
      value = rounded_deviation<Window>(variance, area, inverse) << a_.out_shift;
    else if constexpr (kOutput == Output::bradley)
      value = is_black_by_bradley(pixel(a_, x, y_), sum, area, a_.bradley_factor) ? 0 : white;
    else
      value =
          is_black_by_sauvola(pixel(a_, x, y_), sum, variance, area, a_.k, a_.range) ? 0 : white;
    write<Sample>(a_.out + a_.out_pitch * y_ + sizeof(Sample) * x, value);
  }

  const StatisticsArguments& a_;
  int y_;
  std::uint32_t rows_;
  std::uint32_t full_area_;  // where windows of all columns exist
  Real full_inverse_;
};

/// What rows of windows sum over the columns of a table from the first on, in shared memory, one
/// line for each: the table's row at the windows' lower edge less that at their upper edge. Of rows
/// that lie below each other the windows of one end where those of the next begin.
template <class Entry, int kLines>
class LinesOfSums {
 public:
  /// memory: kLines times line_bytes(sizeof(Entry), width).
  __device__ LinesOfSums(void* memory, int width)
      : line_(static_cast<Entry*>(memory) + piece - 1),
        apart_(static_cast<int>(line_bytes(sizeof(Entry), width) / sizeof(Entry))) {}

  /// edges: the rows of the table above, between and below `lines` lines.
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

  /// What line `line` tells of columns.
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

/// Narrow windows, of rows that fit in shared memory: each edge of the windows is read once, and
/// serves both rows that have it.
template <Output kOutput, class Square, class Sample>
__global__ void __launch_bounds__(line_shape(kOutput).threads, line_shape(kOutput).blocks_at_once)
    line_kernel(const __grid_constant__ StatisticsArguments a) {
  using Sum = NarrowWindow::Sum;
  extern __shared__ uint4 memory[];
  constexpr LineShape shape = line_shape(kOutput);
  const LinesOfSums<Sum, shape.lines> sums(memory, a.width);
  const LinesOfSums<Square, shape.lines> squares(
      reinterpret_cast<std::uint8_t*>(memory) + shape.lines * line_bytes(sizeof(Sum), a.width),
      a.width);
  let_next_launch_in();
  wait_for_last_launch();

  const int first = blockIdx.x / a.lines_apart * (a.lines_apart * shape.lines) +
                    static_cast<int>(blockIdx.x) % a.lines_apart;
  if (first >= a.height)
    return;
  const int lines = shape.lines > 1 && first + a.lines_apart < a.height ? 2 : 1;
  const int last = first + (lines - 1) * a.lines_apart;
  int edges[shape.lines + 1] = {top_of_windows(a, first), bottom_of_windows(a, first)};
  edges[shape.lines] = bottom_of_windows(a, last);
  sums.fill(a.sums, a.sums_pitch, edges, lines, a.width);
  if constexpr (needs_squares(kOutput))
    squares.fill(a.squares, a.squares_pitch, edges, lines, a.width);
  __syncthreads();
#pragma unroll 1
  for (int i = 0; i < lines; ++i) {
    const RowOfWindows<kOutput, NarrowWindow, Sample> row(a, first + i * a.lines_apart);
#pragma unroll 2
    for (int x = threadIdx.x; x < a.width; x += shape.threads)
      row.write_pixel(x, sums[i], squares[i]);
  }
}

/// Rows of any width. Square: entries of the table of squares.
template <Output kOutput, class Window, class Square, class Sample>
__global__ void __launch_bounds__(threads)
    statistics_kernel(const __grid_constant__ StatisticsArguments a) {
  let_next_launch_in();
  wait_for_last_launch();

  // Whole rows one after the other: both edges of all the windows in them stay in the innermost
  // cache, however wide these are.
  const int first_row = blockIdx.x * rows_of_block + threadIdx.x / block_columns;
  const int last_row = min((blockIdx.x + 1) * rows_of_block, a.height) - 1;
  for (int y = first_row; y <= last_row; y += block_rows) {
    const RowOfWindows<kOutput, Window, Sample> windows(a, y);
    const int top = top_of_windows(a, y);
    const int bottom = bottom_of_windows(a, y);
    const TableEdges<typename Window::Sum> sums(a.sums, a.sums_pitch, top, bottom);
    const TableEdges<Square> squares(a.squares, a.squares_pitch, top, bottom);
    for (int x = threadIdx.x % block_columns; x < a.width; x += block_columns)
      windows.write_pixel(x, sums, squares);
  }
}

using Kernel = Launcher<StatisticsArguments>::Kernel;

/// A table in device memory, and what makes it.
class ScratchTable {
 public:
  /// together: tables that are read at the same time.
  ScratchTable(Device& device, const PictureSize& size, TableKind kind, TableElement element,
               int together)
      : element_bytes_(static_cast<int>(bytes_of(element))),
        row_bytes_((size.width + 1) * element_bytes_),
        rows_(size.height + 1),
        pitch_((row_bytes_ + alignment - 1) / alignment * alignment),
        memory_(device.allocate(alignment + pitch_ * static_cast<std::size_t>(rows_))) {
    IntegralParameters parameters;
    parameters.kind = kind;
    parameters.element = element;
    // What does not fit in the cache anyway had better not drive out what does.
    const auto cache =
        static_cast<std::size_t>(device_attribute(cudaDevAttrL2CacheSize, "the size of the cache"));
    integral_ =
        make_upright_cuda(device, size, parameters,
                          memory_.size() * together <= cache / 4 * 3 ? TableReader::next_launch
                                                                     : TableReader::others);
  }

  void make(const SamplePlane& in) { integral_->run(in, {data(), row_bytes_, rows_, pitch_}); }

  /// The first column of zeros stands just before whole memory transactions.
  std::uint8_t* data() const { return memory_.as<std::uint8_t>() + alignment - element_bytes_; }
  std::int64_t pitch() const { return pitch_; }

 private:
  static constexpr int alignment = 128;

  int element_bytes_;
  int row_bytes_;
  int rows_;
  std::ptrdiff_t pitch_;
  Buffer memory_;
  std::unique_ptr<Integral::Implementation> integral_;
};

/// A table of 32 bits, and one of 64 where some window can have a sum that needs them.
class ScratchTables {
 public:
  ScratchTables(Device& device, const PictureSize& size, TableKind kind, bool wide, int together)
      : narrow_(device, size, kind, TableElement::uint32, together) {
    if (wide)
      wide_ = std::make_unique<ScratchTable>(device, size, kind, TableElement::uint64, together);
  }

  ScratchTable& table(bool wide) { return wide ? *wide_ : narrow_; }

 private:
  ScratchTable narrow_;
  std::unique_ptr<ScratchTable> wide_;
};

/// Whether the squares of that many pixels add up to less than 2^32.
bool has_narrow_squares(std::uint64_t pixels, int bits) {
  const std::uint64_t largest = (1u << bits) - 1;
  return pixels * (largest * largest) < std::uint64_t{1} << 32;
}

class LocalStatisticsCuda final : public LocalStatistics::Implementation {
 public:
  LocalStatisticsCuda(Device& device, const PictureSize& size, int output_bits, bool squares)
      : size_(size),
        output_bits_(output_bits),
        sums_(device, size, TableKind::sum, !is_narrow(pixels_of_window(size_, 65535), size.bits),
              squares ? 2 : 1),
        launch_(device.stream(),
                statistics_kernel<Output::mean, NarrowWindow, std::uint32_t, std::uint8_t>) {
    if (squares)
      squares_ = std::make_unique<ScratchTables>(
          device, size, TableKind::squared_sum,
          !has_narrow_squares(pixels_of_window(size_, 65535), size.bits), 2);
  }

  void run(const SamplePlane& in, View<std::uint8_t> out,
           const LocalStatisticsParameters& parameters) override {
    const std::uint64_t pixels = pixels_of_window(size_, parameters.radius);
    const bool narrow = is_narrow(pixels, size_.bits);
    const bool narrow_squares = narrow && has_narrow_squares(pixels, size_.bits);

    StatisticsArguments a{};
    ScratchTable& sums = sums_.table(!narrow);
    sums.make(in);
    a.sums = sums.data();
    a.sums_pitch = sums.pitch();
    if (needs_squares(parameters.output)) {
      ScratchTable& squares = squares_->table(!narrow_squares);
      squares.make(in);
      a.squares = squares.data();
      a.squares_pitch = squares.pitch();
    }
    a.width = size_.width;
    a.height = size_.height;
    // Beyond the picture a window does not reach, however large it is.
    a.radius = std::min(parameters.radius, std::max(size_.width, size_.height));
    a.in = in.rows.data;
    a.in_pitch = in.rows.pitch;
    a.sample_bytes = size_.bits == 8 ? 1 : 2;
    a.in_shift = in.shift;
    a.in_largest = (1u << size_.bits) - 1;
    a.out = out.data;
    a.out_pitch = out.pitch;
    a.out_shift = output_bits_ - size_.bits;
    a.bradley_factor = bradley_factor(parameters.ratio);
    a.k = parameters.k;
    a.range = parameters.range;
    const LineShape shape = line_shape(parameters.output);
    const std::size_t shared =
        shape.lines *
        (line_bytes(narrow ? 4 : 8, size_.width) +
         (needs_squares(parameters.output) ? line_bytes(narrow_squares ? 4 : 8, size_.width) : 0));
    const bool by_lines = narrow && shared <= most_shared_;
    const Kernel kernel = kernel_for(parameters.output, narrow, narrow_squares, by_lines);
    if (by_lines) {
      // The windows of a row end where those of the row their height further down begin.
      a.lines_apart = std::min(2 * a.radius + 1, size_.height);
      const int rows_of_group = shape.lines * a.lines_apart;
      const int groups = (size_.height + rows_of_group - 1) / rows_of_group;
      launch_(kernel, static_cast<unsigned>(groups * a.lines_apart),
              static_cast<unsigned>(shape.threads), shared, a);
    } else {
      launch_(kernel, static_cast<unsigned>((size_.height + rows_of_block - 1) / rows_of_block),
              threads, 0, a);
    }
  }

 private:
  static std::uint64_t pixels_of_window(const PictureSize& size, int radius) {
    const auto side = [&](int length) {
      return static_cast<std::uint64_t>(
          std::min<std::int64_t>(2 * std::int64_t{radius} + 1, length));
    };
    return side(size.width) * side(size.height);
  }

  template <Output kOutput, class Window, class Square>
  Kernel kernel_of(bool by_lines) const {
    if constexpr (std::is_same_v<Window, NarrowWindow>)
      if (by_lines)
        return output_bits_ == 8 ? line_kernel<kOutput, Square, std::uint8_t>
                                 : line_kernel<kOutput, Square, std::uint16_t>;
    return output_bits_ == 8 ? statistics_kernel<kOutput, Window, Square, std::uint8_t>
                             : statistics_kernel<kOutput, Window, Square, std::uint16_t>;
  }
  template <Output kOutput>
  Kernel kernel_of_sums(bool narrow, bool by_lines) const {
    return narrow ? kernel_of<kOutput, NarrowWindow, std::uint32_t>(by_lines)
                  : kernel_of<kOutput, WideWindow, std::uint64_t>(by_lines);
  }
  template <Output kOutput>
  Kernel kernel_of_squares(bool narrow, bool narrow_squares, bool by_lines) const {
    return narrow && !narrow_squares ? kernel_of<kOutput, NarrowWindow, std::uint64_t>(by_lines)
                                     : kernel_of_sums<kOutput>(narrow, by_lines);
  }
  Kernel kernel_for(Output output, bool narrow, bool narrow_squares, bool by_lines) const {
    switch (output) {
      case Output::mean:
        return kernel_of_sums<Output::mean>(narrow, by_lines);
      case Output::deviation:
        return kernel_of_squares<Output::deviation>(narrow, narrow_squares, by_lines);
      case Output::bradley:
        return kernel_of_sums<Output::bradley>(narrow, by_lines);
      default:
        return kernel_of_squares<Output::sauvola>(narrow, narrow_squares, by_lines);
    }
  }

  // Bytes that every GPU gives a block unasked.
  static constexpr std::size_t most_shared_ = 48 << 10;

  PictureSize size_;
  int output_bits_;
  ScratchTables sums_;
  std::unique_ptr<ScratchTables> squares_;
  Launcher<StatisticsArguments> launch_;
};

}  // namespace

std::unique_ptr<LocalStatistics::Implementation> make_local_statistics_cuda(Device& device,
                                                                            const PictureSize& size,
                                                                            int output_bits,
                                                                            bool squares) {
  return std::make_unique<LocalStatisticsCuda>(device, size, output_bits, squares);
}

}  // namespace cudavision
