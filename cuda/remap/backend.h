// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Interface of both backends. Callers have validated all arguments.

#include <memory>

#include "cuda/remap/packed_map.h"

namespace cudavision::remap {

class Remap::Backend {
 public:
  virtual ~Backend() = default;

  /// Writes values, unshifted. The pitch of in fits into 32 bits. The rows of out are aligned to
  /// 128 bytes and have room for whole segments.
  virtual void run(const SamplePlane& in, View<std::uint8_t> out) = 0;
};

/// map must outlive the backend.
std::unique_ptr<Remap::Backend> make_remap_cpu(Device& device, const PackedMap& map);
std::unique_ptr<Remap::Backend> make_remap_cuda(Device& device, const PackedMap& map);

}  // namespace cudavision::remap
