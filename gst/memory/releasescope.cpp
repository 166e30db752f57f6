// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/memory/libgstcuda.h"
#include "gst/memory/memorydebug.h"

namespace cudavision {

ReleaseScope::ReleaseScope(const CudaContext& context) noexcept {
  try {
    scope_.emplace(context);
  } catch (const std::exception& e) {
    GST_WARNING("the CUDA context is lost: %s", e.what());
  }
}

}  // namespace cudavision
