// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Local statistics on CUDA: integral images of the picture, and one launch that looks up the four
// corners of each window.

#include <algorithm>

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
constexpr int most_line_threads = 512;
constexpr int fewest_line_threads = 128;
constexpr std::size_t most_shared = 48 << 10;  // bytes that every GPU gives a block
constexpr int line_piece = 16;                 // bytes that a thread moves at a time

/// Shared memory for an entry per column of a table, of which the second begins a piece.
__host__ __device__ constexpr std::size_t line_bytes(std::size_t entry_bytes, int width) {
  return (line_piece + entry_bytes * static_cast<std::size_t>(width) + line_piece - 1) /
         line_piece * line_piece;
}

__host__ __device__ constexpr bool has_squares(Output output) {
  return output == Output::deviation || output == Output::sauvola;
}

struct StatisticsArguments {
  const void* sums;  // tables with a first row and column of zeros
  const void* squares;
  std::int64_t sums_pitch, squares_pitch;
  int width, height, radius;

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

/// The windows of one row of pixels. Window: of the arithmetic.
template <Output kOutput, class Window, class Sample>
class RowOfWindows {
 public:
  using Sum = typename Window::Sum;
  using Real = typename Window::Real;

  __device__ RowOfWindows(const StatisticsArguments& a, int y)
      : a_(a),
        y_(y),
        top_(max(y - a.radius, 0)),
        bottom_(min(y + a.radius, a.height - 1) + 1),
        full_area_(rows() * static_cast<std::uint32_t>(2 * a.radius + 1)),
        full_inverse_(Real{1} / static_cast<Real>(full_area_)) {}

  // In tables, so that a window reaches from the first to just before the second.
  __device__ int top() const { return top_; }
  __device__ int bottom() const { return bottom_; }

