// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend: chooses how windows_kernel divides the picture, and whether columns_kernel adds
// up the columns of the first windows beforehand.

#include <algorithm>
#include <type_traits>

#include "cuda/core/cuda_check.h"
#include "cuda/localstatistics/columns.cuh"
#include "cuda/localstatistics/windows.cuh"

namespace cudavision::localstatistics {
namespace {

int divided(int number, int by) {
  return (number + by - 1) / by;
}

/// The types of sums that the windows need.
enum class Sums { narrow, narrow_wide_squares, wide };

/// Returns true if the squares of that many pixels always add up to less than 2^32.
bool has_narrow_squares(std::uint64_t pixels, int bits) {
  const std::uint64_t largest = (1u << bits) - 1;
  return pixels * (largest * largest) < std::uint64_t{1} << 32;
}

using WindowKernel = Launcher<WindowArguments>::Kernel;
using ColumnKernel = Launcher<ColumnArguments>::Kernel;

struct WindowVariant {
  WindowKernel kernel;
  int blocks;  // that share a multiprocessor
  std::size_t warp_bytes;
};

template <Output kOutput, class Value, class Sum, class Square>
WindowVariant variant() {
  return {windows_kernel<kOutput, Value, Sum, Square>, window_blocks<kOutput, Value, Sum, Square>(),
          warp_bytes<Sum, Square, pixels_of_piece<Value>>()};
}

template <Output kOutput, class Value>
WindowVariant variant(Sums sums) {
  if (sums == Sums::wide)
    return variant<kOutput, Value, std::uint64_t, std::uint64_t>();
  if constexpr (!needs_squares(kOutput))
    return variant<kOutput, Value, std::uint32_t, std::uint32_t>();
  else if constexpr (sizeof(Value) == 1)
    if (sums == Sums::narrow)
      return variant<kOutput, Value, std::uint32_t, std::uint32_t>();
  if constexpr (needs_squares(kOutput))
    return variant<kOutput, Value, std::uint32_t, std::uint64_t>();
}

template <class Value>
WindowVariant variant(Output output, Sums sums) {
  switch (output) {
    case Output::mean:
      return variant<Output::mean, Value>(sums);
    case Output::stddev:
      return variant<Output::stddev, Value>(sums);
    case Output::bradley:
      return variant<Output::bradley, Value>(sums);
    default:
      return variant<Output::sauvola, Value>(sums);
  }
}

class LocalStatisticsCuda final : public LocalStatistics::Backend {
 public:
  LocalStatisticsCuda(Device& device, const PlaneSize& size, int output_bits, bool squares)
      : device_(device),
        size_(size),
        output_bits_(output_bits),
        sample_bytes_(size.bits == 8 ? 1 : 2),
        row_bytes_(size.width * sample_bytes_),
        piece_pixels_(piece_bytes / sample_bytes_),
        multiprocessors_(multiprocessor_count()),
        aligned_pitch_(divided(row_bytes_, row_alignment) * row_alignment),
        aligned_(device.allocate(static_cast<std::size_t>(aligned_pitch_) * size.height)),
        windows_(device.stream(),
                 windows_kernel<Output::mean, std::uint8_t, std::uint32_t, std::uint32_t>),
        columns_(device.stream(), columns_kernel<std::uint8_t, false>) {
    const int warps = divided(size.width, 32 * piece_pixels_);
    while (wide_.warps_across < window_warps && wide_.warps_across < warps)
      wide_.warps_across *= 2;
    wide_.strips = divided(warps, wide_.warps_across);
    columns_pitch_ = divided(size.width, 32) * 32;
    const int bands = std::min(divided(size.height, min_band_rows), max_bands);
    const std::size_t entries = static_cast<std::size_t>(columns_pitch_) * bands;
    column_sums_ = device.allocate(entries * sizeof(std::uint32_t));
    if (squares)
      column_squares_ = device.allocate(entries * (sample_bytes_ == 1 ? 4 : 8));
  }

  void set(const Parameters& parameters) override { parameters_ = parameters; }

