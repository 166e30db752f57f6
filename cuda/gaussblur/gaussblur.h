// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "cuda/core/border.h"
#include "cuda/core/device.h"
#include "cuda/core/frame.h"

/// Gaussian blur, separable and exact (Gonzalez & Woods, Digital Image Processing, section 3.5), in
/// the arithmetic of OpenCV's GaussianBlur for 8- and 16-bit samples.
///
/// With the fixed-point coefficients kx, ky of gausskernel.h, b fraction bits each (8 for samples
/// of 8 bits, 16 for deeper ones), a sample becomes
///   B = (ΣΣ ky(j)·kx(i)·src(x + i, y + j) + 2^(2b−1)) >> 2b
/// an exact integer rounded once, half up. Sharpening gives `saturate(2·src − B)`.
///
/// A channel that is subsampled by s along an axis takes σ/s and size ((n − 1)/s rounded) | 1
/// there. Along an axis where a channel has one sample only, nothing is blurred, unless the border
/// is a constant. Channels are independent of each other: alpha is taken as straight.
namespace cudavision::gaussblur {

struct Parameters {
  double sigma_x = 1.2;  ///< in pixels, 0 to 127; 0: what is usual for size_x
  double sigma_y = 1.2;
  int size_x = 0;  ///< odd, 1 to 1023; 0: by sigma_x, and where that is 0 too, no blur along x
  int size_y = 0;
  bool sharpen = false;
  Border border = Border::reflect_101;
  /// The samples beyond the edges with Border::constant, one for each channel of the layout.
  std::array<std::uint16_t, FrameLayout::max_channels> border_values{};
  bool blur_alpha = true;  ///< false: alpha is copied
  bool fields = false;     ///< even and odd rows are pictures of their own: interlaced video
  bool fine = false;       ///< samples of 8 bits take coefficients of 16 fraction bits, too

  bool operator==(const Parameters& other) const noexcept;
  bool operator!=(const Parameters& other) const noexcept { return !(*this == other); }
};

class GaussBlur {
 public:
  /// layout: of 8 to 16 bits. The channels of one plane have equal heights and one step of up to 8
  /// bytes, or steps of 1, 2 and 4 bytes. Throws invalid_argument where the layout or the
  /// parameters are outside what is said here.
  GaussBlur(Device& device, const FrameLayout& layout, const Parameters& parameters);
  ~GaussBlur();

  /// Takes effect with the next run(). Never allocates; throws invalid_argument and keeps the last
  /// valid set.
  void set_parameters(const Parameters& parameters);

  /// Whether the parameters leave every frame as it is.
  bool identity() const noexcept { return identity_; }

  /// in and out have the layout's planes and do not overlap. Bytes that belong to no channel are
  /// copied. Only enqueues.
  void run(const ConstFrame& in, const Frame& out);

  class Backend;

 private:
  void use(const Parameters& parameters);

  FrameLayout layout_;
  Parameters parameters_;
  bool identity_ = false;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::gaussblur
