// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/definitions.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/check/common/stereodefinition.h"
#include "tests/kernels/common/layouts.h"
#include "tests/kernels/gaussblur/gaussblur_definition.h"
#include "tests/kernels/histequalize/histequalize_definition.h"
#include "tests/kernels/integral/integral_definition.h"
#include "tests/kernels/localstatistics/localstatistics_definition.h"
#include "tests/kernels/nlmeans/nlmeans_definition.h"
#include "tests/kernels/pixels/luminance_definition.h"
#include "tests/kernels/regions/regions_definition.h"

namespace check {

namespace kernels = cudavision;
namespace definition = cudavision::test;

using kernels::Channel;
using kernels::FrameLayout;
using kernels::Role;

namespace {

template <class Frame, class SomePicture>
Frame frame_in(SomePicture& picture) {
  Frame frame;
  for (std::size_t p = 0; p < picture.planes.size(); ++p)
    frame.planes[p] = {picture.planes[p].bytes.data(), picture.planes[p].row_bytes,
                       picture.planes[p].rows, picture.planes[p].row_bytes};
  return frame;
}

kernels::View<std::uint8_t> rows_in(std::vector<std::uint8_t>& bytes, std::size_t row_bytes) {
  const auto width = static_cast<int>(row_bytes);
  return {bytes.data(), width, static_cast<int>(bytes.size() / row_bytes), width};
}

void add_channel(FrameLayout& layout, const Component& component, Role role) {
  const int bytes = layout.sample_bytes();
  const int width = (layout.width + component.pixels - 1) / component.pixels;
  const int height = (layout.height + component.lines - 1) / component.lines;
  layout.channels[static_cast<std::size_t>(layout.channel_count++)] = {
      role,
      component.place.plane,
      component.place.offset / bytes,
      component.place.step / bytes,
      width,
      height,
      component.pixels,
      component.lines};
}

/// Calls work(in, out) with the picture and a copy of it, in a format that operations can read, and
/// returns the copy in the picture's format.
template <class Work>
Picture in_native_format(const Picture& picture, const Work& work) {
  const Picture in = native(picture);
  Picture out = in;
  work(in, out);
  if (picture.format->is_native())
    return out;
  Picture result = picture;
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x) {
      for (int place = 0; place < static_cast<int>(picture.format->places.size()); ++place)
        result.set_sample(place, x, y, out.sample(place, x, y));
      for (std::size_t i = 0; i < picture.format->others.size(); ++i) {
        const Place& place = picture.format->others[i].place;
        const int most = (1 << place.depth) - 1, peak = picture.format->peak();
        const int sample = out.sample_at(out.format->others[i].place, x, y);
        result.set_sample_at(place, x, y, (2 * sample * most + peak) / (2 * peak));
      }
    }
  return result;
}

/// Calls equalize(in, out) with the luminance and a copy of it, and adds the change of the copy to
/// red, green and blue.
template <class Equalize>
Picture recolored(const Picture& picture, const Equalize& equalize) {
  const Picture before = luminance_picture(picture);
  Picture after = before;
  equalize(before, after);
  Picture out = picture;
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x) {
      const int change = after.sample(0, x, y) - before.sample(0, x, y);
      for (int c = 0; c < 3; ++c)
        out.set_sample(c, x, y,
                       std::clamp(picture.sample(c, x, y) + change, 0, picture.format->peak()));
    }
  return out;
}

}  // namespace

Picture native(const Picture& picture) {
  if (picture.format->is_native())
    return picture;
  const FormatSpec& format = native_format(*picture.format);
  Picture result =
      picture_with(format, picture.width, picture.height,
                   [&](int place, int x, int y) { return picture.sample(place, x, y); });
  for (std::size_t i = 0; i < format.others.size(); ++i) {
    const Place& place = picture.format->others[i].place;
    const int most = (1 << place.depth) - 1, peak = format.peak();
    for (int y = 0; y < picture.height; ++y)
      for (int x = 0; x < picture.width; ++x)
        result.set_sample_at(format.others[i].place, x, y,
                             (2 * picture.sample_at(place, x, y) * peak + most) / (2 * most));
  }
  return result;
}

