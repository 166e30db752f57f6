// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/repack/repack.h"

namespace cudavision::repack {

/// Implements repack.h on one kind of device. Its callers validate storages and frames.
class Repack::Backend {
 public:
  virtual ~Backend() = default;
  virtual void unpack(const ConstFrame& stored, const Frame& unpacked) = 0;
  virtual void pack(const ConstFrame& unpacked, const Frame& stored) = 0;
};

/// Returns true if the planes of unpacked frames are channels of the stored frame, and false if the
/// first one is the luminance.
bool unpacks_channels(const StoredLayout& storage, UnpackedForm form) noexcept;

std::unique_ptr<Repack::Backend> make_repack_cpu(Device& device, const StoredLayout& storage,
                                                 UnpackedForm form);
std::unique_ptr<Repack::Backend> make_repack_cuda(Device& device, const StoredLayout& storage,
                                                  UnpackedForm form);

}  // namespace cudavision::repack
