// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>

namespace cudavision::gaussblur {

/// One axis of a Gaussian blur: a sampled Gaussian with the fixed-point coefficients of OpenCV's
/// GaussianBlur for 8- and 16-bit samples.
///
/// The coefficients are k(i) = exp(−i²/2σ²) in binary64, times the reciprocal of their sum. If σ is
/// 0, sizes up to 9 use OpenCV's binomial-like tables, and larger sizes use σ = 0.15·size + 0.35.
/// The coefficients are quantised to b fraction bits from the edge inwards. Each rounding error is
/// carried over to the next coefficient (`a = k·2^b + error; v = rint(a); error = a − v`). The
/// centre gets the value that makes the sum 2^b.
class GaussKernel {
 public:
  static constexpr int max_size = 1023;
  static constexpr int max_radius = max_size / 2;

  /// Makes the identity.
  explicit GaussKernel(int fraction_bits = 8) noexcept;
  /// size is odd, 1 to max_size. If sigma is 0, size alone sets the kernel. fraction_bits: 8 or 16.
  GaussKernel(int size, double sigma, int fraction_bits) noexcept;

  /// Default size for sigma > 0: round(6σ + 1) for 8-bit samples and round(8σ + 1) for deeper
  /// samples, made odd and at most max_size.
  static int size_for(double sigma, int sample_bits) noexcept;

  /// Distance of the farthest non-zero coefficient after quantisation; 0 for the identity.
  int radius() const noexcept { return radius_; }
  bool identity() const noexcept { return radius_ == 0; }

  /// distance is −max_radius to max_radius. The coefficients add up to 2^fraction_bits.
  std::uint32_t coefficient(int distance) const noexcept {
    return half_[distance < 0 ? -distance : distance];
  }

  bool operator==(const GaussKernel&) const = default;

 private:
  int radius_ = 0;
  std::array<std::uint32_t, max_radius + 1> half_{};  // starting at the centre
};

}  // namespace cudavision::gaussblur