FrameLayout layout_of(const Picture& picture) {
  const FormatSpec& format = *picture.format;
  FrameLayout layout;
  layout.width = picture.width;
  layout.height = picture.height;
  layout.bits = format.bits;
  layout.shift = format.shift;
  for (const Picture::Plane& plane : picture.planes)
    layout.planes[static_cast<std::size_t>(layout.plane_count++)] = {plane.row_bytes, plane.rows};
  const bool rgb = format.family == Family::rgb;
  constexpr Role colors[] = {Role::red, Role::green, Role::blue};
  for (std::size_t i = 0; i < format.places.size(); ++i)
    add_channel(layout, {format.places[i]}, rgb ? colors[i] : Role::luma);
  for (std::size_t i = 0; i < format.others.size(); ++i)
    add_channel(layout, format.others[i], rgb || i == 2 ? Role::alpha : Role::chroma);
  return layout;
}

kernels::ConstFrame frame_of(const Picture& picture) {
  return frame_in<kernels::ConstFrame>(picture);
}

kernels::Frame frame_of(Picture& picture) {
  return frame_in<kernels::Frame>(picture);
}

std::string text_of(double value) {
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];
  return g_ascii_dtostr(text, sizeof text, value);
}

/* cudahistequalize */

Properties Equalization::properties() const {
  return {{"method", adaptive ? "clahe" : "equalize"},
          {"clip-limit", text_of(clip_limit)},
          {"channels", each_channel ? "rgb" : "luma"},
          {"strength", text_of(strength)}};
}

Properties Equalization::tile_properties() const {
  return {{"tiles-x", std::to_string(tiles_x)}, {"tiles-y", std::to_string(tiles_y)}};
}

namespace {

template <class Parameters>
Parameters parameters_of(const Equalization& how, const FormatSpec& format) {
  const bool limited = how.limited && format.family != Family::rgb;
  Parameters parameters;
  parameters.channels =
      how.each_channel ? Parameters::Channels::each : Parameters::Channels::luminance;
  parameters.low = limited ? 16 << (format.bits - 8) : 0;
  parameters.high = limited ? 235 << (format.bits - 8) : format.peak();
  parameters.blend = static_cast<int>(std::nearbyint(256.0 * how.strength));
  return parameters;
}

kernels::clahe::Parameters tile_parameters_of(const Equalization& how, const FormatSpec& format) {
  auto parameters = parameters_of<kernels::clahe::Parameters>(how, format);
  parameters.clip_limit = how.clip_limit;
  return parameters;
}

/// Calls equalize(in, out) with the samples that are equalised, in a format that operations can
/// read, and a copy of them. Returns the picture with what the call has changed.
template <class Equalize>
Picture changed_by(const Picture& picture, const Equalize& equalize) {
  return picture.format->family == Family::rgb && picture.format->bits > 8
             ? recolored(picture, equalize)
             : in_native_format(picture, equalize);
}

using HistogramChannels = kernels::histequalize::Parameters::Channels;

/// Returns the histograms from which tables are made: those of all pixels, or of those in the
/// regions.
std::vector<Bins> histograms_of(const FrameLayout& layout, HistogramChannels channels,
                                const kernels::ConstFrame& in, const Regions* regions) {
  if (!regions)
    return definition::defined_histograms(layout, channels, in);
  const bool each = channels == HistogramChannels::each;
  std::vector<Bins> histograms(each ? 3 : 1, Bins(std::size_t{1} << layout.bits, 0));
  const definition::DefinedLuminance luminance(layout, in);
  for (int y = 0; y < layout.height; ++y)
    for (int x = 0; x < layout.width; ++x) {
      if (definition::defined_weight(*regions, x, y) == 0)
        continue;
      for (std::size_t i = 0; i < histograms.size(); ++i)
        ++histograms[i][each ? static_cast<std::size_t>(definition::defined_sample(
                                   layout, in,
                                   definition::channel_of(layout, cudavision::rgb_roles[i]), x, y))
                             : luminance.at(x, y)];
    }
  return histograms;
}

}  // namespace

Picture equalized_by_regions(const Picture& picture, const Equalization& how,
                             const Regions& regions) {
  const auto parameters = parameters_of<kernels::histequalize::Parameters>(how, *picture.format);
  return changed_by(picture, [&](const Picture& in, Picture& out) {
    std::vector<std::vector<int>> tables;
    for (const Bins& histogram :
         histograms_of(layout_of(in), parameters.channels, frame_of(in), &regions))
      tables.push_back(definition::defined_table(histogram, parameters.low, parameters.high));
    definition::defined_mapping(layout_of(in), parameters, tables, frame_of(in), frame_of(out));
  });
}

