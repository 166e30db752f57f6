// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "gst/core/frameinfo.h"
#include "gst/core/videoformat.h"
#include "gst/integral/integralsettings.h"

namespace cudavision {

class FrameWindow;
class NoiseMessages;
class RegionFinder;

/// The operation behind an output of cudaintegral, for frames of known formats.
class IntegralWork {
 public:
  virtual ~IntegralWork() = default;

  /// Applies valid settings. Never allocates.
  virtual void apply(const IntegralSettings&) {}
  /// Starts a frame. Returns false if it stays unchanged; then run() is not called.
  virtual bool begin_frame(const FrameInfo&) { return true; }
  virtual void run(const ConstFrame& in, const Frame& out) = 0;
  /// The frames that are searched around each frame, or nullptr if it is processed by itself.
  virtual FrameWindow* window() { return nullptr; }

  /// Measures the noise of the frame that run() has just denoised, or that stays unchanged, and
  /// enqueues what the message needs. Only with output=denoise.
  virtual void report_noise(const ConstFrame&, const FrameTimes&, NoiseMessages&) {}
  /// The next frame begins a new sequence. May be called by any thread.
  virtual void restart() noexcept {}
};

/// arrivals: the queue for frames that wait for later ones, or nullptr if they may not. Then each
/// is denoised by itself.
std::unique_ptr<IntegralWork> make_integral_work(Device& device, const FrameFormat& in,
                                                 const FrameFormat& out, const OutputForm& form,
                                                 const IntegralSettings& settings,
                                                 RegionFinder& finder, Device* arrivals);

}  // namespace cudavision
