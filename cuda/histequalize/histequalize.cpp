// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/histequalize/histequalize.h"

#include "cuda/core/layoutcheck.h"
#include "cuda/histequalize/backend.h"
#include "cuda/histequalize/checks.h"

namespace cudavision::histequalize {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  cudavision::refuse(operation, what);
}

std::unique_ptr<Histogram::Backend> make_backend(Device& device, const FrameLayout& layout) {
  return device.kind() == DeviceKind::cuda ? make_histequalize_cuda(device, layout)
                                           : make_histequalize_cpu(device, layout);
}

}  // namespace

void check_parameters(const FrameLayout& layout, const Parameters& parameters) {
  const int largest = (1 << layout.bits) - 1;
  const bool rgb = layout.find(Role::luma) < 0;
  if (parameters.channels == Parameters::Channels::each && !rgb)
    refuse(
        "equalising each channel on its own needs RGB, and this picture has a luma channel: "
        "equalise its luma, or convert it to RGB first");
  if (parameters.low < 0 || parameters.low >= parameters.high || parameters.high > largest)
    refuse("the output range " + std::to_string(parameters.low) + " to " +
           std::to_string(parameters.high) + " does not lie within 0 to " +
           std::to_string(largest));
  if (rgb && (parameters.low != 0 || parameters.high != largest))
    refuse("RGB is equalised to its full range, 0 to " + std::to_string(largest));
  if (parameters.blend < 0 || parameters.blend > 256)
    refuse("a blend of " + std::to_string(parameters.blend) + "/256 is outside 0 to 256");
}

void check_bins(const FrameLayout& layout, View<std::uint32_t> bins) {
  if (!bins || bins.width != 1 << layout.bits || bins.height != 1 ||
      reinterpret_cast<std::uintptr_t>(bins.data) % sizeof(std::uint32_t) != 0)
    refuse("the histogram must be one aligned row of " + std::to_string(1 << layout.bits) +
           " counts");
}

Histogram::Histogram(Device& device, const FrameLayout& layout) : layout_(layout) {
  check_luminance(operation, layout);
  backend_ = make_backend(device, layout);
}

Histogram::~Histogram() = default;

void Histogram::run(const ConstFrame& in, View<std::uint32_t> bins) {
  check_frame(operation, layout_, in, "input");
  check_bins(layout_, bins);
  backend_->count(in, bins);
}

HistogramEqualize::HistogramEqualize(Device& device, const FrameLayout& layout,
                                     const Parameters& parameters)
    : layout_(layout) {
  check_luminance(operation, layout);
  check_parameters(layout, parameters);
  backend_ = make_backend(device, layout);
  backend_->set(parameters);
}

HistogramEqualize::~HistogramEqualize() = default;

void HistogramEqualize::set_parameters(const Parameters& parameters) {
  check_parameters(layout_, parameters);
  backend_->set(parameters);
}

void HistogramEqualize::run(const ConstFrame& in, const Frame& out, View<std::uint32_t> histogram) {
  check_frame(operation, layout_, in, "input");
  check_frame(operation, layout_, out, "output");
  if (histogram)
    check_bins(layout_, histogram);
  backend_->run(in, out, histogram);
}

}  // namespace cudavision::histequalize
