// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/mosaic/mosaic.h"

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/mosaic/backend.h"
#include "cuda/regions/planebytes.h"

namespace cudavision::mosaic {
namespace {

constexpr char operation[] = "mosaic";

void check_parameters(const FrameLayout& layout, const Parameters& parameters) {
  constexpr Range<int> block_size = Parameters::Ranges::block_size;
  if (!block_size.contains(parameters.block_size))
    refuse(operation, "a block size of ", parameters.block_size, " pixels; it must be ",
           block_size);
  const int largest = (1 << layout.bits) - 1;
  if (parameters.solid)
    for (int c = 0; c < layout.channel_count; ++c)
      if (parameters.values[c] > largest)
        refuse(operation, "the value of channel ", c, " is ", parameters.values[c], "; samples of ",
               layout.bits, " bits are at most ", largest);
}

}  // namespace

Mosaic::Mosaic(Device& device, const FrameLayout& layout, const Parameters& parameters)
    : layout_(layout), parameters_(parameters) {
  regions::check_plane_bytes(operation, layout);
  check_parameters(layout, parameters);
  backend_ = dispatch<make_mosaic_cuda, make_mosaic_cpu>(device, layout);
  backend_->set(parameters);
}

Mosaic::~Mosaic() = default;

void Mosaic::set_parameters(const Parameters& parameters) {
  if (parameters == parameters_)
    return;
  check_parameters(layout_, parameters);
  backend_->set(parameters);
  parameters_ = parameters;
}

void Mosaic::run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active) {
  check_frame(operation, layout_, in, "input");
  check_frame(operation, layout_, out, "output");
  if (!active || active->any())
    backend_->run(in, out, active);
}

}  // namespace cudavision::mosaic
