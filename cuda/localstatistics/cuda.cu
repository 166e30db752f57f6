// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend: chooses the kernel, how it divides the picture, and whether columns_kernel adds
// up the columns of the first windows beforehand.

#include <algorithm>
#include <type_traits>

#include "cuda/core/cuda_check.h"
#include "cuda/core/division.h"
#include "cuda/localstatistics/columns.cuh"
#include "cuda/localstatistics/running.cuh"

namespace cudavision::localstatistics {
namespace {

/// The most groups of rows in the tables.
constexpr int max_row_groups = 384;

/// The types of sums that the windows need: of 32 bits, of 32 bits except for squares, or of 64.
enum class Sums { small, narrow, wide };

/// Returns true if the squares of that many pixels always add up to less than 2^32.
bool has_narrow_squares(std::uint64_t pixels, int bits) {
  const std::uint64_t largest = (1u << bits) - 1;
  return pixels * (largest * largest) < std::uint64_t{1} << 32;
}

using WindowKernel = Launcher<WindowArguments>::Kernel;
using ColumnKernel = Launcher<ColumnArguments>::Kernel;

struct WindowVariant {
  WindowKernel kernel;
  int blocks;                        // that share a multiprocessor
  int (*shared_bytes)(int threads);  // of a block
};

template <Output kOutput, class Value, class Sum, class Square>
WindowVariant variant() {
  return {windows_kernel<kOutput, Value, Sum, Square>, window_blocks<kOutput, Value, Sum, Square>(),
          PrefixSums<Sum, Square, needs_squares(kOutput), pixels_of_piece<Value>>::bytes};
}

template <Output kOutput, class Value>
WindowVariant variant(Sums sums) {
  using Square = std::conditional_t<needs_squares(kOutput), std::uint64_t, std::uint32_t>;
  if (sums == Sums::wide)
    return variant<kOutput, Value, std::uint64_t, Square>();
  if constexpr (sizeof(Value) == 1 && needs_squares(kOutput))
    if (sums == Sums::small)
      return variant<kOutput, Value, std::uint32_t, std::uint32_t>();
  return variant<kOutput, Value, std::uint32_t, Square>();
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
        max_shared_bytes_(
            std::min(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, "the shared memory"),
                     device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor,
                                      "the shared memory of a multiprocessor") /
                         2) -
            reserved_shared_bytes),
        aligned_pitch_(round_up(row_bytes_, row_alignment)),
        aligned_(device.allocate(static_cast<std::size_t>(aligned_pitch_) * size.height)),
        windows_(device.stream(),
                 windows_kernel<Output::mean, std::uint8_t, std::uint32_t, std::uint32_t>),
        columns_(device.stream(), columns_kernel<std::uint8_t, false>) {
    // Tables begin with a whole piece.
    columns_pitch_ = round_up(size.width + piece_pixels_, 32);
    const std::size_t entries = static_cast<std::size_t>(columns_pitch_) * (max_row_groups + 1);
    column_sums_ = device.allocate(entries * sizeof(std::uint32_t));
    if (squares)
      column_squares_ = device.allocate(entries * (sample_bytes_ == 1 ? 4 : 8));
    // Sums of 64 bits and squares need more shared memory than every GPU gives without a request.
    // The smallest blocks do not, even where two of the others do not fit a multiprocessor.
    for (const Output output : {Output::mean, Output::stddev, Output::bradley, Output::sauvola})
      for (const Sums sums : {Sums::small, Sums::narrow, Sums::wide})
        if (squares || !needs_squares(output))
          cuda_check(cudaFuncSetAttribute(variant_for(output, sums).kernel,
                                          cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          std::max(max_shared_bytes_, unrequested_shared_bytes)),
                     "reserving shared memory on the GPU");
  }

  void set(const Parameters& parameters) override { parameters_ = parameters; }

  void run(const SamplePlane& in, View<std::uint8_t> out) override {
    WindowArguments a{};
    a.picture = aligned(in);
    // A window ends where the picture ends, so all larger radii give the same windows.
    a.radius = std::min(parameters_.radius, std::max(size_.width, size_.height));
    const Sums sums = sums_of_windows();
    a.output = output_to(out, sums, a.radius);
    a.weights = QuadWeights(a.output.mean.scale);
    const auto divisible = [](const auto& rows, int bytes) {
      return reinterpret_cast<std::uintptr_t>(rows.data) % static_cast<std::uintptr_t>(bytes) ==
                 0 &&
             rows.pitch % bytes == 0;
    };
    a.output.aligned = divisible(a.picture, 4 * sample_bytes_) && divisible(out, output_bits_ / 2);
    const WindowVariant variant = variant_for(parameters_.output, sums);
    const bool squared = needs_squares(parameters_.output);
    a.skew = skew_of(a.picture);
    if (sample_bytes_ == 1 && output_bits_ == 8 && !squared &&
        a.radius <= max_running_radius(parameters_.output)) {
      run_running_windows(a, out);
      return;
    }
    const int threads = divide_columns(a, variant);
    divide_rows(a, variant.blocks * (256 / threads));
    if (a.radius > max_own_radius)
      add_up_columns(a, squared);
    const int blocks = divide_up(size_.height, a.band_rows) * a.strips;
    windows_(variant.kernel, static_cast<unsigned>(blocks), static_cast<unsigned>(threads),
             static_cast<std::size_t>(variant.shared_bytes(threads)), a);
  }

