// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"
#include "cuda/pixels/luminance.h"

/// Integral images (summed-area tables) of the luminance I of a picture of W×H pixels, with the
/// results of OpenCV's integral (Crow, "Summed-area tables for texture mapping", 1984; tilted:
/// Lienhart & Maydt, "An extended set of Haar-like features for rapid object detection", 2002):
///   sum          S(X, Y) = Σ I(x, y)   over x < X, y < Y
///   squared sum  Q(X, Y) = Σ I(x, y)²  over the same pixels
///   tilted sum   T(X, Y) = Σ I(x, y)   over y < Y, |x − X + 1| ≤ Y − y − 1
/// for 0 ≤ X ≤ W, 0 ≤ Y ≤ H: a table of W + 1 columns and H + 1 rows. The sum over the box x0 ≤ x <
/// x1, y0 ≤ y < y1 is S(x1, y1) − S(x0, y1) − S(x1, y0) + S(x0, y0).
///
/// Sums are exact integers. uint32 elements are sums modulo 2^32, so a box whose own sum is below
/// 2^32 is still exact. Floating-point elements are rounded once, halves to even.
namespace cudavision::integral {

enum class TableKind : std::uint8_t { sum, squared_sum, tilted_sum };

enum class TableElement : std::uint8_t { uint32, uint64, float32, float64 };

inline std::size_t bytes_of(TableElement element) noexcept {
  return element == TableElement::uint32 || element == TableElement::float32 ? 4 : 8;
}

/// Returns uint32 if W·H times the largest sample (for squared sums, its square) is below 2^32, so
/// that no picture can overflow the table; otherwise uint64.
TableElement exact_element(const FrameLayout& layout, TableKind kind) noexcept;

struct Parameters {
  TableKind kind = TableKind::sum;
  TableElement element = TableElement::uint32;
  /// Omits the row Y = 0 and the column X = 0: the table has W×H entries, and entry (x, y) is for
  /// X = x + 1, Y = y + 1.
  bool same_size = false;

  bool operator==(const Parameters&) const = default;
};

class Integral {
 public:
  /// layout must suit Luminance. Throws invalid_argument.
  Integral(Device& device, const FrameLayout& layout, const Parameters& parameters);
  ~Integral();

  int width() const noexcept { return width_; }    ///< entries per row of the table
  int height() const noexcept { return height_; }  ///< rows of the table

  /// table has height() rows of width() elements, as bytes. The address and the pitch must be
  /// multiples of the element's size. in and table must not overlap. Only enqueues.
  void run(const ConstFrame& in, View<std::uint8_t> table);

  class Backend;

 private:
  Parameters parameters_;
  int width_;
  int height_;
  Luminance luminance_;
  std::unique_ptr<Backend> backend_;
};

/// Computes a table and converts it to a picture: black for 0, white for the largest entry v_max.
/// With white = 2^bits − 1 and the smallest s for which v_max div 2^s < 2^32, an entry v becomes
///   ((v div 2^s)·white + (v_max div 2^s) div 2) div (v_max div 2^s),  or 0 if v_max is 0.
class IntegralPicture {
 public:
  /// kind and same_size are as in Parameters. bits is 8 or 16. Throws invalid_argument.
  IntegralPicture(Device& device, const FrameLayout& layout, TableKind kind, bool same_size,
                  int bits);
  ~IntegralPicture();

  int width() const noexcept { return integral_.width(); }
  int height() const noexcept { return integral_.height(); }

  /// out is a plane of width()×height() bytes or words in native byte order. Only enqueues.
  void run(const ConstFrame& in, View<std::uint8_t> out);

  class Backend;

 private:
  Integral integral_;
  int bits_;
  Buffer memory_;
  View<std::uint64_t> table_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace cudavision::integral
