// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>

#include "gst/memory/libgstcuda.h"

namespace cudavision {

/// A CudaScope to free in. If the context cannot be entered any more, the driver has already freed
/// what was made in it, and only the host's objects are left to delete: logs that and goes on.
class ReleaseScope {
 public:
  explicit ReleaseScope(const CudaContext& context) noexcept;

 private:
  std::optional<CudaScope> scope_;
};

}  // namespace cudavision