Picture equalized(const Picture& picture, const Equalization& how) {
  const FormatSpec& format = *picture.format;
  return changed_by(picture, [&](const Picture& in, Picture& out) {
    if (how.adaptive) {
      definition::defined_adaptive_equalization(layout_of(in), {how.tiles_x, how.tiles_y},
                                                tile_parameters_of(how, format), frame_of(in),
                                                frame_of(out));
    } else {
      definition::defined_equalization(
          layout_of(in), parameters_of<kernels::histequalize::Parameters>(how, format),
          frame_of(in), frame_of(out));
    }
  });
}

Picture SmoothedEqualization::next(const Picture& picture, const Equalization& how, double elapsed,
                                   double smoothing_time, double scene_cut_threshold,
                                   const Regions* regions) {
  const kernels::histogramaverage::Parameters smoothing = {
      static_cast<int>(std::nearbyint(65536 * (1 - std::exp(-elapsed / smoothing_time)))),
      static_cast<int>(std::nearbyint(65536 * scene_cut_threshold))};
  if (how.adaptive != was_adaptive_)
    restart();
  was_adaptive_ = how.adaptive;
  const auto parameters = parameters_of<kernels::histequalize::Parameters>(how, *picture.format);
  return changed_by(picture, [&](const Picture& in, Picture& out) {
    const FrameLayout layout = layout_of(in);
    if (how.adaptive)
      return adaptive_.next(layout, {how.tiles_x, how.tiles_y},
                            tile_parameters_of(how, *picture.format), smoothing, frame_of(in),
                            frame_of(out));
    const auto histograms = histograms_of(layout, parameters.channels, frame_of(in), regions);
    const std::size_t bins = histograms[0].size();
    const auto count = static_cast<int>(histograms.size());
    Bins counts;
    for (const Bins& histogram : histograms)
      counts.insert(counts.end(), histogram.begin(), histogram.end());
    const Bins averages = average_.add(counts, count, smoothing);

    std::vector<std::uint16_t> made;
    for (std::size_t start = 0; start < averages.size(); start += bins) {
      const auto first = averages.begin() + static_cast<std::ptrdiff_t>(start);
      const Bins average(first, first + static_cast<std::ptrdiff_t>(bins));
      for (const int entry : definition::defined_table(average, parameters.low, parameters.high))
        made.push_back(static_cast<std::uint16_t>(entry));
    }
    const auto& in_use = hysteresis_.follow(made, count, average_.status());
    std::vector<std::vector<int>> tables(histograms.size());
    for (std::size_t i = 0; i < in_use.size(); ++i)
      tables[i / bins].push_back(in_use[i]);
    definition::defined_mapping(layout, parameters, tables, frame_of(in), frame_of(out));
  });
}

Bins luminance_histogram(const Picture& picture) {
  const Picture in = native(picture);
  return definition::defined_histogram(layout_of(in), frame_of(in));
}

Bins luminance_histogram(const Picture& picture, const Regions& regions) {
  const Picture in = native(picture);
  return histograms_of(layout_of(in), HistogramChannels::luminance, frame_of(in), &regions)[0];
}

Statistics statistics_of(const Bins& bins) {
  const auto total = std::accumulate(bins.begin(), bins.end(), 0.0L);
  if (total == 0)
    return {};
  long double mean = 0, variance = 0, entropy = 0;
  for (std::size_t v = 0; v < bins.size(); ++v)
    if (bins[v] != 0) {
      const long double share = bins[v] / total;
      mean += share * static_cast<long double>(v);
      entropy -= share * std::log2(share);
    }
  for (std::size_t v = 0; v < bins.size(); ++v) {
    const long double distance = static_cast<long double>(v) - mean;
    variance += bins[v] / total * distance * distance;
  }
  const auto seen = [](std::uint32_t count) { return count != 0; };
  const auto first = std::find_if(bins.begin(), bins.end(), seen);
  const auto last = std::find_if(bins.rbegin(), bins.rend(), seen);
  return {static_cast<double>(mean), static_cast<double>(std::sqrt(variance)),
          static_cast<double>(entropy), static_cast<int>(first - bins.begin()),
          static_cast<int>(bins.rend() - last) - 1};
}

