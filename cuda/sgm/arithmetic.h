// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Per-pixel arithmetic of both backends. backend.h and mapstages.h define the results.

#include <cstdint>

#include "cuda/core/view.h"
#include "cuda/sgm/backend.h"

namespace cudavision::sgm {

CUDAVISION_HOST_DEVICE inline int distance_of(int a, int b) {
  const int difference = a - b;
  return difference < 0 ? -difference : difference;
}

/// second is the smallest sum whose disparity differs from the best disparity by more than 1.
/// Larger sums need no test, because rounded multiplication is monotonic.
CUDAVISION_HOST_DEVICE inline bool is_unique(std::uint32_t best, std::uint32_t second,
                                             float uniqueness) {
#ifdef __CUDA_ARCH__
  return !(__fmul_rn(static_cast<float>(second), uniqueness) < static_cast<float>(best));
#else
  return !(static_cast<float>(second) * uniqueness < static_cast<float>(best));
#endif
}

/// Returns the vertex of the parabola through three sums, as an offset from the middle sum in
/// sixteenths of a pixel, from −8 to 8. Requires l ≥ c and r ≥ c.
CUDAVISION_HOST_DEVICE inline int subpixel_offset(int l, int c, int r) {
  const int den = l - 2 * c + r;
  if (den == 0)
    return 0;
  const int n = 16 * (l - r);
  const int magnitude = ((n < 0 ? -n : n) + den) / (2 * den);
  return n < 0 ? -magnitude : magnitude;
}

/// Like subpixel_offset(), but returns the vertex of two lines with equal and opposite slopes.
CUDAVISION_HOST_DEVICE inline int equiangular_offset(int l, int c, int r) {
  const int height = (l < r ? r : l) - c;
  if (height == 0)
    return 0;
  const int n = 16 * (l - r);
  const int magnitude = ((n < 0 ? -n : n) + height) / (2 * height);
  return n < 0 ? -magnitude : magnitude;
}

/// Computes the offset as libSGM does. The division truncates negative offsets towards 0.
CUDAVISION_HOST_DEVICE inline int libsgm_subpixel_offset(int l, int c, int r) {
  const int den = l - 2 * c + r;
  return den == 0 ? 0 : ((l - r) * 16 + den) / (2 * den);
}

CUDAVISION_HOST_DEVICE inline int offset_of(Subpixel subpixel, int l, int c, int r) {
  switch (subpixel) {
    case Subpixel::equiangular:
      return equiangular_offset(l, c, r);
    case Subpixel::parabola:
      return subpixel_offset(l, c, r);
    case Subpixel::libsgm:
      return libsgm_subpixel_offset(l, c, r);
    case Subpixel::none:
      break;
  }
  return 0;
}

CUDAVISION_HOST_DEVICE inline std::uint8_t confidence_of(std::uint32_t best, std::uint32_t second) {
  return second == 0 ? 0 : static_cast<std::uint8_t>(((second - best) * 255 + second / 2) / second);
}

/// Refine and KeepConfident sample every other row and column of a 9×9 window.
constexpr int refine_radius = 4, refine_step = 2;
constexpr int refine_side = 2 * refine_radius / refine_step + 1;
constexpr int refine_samples = refine_side * refine_side;

CUDAVISION_HOST_DEVICE inline std::uint8_t supported_confidence(int a, int n) {
  return static_cast<std::uint8_t>((a * (n + 1) + (refine_samples + 1) / 2) / (refine_samples + 1));
}

/// supports() needs this value in place of `unknown`. It exceeds all map values by more than 16.
constexpr std::uint32_t far_away = 0x7000;

/// Returns 1 in each 16-bit half in which sample and pixel differ by at most 16, and 0 otherwise.
/// Unknown samples must be far_away; the result for unknown pixels is meaningless.
CUDAVISION_HOST_DEVICE inline std::uint32_t supports(std::uint32_t samples, std::uint32_t pixels) {
  constexpr std::uint32_t ones = 0x00010001, signs = 0x8000 * ones, limit = 16 * ones;
  // Differences are above −2^15, so adding 2^15 prevents borrows between the halves.
  const std::uint32_t differences = samples + (signs + limit - pixels);
  return (differences & ~(differences - 2 * limit - ones) & signs) >> 15;
}

constexpr int gradient_radius_x = 5, gradient_radius_y = 3;
constexpr int gradient_neighbours = 16;

struct Neighbour {
  int dx, dy;
};

CUDAVISION_HOST_DEVICE constexpr Neighbour gradient_neighbour(int index) {
  constexpr Neighbour all[gradient_neighbours] = {
      {-1, -3}, {1, -3}, {-2, -2}, {0, -2}, {2, -2}, {-5, -1}, {5, -1}, {-2, 0},
      {2, 0},   {-5, 1}, {5, 1},   {-2, 2}, {0, 2},  {2, 2},   {-1, 3}, {1, 3}};
  return all[index];
}

/// Returns the threshold of a bit. From the highest bit down, indices 0 to 7 are for Sx, 8 to 11
/// for Sy and 12 to 15 for Dxx.
CUDAVISION_HOST_DEVICE constexpr int gradient_threshold(int index) {
  constexpr int all[16] = {19, 11, 5, 1, -2, -6, -12, -20, 9, 3, -3, -9, 12, 4, -4, -12};
  return all[index];
}

CUDAVISION_HOST_DEVICE inline bool are_joined(std::uint16_t a, std::uint16_t b, int max_step) {
  const int step = a < b ? b - a : a - b;
  return a != unknown && b != unknown && step <= max_step;
}

/// right is a row of the right map. There is no branch, so that loads of several pixels overlap.
CUDAVISION_HOST_DEVICE inline bool is_confirmed(std::uint16_t v, int x, int width, int minimum,
                                                const std::uint16_t* right, int max_diff) {
  const int d = (v + 8) >> 4, k = x - d - minimum;
  const bool inside = v != unknown && k >= 0 && k < width;
  const int met = right[inside ? k : 0];
  return inside && met != unknown && distance_of(met, d) <= max_diff;
}

/// shift is 4 if v is in sixteenths of a pixel, and 0 if it is in pixels.
CUDAVISION_HOST_DEVICE inline bool is_confirmed_by_libsgm(std::uint16_t v, std::uint32_t luminance,
                                                          int x, int width,
                                                          const std::uint16_t* right, int shift,
                                                          int max_diff) {
  if (v == unknown || luminance == 0)
    return false;
  const int d = v >> shift, k = x - d;
  return k < 0 || k >= width || max_diff < 0 || distance_of(right[k], d) <= max_diff;
}

struct FilteredPixel {
  std::uint16_t number;
  std::uint8_t age;
};

/// Applies FilterOverTime. The code is branch-free, so that the compiler can vectorise it.
CUDAVISION_HOST_DEVICE inline FilteredPixel filtered_over_time(std::uint16_t number,
                                                               bool is_measured, FilteredPixel last,
                                                               const TemporalFilter& filter) {
  const bool is_known = number != unknown, was_known = last.number != unknown;
  const int step = distance_of(number, last.number);
  const int smooth = (filter.weight * number + (256 - filter.weight) * last.number + 128) >> 8;
  const int present = is_known && was_known && step <= filter.max_step ? smooth : number;
  const int present_age = is_measured || !is_known ? 0 : 255;
  const bool stays = !is_measured && was_known && last.age < filter.persistence;
  return {static_cast<std::uint16_t>(stays ? last.number : present),
          static_cast<std::uint8_t>(stays ? last.age + 1 : present_age)};
}

CUDAVISION_HOST_DEVICE inline void put_in_order(std::uint16_t& a, std::uint16_t& b) {
  const std::uint16_t low = a < b ? a : b;
  b = a < b ? b : a;
  a = low;
}

/// Uses Paeth's median network, which has no branches, so that the compiler can vectorise it.
CUDAVISION_HOST_DEVICE inline std::uint16_t median_of_9(std::uint16_t a, std::uint16_t b,
                                                        std::uint16_t c, std::uint16_t d,
                                                        std::uint16_t e, std::uint16_t f,
                                                        std::uint16_t g, std::uint16_t h,
                                                        std::uint16_t i) {
  put_in_order(b, c), put_in_order(e, f), put_in_order(h, i);
  put_in_order(a, b), put_in_order(d, e), put_in_order(g, h);
  put_in_order(b, c), put_in_order(e, f), put_in_order(h, i);
  put_in_order(a, d), put_in_order(f, i), put_in_order(e, h);
  put_in_order(d, g), put_in_order(b, e), put_in_order(c, f);
  put_in_order(e, h), put_in_order(e, c), put_in_order(g, e);
  put_in_order(e, c);
  return e;
}

}  // namespace cudavision::sgm
