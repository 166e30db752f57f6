// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Local statistics on the CPU. Loops along rows have no branches and no special cases at the edges,
// so that the compiler can vectorise them.

#include "cuda/windows/cpu.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "cuda/localstatistics/arithmetic.h"
#include "cuda/localstatistics/backend.h"
#include "cuda/pixels/samples.h"

namespace cudavision::localstatistics {
namespace {

using Output = Parameters::Output;

/// Writes the area of each pixel's window, clipped to the row, and the inverse of the area.
template <class Real>
CUDAVISION_TARGET_CLONES void measure_windows(int width, int radius, std::uint32_t rows,
                                              std::uint32_t* __restrict areas,
                                              Real* __restrict inverses) {
  for (int x = 0; x < width; ++x) {
    const int columns = std::min(x + radius, width - 1) - std::max(x - radius, 0) + 1;
    areas[x] = rows * static_cast<std::uint32_t>(columns);
    inverses[x] = Real{1} / static_cast<Real>(areas[x]);
  }
}

template <class Window>
struct RowWindows {
  windows::WindowEnds<typename Window::Sum, std::uint64_t> ends;
  const std::uint32_t* areas;
  const typename Window::Real* inverses;

  typename Window::Sum sum(int x) const { return ends.first(x); }
  typename Window::Variance variance(int x) const {
    return scaled_variance<Window>(ends.second(x), sum(x), areas[x]);
  }
};

/// Writes level(x) for each column x of a row.
template <class Sample, class Level>
CUDAVISION_TARGET_CLONES void write_levels(int width, std::uint8_t* __restrict out, Level level) {
  for (int x = 0; x < width; ++x) {
    const auto sample = static_cast<Sample>(level(x));
    std::memcpy(out + sizeof sample * static_cast<std::size_t>(x), &sample, sizeof sample);
  }
}

template <class Value, class Window>
struct StatisticsRows {
  StatisticsRows(Scratch& scratch, int width, bool squares)
      : windows(scratch, width, squares),
        values(scratch.take<Value>(width)),
        areas(scratch.take<std::uint32_t>(width)),
        inverses(scratch.take<typename Window::Real>(width)) {}

  windows::WindowRows<Value, typename Window::Sum, std::uint64_t> windows;
  Value* values;
  std::uint32_t* areas;
  typename Window::Real* inverses;
};

/// Writes one row of the output. Only thresholds use values.
template <class Sample, class Value, class Window>
void write_row(const PlaneSize& size, const Parameters& parameters, const Value* values,
               const RowWindows<Window>& windows, std::uint8_t* out) {
  constexpr std::uint32_t largest = std::numeric_limits<Sample>::max();
  const std::uint32_t black = parameters.invert ? largest : 0, white = largest - black;
  const int shift = std::numeric_limits<Sample>::digits - size.bits;
  // Local copies, which the stores cannot alias.
  const RowWindows<Window> w = windows;
  const std::uint32_t low = black_level(parameters.limited_range, size.bits);
  switch (parameters.output) {
    case Output::mean:
      write_levels<Sample>(size.width, out, [=](int x) {
        return rounded_mean<Window>(w.sum(x), w.areas[x], w.inverses[x]) << shift;
      });
      break;
    case Output::stddev:
      write_levels<Sample>(size.width, out, [=](int x) {
        return rounded_stddev<Window>(w.variance(x), w.areas[x], w.inverses[x]) << shift;
      });
      break;
    case Output::bradley: {
      const Bradley bradley(parameters.ratio, low);
      write_levels<Sample>(size.width, out, [=](int x) {
        return bradley.is_black<Window>(values[x], w.sum(x), w.areas[x]) ? black : white;
      });
      break;
    }
    case Output::sauvola: {
      const double k = parameters.k, range = parameters.range;
      write_levels<Sample>(size.width, out, [=](int x) {
        return is_black_by_sauvola(values[x], w.sum(x), w.variance(x), w.areas[x], k, range, low)
                   ? black
                   : white;
      });
      break;
    }
  }
}

template <class Value>
class LocalStatisticsCpu final : public LocalStatistics::Backend {
 public:
  LocalStatisticsCpu(Device& device, const PlaneSize& size, int output_bits, bool squares)
      : size_(size),
        output_bits_(output_bits),
        bands_(device, size.height,
               narrow(size.height, size.width)
                   ? scratch_bytes<StatisticsRows<Value, NarrowWindow>>(size.width, squares)
                   : scratch_bytes<StatisticsRows<Value, WideWindow>>(size.width, squares)) {}

  void set(const Parameters& parameters) override {
    parameters_ = parameters;
    radius_x_ = std::min(parameters.radius, size_.width - 1);
  }

  void run(const SamplePlane& in, View<std::uint8_t> out) override {
    if (narrow(std::min(size_.height, 2 * parameters_.radius + 1),
               std::min(size_.width, 2 * radius_x_ + 1)))
      run_with<NarrowWindow>(in, out);
    else
      run_with<WideWindow>(in, out);
  }

 private:
  bool narrow(int rows, int columns) const {
    return is_narrow(static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(columns),
                     size_.bits);
  }

  template <class Window>
  void run_with(const SamplePlane& in, View<std::uint8_t> out) const {
    const PlaneRows<Value> rows(in);
    const bool squares = needs_squares(parameters_.output);
    const int width = size_.width;
    bands_.for_each([&](Band& band) {
      const StatisticsRows<Value, Window> memory(band.scratch, width, squares);
      int measured = 0;  // height of the windows measured last
      memory.windows.run(
          band.begin, band.end, size_.height, radius_x_, parameters_.radius,
          [&](int y, Value* buffer) { return rows.row(y, buffer); },
          [&](int y, int window_rows, const auto& ends) {
            if (std::exchange(measured, window_rows) != window_rows)
              measure_windows(width, radius_x_, static_cast<std::uint32_t>(window_rows),
                              memory.areas, memory.inverses);
            const Value* const values =
                is_threshold(parameters_.output) ? rows.row(y, memory.values) : nullptr;
            const RowWindows<Window> windows{ends, memory.areas, memory.inverses};
            if (output_bits_ == 8)
              write_row<std::uint8_t>(size_, parameters_, values, windows, out.row(y));
            else
              write_row<std::uint16_t>(size_, parameters_, values, windows, out.row(y));
          });
    });
  }

  PlaneSize size_;
  int output_bits_;
  Parameters parameters_;
  int radius_x_ = 0;  // limited to the picture
  Bands bands_;
};

}  // namespace

std::unique_ptr<LocalStatistics::Backend> make_local_statistics_cpu(Device& device,
                                                                    const PlaneSize& size,
                                                                    int output_bits, bool squares) {
  if (size.bits == 8)
    return std::make_unique<LocalStatisticsCpu<std::uint8_t>>(device, size, output_bits, squares);
  return std::make_unique<LocalStatisticsCpu<std::uint16_t>>(device, size, output_bits, squares);
}

}  // namespace cudavision::localstatistics
