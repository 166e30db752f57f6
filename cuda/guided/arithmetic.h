// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Arithmetic of guided.h for one window, shared by both backends.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "cuda/windows/reciprocal.h"

namespace cudavision::guided {

/// Windows with fewer pixels are narrow: the sums of their samples, slopes, offsets and squared
/// 8-bit samples fit into 32 bits.
constexpr std::uint32_t narrow_area = 1 << 16;

/// Constants of guided.h that depend on epsilon and the depth.
struct Scale {
  std::uint32_t epsilon = 1;  ///< E
  int headroom = 15;          ///< e
  int bits = 8;               ///< b

  Scale() = default;
  Scale(double real_epsilon, int sample_bits)
      : epsilon(static_cast<std::uint32_t>(std::fmax(1, std::rint(real_epsilon * 256)))),
        bits(sample_bits) {
    while ((1 << 14) + static_cast<int>(std::ceil(real_epsilon)) >= 1 << headroom)
      ++headroom;
  }
};

CUDAVISION_HOST_DEVICE inline std::uint32_t joined_halves(std::uint32_t lower,
                                                          std::uint32_t upper) {
#ifdef __CUDA_ARCH__
  return __byte_perm(lower, upper, 0x7610);
#else
  return (lower & 0xffff) | (upper & 0xffff0000);
#endif
}

/// Divides by the area of any window. windows::Reciprocal is faster, but requires narrow windows.
class PlainDivision {
 public:
  PlainDivision() = default;
  CUDAVISION_HOST_DEVICE PlainDivision(std::uint32_t area, int power)
      : area_(area), power_(power) {}

  CUDAVISION_HOST_DEVICE std::uint32_t divide(std::uint64_t number) const {
    return static_cast<std::uint32_t>((number << power_) / area_);
  }

 private:
  std::uint32_t area_ = 1;
  int power_ = 0;
};

template <bool kNarrow>
using Division = std::conditional_t<kNarrow, windows::Reciprocal, PlainDivision>;

/// Divides the constant 2^16·w by sums.
class ShareDividend {
 public:
  ShareDividend() = default;
  CUDAVISION_HOST_DEVICE explicit ShareDividend(std::uint32_t w)
      : dividend_(w << 16), estimate_(static_cast<float>(w) * unit) {}

  /// Returns 2^16·w / sum, rounded up, for 0 < w ≤ sum < 2^31.
  CUDAVISION_HOST_DEVICE std::uint32_t share_of(std::uint32_t sum) const {
    // The estimate's error is a few times 2^−8, so the rounded estimate is the result or one less.
    const auto divisor = static_cast<float>(static_cast<std::int32_t>(sum));
#ifdef __CUDA_ARCH__
    const std::uint32_t estimate =
        __float_as_uint(__fmul_rn(estimate_, approximate_reciprocal(divisor)));
#else
    const auto estimate =
        static_cast<std::uint32_t>(static_cast<std::int32_t>(estimate_ / divisor + 0.5f));
#endif
    const auto rest = static_cast<std::int32_t>(estimate * sum - dividend_);
    return estimate - static_cast<std::uint32_t>(rest >> 31);
  }

 private:
#ifdef __CUDA_ARCH__
  /// Makes products denormal: the bit pattern is then the product rounded to an integer.
  static constexpr float unit = 0x1p-133f;
#else
  static constexpr float unit = 0x1p16f;
#endif

  std::uint32_t dividend_ = 0;  ///< 2^16·w modulo 2^32
  float estimate_ = 0;
};

/// First pass: converts the sums over a window's samples to a word, for windows of one area.
template <bool kNarrow, class Sum>
class LineWindow {
 public:
  LineWindow() = default;
  CUDAVISION_HOST_DEVICE LineWindow(std::uint32_t pixels, const Scale& scale)
      : area_(pixels), division_(pixels, 16 - scale.bits) {
    const int squared = 31 - scale.headroom - 2 * windows::bits_of(pixels);
    const int power = squared - 2 * (scale.bits - 8);
    down_ = power < 0 ? -power : 0;
    up_ = power > 0 ? power : 0;
    using Product = std::conditional_t<kNarrow, std::uint64_t, unsigned __int128>;
    const Product product = static_cast<Product>(pixels) * pixels * scale.epsilon;
    epsilon_ = static_cast<std::uint32_t>(squared > 8 ? product << (squared - 8)
                                                      : product >> (8 - squared));
    dividend_ = ShareDividend(epsilon_);
    if (kNarrow)
      addend_ = (std::uint64_t{1} << down_) - 1 - negative(0);
  }

