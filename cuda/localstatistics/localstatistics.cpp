// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/localstatistics/localstatistics.h"

#include <cmath>
#include <string>

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/localstatistics/backend.h"

namespace cudavision::localstatistics {
namespace {

using Output = Parameters::Output;

constexpr char operation[] = "local statistics";

void check_parameters(const Parameters& parameters) {
  using Ranges = Parameters::Ranges;
  if (!Ranges::radius.contains(parameters.radius))
    refuse(operation, "a radius of " + std::to_string(parameters.radius) + " is outside " +
                          text_of(Ranges::radius));
  if (!Ranges::ratio.contains(parameters.ratio))
    refuse(operation, "a ratio of " + std::to_string(parameters.ratio) + " is outside " +
                          text_of(Ranges::ratio));
  if (!Ranges::k.contains(parameters.k))
    refuse(operation, "k = " + std::to_string(parameters.k) + " is outside " + text_of(Ranges::k));
  if (!Ranges::range.contains(parameters.range))
    refuse(operation, "a range of " + std::to_string(parameters.range) + " is outside " +
                          text_of(Ranges::range) +
                          ", where 0 stands for half the range of the samples");
}

void check_bits(const FrameLayout& layout, int output_bits, Output output) {
  if (output_bits != 8 && output_bits != 16)
    refuse(operation,
           "the output has " + std::to_string(output_bits) + " bits; it must have 8 or 16 bits");
  if (!is_threshold(output) && output_bits < layout.bits)
    refuse(operation, "mean and stddev of samples of " + std::to_string(layout.bits) +
                          " bits need an output of 16 bits");
}

}  // namespace

LocalStatistics::LocalStatistics(Device& device, const FrameLayout& layout, int output_bits,
                                 const Parameters& parameters)
    : layout_(layout), output_bits_(output_bits), luminance_(device, layout, operation) {
  check_bits(layout, output_bits, parameters.output);
  check_parameters(parameters);
  const PlaneSize size{layout.width, layout.height, layout.bits};
  const bool squares = needs_squares(parameters.output) || is_threshold(parameters.output);
  backend_ = dispatch<make_local_statistics_cuda, make_local_statistics_cpu>(device, size,
                                                                             output_bits, squares);
  set(parameters);
}

LocalStatistics::~LocalStatistics() = default;

void LocalStatistics::set_parameters(const Parameters& parameters) {
  check_parameters(parameters);
  if (parameters.output != parameters_.output &&
      !(is_threshold(parameters.output) && is_threshold(parameters_.output)))
    refuse(
        operation,
        "another output needs another operation; only bradley and sauvola may replace each other");
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
    refuse(operation, "the output must have " + std::to_string(layout_.height) + " rows of " +
                          std::to_string(layout_.width) + " samples of " +
                          std::to_string(output_bits_) + " bits");
  backend_->run(luminance_.of(in), out);
}

}  // namespace cudavision::localstatistics
