// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The interface that both backends of chroma.h implement. Callers have validated all arguments.

#include <memory>

#include "cuda/chroma/chroma.h"

namespace cudavision::chroma {

class ChromaScale::Backend {
 public:
  virtual ~Backend() = default;
  virtual void set(const Parameters& parameters) = 0;
  virtual void run(const ConstFrame& in, const Frame& out) = 0;
};

std::unique_ptr<ChromaScale::Backend> make_chroma_scale_cpu(Device& device,
                                                            const FrameLayout& layout);
std::unique_ptr<ChromaScale::Backend> make_chroma_scale_cuda(Device& device,
                                                             const FrameLayout& layout);

}  // namespace cudavision::chroma
