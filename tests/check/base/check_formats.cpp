// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the layouts that the tests assume with those of GStreamer, which cannot be derived from
// GstVideoFormatInfo alone where several samples share a word.
#include <gst/video/video.h>

#include "tests/check/common/gstcheck.h"
#include "tests/check/common/pictures/picture.h"
#include "tests/check/common/testcase.h"

using namespace check;

namespace {

constexpr int width = 37, height = 5;

/// Lets GStreamer unpack row y: alpha, then Y, U and V or red, green and blue, of 8 or 16 bits.
std::vector<int> unpacked_row(const Picture& picture, const GstVideoFormatInfo* format, int y) {
  gpointer data[GST_VIDEO_MAX_PLANES] = {};
  gint stride[GST_VIDEO_MAX_PLANES] = {};
  for (std::size_t p = 0; p < picture.planes.size(); ++p) {
    data[p] = const_cast<std::uint8_t*>(picture.planes[p].row(0));
    stride[p] = picture.planes[p].row_bytes;
  }
  const bool deep =
      GST_VIDEO_FORMAT_INFO_BITS(gst_video_format_get_info(format->unpack_format)) > 8;
  std::vector<guint16> words(std::size_t{4} * (width + 8));
  format->unpack_func(format, GST_VIDEO_PACK_FLAG_NONE, words.data(), data, stride, 0, y, width);
  const auto* bytes = reinterpret_cast<const guint8*>(words.data());
  std::vector<int> row;
  for (std::size_t i = 0; i < std::size_t{4} * width; ++i)
    row.push_back(deep ? words[i] : bytes[i] << 8);
  return row;
}

}  // namespace

TEST(test_samples_are_where_gstreamer_reads_them, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  const GstVideoFormatInfo* info =
      gst_video_format_get_info(gst_video_format_from_string(format.name));
  fail_unless(info->unpack_func != nullptr, "GStreamer has no format %s", format.name);
  const Picture picture = make_picture(format, width, height, Content::random, 11);
  for (int y = 0; y < height; ++y) {
    const std::vector<int> row = unpacked_row(picture, info, y);
    for (int x = 0; x < width; ++x) {
      const int* pixel = row.data() + std::ptrdiff_t{4} * x;
      for (int c = 0; c < static_cast<int>(format.places.size()); ++c)
        fail_unless(pixel[c + 1] >> (16 - format.bits) == picture.sample(c, x, y),
                    "%s: component %d is %d at %d,%d, but GStreamer reads %d", format.name, c,
                    picture.sample(c, x, y), x, y, pixel[c + 1] >> (16 - format.bits));
      if (GST_VIDEO_FORMAT_INFO_HAS_ALPHA(info)) {
        const Place& alpha = format.others.back().place;
        const int bits = alpha.depth != 0 ? alpha.depth : format.bits;
        fail_unless(pixel[0] >> (16 - bits) == picture.sample_at(alpha, x, y), "%s: alpha at %d,%d",
                    format.name, x, y);
      }
    }
  }
}