  void run(const SamplePlane& in, View<std::uint8_t> out) override {
    WindowArguments a{};
    a.picture = aligned(in);
    // A window ends where the picture ends, so all larger radii give the same windows.
    a.radius = std::min(parameters_.radius, std::max(size_.width, size_.height));
    const Sums sums = sums_of_windows();
    a.output = output_to(out, sums, a.radius);
    const WindowVariant variant =
        sample_bytes_ == 1 ? localstatistics::variant<std::uint8_t>(parameters_.output, sums)
                           : localstatistics::variant<std::uint16_t>(parameters_.output, sums);
    const bool squared = needs_squares(parameters_.output);
    Division division = wide_;
    std::size_t shared = window_warps * variant.warp_bytes;
    if (a.radius <= max_own_radius) {
      division = {1, divided(size_.width, 32 * piece_pixels_)};
      divide_rows(division, variant.blocks, size_.height);
      a.halo = divided(a.radius + 1, piece_pixels_) * piece_pixels_;
      shared = window_warps * group_bytes(32 * piece_pixels_ + 2 * a.halo, squared);
    } else {
      divide_rows(division, variant.blocks, squared ? max_bands / 2 : max_bands);
      a.columns = column_sums_.as<std::uint32_t>();
      a.square_columns = column_squares_.data();
      a.columns_pitch = columns_pitch_;
      add_up_columns(a.picture, a.radius, division, squared);
    }
    a.warps_across = division.warps_across;
    a.strips = division.strips;
    a.band_rows = division.band_rows;
    const int blocks =
        divided(division.bands, window_warps / division.warps_across) * division.strips;
    windows_(variant.kernel, static_cast<unsigned>(blocks), window_threads, shared, a);
  }

 private:
  /// How windows_kernel divides the picture.
  struct Division {
    int warps_across = 1, strips = 1;
    int band_rows = 0, bands = 0;
  };

  /// Chooses bands so that all blocks run at once if `blocks` share each multiprocessor.
  void divide_rows(Division& division, int blocks, int most) const {
    const int groups = multiprocessors_ * blocks * (window_warps / division.warps_across);
    const int bands = std::clamp(groups / division.strips, 1, most);
    division.band_rows = std::max(divided(size_.height, bands), min_band_rows);
    division.bands = divided(size_.height, division.band_rows);
  }

  /// Returns the picture, whose rows are all aligned alike.
  PictureRows aligned(const SamplePlane& in) const {
    View<const std::uint8_t> rows = in.rows;
    if (size_.height > 1 && rows.pitch % piece_bytes != 0) {
      const View<std::uint8_t> copy{aligned_.as<std::uint8_t>(), row_bytes_, size_.height,
                                    aligned_pitch_};
      device_.copy(rows, copy);
      rows = copy;
    }
    PictureRows picture{};
    picture.data = rows.data;
    picture.pitch = rows.pitch;
    picture.width = size_.width;
    picture.height = size_.height;
    picture.sample_bytes = sample_bytes_;
    picture.convert = in.shift != 0 || size_.bits != 16;
    picture.shift = in.shift;
    picture.largest = (1u << size_.bits) - 1;
    return picture;
  }

  OutputArguments output_to(const View<std::uint8_t>& out, Sums sums, int radius) const {
    const bool level = parameters_.output == Output::mean || parameters_.output == Output::stddev;
    const auto side = static_cast<std::uint64_t>(2 * radius + 1);
    // The area of windows that are not cut at the left or right.
    const std::uint64_t area = side * std::min(side, static_cast<std::uint64_t>(size_.height));
    OutputArguments output{};
    output.data = out.data;
    output.pitch = out.pitch;
    output.sample_bytes = output_bits_ / 8;
    output.shift = level ? output_bits_ - size_.bits : 0;
    output.divides = sums != Sums::wide && area >> 32 == 0 &&
                     MeanDivision::is_exact(static_cast<std::uint32_t>(area), size_.bits);
    output.bradley_factor = bradley_factor(parameters_.ratio);
    output.sauvola = SauvolaEstimate(parameters_.k, parameters_.range);
    output.k = parameters_.k;
    output.range = parameters_.range;
    const std::uint32_t largest = (1u << output_bits_) - 1;
    output.black = parameters_.invert ? largest : 0;
    output.white = largest - output.black;
    return output;
  }

