// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <limits>
#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/core/range.h"

/// Removes the speckles of black and white pictures.
///
/// Ink is the sample 0 or, with `white`, the largest one, 2^bits − 1. All other samples are
/// background. Neighbouring pixels of ink belong to the same component, where a pixel has 8
/// neighbours. In components of at most `size` pixels, the other one of these two samples replaces
/// the ink. The components are those of OpenCV's connectedComponentsWithStats().
namespace cudavision::speckles {

/// All parameters may change between frames.
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
  /// layout must have one plane of one channel, of 8 or 16 bits. Throws invalid_argument.
  Speckles(Device& device, const FrameLayout& layout, const Parameters& parameters);
  ~Speckles();

  /// Takes effect with the next run() and never allocates. Throws invalid_argument, and then the
  /// last valid parameters stay in force.
  void set_parameters(const Parameters& parameters);

  /// Returns true if no picture would be changed.
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
