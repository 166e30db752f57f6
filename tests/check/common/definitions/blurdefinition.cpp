// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/definitions/blurdefinition.h"

#include <algorithm>
#include <cmath>

#include "tests/check/common/pictures/nativepicture.h"
#include "tests/kernels/gaussblur/gaussblur_definition.h"
#include "tests/kernels/mosaic/mosaic_definition.h"

namespace check {

namespace kernels = cudavision;
namespace definition = cudavision::test;

using kernels::Channel;
using kernels::FrameLayout;
using kernels::Role;

namespace {

/// Returns the sample that represents a colour in a channel of the layout.
std::uint16_t color_sample(std::uint32_t argb, bool limited, const FrameLayout& layout,
                           int channel) {
  const auto component = [&](int shift) {
    return static_cast<long double>(argb >> shift & 0xff) / 255;
  };
  const long double red = component(16), green = component(8), blue = component(0);
  const long double kr = 0.299, kb = 0.114;  // BT.601
  const long double luma = kr * red + (1 - kr - kb) * green + kb * blue;
  const long double peak = (1 << layout.bits) - 1, unit = 1 << (layout.bits - 8);
  const long double chroma_span = limited ? 224 * unit : peak;
  const auto sample = [&]() -> long double {
    switch (layout.channels[static_cast<std::size_t>(channel)].role) {
      case Role::luma:
        return limited ? 16 * unit + 219 * unit * luma : peak * luma;
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
    parameters.border_values[static_cast<std::size_t>(c)] =
        color_sample(how.color, how.limited, layout, c);
  parameters.blur_alpha = how.blur_alpha;
  parameters.fields = how.fields;
  parameters.fine = how.fine;
  return parameters;
}

kernels::mosaic::Parameters mosaic_parameters(const Blur& how, const FrameLayout& layout) {
  kernels::mosaic::Parameters parameters;
  parameters.block_size = how.block_size;
  parameters.solid = how.method == Method::solid;
  for (int c = 0; c < layout.channel_count; ++c)
    parameters.values[static_cast<std::size_t>(c)] =
        color_sample(how.solid_color, how.limited, layout, c);
  parameters.hide_alpha = how.method == Method::mosaic && how.blur_alpha;
  parameters.fields = how.fields;
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

const char* nick_of(Method method) {
  constexpr const char* nicks[] = {"gaussian", "mosaic", "solid"};
  return nicks[static_cast<int>(method)];
}

Properties Blur::properties() const {
  return {{"sigma", text_of(sigma)},
          {"sigma-y", text_of(sigma_y)},
          {"kernel-size", std::to_string(kernel_size)},
          {"kernel-size-y", std::to_string(kernel_size_y)},
          {"border", nick_of(edge)},
          {"border-color", std::to_string(color)},
          {"blur-alpha", blur_alpha ? "true" : "false"},
          {"fine", fine ? "true" : "false"},
          {"method", nick_of(method)},
          {"block-size", std::to_string(block_size)},
          {"solid-color", std::to_string(solid_color)}};
}

std::string Blur::description() const {
  return text_of(properties()) + (fields ? "interlaced" : "progressive") +
         (limited ? " limited" : " full");
}

Picture blurred(const Picture& picture, const Blur& how) {
  return in_native_format(picture, [&](const Picture& in, Picture& out) {
    const FrameLayout layout = layout_of(in);
    if (how.method != Method::gaussian) {
      definition::defined_mosaic(layout, mosaic_parameters(how, layout), frame_of(in),
                                 frame_of(out));
      return;
    }
    const kernels::gaussblur::Parameters parameters = blur_parameters(how, layout);
    if (!blur_is_identity(how, layout, parameters))
      definition::defined_blur(layout, parameters, frame_of(in), frame_of(out));
  });
}

}  // namespace check
