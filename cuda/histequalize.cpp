// SPDX-License-Identifier: LGPL-2.1-or-later
#include "histequalize.h"

#include "histequalize_implementation.h"

namespace cudavision {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(Error::Kind::invalid_argument, "histogram equalisation: " + what);
}

void check_layout(const FrameLayout& layout) {
  const auto text = [](int number) { return std::to_string(number); };
  if (layout.width < 1 || layout.width > 65535 || layout.height < 1 || layout.height > 65535)
    refuse("a picture of " + text(layout.width) + "×" + text(layout.height) +
           " pixels; width and height must be 1 to 65535");
  if (layout.bits < 8 || layout.bits > 16)
    refuse(text(layout.bits) + " bits per sample; 8 to 16 are supported");
  if (layout.shift < 0 || layout.shift > (layout.bits == 8 ? 0 : 16 - layout.bits))
    refuse("samples of " + text(layout.bits) + " bits shifted by " + text(layout.shift));
  if (layout.plane_count < 1 || layout.plane_count > FrameLayout::max_planes)
    refuse(text(layout.plane_count) + " planes; 1 to 4 are supported");
  if (layout.channel_count < 1 || layout.channel_count > FrameLayout::max_channels)
    refuse(text(layout.channel_count) + " channels; 1 to 4 are supported");

  const bool rgb = layout.find(Role::luma) < 0;
  for (const Role role : {Role::red, Role::green, Role::blue})
    if (rgb && layout.find(role) < 0)
      refuse("a layout has either a luma channel or red, green and blue ones");
  if (rgb && layout.bits != 8)
    refuse("RGB of " + text(layout.bits) + " bits; only 8 bits are supported");

  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    if (channel.role == Role::chroma || channel.role == Role::alpha)
      continue;
    if (channel.plane < 0 || channel.plane >= layout.plane_count || channel.step < 1 ||
        channel.offset < 0 || channel.offset >= channel.step)
      refuse("channel " + text(c) + " lies outside the planes");
    if (channel.width != layout.width || channel.height != layout.height)
      refuse("channel " + text(c) + " is not as large as the picture");
    const PlaneShape& plane = layout.planes[channel.plane];
    const auto last = static_cast<long long>(channel.step) * (channel.width - 1) + channel.offset;
    if (plane.rows < channel.height || plane.row_bytes < (last + 1) * layout.sample_bytes())
      refuse("plane " + text(channel.plane) + " is too small for channel " + text(c));
  }
}

void check_parameters(const FrameLayout& layout, const HistogramEqualizeParameters& parameters) {
  const int largest = (1 << layout.bits) - 1;
  const bool rgb = layout.find(Role::luma) < 0;
  if (parameters.channels == HistogramEqualizeParameters::Channels::each && !rgb)
    refuse(
        "equalising each channel on its own needs RGB; this picture has a luma channel: equalise "
        "its luma, or convert it to RGB first");
  if (parameters.low < 0 || parameters.low >= parameters.high || parameters.high > largest)
    refuse("the output range " + std::to_string(parameters.low) + " to " +
           std::to_string(parameters.high) + " does not lie within 0 to " +
           std::to_string(largest));
  if (rgb && (parameters.low != 0 || parameters.high != largest))
    refuse("RGB is equalised to its full range, 0 to " + std::to_string(largest));
  if (parameters.blend < 0 || parameters.blend > 256)
    refuse("a blend of " + std::to_string(parameters.blend) + "/256; it must be 0 to 256");
}

void check_frame(const FrameLayout& layout, const ConstFrame& frame, const char* name) {
  for (int p = 0; p < layout.plane_count; ++p) {
    const auto& plane = frame.planes[p];
    if (!plane || plane.width != layout.planes[p].row_bytes ||
        plane.height != layout.planes[p].rows)
      refuse("plane " + std::to_string(p) + " of the " + name +
             " frame does not have the shape that the layout says");
  }
}

void check_bins(const FrameLayout& layout, View<std::uint32_t> bins) {
  if (!bins || bins.width != 1 << layout.bits || bins.height != 1 ||
      reinterpret_cast<std::uintptr_t>(bins.data) % sizeof(std::uint32_t) != 0)
    refuse("the histogram must be one aligned row of " + std::to_string(1 << layout.bits) +
           " counts");
}

}  // namespace

Histogram::Histogram(Device& device, const FrameLayout& layout) : layout_(layout) {
  check_layout(layout);
#ifdef CUDAVISION_HAVE_CUDA
  if (device.backend() == Backend::cuda) {
    implementation_ = make_histogram_cuda(device, layout);
    return;
  }
#endif
  implementation_ = make_histogram_cpu(device, layout);
}

Histogram::~Histogram() = default;

void Histogram::run(const ConstFrame& in, View<std::uint32_t> bins) {
  check_frame(layout_, in, "input");
  check_bins(layout_, bins);
  implementation_->run(in, bins);
}

HistogramEqualize::HistogramEqualize(Device& device, const FrameLayout& layout,
                                     const HistogramEqualizeParameters& parameters)
    : layout_(layout), parameters_(parameters) {
  check_layout(layout);
  check_parameters(layout, parameters);
#ifdef CUDAVISION_HAVE_CUDA
  if (device.backend() == Backend::cuda) {
    implementation_ = make_histogram_equalize_cuda(device, layout);
    return;
  }
#endif
  implementation_ = make_histogram_equalize_cpu(device, layout);
}

HistogramEqualize::~HistogramEqualize() = default;

void HistogramEqualize::set_parameters(const HistogramEqualizeParameters& parameters) {
  check_parameters(layout_, parameters);
  parameters_ = parameters;
}

void HistogramEqualize::run(const ConstFrame& in, const Frame& out, View<std::uint32_t> histogram) {
  check_frame(layout_, in, "input");
  check_frame(layout_, out, "output");
  if (histogram)
    check_bins(layout_, histogram);
  implementation_->run(in, out, histogram, parameters_);
}

}  // namespace cudavision