 private:
  WindowVariant variant_for(Output output, Sums sums) const {
    return sample_bytes_ == 1 ? variant<std::uint8_t>(output, sums)
                              : variant<std::uint16_t>(output, sums);
  }

  void run_running_windows(WindowArguments& a, const View<std::uint8_t>& out) const {
    const Output kind = parameters_.output;
    const bool whole_block = a.radius > max_warp_radius, odd = a.radius % 2 == 1;
    // Pieces of samples are written at once if they are aligned as those of the picture.
    a.output.aligned = out.pitch % piece_bytes == 0 && (reinterpret_cast<std::uintptr_t>(out.data) -
                                                        static_cast<std::uintptr_t>(a.skew)) %
                                                               piece_bytes ==
                                                           0;
    const int pieces = whole_block ? 256 : 32;
    const bool one_strip = whole_block && size_.width + a.skew <= pieces * piece_bytes;
    a.halo_pieces = one_strip ? 0 : divide_up(a.radius + 1, piece_bytes);
    a.strip_pixels = (pieces - 2 * a.halo_pieces) * piece_bytes;
    a.strips = divide_up(size_.width + a.skew, a.strip_pixels);
    // Windows of a warp's lane begin with columns of the piece before; those of a block are the
    // columns before one end without those before the other one.
    const int left = whole_block ? (piece_bytes - a.radius % piece_bytes) % piece_bytes : a.radius;
    const int right = (a.radius + 1) % (whole_block ? piece_bytes : piece_bytes + 1);
    for (int i = 0; i < piece_bytes; ++i) {
      a.left_weights[i / 4] |= static_cast<std::uint32_t>(i < left) << (8 * (i % 4));
      a.right_weights[i / 4] |= static_cast<std::uint32_t>(i < right) << (8 * (i % 4));
    }
    const int groups = whole_block ? 1 : running_warps;
    divide_rows(a, groups * running_blocks(kind, whole_block));
    if (a.radius > max_own_radius)
      add_up_columns(a, false);
    const auto kernel_for = [&](auto is_odd) -> WindowKernel {
      constexpr bool kOdd = decltype(is_odd)::value;
      if (kind == Output::mean)
        return running_kernel<Output::mean, kOdd, false>;
      return whole_block ? running_kernel<Output::bradley, kOdd, true>
                         : running_kernel<Output::bradley, kOdd, false>;
    };
    const int blocks = divide_up(divide_up(size_.height, a.band_rows), groups) * a.strips;
    windows_(odd ? kernel_for(std::true_type()) : kernel_for(std::false_type()),
             static_cast<unsigned>(blocks),
             static_cast<unsigned>(whole_block ? 256 : 32 * running_warps), 0, a);
  }

