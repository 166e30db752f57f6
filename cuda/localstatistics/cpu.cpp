// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CPU backend. Each band keeps the sum of every column over the window's rows and updates it
// from row to row; a window's sum is then the difference of two of their running sums. The CUDA
// kernels must give the same bytes.

#include <algorithm>
#include <vector>

#include "cuda/core/parallel.h"
#include "cuda/localstatistics/arithmetic.h"
#include "cuda/localstatistics/backend.h"
#include "cuda/pixels/samples.h"

namespace cudavision::localstatistics {
namespace {

using Output = Parameters::Output;

/// Adds a row to the columns, or subtracts it with a sign of −1.
template <class Value>
CUDAVISION_TARGET_CLONES void add_sums(const Value* row, int width, int sign,
                                       std::uint32_t* columns) {
  for (int x = 0; x < width; ++x)
    columns[x] += static_cast<std::uint32_t>(sign * row[x]);
}
template <class Value>
CUDAVISION_TARGET_CLONES void add_squares(const Value* row, int width, bool subtract,
                                          std::uint64_t* columns) {
  if (subtract)
    for (int x = 0; x < width; ++x)
      columns[x] -= std::uint32_t{row[x]} * row[x];
  else
    for (int x = 0; x < width; ++x)
      columns[x] += std::uint32_t{row[x]} * row[x];
}

/// Makes running[x] the sum of columns 0 to x − 1.
template <class Column, class Sum>
void add_up(const Column* columns, int width, Sum* running) {
  Sum sum = 0;
  running[0] = 0;
  for (int x = 0; x < width; ++x)
    running[x + 1] = sum += columns[x];
}

/// The working memory of one band.
template <class Value>
struct Scratch {
  Scratch(Device& device, int width, bool squares)
      : values(device.allocate(sizeof(Value) * width)),
        columns(device.allocate(sizeof(std::uint32_t) * width)),
        running(device.allocate(sizeof(std::uint64_t) * (width + 1))) {
    if (!squares)
      return;
    square_columns = device.allocate(sizeof(std::uint64_t) * width);
    running_squares = device.allocate(sizeof(std::uint64_t) * (width + 1));
  }

  Buffer values;
  Buffer columns, running;
  Buffer square_columns, running_squares;
};

/// A window's columns, begin to end − 1, its area, and 1 / area.
template <class Real>
struct Place {
  int begin, end;
  std::uint32_t area;
  Real inverse;
};

/// Writes level(x, place of the window) for each x of a row. The windows have `rows` rows. Between
/// the edges all are equally wide, which lets the compiler vectorise.
template <class Sample, class Real, class Level>
CUDAVISION_TARGET_CLONES void write_row(int width, int radius, std::uint32_t rows,
                                        std::uint8_t* __restrict out, const Level& level) {
  const auto write = [&](int x, const Place<Real>& place) __attribute__((always_inline)) {
    const auto sample = static_cast<Sample>(level(x, place));
    std::memcpy(out + sizeof sample * static_cast<std::size_t>(x), &sample, sizeof sample);
  };
  const auto place = [&](int begin, int end) __attribute__((always_inline)) {
    const std::uint32_t area = rows * static_cast<std::uint32_t>(end - begin);
    return Place<Real>{begin, end, area, Real{1} / static_cast<Real>(area)};
  };
  const int inner_begin = std::min(radius, width);
  const int inner_end = std::max(inner_begin, width - radius);
  for (int x = 0; x < inner_begin; ++x)
    write(x, place(0, std::min(x + radius, width - 1) + 1));
  const Place<Real> inner = place(0, 2 * radius + 1);
  for (int x = inner_begin; x < inner_end; ++x)
    write(x, Place<Real>{x - radius, x + radius + 1, inner.area, inner.inverse});
  for (int x = inner_end; x < width; ++x)
    write(x, place(std::max(x - radius, 0), width));
}

/// Computes one row of the output. Window is NarrowWindow or WideWindow.
template <class Value, class Window>
class OutputRow {
  using Sum = typename Window::Sum;
  using Real = typename Window::Real;

 public:
  OutputRow(const PlaneSize& size, int output_bits, const Parameters& parameters,
            const Scratch<Value>& scratch, int rows)
      : size_(size),
        output_bits_(output_bits),
        parameters_(parameters),
        sums_(scratch.running.template as<Sum>()),
        squares_(scratch.running_squares.template as<std::uint64_t>()),
        rows_(static_cast<std::uint32_t>(rows)) {
    add_up(scratch.columns.template as<std::uint32_t>(), size.width, sums_);
    if (needs_squares(parameters.output))
      add_up(scratch.square_columns.template as<std::uint64_t>(), size.width, squares_);
  }

  /// values holds the pixels' own values, which only thresholds read.
  void write(const Value* values, std::uint8_t* out) const {
    if (output_bits_ == 8)
      write_as<std::uint8_t>(values, out);
    else
      write_as<std::uint16_t>(values, out);
  }