int percentile_of(const Bins& bins, int percent) {
  const auto total = std::accumulate(bins.begin(), bins.end(), std::uint64_t{0});
  std::uint64_t sum = 0;
  for (std::size_t v = 0; v < bins.size(); ++v) {
    sum += bins[v];
    if (sum * 100 >= total * static_cast<std::uint64_t>(percent))
      return static_cast<int>(v);
  }
  return static_cast<int>(bins.size()) - 1;
}

/* cudagaussblur */

namespace {

/// Returns the sample that represents the border colour in a channel of the layout.
std::uint16_t border_sample(const Blur& how, const FrameLayout& layout, int channel) {
  const auto component = [&](int shift) {
    return static_cast<long double>(how.color >> shift & 0xff) / 255;
  };
  const long double red = component(16), green = component(8), blue = component(0);
  const long double kr = 0.299, kb = 0.114;  // BT.601
  const long double luma = kr * red + (1 - kr - kb) * green + kb * blue;
  const long double peak = (1 << layout.bits) - 1, unit = 1 << (layout.bits - 8);
  const long double chroma_span = how.limited ? 224 * unit : peak;
  const auto sample = [&]() -> long double {
    switch (layout.channels[static_cast<std::size_t>(channel)].role) {
      case Role::luma:
        return how.limited ? 16 * unit + 219 * unit * luma : peak * luma;
      case Role::chroma:
        return 128 * unit + chroma_span * (channel == 1 ? (blue - luma) / (2 * (1 - kb))
                                                        : (red - luma) / (2 * (1 - kr)));
      case Role::red:
        return peak * red;
      case Role::green:
        return peak * green;
      case Role::blue:
        return peak * blue;
      default:
        return peak * component(24);
    }
  }();
  // Rounds ties up, including those that rounding errors put slightly below the tie.
  return static_cast<std::uint16_t>(std::clamp(std::floor(sample + 0.5L + 1e-9L), 0.0L, peak));
}

kernels::gaussblur::Parameters blur_parameters(const Blur& how, const FrameLayout& layout) {
  kernels::gaussblur::Parameters parameters;
  parameters.sigma_x = std::abs(how.sigma);
  parameters.sigma_y = how.sigma_y == 0 ? parameters.sigma_x : how.sigma_y;
  parameters.size_x = how.kernel_size;
  parameters.size_y =
      how.kernel_size_y == 0 && parameters.sigma_y == 0 ? how.kernel_size : how.kernel_size_y;
  parameters.sharpen = how.sigma < 0;
  parameters.border = how.edge;
  for (int c = 0; c < layout.channel_count; ++c)
    parameters.border_values[static_cast<std::size_t>(c)] = border_sample(how, layout, c);
  parameters.blur_alpha = how.blur_alpha;
  parameters.fields = how.fields;
  parameters.fine = how.fine;
  return parameters;
}

/// Returns whether the blur leaves an axis of `count` samples unchanged, because the kernel has
/// only one coefficient.
bool axis_is_identity(double sigma, int size, int subsampling, int count, const Blur& how,
                      int bits) {
  if (count == 1 && how.edge != Edge::constant)
    return true;
  if (size == 0)
    size = sigma == 0 ? 1 : definition::defined_kernel_size(sigma, bits);
  if (subsampling > 1)
    size = ((size - 1) / subsampling) | 1;
  const auto kernel =
      definition::defined_kernel(size, sigma / subsampling, bits > 8 || how.fine ? 16 : 8);
  return std::count(kernel.begin(), kernel.end(), 0) ==
         static_cast<std::ptrdiff_t>(kernel.size()) - 1;
}

bool blur_is_identity(const Blur& how, const FrameLayout& layout,
                      const kernels::gaussblur::Parameters& parameters) {
  return std::all_of(
      layout.channels.begin(), layout.channels.begin() + layout.channel_count,
      [&](const Channel& channel) {
        const int height = how.fields ? (channel.height + 1) / 2 : channel.height;
        return (channel.role == Role::alpha && !how.blur_alpha) ||
               (axis_is_identity(parameters.sigma_x, parameters.size_x, channel.subsampling_x,
                                 channel.width, how, layout.bits) &&
                axis_is_identity(parameters.sigma_y, parameters.size_y, channel.subsampling_y,
                                 height, how, layout.bits));
      });
}

}  // namespace

