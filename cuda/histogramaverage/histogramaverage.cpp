// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/histogramaverage/histogramaverage.h"

#include <cmath>
#include <string>

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/histogramaverage/backend.h"

namespace cudavision::histogramaverage {
namespace {

constexpr char operation[] = "histogram averaging";

void check(const char* name, int value, const Range<int>& range) {
  if (!range.contains(value))
    refuse(operation, name + ("=" + text_of(value)) + " must be " + text_of(range));
}

void check_size(int rows, int bits, const char* name) {
  check(name, rows, {1, 65536});
  if (bits < 8 || bits > 16)
    refuse(operation, "2^" + std::to_string(bits) + " bins; 2^8 to 2^16 are supported");
}

/// Checks a view: 1 to `maximum` rows of 2^bits elements, at multiples of `alignment`.
template <class Element>
void check_rows(View<const Element> rows, int maximum, int bits, std::size_t alignment,
                const char* name) {
  const auto addresses =
      reinterpret_cast<std::uintptr_t>(rows.data) | static_cast<std::uintptr_t>(rows.pitch);
  if (!rows || rows.width != 1 << bits || rows.height < 1 || rows.height > maximum ||
      addresses % alignment != 0)
    refuse(operation, std::string(name) + " must be 1 to " + std::to_string(maximum) + " rows of " +
                          std::to_string(1 << bits) + " values, aligned to " +
                          std::to_string(alignment) + " bytes");
}

}  // namespace

int weight_of(std::uint64_t elapsed, std::uint64_t time_constant) {
  if (time_constant == 0)
    return whole_weight;
  const double ratio = static_cast<double>(elapsed) / static_cast<double>(time_constant);
  return static_cast<int>(std::rint(whole_weight * (1 - std::exp(-ratio))));
}

void check_parameters(const Parameters& parameters) {
  check("weight", parameters.weight, Parameters::Ranges::weight);
  check("cut_threshold", parameters.cut_threshold, Parameters::Ranges::cut_threshold);
}

HistogramAverage::HistogramAverage(Device& device, int max_histograms, int bits)
    : max_histograms_(max_histograms), bits_(bits) {
  check_size(max_histograms, bits, "max_histograms");
  backend_ = dispatch<make_histogram_average_cuda, make_histogram_average_cpu>(
      device, max_histograms, bits);
}

HistogramAverage::~HistogramAverage() = default;

View<const std::uint32_t> HistogramAverage::run(View<const std::uint32_t> counts,
                                                const Parameters& parameters,
                                                const std::uint32_t* area_change) {
  check_rows(counts, max_histograms_, bits_, sizeof(std::uint32_t), "the histograms");
  check_parameters(parameters);
  const auto averages =
      backend_->run(counts, parameters, counts.height != histograms_, area_change);
  histograms_ = counts.height;
  return averages;
}

const Status* HistogramAverage::status() const noexcept {
  return backend_->status();
}

TableHysteresis::TableHysteresis(Device& device, int max_tables, int bits)
    : max_tables_(max_tables), bits_(bits) {
  check_size(max_tables, bits, "max_tables");
  backend_ =
      dispatch<make_table_hysteresis_cuda, make_table_hysteresis_cpu>(device, max_tables, bits);
}

TableHysteresis::~TableHysteresis() = default;

View<const std::uint16_t> TableHysteresis::run(View<const std::uint16_t> made,
                                               const Status* status) {
  check_rows(made, max_tables_, bits_, 4 * sizeof(std::uint16_t), "the tables");
  if (!status)
    refuse(operation, "pass the status of the average from which the tables were made");
  return backend_->run(made, status);
}

}  // namespace cudavision::histogramaverage
