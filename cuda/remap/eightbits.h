// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/core/device.h"
#include "cuda/pixels/luminance.h"

namespace cudavision::remap {

/// Reduces samples to 8 bits: value >> (bits − 8).
class EightBits {
 public:
  explicit EightBits(Device& device);
  ~EightBits();

  /// in is a plane on the device with 8 to 16 bits, out has its width and height in bytes. Both may
  /// lie at any address. Throws invalid_argument. Only enqueues.
  void run(const SamplePlane& in, View<std::uint8_t> out);

  class Backend;

 private:
  Device& device_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::remap
