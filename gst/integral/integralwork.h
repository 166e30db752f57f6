// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "gst/base/videoformat.h"
#include "gst/integral/integralsettings.h"

namespace cudavision {

/// The operation behind an output of cudaintegral, for frames whose formats are known.
class IntegralWork {
 public:
  virtual ~IntegralWork() = default;

  /// Takes over settings that validation_error() has nothing against. Never allocates.
  virtual void apply(const IntegralSettings&) {}
  /// Whether every frame stays as it is.
  virtual bool identity() const { return false; }
  virtual void run(const ConstFrame& in, const Frame& out) = 0;
};

std::unique_ptr<IntegralWork> make_integral_work(Device& device, const FrameFormat& in,
                                                 const FrameFormat& out, const OutputForm& form,
                                                 const IntegralSettings& settings);

}  // namespace cudavision