  Sums sums_of_windows() const {
    const auto side = [&](int length) {
      return static_cast<std::uint64_t>(
          std::min<std::int64_t>(2 * std::int64_t{parameters_.radius} + 1, length));
    };
    const std::uint64_t pixels = side(size_.width) * side(size_.height);
    if (!is_narrow(pixels, size_.bits))
      return Sums::wide;
    return has_narrow_squares(pixels, size_.bits) ? Sums::narrow : Sums::narrow_wide_squares;
  }

  void add_up_columns(const PictureRows& picture, int radius, const Division& division,
                      bool squared) const {
    ColumnArguments a{};
    a.picture = picture;
    a.groups = RowGroups(division.band_rows, radius, size_.height);
    a.bands = division.bands;
    a.sums = column_sums_.as<std::uint32_t>();
    a.squares = column_squares_.data();
    a.pitch = columns_pitch_;
    ColumnKernel kernel;
    if (sample_bytes_ == 1)
      kernel = squared ? columns_kernel<std::uint8_t, true> : columns_kernel<std::uint8_t, false>;
    else
      kernel = squared ? columns_kernel<std::uint16_t, true> : columns_kernel<std::uint16_t, false>;
    const int threads = std::clamp(divided(a.groups.count, 32) * 32, 64, column_threads);
    columns_(kernel, static_cast<unsigned>(divided(size_.width, piece_pixels_)),
             static_cast<unsigned>(threads), column_bytes(a.groups.count, squared), a);
  }

  /// Returns the shared memory of columns_kernel.
  std::size_t column_bytes(int groups, bool squared) const {
    if (sample_bytes_ == 1)
      return GroupSums<std::uint32_t, pixels_of_piece<std::uint8_t>>::bytes(groups) *
             (squared ? 2 : 1);
    constexpr int kColumns = pixels_of_piece<std::uint16_t>;
    return GroupSums<std::uint32_t, kColumns>::bytes(groups) +
           (squared ? GroupSums<std::uint64_t, kColumns>::bytes(groups) : 0);
  }

  std::size_t group_bytes(int columns, bool squared) const {
    if (sample_bytes_ == 1)
      return squared ? GroupMemory<std::uint8_t, true>::bytes(columns)
                     : GroupMemory<std::uint8_t, false>::bytes(columns);
    return squared ? GroupMemory<std::uint16_t, true>::bytes(columns)
                   : GroupMemory<std::uint16_t, false>::bytes(columns);
  }

  static constexpr int row_alignment = 128;
  static constexpr int min_band_rows = 4;
  // A block of columns_kernel keeps the sums of all bands in the shared memory that every GPU gives
  // without a request. There is room for this many bands, and for half as many with squares.
  static constexpr int max_bands = 340;
  // Up to this radius, windows_kernel adds up the columns of its bands itself.
  static constexpr int max_own_radius = 31;

  Device& device_;
  PlaneSize size_;
  int output_bits_;
  int sample_bytes_;
  int row_bytes_;
  int piece_pixels_;  // pixels of a piece
  int multiprocessors_;
  Parameters parameters_;
  int aligned_pitch_;
  Buffer aligned_;  // for a copy of pictures whose rows are not aligned alike
  Division wide_;   // for larger radii, without its rows
  int columns_pitch_ = 0;
  Buffer column_sums_, column_squares_;
  Launcher<WindowArguments> windows_;
  Launcher<ColumnArguments> columns_;
};

}  // namespace

std::unique_ptr<LocalStatistics::Backend> make_local_statistics_cuda(Device& device,
                                                                     const PlaneSize& size,
                                                                     int output_bits,
                                                                     bool squares) {
  return std::make_unique<LocalStatisticsCuda>(device, size, output_bits, squares);
}

}  // namespace cudavision::localstatistics
