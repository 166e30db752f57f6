// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/check/common/pictures/formats.h"

namespace check {

struct Size {
  int width, height;
};

/// The bytes of a frame, including chroma, alpha and padding inside pixels, in tightly packed rows.
struct Picture {
  struct Plane {
    int row_bytes = 0;
    int rows = 0;
    std::vector<std::uint8_t> bytes;

    std::uint8_t* row(int y) { return bytes.data() + static_cast<std::size_t>(row_bytes) * y; }
    const std::uint8_t* row(int y) const {
      return bytes.data() + static_cast<std::size_t>(row_bytes) * y;
    }
  };

  Picture(const FormatSpec& format, int width, int height);

  int sample(int place, int x, int y) const;            ///< without a word's unused low bits
  void set_sample(int place, int x, int y, int value);  ///< clears the unused low bits
  int sample_at(const Place& place, int x, int y) const;
  void set_sample_at(const Place& place, int x, int y, int value);

  const FormatSpec* format;
  int width, height;
  std::vector<Plane> planes;
  /// True for interlaced caps, with which GStreamer reserves chroma rows for each field.
  bool interlaced = false;
};

enum class Content {
  random,      ///< all values are equally likely
  natural,     ///< the histogram has one broad hill away from both ends
  ramp,        ///< values rise from corner to corner
  flat,        ///< a single value per channel
  two_valued,  ///< two values; a fifth of the samples has the larger value
};
inline constexpr Content all_contents[] = {Content::random, Content::natural, Content::ramp,
                                           Content::flat, Content::two_valued};

/// Luma or RGB has `content`; chroma, alpha and padding are noise. Equal seeds give equal pictures.
Picture make_picture(const FormatSpec& format, int width, int height, Content content,
                     unsigned seed);

/// Makes a picture from sample(channel, x, y). Chroma and alpha are 0.
template <class Sample>
Picture picture_with(const FormatSpec& format, int width, int height, const Sample& sample) {
  Picture picture(format, width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int place = 0; place < static_cast<int>(format.places.size()); ++place)
        picture.set_sample(place, x, y, sample(place, x, y));
  return picture;
}

/// Clears the unused bits of chroma words, which make_picture() fills with noise.
Picture with_valid_chroma(Picture picture);

/// Returns the luminance as GRAY8, GRAY16_LE, or I420_10LE or I420_12LE with chroma 0.
Picture luminance_picture(const Picture& picture);

/// The memory layout that to_buffer() uses. Without `meta`, GstVideoInfo determines the layout.
struct Layout {
  bool meta = false;
  int first = 0;         ///< bytes before the first plane
  int row_padding = 0;   ///< bytes after each row
  int plane_gap = 0;     ///< bytes between planes
  bool reverse = false;  ///< the last plane comes first in memory
  bool split = false;    ///< each plane has its own GstMemory
  bool shifted = false;  ///< the memory has unused bytes before and after the buffer
};
inline constexpr Layout packed_layout = {};
inline constexpr Layout padded_layout = {true, 0, 16, 64, false, false, false};
inline constexpr Layout odd_layout = {true, 13, 7, 5, false, false, false};
inline constexpr Layout reverse_layout = {true, 3, 1, 11, true, false, false};
inline constexpr Layout split_layout = {true, 1, 9, 0, false, true, false};
inline constexpr Layout shifted_layout = {true, 0, 3, 0, false, false, true};
inline constexpr Layout all_layouts[] = {packed_layout,  padded_layout, odd_layout,
                                         reverse_layout, split_layout,  shifted_layout};

/// Returns a new buffer in system memory. The bytes between the rows are noise.
GstBuffer* to_buffer(const Picture& picture, const Layout& layout = packed_layout);

/// Reads a picture by the layout in its GstVideoMeta or, without one, in GstVideoInfo. The caller
/// keeps its reference to the buffer.
Picture from_buffer(GstBuffer* buffer, const FormatSpec& format, int width, int height,
                    bool interlaced = false);

Picture from_plain_buffer(GstBuffer* buffer, const FormatSpec& format, int width, int height,
                          bool interlaced = false);

/// Describes the first difference. Returns an empty string if the pictures are equal.
std::string difference(const Picture& got, const Picture& expected);

std::vector<std::uint8_t> bytes_of(GstBuffer* buffer);

/// Returns "video/x-raw, format=…, width=…, height=…, framerate=25/1" and `more`.
std::string caps_of(const FormatSpec& format, int width, int height, const std::string& more = "");

/// Returns ", colorimetry=…" for caps. RGB always has full range.
std::string colorimetry(const FormatSpec& format, bool limited);

}  // namespace check
