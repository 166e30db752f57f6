// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/repack/conversion.h"
#include "cuda/repack/repack.h"

namespace cudavision::repack {

/// Runs conversions on one kind of device. Its callers validate storages and frames.
class Repack::Backend {
 public:
  virtual ~Backend() = default;
  virtual void run(const Conversion& conversion) = 0;
};

std::unique_ptr<Repack::Backend> make_repack_cpu(Device& device);
std::unique_ptr<Repack::Backend> make_repack_cuda(Device& device);

}  // namespace cudavision::repack
