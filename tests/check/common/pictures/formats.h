// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <vector>

/// The layout of each format, independent of GstVideoFormatInfo and of the plug-in's table.
namespace check {

/// Sample x of a row is at byte offset + step·x of that row of the plane.
struct Place {
  int plane;
  int offset;
  int step;
  int low_bit = 0;  ///< lowest bit of the sample in a 4-byte word if `depth` > 0
  int depth = 0;    ///< bits of the sample in that word; 0: the sample has its own byte or word
};

/// One sample per `pixels` pixels, one row per `lines` lines, both rounded up.
struct Component {
  Place place;
  int pixels = 1;
  int lines = 1;
};

/// One group of bytes per `pixels` pixels, one row per `lines` lines, both rounded up.
struct PlaneSpec {
  int pixels;
  int bytes;
  int lines;
};

enum class Family { gray, yuv, rgb };

struct FormatSpec {
  const char* name;
  Family family;
  int bits;
  int shift;                           ///< unused low bits of the 16-bit word
  std::vector<Place> places;           ///< luma, or red, green and blue
  std::vector<PlaneSpec> planes;       ///< in memory order
  std::vector<Component> others = {};  ///< U and V (and alpha), or alpha
  bool big_endian = false;

  bool is_packed() const { return places[0].depth != 0; }
  /// Returns true if operations can read the samples without conversion.
  bool is_native() const { return !big_endian && !is_packed(); }
  /// Returns true for 8-bit RGB. Deeper RGB is equalised only by its luminance.
  bool has_single_colors() const { return family == Family::rgb && bits == 8; }
  int sample_bytes() const { return bits > 8 ? 2 : 1; }
  int peak() const { return (1 << bits) - 1; }
};

const std::vector<FormatSpec>& formats();

const FormatSpec& format_named(const char* name);
inline const FormatSpec& gray() {
  return format_named("GRAY8");
}

inline constexpr const char* formats_of_the_same_samples[][2] = {{"P010_10LE", "I420_10LE"},
                                                                 {"P012_LE", "I420_12LE"},
                                                                 {"GRAY16_BE", "GRAY16_LE"},
                                                                 {"RGB10A2_LE", "BGR10A2_LE"}};

/// Returns a native format with the same components, for a format that is not native.
const FormatSpec& native_format(const FormatSpec& format);

inline const FormatSpec& format_number(int number) {
  return formats()[number];
}

}  // namespace check
