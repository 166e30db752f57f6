// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/histequalize/histequalize.h"

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/histequalize/backend.h"
#include "cuda/histequalize/regionhistogram.h"

namespace cudavision::histequalize {
namespace {

std::unique_ptr<Histogram::Backend> make_backend(Device& device, const FrameLayout& layout) {
  return dispatch<make_histequalize_cuda, make_histequalize_cpu>(device, layout);
}

/// Returns the layout, so that the checks run before members allocate.
const FrameLayout& checked(const FrameLayout& layout, const Parameters& parameters) {
  check_luminance(operation, layout);
  check_parameters(layout, parameters);
  return layout;
}

int max_tables(const FrameLayout& layout) {
  return layout.find(Role::luma) < 0 ? 3 : 1;
}

View<std::uint8_t> bytes_of(View<std::uint32_t> row) {
  return contiguous_rows(reinterpret_cast<std::uint8_t*>(row.data), static_cast<int>(row.pitch), 1);
}

}  // namespace

void check_parameters(const FrameLayout& layout, const Parameters& parameters) {
  const int largest = (1 << layout.bits) - 1;
  const bool rgb = layout.find(Role::luma) < 0;
  if (parameters.channels == Parameters::Channels::each && !rgb)
    refuse(operation,
           "equalising each channel separately needs RGB, but the picture has a luma channel: "
           "equalise the luma, or convert the picture to RGB first");
  const Range<int> range{parameters.low, parameters.high};
  if (parameters.low < 0 || parameters.low >= parameters.high || parameters.high > largest)
    refuse(operation, "the output range ", text_of(range), " must be increasing, within 0 to ",
           largest);
  if (rgb && (parameters.low != 0 || parameters.high != largest))
    refuse(operation, "the output range ", text_of(range), " must be 0 to ", largest, " for RGB");
  constexpr Range<int> blend = Parameters::Ranges::blend;
  if (!blend.contains(parameters.blend))
    refuse(operation,
           "a blend of " + std::to_string(parameters.blend) + "; it must be " + text_of(blend));
}

void check_bins(const FrameLayout& layout, View<std::uint32_t> bins) {
  if (!bins || bins.width != 1 << layout.bits || bins.height != 1 ||
      reinterpret_cast<std::uintptr_t>(bins.data) % sizeof(std::uint32_t) != 0)
    refuse(operation, "the histogram must be one row of " + std::to_string(1 << layout.bits) +
                          " 32-bit counts, aligned to 4 bytes");
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
    : device_(device),
      layout_(checked(layout, parameters)),
      parameters_(parameters),
      backend_(make_backend(device, layout)),
      counts_(device.allocate(sizeof(std::uint32_t) * max_tables(layout) << layout.bits)),
      made_(device.allocate(sizeof(std::uint16_t) * max_tables(layout) << layout.bits)),
      areas_(device, layout),
      average_(device, max_tables(layout), layout.bits),
      hysteresis_(device, max_tables(layout), layout.bits) {
  backend_->set(parameters);
}

HistogramEqualize::~HistogramEqualize() = default;

void HistogramEqualize::set_parameters(const Parameters& parameters) {
  check_parameters(layout_, parameters);
  if (parameters.low != parameters_.low || parameters.high != parameters_.high)
    average_.restart();  // HistogramAverage restarts by itself if the channels change
  parameters_ = parameters;
  backend_->set(parameters);
}

void HistogramEqualize::run(const ConstFrame& in, const Frame& out, View<std::uint32_t> histogram,
                            const std::optional<histogramaverage::Parameters>& smoothing,
                            RegionHistogram* regions) {
  check_frame(operation, layout_, in, "input");
  check_frame(operation, layout_, out, "output");
  const Frame written = parameters_.copies_chroma ? out : without_chroma_planes(layout_, out);
  if (histogram)
    check_bins(layout_, histogram);
  if (smoothing)
    histogramaverage::check_parameters(*smoothing);

  if (!smoothing || averages_regions_ != (regions != nullptr))
    average_.restart();
  averages_regions_ = regions != nullptr;
  if (!smoothing && !regions && backend_->run(in, written, histogram))
    return;

  const View<const std::uint32_t> counts = count(in, histogram, regions);
  const auto made = contiguous_rows(made_.as<std::uint16_t>(), counts.width, counts.height);
  if (!smoothing) {
    backend_->make_tables(counts, made);
    return backend_->look_up(in, written, made);
  }
  if (!regions)
    areas_.run(in);
  backend_->make_tables(average_.run(counts, *smoothing, regions ? nullptr : areas_.change()),
                        made);
  backend_->look_up(in, written, hysteresis_.run(made, average_.status()));
}

View<const std::uint32_t> HistogramEqualize::count(const ConstFrame& in,
                                                   View<std::uint32_t> histogram,
                                                   RegionHistogram* regions) {
  auto* const own = counts_.as<std::uint32_t>();
  const bool each = parameters_.channels == Parameters::Channels::each;
  // Tables need counts that are aligned to 16 bytes.
  const bool in_place = histogram && reinterpret_cast<std::uintptr_t>(histogram.data) % 16 == 0;
  const auto luminance = contiguous_rows(in_place ? histogram.data : own, 1 << layout_.bits, 1);
  if (!each || histogram) {
    if (regions)
      regions->run(in, luminance);
    else
      backend_->count(in, luminance);
  }
  if (histogram && !in_place)
    device_.copy(bytes_of(luminance),
                 bytes_of(contiguous_rows(histogram.data, histogram.width, 1)));
  if (!each)
    return luminance;
  const auto counts = contiguous_rows(own, 1 << layout_.bits, 3);
  if (regions)
    regions->run_each(in, counts);
  else
    backend_->count_each(in, counts);
  return counts;
}

}  // namespace cudavision::histequalize
