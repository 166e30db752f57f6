// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "cuda/core/border.h"
#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/core/range.h"
#include "cuda/gaussblur/gausskernel.h"
#include "cuda/regions/activecells.h"

/// Gaussian blur, separable and exact (Gonzalez & Woods, Digital Image Processing, section 3.5),
/// with the results of OpenCV's GaussianBlur for 8- and 16-bit samples.
///
/// The coefficients kx and ky are fixed-point numbers with b fraction bits (gausskernel.h): b is 8
/// for 8-bit samples, but 16 for deeper samples or with Parameters::fine. A sample becomes
///   B = (ΣΣ ky(j)·kx(i)·src(x + i, y + j) + 2^(2b−1)) >> 2b
/// The sum is an exact integer and is rounded once, half up. Sharpening gives 2·src − B, saturated.
///
/// Along an axis with subsampling s, a channel uses σ/s and the size ((n − 1)/s rounded) | 1. Along
/// an axis with a single sample, a channel is not blurred unless the border is constant. Alpha is
/// treated as straight, not premultiplied.
namespace cudavision::gaussblur {

struct Parameters {
  struct Ranges {
    static constexpr Range<double> sigma{0, 127};
    static constexpr Range<int> size{0, GaussKernel::max_size};
  };

  double sigma_x = 1.2;  ///< in pixels; if 0, size_x determines the kernel
  double sigma_y = 1.2;
  int size_x = 0;  ///< odd; 0 derives it from sigma_x; if both are 0, no blur along x
  int size_y = 0;
  bool sharpen = false;
  Border border = Border::reflect_101;
  /// Values outside the picture for Border::constant, one per channel.
  std::array<std::uint16_t, FrameLayout::max_channels> border_values{};
  bool blur_alpha = true;  ///< false: alpha is copied
  bool fields = false;     ///< interlaced video: even and odd rows are blurred separately
  bool fine = false;       ///< use 16 fraction bits also for 8-bit samples

  bool operator==(const Parameters&) const = default;
};

class GaussBlur {
 public:
  /// layout must have 8 to 16 bits per sample. The channels of one plane must have equal heights
  /// and vertical subsampling. Their steps must be 1, 2 or 4 bytes, or equal (up to 8 bytes) with
  /// equal subsampling. Throws invalid_argument otherwise and for parameters out of range.
  GaussBlur(Device& device, const FrameLayout& layout, const Parameters& parameters);
  ~GaussBlur();

  /// Applies to later frames. Never allocates. On invalid_argument, the old parameters stay in use.
  void set_parameters(const Parameters& parameters);

  /// Returns true if no sample changes its value. Unused low bits of words may still be cleared.
  bool identity() const noexcept { return identity_; }

  /// in and out have the layout's planes and do not overlap. Bytes outside all channels are copied.
  /// Only enqueues. If `active` is given, regions::RegionBlend must accept the layout, and the
  /// output is undefined where no cell is active.
  void run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active = nullptr);

  class Backend;

 private:
  void use(const Parameters& parameters);

  FrameLayout layout_;
  Parameters parameters_;
  bool identity_ = false;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::gaussblur