const char* nick_of(Edge edge) {
  constexpr const char* nicks[] = {"reflect-101", "replicate", "reflect", "wrap", "constant"};
  return nicks[std::find(std::begin(all_edges), std::end(all_edges), edge) - std::begin(all_edges)];
}

Properties Blur::properties() const {
  return {{"sigma", text_of(sigma)},
          {"sigma-y", text_of(sigma_y)},
          {"kernel-size", std::to_string(kernel_size)},
          {"kernel-size-y", std::to_string(kernel_size_y)},
          {"border", nick_of(edge)},
          {"border-color", std::to_string(color)},
          {"blur-alpha", blur_alpha ? "true" : "false"},
          {"fine", fine ? "true" : "false"}};
}

std::string Blur::description() const {
  return text_of(properties()) + (fields ? "interlaced" : "progressive") +
         (limited ? " limited" : " full");
}

Picture blurred(const Picture& picture, const Blur& how) {
  return in_native_format(picture, [&](const Picture& in, Picture& out) {
    const FrameLayout layout = layout_of(in);
    const kernels::gaussblur::Parameters parameters = blur_parameters(how, layout);
    if (!blur_is_identity(how, layout, parameters))
      definition::defined_blur(layout, parameters, frame_of(in), frame_of(out));
  });
}

Picture with_valid_chroma(Picture picture) {
  const FormatSpec& format = *picture.format;
  for (const Component& component : format.others)
    for (int y = 0; y < (picture.height + component.lines - 1) / component.lines; ++y)
      for (int x = 0; x < (picture.width + component.pixels - 1) / component.pixels; ++x)
        picture.set_sample_at(component.place, x, y,
                              picture.sample_at(component.place, x, y) & format.peak());
  return picture;
}

/* cudaintegral */

const char* nick_of(Output output) {
  constexpr const char* nicks[] = {"sum",    "squared-sum", "tilted-sum", "mean",
                                   "stddev", "threshold",   "denoise"};
  return nicks[static_cast<int>(output)];
}

const char* nick_of(ElementType type) {
  constexpr const char* nicks[] = {"auto", "uint32", "uint64", "float32", "float64"};
  return nicks[static_cast<int>(type)];
}

Properties Integral::properties() const {
  return {{"output", nick_of(output)},
          {"table-layout", same_size ? "same-size" : "padded"},
          {"element-type", nick_of(type)},
          {"radius", std::to_string(radius)},
          {"threshold-method", sauvola ? "sauvola" : "bradley"},
          {"threshold-ratio", text_of(ratio)},
          {"threshold-k", text_of(k)},
          {"threshold-range", text_of(range)},
          {"search-size", std::to_string(search)},
          {"patch-size", std::to_string(patch)},
          {"denoise-strength", text_of(strength)}};
}

namespace {

kernels::integral::TableKind kind_of(Output output) {
  return output == Output::sum           ? kernels::integral::TableKind::sum
         : output == Output::squared_sum ? kernels::integral::TableKind::squared_sum
                                         : kernels::integral::TableKind::tilted_sum;
}

/// Returns the element type that `auto` selects: uint32 if no sum can exceed it, else uint64.
ElementType type_for(const Picture& picture, const Integral& how) {
  using Wide = unsigned __int128;
  if (how.type != ElementType::automatic)
    return how.type;
  const auto peak = static_cast<Wide>(picture.format->peak());
  const Wide most = (how.output == Output::squared_sum ? peak * peak : peak) *
                    static_cast<Wide>(picture.width) * static_cast<Wide>(picture.height);
  return most < Wide{1} << 32 ? ElementType::uint32 : ElementType::uint64;
}

}  // namespace

std::string Tensor::caps(const std::string& framerate) const {
  return "other/tensors, format=(string)static, num_tensors=(int)1, dimensions=(string)1:" +
         std::to_string(columns) + ":" + std::to_string(rows) + ":1, types=(string)" + type +
         ", framerate=(fraction)" + framerate;
}

Integral with_radius(Output output, int radius) {
  Integral how;
  how.output = output;
  how.radius = radius;
  return how;
}

Integral denoising(double strength, int search, int patch) {
  Integral how;
  how.output = Output::denoise;
  how.search = search;
  how.patch = patch;
  how.strength = strength;
  return how;
}

