// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CPU backend. Each band keeps the sum of every column over the window's rows and updates it
// from row to row; a window's sum is then the difference of two of their running sums. The CUDA
// kernels must give the same bytes.

#include <algorithm>
#include <limits>
#include <utility>

#include "cuda/core/runningsums.h"
#include "cuda/localstatistics/backend.h"
#include "cuda/localstatistics/cpu_rows.h"
#include "cuda/pixels/samples.h"

namespace cudavision::localstatistics {
namespace {

using Output = Parameters::Output;

/// Sums up a row's columns. The running sums go on for `reach` columns beyond both ends of the row,
/// as if these columns were 0, so that windows at the edges are like all others. Returns the first,
/// which is the sum of all columns to the left of the window of pixel 0. reach is less than width.
template <class Column, class Sum>
const Sum* sum_windows(const Column* columns, int width, int reach, Sum* running) {
  std::fill_n(running, reach, Sum{0});
  add_up(columns, width, running + reach);
  std::fill_n(running + reach + width + 1, reach, running[reach + width]);
  return running;
}

/// The scratch memory of a band.
template <class Value, class Window>
struct WindowMemory {
  WindowMemory(Scratch& scratch, int width, bool squares)
      : added(scratch.take<Value>(width)),
        removed(scratch.take<Value>(width)),
        zeros(scratch.take<Value>(width)),
        columns(scratch.take<std::uint32_t>(width)),
        areas(scratch.take<std::uint32_t>(width)),
        inverses(scratch.take<typename Window::Real>(width)),
        sums(scratch.take<typename Window::Sum>(3 * width)),
        square_columns(scratch.take<std::uint64_t>(squares ? width : 0)),
        square_sums(scratch.take<std::uint64_t>(squares ? 3 * width : 0)) {}

  Value *added, *removed, *zeros;
  std::uint32_t *columns, *areas;
  typename Window::Real* inverses;
  typename Window::Sum* sums;
  std::uint64_t *square_columns, *square_sums;
};

constexpr bool reads_values(Output output) {
  return output == Output::bradley || output == Output::sauvola;
}

/// Writes one row of the output. values holds the pixels' own values, for outputs that read them.
template <class Sample, class Value, class Window>
void write_row(const PlaneSize& size, const Parameters& parameters, const Value* values,
               const RowWindows<Window>& windows, std::uint8_t* out) {
  constexpr std::uint32_t largest = std::numeric_limits<Sample>::max();
  const std::uint32_t black = parameters.invert ? largest : 0, white = largest - black;
  const int shift = std::numeric_limits<Sample>::digits - size.bits;
  // The loops hold copies, so that the compiler sees that no store changes them.
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
                   ? scratch_bytes<WindowMemory<Value, NarrowWindow>>(size.width, squares)
                   : scratch_bytes<WindowMemory<Value, WideWindow>>(size.width, squares)) {}

  void set(const Parameters& parameters) override {
    parameters_ = parameters;
    reach_ = std::min(parameters.radius, size_.width - 1);
  }

  void run(const SamplePlane& in, View<std::uint8_t> out) override {
    if (narrow(std::min(size_.height, 2 * parameters_.radius + 1),
               std::min(size_.width, 2 * reach_ + 1)))
      run_with<NarrowWindow>(in, out);
    else
      run_with<WideWindow>(in, out);
  }

 private:
  /// Returns true if all windows of at most so many pixels are narrow.
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
      const WindowMemory<Value, Window> memory(band.scratch, width, squares);
      std::fill_n(memory.zeros, width, Value{0});
      std::fill_n(memory.columns, width, 0u);
      if (squares)
        std::fill_n(memory.square_columns, width, std::uint64_t{0});
      // The columns hold the sums of rows begin to end − 1.
      int begin = std::max(band.begin - parameters_.radius, 0);
      int end = begin;
      int measured = 0;  // the rows of the windows that were measured last
      for (int y = band.begin; y < band.end; ++y) {
        const int first = std::max(y - parameters_.radius, 0);
        const int last = std::min(y + parameters_.radius, size_.height - 1);
        while (begin < first || end <= last) {
          const Value* const added = end <= last ? rows.row(end++, memory.added) : memory.zeros;
          const Value* const removed =
              begin < first ? rows.row(begin++, memory.removed) : memory.zeros;
          slide_sums(added, removed, width, memory.columns);
          if (squares)
            slide_squares(added, removed, width, memory.square_columns);
        }
        if (std::exchange(measured, end - begin) != end - begin)
          measure_windows(width, reach_, static_cast<std::uint32_t>(end - begin), memory.areas,
                          memory.inverses);
        write(memory, reads_values(parameters_.output) ? rows.row(y, memory.added) : nullptr,
              out.row(y));
      }
    });
  }

  template <class Window>
  void write(const WindowMemory<Value, Window>& memory, const Value* values,
             std::uint8_t* out) const {
    const std::ptrdiff_t after = 2 * std::ptrdiff_t{reach_} + 1;
    RowWindows<Window> windows{};
    windows.sums_before = sum_windows(memory.columns, size_.width, reach_, memory.sums);
    windows.sums_after = windows.sums_before + after;
    windows.areas = memory.areas;
    windows.inverses = memory.inverses;
    if (needs_squares(parameters_.output)) {
      windows.squares_before =
          sum_windows(memory.square_columns, size_.width, reach_, memory.square_sums);
      windows.squares_after = windows.squares_before + after;
    }
    if (output_bits_ == 8)
      write_row<std::uint8_t>(size_, parameters_, values, windows, out);
    else
      write_row<std::uint16_t>(size_, parameters_, values, windows, out);
  }

  PlaneSize size_;
  int output_bits_;
  Parameters parameters_;
  int reach_ = 0;  // how far windows reach to each side, within the picture
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
