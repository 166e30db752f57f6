// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <limits>
#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/core/range.h"

/// Removes speckles from black and white pictures.
///
/// Ink is the sample 0 or, with `white`, 2^bits − 1. All other samples are background. Components
/// of ink are 8-connected, as in OpenCV's connectedComponentsWithStats(). Components of at most
/// `size` pixels are overwritten with 2^bits − 1, or with 0 if `white` is set.
namespace cudavision::speckles {

struct Parameters {
  struct Ranges {
    static constexpr Range<int> size{0, std::numeric_limits<int>::max()};
  };

  int size = 0;  ///< pixels; 0 keeps all components
  bool white = false;

  bool operator==(const Parameters&) const = default;
};

class Speckles {
 public:
  /// layout must have one plane of one contiguous channel of 8 or 16 bits. Throws invalid_argument.
  Speckles(Device& device, const FrameLayout& layout, const Parameters& parameters);
  ~Speckles();

  /// Applies to later frames. Never allocates. On invalid_argument, keeps the previous parameters.
  void set_parameters(const Parameters& parameters);

  /// Returns true if size is 0, so that run() changes nothing.
  bool identity() const noexcept { return parameters_.size == 0; }

  /// Changes the picture in place. Only enqueues.
  void run(const Frame& picture);

  class Backend;

 private:
  FrameLayout layout_;
  Parameters parameters_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::speckles
