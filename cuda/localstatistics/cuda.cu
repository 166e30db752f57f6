// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend: makes integral images of the picture, and then one launch reads the four
// corners of each window from them.

#include <algorithm>
#include <type_traits>

#include "cuda/integral/cuda_tables.h"
#include "cuda/localstatistics/kernel.cuh"

namespace cudavision::localstatistics {
namespace {

using Kernel = Launcher<StatisticsArguments>::Kernel;

/// An integral image in device memory, and the operation that makes it.
class ScratchTable {
 public:
  /// together is the number of tables that a launch reads at the same time.
  ScratchTable(Device& device, const PlaneSize& size, integral::TableKind kind,
               integral::TableElement element, int together)
      : element_bytes_(static_cast<int>(bytes_of(element))),
        row_bytes_((size.width + 1) * element_bytes_),
        rows_(size.height + 1),
        pitch_((row_bytes_ + alignment - 1) / alignment * alignment),
        memory_(device.allocate(alignment + pitch_ * static_cast<std::size_t>(rows_))) {
    integral::Parameters parameters;
    parameters.kind = kind;
    parameters.element = element;
    // A table that does not fit the cache must not displace what does.
    const auto cache =
        static_cast<std::size_t>(device_attribute(cudaDevAttrL2CacheSize, "the size of the cache"));
    integral_ = integral::make_upright_cuda(device, size, parameters,
                                            memory_.size() * together <= cache / 4 * 3
                                                ? integral::TableReader::next_launch
                                                : integral::TableReader::others);
  }

  void make(const SamplePlane& in) { integral_->run(in, {data(), row_bytes_, rows_, pitch_}); }

  /// The column of zeros comes just before an aligned address, so that the other columns are read
  /// in whole memory transactions.
  std::uint8_t* data() const { return memory_.as<std::uint8_t>() + alignment - element_bytes_; }
  std::int64_t pitch() const { return pitch_; }

 private:
  static constexpr int alignment = 128;

  int element_bytes_;
  int row_bytes_;
  int rows_;
  std::ptrdiff_t pitch_;
  Buffer memory_;
  std::unique_ptr<integral::Integral::Backend> integral_;
};

/// A table of 32-bit sums, and one of 64-bit sums if some window can have a sum that needs them.
class ScratchTables {
 public:
  ScratchTables(Device& device, const PlaneSize& size, integral::TableKind kind, bool wide,
                int together)
      : narrow_(device, size, kind, integral::TableElement::uint32, together) {
    if (wide)
      wide_ = std::make_unique<ScratchTable>(device, size, kind, integral::TableElement::uint64,
                                             together);
  }

  ScratchTable& table(bool wide) { return wide ? *wide_ : narrow_; }

 private:
  ScratchTable narrow_;
  std::unique_ptr<ScratchTable> wide_;
};

/// Returns true if the squares of that many pixels always add up to less than 2^32.
bool has_narrow_squares(std::uint64_t pixels, int bits) {
  const std::uint64_t largest = (1u << bits) - 1;
  return pixels * (largest * largest) < std::uint64_t{1} << 32;
}

class LocalStatisticsCuda final : public LocalStatistics::Backend {
 public:
  LocalStatisticsCuda(Device& device, const PlaneSize& size, int output_bits, bool squares)
      : size_(size),
        output_bits_(output_bits),
        sums_(device, size, integral::TableKind::sum,
              !is_narrow(pixels_of_window(size_, 65535), size.bits), squares ? 2 : 1),
        launch_(device.stream(),
                statistics_kernel<Output::mean, NarrowWindow, std::uint32_t, std::uint8_t>) {
    if (squares)
      squares_ = std::make_unique<ScratchTables>(
          device, size, integral::TableKind::squared_sum,
          !has_narrow_squares(pixels_of_window(size_, 65535), size.bits), 2);
  }

  void set(const Parameters& parameters) override { parameters_ = parameters; }

  void run(const SamplePlane& in, View<std::uint8_t> out) override {
    const std::uint64_t pixels = pixels_of_window(size_, parameters_.radius);
    const bool narrow = is_narrow(pixels, size_.bits);
    const bool narrow_squares = narrow && has_narrow_squares(pixels, size_.bits);

    StatisticsArguments a{};
    ScratchTable& sums = sums_.table(!narrow);
    sums.make(in);
    a.sums = sums.data();
    a.sums_pitch = sums.pitch();
    if (needs_squares(parameters_.output)) {
      ScratchTable& squares = squares_->table(!narrow_squares);
      squares.make(in);
      a.squares = squares.data();
      a.squares_pitch = squares.pitch();
    }
    a.width = size_.width;
    a.height = size_.height;
    // A window ends where the picture ends, so all larger radii give the same windows.
    a.radius = std::min(parameters_.radius, std::max(size_.width, size_.height));
    a.in = in.rows.data;
    a.in_pitch = in.rows.pitch;
    a.sample_bytes = size_.bits == 8 ? 1 : 2;
    a.in_shift = in.shift;
    a.in_largest = (1u << size_.bits) - 1;
    a.out = out.data;
    a.out_pitch = out.pitch;
    a.out_shift = output_bits_ - size_.bits;
    a.bradley_factor = bradley_factor(parameters_.ratio);
    a.k = parameters_.k;
    a.range = parameters_.range;
    a.black = !parameters_.invert ? 0 : output_bits_ == 8 ? 0xff : 0xffff;
    const int lines = lines_of_block(parameters_.output);
    const std::size_t shared =
        lines *
        (line_bytes(narrow ? 4 : 8, size_.width) +
         (needs_squares(parameters_.output) ? line_bytes(narrow_squares ? 4 : 8, size_.width) : 0));
    const bool by_lines = narrow && shared <= max_shared_;
    const Kernel kernel = kernel_for(parameters_.output, narrow, narrow_squares, by_lines);
    if (by_lines) {
      // The windows of a row end where those begin that belong to the row one window height further
      // down.
      a.lines_apart = std::min(2 * a.radius + 1, size_.height);
      const int rows_of_group = lines * a.lines_apart;
      const int groups = (size_.height + rows_of_group - 1) / rows_of_group;
      launch_(kernel, static_cast<unsigned>(groups * a.lines_apart), line_threads, shared, a);
    } else {
      launch_(kernel, static_cast<unsigned>((size_.height + rows_of_block - 1) / rows_of_block),
              threads, 0, a);
    }
  }

 private:
  static std::uint64_t pixels_of_window(const PlaneSize& size, int radius) {
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
      case Output::stddev:
        return kernel_of_squares<Output::stddev>(narrow, narrow_squares, by_lines);
      case Output::bradley:
        return kernel_of_sums<Output::bradley>(narrow, by_lines);
      default:
        return kernel_of_squares<Output::sauvola>(narrow, narrow_squares, by_lines);
    }
  }

  // Shared memory that every GPU gives a block without a request.
  static constexpr std::size_t max_shared_ = 48 << 10;

  PlaneSize size_;
  int output_bits_;
  Parameters parameters_;
  ScratchTables sums_;
  std::unique_ptr<ScratchTables> squares_;
  Launcher<StatisticsArguments> launch_;
};

}  // namespace

std::unique_ptr<LocalStatistics::Backend> make_local_statistics_cuda(Device& device,
                                                                     const PlaneSize& size,
                                                                     int output_bits,
                                                                     bool squares) {
  return std::make_unique<LocalStatisticsCuda>(device, size, output_bits, squares);
}

}  // namespace cudavision::localstatistics
