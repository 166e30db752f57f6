// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/localstatistics/localstatistics.h"

#include <cmath>
#include <string>

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/localstatistics/backend.h"

namespace cudavision::localstatistics {
namespace {

constexpr char operation[] = "local statistics";

template <class Number>
void check_value(const char* name, Number value, const Range<Number>& range) {
  if (!range.contains(value))
    refuse(operation, name + ("=" + text_of(value)) + " must be " + text_of(range));
}

void check_parameters(const Parameters& parameters) {
  using Ranges = Parameters::Ranges;
  check_value("radius", parameters.radius, Ranges::radius);
  check_value("ratio", parameters.ratio, Ranges::ratio);
  check_value("k", parameters.k, Ranges::k);
  check_value("range", parameters.range, Ranges::range);
}

}  // namespace

LocalStatistics::LocalStatistics(Device& device, const FrameLayout& layout, int output_bits,
                                 const Parameters& parameters)
    : layout_(layout), output_bits_(output_bits), luminance_(device, layout, operation) {
  if (output_bits != 8 && output_bits != 16)
    refuse(operation,
           "the output has " + std::to_string(output_bits) + " bits; it must have 8 or 16 bits");
  if (!is_threshold(parameters.output) && output_bits < layout.bits)
    refuse(operation, "mean and stddev of samples of " + std::to_string(layout.bits) +
                          " bits need an output of 16 bits");
  check_parameters(parameters);
  const PlaneSize size{layout.width, layout.height, layout.bits};
  const bool squares = parameters.output != Parameters::Output::mean;
  backend_ = dispatch<make_local_statistics_cuda, make_local_statistics_cpu>(device, size,
                                                                             output_bits, squares);
  set(parameters);
}

LocalStatistics::~LocalStatistics() = default;

void LocalStatistics::set_parameters(const Parameters& parameters) {
  check_parameters(parameters);
  if (parameters.output != parameters_.output &&
      !(is_threshold(parameters.output) && is_threshold(parameters_.output)))
    refuse(operation, "the output may change only between bradley and sauvola");
  set(parameters);
}

void LocalStatistics::set(const Parameters& parameters) {
  parameters_ = parameters;
  if (parameters_.range == 0)
    parameters_.range = std::ldexp(parameters.limited_range ? 109.5 : 128, layout_.bits - 8);
  backend_->set(parameters_);
}

void LocalStatistics::run(const ConstFrame& in, View<std::uint8_t> out) {
  if (!out || out.width != layout_.width * (output_bits_ / 8) || out.height != layout_.height)
    refuse(operation, "the output has " + std::to_string(out.height) + " rows of " +
                          std::to_string(out.width) + " bytes; it must have " +
                          std::to_string(layout_.height) + " rows of " +
                          std::to_string(layout_.width) + " samples of " +
                          std::to_string(output_bits_) + " bits");
  backend_->run(luminance_.of(in), out);
}

}  // namespace cudavision::localstatistics
