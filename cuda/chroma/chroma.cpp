// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/chroma/chroma.h"

#include "cuda/chroma/arithmetic.h"
#include "cuda/chroma/backend.h"
#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"

namespace cudavision::chroma {

constexpr char operation[] = "chroma scaling";

bool ChromaScale::is_needed(const FrameLayout& layout) noexcept {
  const Channels channels(layout);
  const Channel &first = channels.chroma[0], &second = channels.chroma[1];
  return layout.find(Role::luma) >= 0 && first.width > 0 && first.width == second.width &&
         first.height == second.height && first.subsampling_x == second.subsampling_x &&
         first.subsampling_y == second.subsampling_y;
}

ChromaScale::ChromaScale(Device& device, const FrameLayout& layout, const Parameters& parameters)
    : layout_(layout), parameters_(parameters) {
  check_luminance(operation, layout);
  if (!is_needed(layout))
    refuse(operation, "needs luma and two chroma channels of equal size and subsampling");
  backend_ = dispatch<make_chroma_scale_cuda, make_chroma_scale_cpu>(device, layout);
  backend_->set(parameters);
}

ChromaScale::~ChromaScale() = default;

void ChromaScale::set_parameters(const Parameters& parameters) {
  if (parameters == parameters_)
    return;
  backend_->set(parameters);
  parameters_ = parameters;
}

void ChromaScale::run(const ConstFrame& in, const Frame& out) {
  check_frame(operation, layout_, in, "input");
  check_frame(operation, layout_, out, "output");
  backend_->run(in, out);
}

}  // namespace cudavision::chroma
