// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/speckles/speckles.h"

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/speckles/backend.h"

namespace cudavision::speckles {
namespace {

constexpr char operation[] = "speckle removal";

void check(const Parameters& parameters) {
  if (!Parameters::Ranges::size.contains(parameters.size))
    refuse(operation, "size=", parameters.size, " must be ", Parameters::Ranges::size);
}

}  // namespace

Speckles::Speckles(Device& device, const FrameLayout& layout, const Parameters& parameters)
    : layout_(layout), parameters_(parameters) {
  check_layout(operation, layout);
  const Channel& channel = layout.channels[0];
  if (layout.plane_count != 1 || layout.channel_count != 1 || channel.offset != 0 ||
      channel.step != 1 || !layout.is_full(channel) || (layout.bits != 8 && layout.bits != 16))
    refuse(operation, "the layout must have one plane of one channel, of 8 or 16 bits, but has ",
           layout.plane_count, " planes, ", layout.channel_count, " channels and ", layout.bits,
           " bits");
  check(parameters);
  backend_ = dispatch<make_speckles_cuda, make_speckles_cpu>(
      device, PlaneSize{layout.width, layout.height, layout.bits});
}

Speckles::~Speckles() = default;

void Speckles::set_parameters(const Parameters& parameters) {
  check(parameters);
  parameters_ = parameters;
}

void Speckles::run(const Frame& picture) {
  check_frame(operation, layout_, picture, "output");
  if (!identity())
    backend_->run(parameters_, picture.planes[0]);
}

}  // namespace cudavision::speckles
