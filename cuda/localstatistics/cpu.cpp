// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CPU backend. Each band keeps the sum of every column over the window's rows and updates it
// from row to row; a window's sum is then the difference of two of their running sums. The CUDA
// kernels must give the same bytes.

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "cuda/core/runningsums.h"
#include "cuda/localstatistics/backend.h"
#include "cuda/localstatistics/cpu_rows.h"
#include "cuda/pixels/samples.h"

namespace cudavision::localstatistics {
namespace {

using Output = Parameters::Output;

/// The running sums of a row's columns. They go on for `reach` columns beyond both ends of the row,
/// as if these columns were 0, so that windows at the edges are like all others.
class RunningSums {
 public:
  RunningSums() = default;
  RunningSums(Device& device, int width, std::size_t sum_bytes)
      : sums_(device.allocate(sum_bytes * 3 * static_cast<std::size_t>(width))) {}

  /// reach must be less than width.
  template <class Sum, class Column>
  void add_up(const Column* columns, int width, int reach) const {
    Sum* const running = sums_.as<Sum>() + reach;
    std::fill_n(sums_.as<Sum>(), reach, Sum{0});
    cudavision::add_up(columns, width, running);
    std::fill_n(running + width + 1, reach, running[width]);
  }

  /// Element x is the sum of all columns to the left of the window of pixel x.
  template <class Sum>
  const Sum* before() const {
    return sums_.as<Sum>();
  }
  /// Element x is the sum of these columns and of those of the window.
  template <class Sum>
  const Sum* after(int reach) const {
    return sums_.as<Sum>() + 2 * std::ptrdiff_t{reach} + 1;
  }

 private:
  Buffer sums_;
};

/// The working memory of one band.
template <class Value>
struct Scratch {
  /// sum_bytes is the size of the largest window's sum.
  Scratch(Device& device, std::size_t width, std::size_t sum_bytes, bool needs_squares)
      : added(device.allocate(sizeof(Value) * width)),
        removed(device.allocate(sizeof(Value) * width)),
        columns(device.allocate(sizeof(std::uint32_t) * width)),
        areas(device.allocate(sizeof(std::uint32_t) * width)),
        inverses(device.allocate(sum_bytes * width)),
        sums(device, static_cast<int>(width), sum_bytes) {
    if (!needs_squares)
      return;
    square_columns = device.allocate(sizeof(std::uint64_t) * width);
    squares = RunningSums(device, static_cast<int>(width), sizeof(std::uint64_t));
  }

  Buffer added, removed;  // rows of values
  Buffer columns, square_columns;
  Buffer areas, inverses;
  RunningSums sums, squares;
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
      : size_(size), output_bits_(output_bits), bands_(size.height) {
    const auto width = static_cast<std::size_t>(size.width);
    zeros_ = device.allocate(sizeof(Value) * width);
    std::memset(zeros_.data(), 0, zeros_.size());
    const std::size_t sum_bytes =
        narrow(size.height, size.width) ? sizeof(NarrowWindow::Sum) : sizeof(WideWindow::Sum);
    for (int band = 0; band < bands_.count(); ++band)
      scratch_.emplace_back(device, width, sum_bytes, squares);
  }

  void set(const Parameters& parameters) override {
    parameters_ = parameters;
    reach_ = std::min(parameters.radius, size_.width - 1);
  }

  void run(const SamplePlane& in, View<std::uint8_t> out) override {
    const PlaneRows<Value> rows(in);
    bands_.for_each([&](const Band& band) { run_band(rows, out, band); });
  }

 private:
  /// Returns true if all windows of at most so many pixels are narrow.
  bool narrow(int rows, int columns) const {
    return is_narrow(static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(columns),
                     size_.bits);
  }

  void run_band(const PlaneRows<Value>& rows, View<std::uint8_t> out, const Band& band) const {
    const Scratch<Value>& scratch = scratch_[static_cast<std::size_t>(band.number)];
    auto* const added = scratch.added.template as<Value>();
    auto* const removed = scratch.removed.template as<Value>();
    std::fill_n(scratch.columns.template as<std::uint32_t>(), size_.width, 0u);
    if (needs_squares(parameters_.output))
      std::fill_n(scratch.square_columns.template as<std::uint64_t>(), size_.width,
                  std::uint64_t{0});

    // The columns hold the sums of rows begin to end − 1.
    int begin = std::max(band.begin - parameters_.radius, 0);
    int end = begin;
    int measured = 0;  // the rows of the windows that were measured last
    for (int y = band.begin; y < band.end; ++y) {
      const int first = std::max(y - parameters_.radius, 0);
      const int last = std::min(y + parameters_.radius, size_.height - 1);
      while (begin < first || end <= last)
        slide(end <= last ? rows.row(end++, added) : zeros_.as<Value>(),
              begin < first ? rows.row(begin++, removed) : zeros_.as<Value>(), scratch);
      const bool is_measured = std::exchange(measured, end - begin) == end - begin;
      const Value* const values = reads_values(parameters_.output) ? rows.row(y, added) : nullptr;
      if (narrow(end - begin, std::min(size_.width, 2 * reach_ + 1)))
        write<NarrowWindow>(scratch, end - begin, is_measured, values, out.row(y));
      else
        write<WideWindow>(scratch, end - begin, is_measured, values, out.row(y));
    }
  }

  void slide(const Value* added, const Value* removed, const Scratch<Value>& scratch) const {
    slide_sums(added, removed, size_.width, scratch.columns.template as<std::uint32_t>());
    if (needs_squares(parameters_.output))
      slide_squares(added, removed, size_.width,
                    scratch.square_columns.template as<std::uint64_t>());
  }

  template <class Window>
  void write(const Scratch<Value>& scratch, int rows, bool is_measured, const Value* values,
             std::uint8_t* out) const {
    using Sum = typename Window::Sum;
    auto* const areas = scratch.areas.template as<std::uint32_t>();
    auto* const inverses = scratch.inverses.template as<typename Window::Real>();
    if (!is_measured)
      measure_windows(size_.width, reach_, static_cast<std::uint32_t>(rows), areas, inverses);
    scratch.sums.template add_up<Sum>(scratch.columns.template as<std::uint32_t>(), size_.width,
                                      reach_);
    RowWindows<Window> windows{};
    windows.sums_before = scratch.sums.template before<Sum>();
    windows.sums_after = scratch.sums.template after<Sum>(reach_);
    windows.areas = areas;
    windows.inverses = inverses;
    if (needs_squares(parameters_.output)) {
      scratch.squares.template add_up<std::uint64_t>(
          scratch.square_columns.template as<std::uint64_t>(), size_.width, reach_);
      windows.squares_before = scratch.squares.template before<std::uint64_t>();
      windows.squares_after = scratch.squares.template after<std::uint64_t>(reach_);
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
  Buffer zeros_;  // a row of values
  std::vector<Scratch<Value>> scratch_;
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
