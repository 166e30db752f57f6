// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Local statistics on CUDA: chooses the kernel for the parameters and launches it.

#include <algorithm>
#include <type_traits>

#include "cuda/core/layoutcheck.h"
#include "cuda/localstatistics/passes.cuh"
#include "cuda/localstatistics/running.cuh"
#include "cuda/windows/gather.cuh"
#include "cuda/windows/plan.cuh"

namespace cudavision::localstatistics {
namespace {

/// Widths that the sums need: 32 bits, 32 bits with 64-bit sums of squares, or 64 bits.
enum class SumTypes { small, narrow, wide };

using PassKernels = windows::PassKernels<Arguments>;

template <Output kOutput, class Value>
PassKernels kernels_for(SumTypes sums) {
  using windows::kernels_of;
  constexpr bool kSquared = needs_squares(kOutput), kBytes = sizeof(Value) == 1;
  if (sums == SumTypes::wide)
    return kernels_of<StatisticsPass<kOutput, Value, std::uint64_t, WideWindow>, false>();
  if constexpr (!kSquared || kBytes)
    if (!kSquared || sums == SumTypes::small)
      return kernels_of<StatisticsPass<kOutput, Value, std::uint32_t, NarrowWindow>, true>();
  if constexpr (kSquared)
    return kernels_of<StatisticsPass<kOutput, Value, std::uint64_t, NarrowWindow>, !kBytes>();
}

template <class Value>
PassKernels kernels_for(Output output, SumTypes sums) {
  return output == Output::mean      ? kernels_for<Output::mean, Value>(sums)
         : output == Output::stddev  ? kernels_for<Output::stddev, Value>(sums)
         : output == Output::bradley ? kernels_for<Output::bradley, Value>(sums)
                                     : kernels_for<Output::sauvola, Value>(sums);
}

class LocalStatisticsCuda final : public LocalStatistics::Backend {
 public:
  LocalStatisticsCuda(Device& device, const PlaneSize& size, int output_bits, bool squares)
      : size_(size),
        output_bytes_(output_bits / 8),
        values_(device, size.bits),
        table_(device, size.width, size.height, squares ? 8 : 4),
        windows_(
            device.stream(),
            windows::windows_kernel<
                StatisticsPass<Output::mean, std::uint16_t, std::uint32_t, NarrowWindow>, false>),
        running_(device.stream(), running_kernel<false>) {
    values_.add(size.width, size.height);
  }

  void set(const Parameters& parameters) override {
    parameters_ = parameters;
    Arguments& a = plan_.arguments;
    a = {};
    const std::uint32_t low = black_level(parameters.limited_range, size_.bits);
    a.settings = {.bradley = Bradley(parameters.ratio, low),
                  .sauvola = SauvolaEstimate(parameters.k, parameters.range),
                  .k = parameters.k,
                  .range = parameters.range,
                  .low = low,
                  .low_offset = 0x1p23f + static_cast<float>(low),
                  .white = parameters.invert ? 0 : ~0u};
    a.everywhere = true;
    a.picture_count = 1;
    Picture& picture = a.pictures[0];
    picture.width = size_.width;
    picture.height = size_.height;
    // Windows are clipped to the picture, so a larger radius would not change them.
    picture.radius_x = std::min(parameters.radius, size_.width - 1);
    picture.radius_y = std::min(parameters.radius, size_.height - 1);
    const SumTypes sums = sums_of_windows(picture);
    plan_.choose(size_.bits == 8 ? kernels_for<std::uint8_t>(parameters.output, sums)
                                 : kernels_for<std::uint16_t>(parameters.output, sums));
  }

  void run(const SamplePlane& in, View<std::uint8_t> out) override {
    Picture& picture = plan_.arguments.pictures[0];
    const bool runs = parameters_.output == Output::mean && size_.bits == 8 && output_bytes_ == 1 &&
                      parameters_.radius <= max_running_radius;
    values_.bind(0, in.rows.data, kernel_pitch(operation, in.rows.pitch), 1,
                 runs ? packed_columns : plan_.columns_of_thread(), picture);
    values_.copy(in.shift);
    picture.elements = picture.values;
    picture.pitch = picture.values_pitch;
    const int shift = is_threshold(parameters_.output) ? 0 : 8 * output_bytes_ - size_.bits;
    windows::set_output(picture, out, 0, 1, output_bytes_, shift, operation);
    if (runs) {
      launch_running(picture);
    } else {
      const windows::RowRange rows{0, size_.height};
      plan_.launch(windows_, &rows, &table_);
    }
  }

 private:
  using Picture = windows::Picture;

  SumTypes sums_of_windows(const Picture& picture) const {
    const auto side = [](int radius, int length) {
      return static_cast<std::uint64_t>(std::min(2 * radius + 1, length));
    };
    const std::uint64_t pixels =
        side(picture.radius_x, size_.width) * side(picture.radius_y, size_.height);
    // Bradley's comparison of bytes requires areas below 2^23.
    if (!is_narrow(pixels, size_.bits) ||
        (parameters_.output == Output::bradley && pixels >> 23 != 0))
      return SumTypes::wide;
    const std::uint64_t largest = (1u << size_.bits) - 1;
    return pixels * (largest * largest) >> 32 == 0 ? SumTypes::small : SumTypes::narrow;
  }

  /// Divides the picture into bands that fill the GPU at most once.
  void launch_running(Picture& picture) const {
    picture.strips = divide_up(size_.width, running_strip);
    const int bands = std::clamp(
        multiprocessor_count() * running_blocks * running_warps / picture.strips, 1, size_.height);
    picture.band_rows =
        std::max(divide_up(size_.height, bands), windows::TableMemory::min_band_rows);
    const int blocks =
        divide_up(divide_up(size_.height, picture.band_rows), running_warps) * picture.strips;
    running_(parameters_.radius % 2 == 1 ? running_kernel<true> : running_kernel<false>,
             static_cast<unsigned>(blocks), 32 * running_warps, 0,
             RunningArguments(picture, parameters_.radius));
  }

  static constexpr char operation[] = "local statistics";

  PlaneSize size_;
  int output_bytes_;
  Parameters parameters_;
  windows::ChannelValues values_;
  windows::TableMemory table_;
  windows::Plan<Arguments> plan_;
  Launcher<Arguments> windows_;
  Launcher<RunningArguments> running_;
};

}  // namespace

std::unique_ptr<LocalStatistics::Backend> make_local_statistics_cuda(Device& device,
                                                                     const PlaneSize& size,
                                                                     int output_bits,
                                                                     bool squares) {
  return std::make_unique<LocalStatisticsCuda>(device, size, output_bits, squares);
}

}  // namespace cudavision::localstatistics