Tensor tensor_of(const Picture& picture, const Integral& how) {
  using kernels::integral::TableElement;
  const ElementType type = type_for(picture, how);
  const bool narrow = type == ElementType::uint32 || type == ElementType::float32;
  kernels::integral::Parameters parameters;
  parameters.kind = kind_of(how.output);
  parameters.element = type == ElementType::uint32    ? TableElement::uint32
                       : type == ElementType::uint64  ? TableElement::uint64
                       : type == ElementType::float32 ? TableElement::float32
                                                      : TableElement::float64;
  parameters.same_size = how.same_size;
  Tensor tensor;
  tensor.columns = picture.width + (how.same_size ? 0 : 1);
  tensor.rows = picture.height + (how.same_size ? 0 : 1);
  tensor.type = nick_of(type);
  const std::size_t row_bytes = static_cast<std::size_t>(tensor.columns) * (narrow ? 4 : 8);
  tensor.bytes.resize(row_bytes * static_cast<std::size_t>(tensor.rows));
  const Picture in = native(picture);
  definition::defined_integral(layout_of(in), parameters, frame_of(in),
                               rows_in(tensor.bytes, row_bytes));
  return tensor;
}

const FormatSpec& natural_format(const Picture& picture, Output output) {
  const bool levels = output == Output::mean || output == Output::stddev;
  return format_named(levels && picture.format->bits > 8 ? "GRAY16_LE" : "GRAY8");
}

Picture gray_picture_of(const Picture& picture, const Integral& how, const FormatSpec& format) {
  using Statistic = kernels::localstatistics::Parameters::Output;
  const int larger = is_table(how.output) && !how.same_size ? 1 : 0;
  Picture out(format, picture.width + larger, picture.height + larger);
  const auto rows = rows_in(out.planes[0].bytes, static_cast<std::size_t>(out.planes[0].row_bytes));
  const Picture in = native(picture);
  if (is_table(how.output)) {
    definition::defined_integral_picture(layout_of(in), kind_of(how.output), how.same_size,
                                         format.bits, frame_of(in), rows);
    return out;
  }
  kernels::localstatistics::Parameters parameters;
  parameters.output = how.output == Output::mean     ? Statistic::mean
                      : how.output == Output::stddev ? Statistic::stddev
                      : how.sauvola                  ? Statistic::sauvola
                                                     : Statistic::bradley;
  parameters.radius = how.radius;
  parameters.ratio = how.ratio;
  parameters.k = how.k;
  parameters.range = how.range;
  definition::defined_statistics(layout_of(in), format.bits, parameters, frame_of(in), rows);
  return out;
}

Picture denoised(const Picture& picture, const Integral& how) {
  kernels::nlmeans::Parameters parameters;
  parameters.search = how.search;
  parameters.patch = how.patch;
  parameters.strength = how.strength;
  return in_native_format(picture, [&](const Picture& in, Picture& out) {
    definition::defined_denoising(layout_of(in), parameters, frame_of(in), frame_of(out));
  });
}

/* Regions of a frame */

Regions rectangles(const std::vector<Box>& boxes) {
  Regions regions;
  for (const Box& box : boxes)
    regions.boxes[static_cast<std::size_t>(regions.count++)] = box;
  return regions;
}

Properties properties_of(const Regions& regions) {
  std::string text;
  for (int i = 0; i < regions.count; ++i) {
    const Box& box = regions.boxes[static_cast<std::size_t>(i)];
    text += std::to_string(box.x0) + "," + std::to_string(box.y0) + "," +
            std::to_string(box.x1 - box.x0) + "," + std::to_string(box.y1 - box.y0) + ";";
  }
  return {{"regions", text},
          {"region-shape", regions.shape == RegionShape::rectangle ? "rectangle" : "ellipse"},
          {"region-margin", std::to_string(regions.margin)},
          {"region-feather", std::to_string(regions.feather)},
          {"region-invert", regions.invert ? "true" : "false"}};
}

Picture in_regions(const Picture& original, const Picture& processed, const Regions& regions) {
  Picture out = original;
  definition::defined_region_blend(layout_of(original), regions, frame_of(original),
                                   frame_of(processed), frame_of(out));
  return out;
}

Picture in_regions(const Picture& original, const Process& process, const Regions& regions,
                   bool equalizes) {
  const auto work = [&](const Picture& in, Picture& out) {
    out = in_regions(in, process(in), regions);
  };
  return equalizes ? changed_by(original, work) : in_native_format(original, work);
}

}  // namespace check