  /// Returns v + w, from 1 to 2^31 − 1. sum is S, squares is Q.
  CUDAVISION_HOST_DEVICE std::uint32_t denominator_of(Sum sum, Sum squares) const {
    if constexpr (kNarrow) {
      // Computes −v as S² − N·Q, rounded up, as a GPU's multiply-add cannot subtract a product.
      const auto number = static_cast<std::uint32_t>(sum);
      const std::uint64_t variance = std::uint64_t{number} * number + (negative(squares) + addend_);
      const auto v = static_cast<std::uint32_t>(static_cast<std::int64_t>(variance) >> down_);
      return epsilon_ - (v << up_);
    } else {
      const unsigned __int128 variance = static_cast<unsigned __int128>(area_) * squares -
                                         static_cast<unsigned __int128>(sum) * sum;
      return epsilon_ + (static_cast<std::uint32_t>(variance >> down_) << up_);
    }
  }

  /// Returns a in the lower half of a word and 65535 − o in the upper half.
  CUDAVISION_HOST_DEVICE std::uint32_t word_of(Sum sum, Sum squares) const {
    // ⌊2^16·v / (v + w)⌋ = 2^16 − ⌈2^16·w / (v + w)⌉. 16 bits suffice, because a < 2^16.
    const std::uint32_t slope = 0 - dividend_.share_of(denominator_of(sum, squares));
    const std::uint32_t mean = division_.divide(sum);
    return joined_halves(slope, slope * mean - 32768);
  }

 private:
  /// Returns −N·Q plus a constant, modulo 2^64. addend_ contains minus this constant.
  CUDAVISION_HOST_DEVICE std::uint64_t negative(Sum squares) const {
    if constexpr (sizeof(Sum) == 8) {
      return (0 - squares) * area_;
    } else {
      const auto shifted = static_cast<std::int32_t>(0x7fffffff - squares);
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(shifted) *
                                        static_cast<std::int32_t>(area_));
    }
  }

  std::uint32_t area_ = 1;     ///< N
  std::uint32_t epsilon_ = 0;  ///< w
  ShareDividend dividend_;
  int down_ = 0, up_ = 0;     ///< v = (N·Q − S²) >> down << up
  std::uint64_t addend_ = 0;  ///< 2^down − 1, for rounding up, minus negative(0)
  Division<kNarrow> division_;
};

/// Second pass: converts the sums over a window's words to a level.
template <bool kNarrow>
class LevelWindow {
 public:
  LevelWindow() = default;
  CUDAVISION_HOST_DEVICE LevelWindow(std::uint32_t pixels, const Scale& scale)
      : addend_(((std::uint64_t{65535} << scale.bits) + 32768) * pixels),
        bits_(scale.bits),
        division_(pixels, kNarrow ? scale.bits - 16 : 0) {
    if (kNarrow)
      addend_ <<= 32 - bits_;
  }

  /// sample is p·2^(32 − b), slopes is A, and offsets is O − 65535·N.
  template <class Sum>
  CUDAVISION_HOST_DEVICE std::uint32_t level_of(std::uint32_t sample, Sum slopes,
                                                Sum offsets) const {
    if constexpr (kNarrow) {
      // The result is ⌊n / (2^(16 − b)·N)⌋ with n = ⌊(A·p + 2^b·O + 2^15·N) / 2^b⌋.
      const std::uint64_t without_offsets = static_cast<std::uint64_t>(slopes) * sample + addend_;
      return division_.divide(static_cast<std::uint32_t>(without_offsets >> 32) + offsets);
    } else {
      const std::uint64_t scaled = slopes * (sample >> (32 - bits_)) + (offsets << bits_) + addend_;
      return division_.divide(scaled >> 16);
    }
  }

 private:
  std::uint64_t addend_ = 0;  ///< (2^b·65535 + 2^15)·N; times 2^(32 − b) in narrow windows
  int bits_ = 8;
  Division<kNarrow> division_;
};

}  // namespace cudavision::guided