 private:
  // Holds the pointers by value, so that the compiler sees that no store changes them.
  struct Windows {
    const Sum* sums;
    const std::uint64_t* squares;

    Sum sum(const Place<Real>& p) const { return sums[p.end] - sums[p.begin]; }
    typename Window::Variance variance(const Place<Real>& p) const {
      return scaled_variance<Window>(squares[p.end] - squares[p.begin], sum(p), p.area);
    }
  };

  template <class Sample>
  void write_as(const Value* values, std::uint8_t* out) const {
    constexpr std::uint32_t largest = std::numeric_limits<Sample>::max();
    const std::uint32_t black = parameters_.invert ? largest : 0, white = largest - black;
    const int shift = output_bits_ - size_.bits;
    const Windows w{sums_, squares_};
    const int radius = parameters_.radius;
    switch (parameters_.output) {
      case Output::mean:
        write_row<Sample, Real>(size_.width, radius, rows_, out, [=](int, const Place<Real>& p) {
          return rounded_mean<Window>(w.sum(p), p.area, p.inverse) << shift;
        });
        break;
      case Output::stddev:
        write_row<Sample, Real>(size_.width, radius, rows_, out, [=](int, const Place<Real>& p) {
          return rounded_stddev<Window>(w.variance(p), p.area, p.inverse) << shift;
        });
        break;
      case Output::bradley: {
        const std::uint32_t factor = bradley_factor(parameters_.ratio);
        write_row<Sample, Real>(size_.width, radius, rows_, out, [=](int x, const Place<Real>& p) {
          return is_black_by_bradley(values[x], w.sum(p), p.area, factor) ? black : white;
        });
        break;
      }
      case Output::sauvola: {
        const double k = parameters_.k, range = parameters_.range;
        write_row<Sample, Real>(size_.width, radius, rows_, out, [=](int x, const Place<Real>& p) {
          return is_black_by_sauvola(values[x], w.sum(p), w.variance(p), p.area, k, range) ? black
                                                                                           : white;
        });
        break;
      }
    }
  }

  PlaneSize size_;
  int output_bits_;
  const Parameters& parameters_;
  Sum* sums_;
  std::uint64_t* squares_;
  std::uint32_t rows_;
};

template <class Value>
class LocalStatisticsCpu final : public LocalStatistics::Backend {
 public:
  LocalStatisticsCpu(Device& device, const PlaneSize& size, int output_bits, bool squares)
      : size_(size), output_bits_(output_bits), bands_(size.height) {
    for (int band = 0; band < bands_.count(); ++band)
      scratch_.emplace_back(device, size.width, squares);
  }

  void set(const Parameters& parameters) override { parameters_ = parameters; }

  void run(const SamplePlane& in, View<std::uint8_t> out) override {
    const PlaneRows<Value> rows(in);
    bands_.for_each([&](const Band& band) { run_band(rows, out, band); });
  }

 private:
  void run_band(const PlaneRows<Value>& rows, View<std::uint8_t> out, const Band& band) const {
    const Scratch<Value>& scratch = scratch_[static_cast<std::size_t>(band.number)];
    const bool squares = needs_squares(parameters_.output);
    auto* columns = scratch.columns.template as<std::uint32_t>();
    auto* square_columns = scratch.square_columns.template as<std::uint64_t>();
    auto* buffer = scratch.values.template as<Value>();
    std::fill_n(columns, size_.width, 0u);
    if (squares)
      std::fill_n(square_columns, size_.width, std::uint64_t{0});

    // The window's rows are begin to end − 1.
    int begin = std::max(band.begin - parameters_.radius, 0);
    int end = begin;
    for (int y = band.begin; y < band.end; ++y) {
      const int last = std::min(y + parameters_.radius, size_.height - 1);
      for (; end <= last; ++end) {
        const Value* row = rows.row(end, buffer);
        add_sums(row, size_.width, 1, columns);
        if (squares)
          add_squares(row, size_.width, false, square_columns);
      }
      for (; begin < y - parameters_.radius; ++begin) {
        const Value* row = rows.row(begin, buffer);
        add_sums(row, size_.width, -1, columns);
        if (squares)
          add_squares(row, size_.width, true, square_columns);
      }
      write(rows.row(y, buffer), out.row(y), scratch, end - begin);
    }
  }

  void write(const Value* values, std::uint8_t* out, const Scratch<Value>& scratch,
             int rows) const {
    const int columns = std::min<int>(size_.width, 2 * parameters_.radius + 1);
    if (is_narrow(static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(columns),
                  size_.bits))
      OutputRow<Value, NarrowWindow>(size_, output_bits_, parameters_, scratch, rows)
          .write(values, out);
    else
      OutputRow<Value, WideWindow>(size_, output_bits_, parameters_, scratch, rows)
          .write(values, out);
  }

  PlaneSize size_;
  int output_bits_;
  Parameters parameters_;
  Bands bands_;
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
