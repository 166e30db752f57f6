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

/// Window: of the arithmetic; Square: entries of the table of squares.
template <Output kOutput, class Window, class Square, class Sample>
__global__ void __launch_bounds__(threads)
    statistics_kernel(const __grid_constant__ StatisticsArguments a) {
  using Sum = typename Window::Sum;
  using Real = typename Window::Real;
  constexpr bool squared = kOutput == Output::deviation || kOutput == Output::sauvola;
  constexpr std::uint32_t white = sizeof(Sample) == 1 ? 0xff : 0xffff;
  let_next_launch_in();
  wait_for_last_launch();

  // Whole rows one after the other: both edges of all the windows in them stay in the innermost
  // cache, however wide these are.
  const int first_row = blockIdx.x * rows_of_block + threadIdx.x / block_columns;
  const int last_row = min((blockIdx.x + 1) * rows_of_block, a.height) - 1;
  const int full_columns = 2 * a.radius + 1;
  for (int y = first_row; y <= last_row; y += block_rows) {
    const int top = max(y - a.radius, 0);
    const int bottom = min(y + a.radius, a.height - 1) + 1;
    const TableEdges<Sum> sums(a.sums, a.sums_pitch, top, bottom);
    const TableEdges<Square> squares(a.squares, a.squares_pitch, top, bottom);
    const auto rows = static_cast<std::uint32_t>(bottom - top);
    const Real full_inverse =
        Real{1} / static_cast<Real>(static_cast<std::uint64_t>(rows) * full_columns);
    for (int x = threadIdx.x % block_columns; x < a.width; x += block_columns) {
      const int left = max(x - a.radius, 0);
      const int right = min(x + a.radius, a.width - 1) + 1;
      const std::uint32_t area = rows * static_cast<std::uint32_t>(right - left);
      const Sum sum = sums.between(left, right);
      const auto inverse = [&] {
        return right - left == full_columns ? full_inverse : Real{1} / static_cast<Real>(area);
      };
      typename Window::Variance variance = 0;
      if constexpr (squared)
        variance = scaled_variance<Window>(squares.between(left, right), sum, area);

      std::uint32_t value = 0;
      if constexpr (kOutput == Output::mean)
        value = rounded_mean<Window>(sum, area, inverse()) << a.out_shift;
      else if constexpr (kOutput == Output::deviation)
        value = rounded_deviation<Window>(variance, area, inverse()) << a.out_shift;
      else if constexpr (kOutput == Output::bradley)
        value = is_black_by_bradley(pixel(a, x, y), sum, area, a.bradley_factor) ? 0 : white;
      else
        value = is_black_by_sauvola(pixel(a, x, y), sum, variance, area, a.k, a.range) ? 0 : white;
      write<Sample>(a.out + a.out_pitch * y + sizeof(Sample) * x, value);
    }
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
    integral_ = make_integral_cuda(device, size, parameters);
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
    launch_(kernel_for(parameters.output, narrow, narrow_squares),
            (size_.height + rows_of_block - 1) / rows_of_block, threads, 0, a);
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
  Kernel kernel_of() const {
    return output_bits_ == 8 ? statistics_kernel<kOutput, Window, Square, std::uint8_t>
                             : statistics_kernel<kOutput, Window, Square, std::uint16_t>;
  }
  template <Output kOutput>
  Kernel kernel_of_sums(bool narrow) const {
    return narrow ? kernel_of<kOutput, NarrowWindow, std::uint32_t>()
                  : kernel_of<kOutput, WideWindow, std::uint64_t>();
  }
  template <Output kOutput>
  Kernel kernel_of_squares(bool narrow, bool narrow_squares) const {
    return narrow && !narrow_squares ? kernel_of<kOutput, NarrowWindow, std::uint64_t>()
                                     : kernel_of_sums<kOutput>(narrow);
  }
  Kernel kernel_for(Output output, bool narrow, bool narrow_squares) const {
    switch (output) {
      case Output::mean:
        return kernel_of_sums<Output::mean>(narrow);
      case Output::deviation:
        return kernel_of_squares<Output::deviation>(narrow, narrow_squares);
      case Output::bradley:
        return kernel_of_sums<Output::bradley>(narrow);
      default:
        return kernel_of_squares<Output::sauvola>(narrow, narrow_squares);
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