  int skew_of(const PictureRows& picture) const {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(picture.data) % piece_bytes) /
           sample_bytes_;
  }

  /// Chooses the strips and returns the threads of a block.
  int divide_columns(WindowArguments& a, const WindowVariant& variant) const {
    // Pieces begin where their address is divisible by their size.
    const int skew = a.skew;
    const auto piece_before = [&](int x) {
      const int aligned = x + skew;
      return (aligned >= 0 ? aligned / piece_pixels_ : -divide_up(-aligned, piece_pixels_)) *
                 piece_pixels_ -
             skew;
    };
    const int warp_pixels = 32 * piece_pixels_;
    // A block has pairs of warps. The largest blocks have the fewest columns beside their strips.
    int warps = 2;
    while (32 * warps < 256 && warps * warp_pixels < size_.width + skew &&
           variant.shared_bytes(64 * warps) <= max_shared_bytes_)
      warps *= 2;
    const int columns = warps * warp_pixels, half = columns / 2;
    const int side = 2 * a.radius + 1;
    a.strips = 1;
    a.strip_pixels = columns;
    if (size_.width + skew <= columns) {
      a.left = -skew;
      a.right = a.left + half;
      return 32 * warps;
    }
    a.left = piece_before(-a.radius - 1);
    if (side <= half) {
      a.strip_pixels = (columns - side - 2 * piece_pixels_) / piece_pixels_ * piece_pixels_;
      a.right = a.left + half;
    } else {
      a.strip_pixels = half - 2 * piece_pixels_;
      a.right = std::max(piece_before(a.radius), a.left + half);
      a.gap = a.right - a.left - half;
    }
    a.strips = divide_up(size_.width, a.strip_pixels);
    return 32 * warps;
  }

  /// Chooses bands so that all blocks run at once if `blocks` share each multiprocessor.
  void divide_rows(WindowArguments& a, int blocks) const {
    const int bands = std::clamp(multiprocessors_ * blocks / a.strips, 1, size_.height);
    a.band_rows = std::max(divide_up(size_.height, bands), min_band_rows);
    if (a.radius > max_own_radius)
      a.band_rows = std::max(a.band_rows, divide_up(size_.height, max_row_groups - 2));
  }

  /// Returns the picture, whose rows are all aligned alike.
  PictureRows aligned(const SamplePlane& in) const {
    View<const std::uint8_t> rows = in.rows;
    if ((size_.height > 1 && rows.pitch % piece_bytes != 0) ||
        reinterpret_cast<std::uintptr_t>(rows.data) % static_cast<std::uintptr_t>(sample_bytes_) !=
            0) {
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
    const auto rows = [&](int most) {
      return side * static_cast<std::uint64_t>(std::min(most, size_.height));
    };
    // The areas of windows that are not cut at the left or right.
    const std::uint64_t min_area = rows(radius + 1), max_area = rows(2 * radius + 1);
    OutputArguments output{};
    output.data = out.data;
    output.pitch = out.pitch;
    output.sample_bytes = output_bits_ / 8;
    output.shift = level ? output_bits_ - size_.bits : 0;
    if (parameters_.output == Output::mean && sums != Sums::wide)
      output.mean = MeanScale(size_.bits, min_area, max_area,
                              sample_bytes_ == 1 ? QuadWeights::max_scale : 0);
    output.low = black_level(parameters_.limited_range, size_.bits);
    output.low_offset = 0x1p23f + static_cast<float>(output.low);
    output.bradley = Bradley(parameters_.ratio, output.low);
    output.sauvola = SauvolaEstimate(parameters_.k, parameters_.range);
    output.k = parameters_.k;
    output.range = parameters_.range;
    output.white = parameters_.invert ? 0 : ~0u;
    return output;
  }

  Sums sums_of_windows() const {
    const auto side = [&](int length) {
      return static_cast<std::uint64_t>(
          std::min<std::int64_t>(2 * std::int64_t{parameters_.radius} + 1, length));
    };
    const std::uint64_t pixels = side(size_.width) * side(size_.height);
    // Bradley's comparison of bytes takes smaller areas than those of narrow windows.
    if (!is_narrow(pixels, size_.bits) ||
        (parameters_.output == Output::bradley && pixels >> 23 != 0))
      return Sums::wide;
    return has_narrow_squares(pixels, size_.bits) ? Sums::small : Sums::narrow;
  }

  void add_up_columns(WindowArguments& windows, bool squared) const {
    ColumnArguments a{};
    a.picture = windows.picture;
    a.tables.groups = RowGroups(windows.band_rows, windows.radius, size_.height);
    a.tables.sums = column_sums_.as<std::uint32_t>();
    a.tables.squares = column_squares_.data();
    a.tables.pitch = columns_pitch_;
    windows.columns = a.tables;
    a.skew = windows.skew;
    a.blocks_across = divide_up(size_.width + windows.skew, columns_of_block);
    ColumnKernel kernel;
    if (sample_bytes_ == 1)
      kernel = squared ? columns_kernel<std::uint8_t, true> : columns_kernel<std::uint8_t, false>;
    else
      kernel = squared ? columns_kernel<std::uint16_t, true> : columns_kernel<std::uint16_t, false>;
    columns_(
        kernel,
        static_cast<unsigned>(a.blocks_across * divide_up(a.tables.groups.count, groups_of_block)),
        32 * column_warps, 0, a);
  }

  static constexpr int row_alignment = 128;
  static constexpr int min_band_rows = 4;
  // Shared memory of a block that is not its prefix sums, and what the GPU keeps for itself.
  static constexpr int reserved_shared_bytes = 4096;
  static constexpr int unrequested_shared_bytes = 49152 - reserved_shared_bytes;
  // Up to this radius, windows_kernel adds up the columns of its bands itself.
  static constexpr int max_own_radius = 31;

  Device& device_;
  PlaneSize size_;
  int output_bits_;
  int sample_bytes_;
  int row_bytes_;
  int piece_pixels_;  // pixels of a piece
  int multiprocessors_;
  int max_shared_bytes_;  // of a block, if two share a multiprocessor
  Parameters parameters_;
  int aligned_pitch_;
  Buffer aligned_;  // for a copy of pictures whose rows are not aligned alike
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
