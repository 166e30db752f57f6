// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/definitions/blurdefinition.h"

#include <algorithm>
#include <cmath>

#include "tests/check/common/definitions/colordefinition.h"
#include "tests/check/common/pictures/nativepicture.h"
#include "tests/kernels/gaussblur/gaussblur_definition.h"

namespace check {

namespace kernels = cudavision;
namespace definition = cudavision::test;

using kernels::Channel;
using kernels::FrameLayout;
using kernels::Role;

namespace {

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
    parameters.border_values[c] = color_sample(how.color, how.limited, layout, c);
  parameters.blur_alpha = how.blur_alpha;
  parameters.fields = how.fields;
  parameters.fine = how.fine;
  return parameters;
}

/// Returns true if the blur along an axis of `count` samples changes nothing.
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

}  // namespace check