  /// Looks at the window of pixel x. sums, squares: what between(left, right) tells of columns of
  /// the tables. Whole windows are all alike.
  template <class Sums, class Squares>
  __device__ void write_pixel(int x, const Sums& sums, const Squares& squares) const {
    if (x >= a_.radius && x < a_.width - a_.radius) {
      write_pixel(x, sums, squares, x - a_.radius, x + a_.radius + 1, full_area_, full_inverse_);
    } else {
      const int left = max(x - a_.radius, 0);
      const int right = min(x + a_.radius, a_.width - 1) + 1;
      const std::uint32_t area = rows() * static_cast<std::uint32_t>(right - left);
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
    if constexpr (has_squares(kOutput))
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

  __device__ std::uint32_t rows() const { return static_cast<std::uint32_t>(bottom_ - top_); }

  const StatisticsArguments& a_;
  int y_, top_, bottom_;
  std::uint32_t full_area_;  // where windows of all columns exist
  Real full_inverse_;
};

/// What a row of windows sums over each column of the table and those before it, in shared memory:
/// the table's lower edge less its upper edge.
template <class Entry>
class LineOfSums {
 public:
  /// memory: line_bytes<Entry>(width).
  __device__ explicit LineOfSums(void* memory) : line_(static_cast<Entry*>(memory) + before - 1) {}

  __device__ void fill(const void* table, std::int64_t pitch, int top, int bottom,
                       int width) const {
    const TableEdges<Entry> edges(table, pitch, top, bottom);
    // The first column of the table is zero; the second begins a memory transaction.
    if (threadIdx.x == 0)
      line_[0] = 0;
    const int whole = width / before * before;
    for (int i = threadIdx.x * before; i < whole; i += blockDim.x * before) {
      const Pieces lower = *reinterpret_cast<const Pieces*>(edges.lower + 1 + i);
      const Pieces upper = *reinterpret_cast<const Pieces*>(edges.upper + 1 + i);
      Pieces difference;
#pragma unroll
      for (int k = 0; k < before; ++k)
        difference.entries[k] = lower.entries[k] - upper.entries[k];
      *reinterpret_cast<Pieces*>(line_ + 1 + i) = difference;
    }
    for (int i = whole + threadIdx.x; i < width; i += blockDim.x)
      line_[1 + i] = edges.lower[1 + i] - edges.upper[1 + i];
  }

  __device__ Entry between(int begin, int end) const {
    return line_[end] - line_[begin];
  }

 private:
  static constexpr int before = line_piece / static_cast<int>(sizeof(Entry));
  struct alignas(line_piece) Pieces {
    Entry entries[before];
  };
  Entry* line_;
};

/// Rows that fit in shared memory: each edge of the windows is read once.
template <Output kOutput, class Window, class Square, class Sample>
__global__ void __launch_bounds__(most_line_threads)
    line_kernel(const __grid_constant__ StatisticsArguments a) {
  using Sum = typename Window::Sum;
  extern __shared__ uint4 memory[];
  const LineOfSums<Sum> sums(memory);
  const LineOfSums<Square> squares(reinterpret_cast<std::uint8_t*>(memory) +
                                   line_bytes(sizeof(Sum), a.width));
  let_next_launch_in();
  wait_for_last_launch();

  const int y = blockIdx.x;
  const RowOfWindows<kOutput, Window, Sample> windows(a, y);
  sums.fill(a.sums, a.sums_pitch, windows.top(), windows.bottom(), a.width);
  if constexpr (has_squares(kOutput))
    squares.fill(a.squares, a.squares_pitch, windows.top(), windows.bottom(), a.width);
  __syncthreads();
  for (int x = threadIdx.x; x < a.width; x += blockDim.x)
    windows.write_pixel(x, sums, squares);
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
    const TableEdges<typename Window::Sum> sums(a.sums, a.sums_pitch, windows.top(),
                                                windows.bottom());
    const TableEdges<Square> squares(a.squares, a.squares_pitch, windows.top(), windows.bottom());
    for (int x = threadIdx.x % block_columns; x < a.width; x += block_columns)
      windows.write_pixel(x, sums, squares);
  }
}

using Kernel = Launcher<StatisticsArguments>::Kernel;

/// A table in device memory, and what makes it.
class ScratchTable {
 public:
  ScratchTable(Device& device, const PictureSize& size, TableKind kind, TableElement element)
      : element_bytes_(static_cast<int>(bytes_of(element))),
        row_bytes_((size.width + 1) * element_bytes_),
        rows_(size.height + 1),
        pitch_((row_bytes_ + alignment - 1) / alignment * alignment),
        memory_(device.allocate(alignment + pitch_ * static_cast<std::size_t>(rows_))) {
    IntegralParameters parameters;
    parameters.kind = kind;
    parameters.element = element;
    integral_ = make_upright_cuda(device, size, parameters, TableReader::next_launch);
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
  ScratchTables(Device& device, const PictureSize& size, TableKind kind, bool wide)
      : narrow_(device, size, kind, TableElement::uint32) {
    if (wide)
      wide_ = std::make_unique<ScratchTable>(device, size, kind, TableElement::uint64);
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
        sums_(device, size, TableKind::sum, !is_narrow(pixels_of_window(size_, 65535), size.bits)),
        launch_(device.stream(),
                statistics_kernel<Output::mean, NarrowWindow, std::uint32_t, std::uint8_t>) {
    if (squares)
      squares_ = std::make_unique<ScratchTables>(
          device, size, TableKind::squared_sum,
          !has_narrow_squares(pixels_of_window(size_, 65535), size.bits));
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
    const std::size_t shared =
        line_bytes(narrow ? 4 : 8, size_.width) +
        (needs_squares(parameters.output) ? line_bytes(narrow_squares ? 4 : 8, size_.width) : 0);
    const bool line = shared <= most_shared;
    const Kernel kernel = kernel_for(parameters.output, narrow, narrow_squares, line);
    if (line)
      launch_(kernel, size_.height,
              std::clamp(size_.width / 4 / 32 * 32, fewest_line_threads, most_line_threads), shared,
              a);
    else
      launch_(kernel, (size_.height + rows_of_block - 1) / rows_of_block, threads, 0, a);
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
  Kernel kernel_of(bool line) const {
    if (line)
      return output_bits_ == 8 ? line_kernel<kOutput, Window, Square, std::uint8_t>
                               : line_kernel<kOutput, Window, Square, std::uint16_t>;
    return output_bits_ == 8 ? statistics_kernel<kOutput, Window, Square, std::uint8_t>
                             : statistics_kernel<kOutput, Window, Square, std::uint16_t>;
  }
  template <Output kOutput>
  Kernel kernel_of_sums(bool narrow, bool line) const {
    return narrow ? kernel_of<kOutput, NarrowWindow, std::uint32_t>(line)
                  : kernel_of<kOutput, WideWindow, std::uint64_t>(line);
  }
  template <Output kOutput>
  Kernel kernel_of_squares(bool narrow, bool narrow_squares, bool line) const {
    return narrow && !narrow_squares ? kernel_of<kOutput, NarrowWindow, std::uint64_t>(line)
                                     : kernel_of_sums<kOutput>(narrow, line);
  }
  Kernel kernel_for(Output output, bool narrow, bool narrow_squares, bool line) const {
    switch (output) {
      case Output::mean:
        return kernel_of_sums<Output::mean>(narrow, line);
      case Output::deviation:
        return kernel_of_squares<Output::deviation>(narrow, narrow_squares, line);
      case Output::bradley:
        return kernel_of_sums<Output::bradley>(narrow, line);
      default:
        return kernel_of_squares<Output::sauvola>(narrow, narrow_squares, line);
    }
  }

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
