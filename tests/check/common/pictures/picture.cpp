// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/pictures/picture.h"

#include <gst/video/video.h>

#include <cstring>
#include <random>

#include "tests/check/common/gstcheck.h"
#include "tests/check/common/owned.h"

namespace check {

namespace {

int groups(int count, int size) {
  return (count + size - 1) / size;
}

std::uint32_t read_word(const std::uint8_t* bytes) {
  return static_cast<std::uint32_t>(bytes[0]) | static_cast<std::uint32_t>(bytes[1]) << 8 |
         static_cast<std::uint32_t>(bytes[2]) << 16 | static_cast<std::uint32_t>(bytes[3]) << 24;
}

void write_word(std::uint8_t* bytes, std::uint32_t word) {
  for (int i = 0; i < 4; ++i)
    bytes[i] = static_cast<std::uint8_t>(word >> (8 * i));
}

using Noise = std::minstd_rand;

void fill_with_noise(std::uint8_t* bytes, std::size_t count, Noise& noise) {
  for (std::size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<std::uint8_t>(noise() >> 8);
}

int choose_sample(Content content, int x, int y, const Picture& picture, int channel, unsigned seed,
                  Noise& noise) {
  const int peak = picture.format->peak();
  const int drawn = static_cast<int>((noise() >> 7) & static_cast<unsigned>(peak));
  switch (content) {
    case Content::random:
      return drawn;
    case Content::natural: {
      const int other = static_cast<int>((noise() >> 7) & static_cast<unsigned>(peak));
      return peak / 8 + (drawn + other) / 4 + channel * peak / 16;
    }
    case Content::ramp: {
      const int steps = picture.width + picture.height;
      return static_cast<int>(static_cast<std::int64_t>(peak) * (x + y + channel) / (steps + 2));
    }
    case Content::flat:
      return static_cast<int>((seed * 37u + static_cast<unsigned>(channel) * 11u) %
                              static_cast<unsigned>(peak + 1));
    case Content::two_valued:
      return (noise() >> 9) % 5 == 0 ? peak - peak / 7 : peak / 9;
  }
  return 0;
}

GstVideoFormat video_format(const FormatSpec& format) {
  return gst_video_format_from_string(format.name);
}

GstVideoInfo default_info(const Picture& picture) {
  GstVideoInfo info;
  fail_unless(gst_video_info_set_interlaced_format(&info, video_format(*picture.format),
                                                   picture.interlaced
                                                       ? GST_VIDEO_INTERLACE_MODE_INTERLEAVED
                                                       : GST_VIDEO_INTERLACE_MODE_PROGRESSIVE,
                                                   picture.width, picture.height));
  return info;
}

GstBuffer* new_noisy_buffer(std::size_t size, Noise& noise) {
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, size, nullptr);
  fail_unless(buffer != nullptr);
  GstMapInfo map;
  fail_unless(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
  fill_with_noise(map.data, map.size, noise);
  gst_buffer_unmap(buffer, &map);
  return buffer;
}

void write_planes(GstBuffer* buffer, const Picture& picture, const gsize* offset,
                  const gint* stride) {
  for (std::size_t p = 0; p < picture.planes.size(); ++p) {
    const Picture::Plane& plane = picture.planes[p];
    for (int y = 0; y < plane.rows; ++y)
      gst_buffer_fill(buffer, offset[p] + static_cast<gsize>(stride[p]) * static_cast<gsize>(y),
                      plane.row(y), static_cast<gsize>(plane.row_bytes));
  }
}

Picture read_planes(GstBuffer* buffer, const FormatSpec& format, int width, int height,
                    const gsize* offset, const gint* stride) {
  Picture picture(format, width, height);
  GstMapInfo map;
  fail_unless(gst_buffer_map(buffer, &map, GST_MAP_READ), "the output cannot be mapped");
  for (std::size_t p = 0; p < picture.planes.size(); ++p) {
    Picture::Plane& plane = picture.planes[p];
    for (int y = 0; y < plane.rows; ++y) {
      const std::ptrdiff_t start =
          static_cast<std::ptrdiff_t>(offset[p]) + stride[p] * std::ptrdiff_t{y};
      fail_unless(start >= 0 && static_cast<gsize>(start + plane.row_bytes) <= map.size,
                  "%s %dx%d: row %d of plane %d is outside the buffer of %d bytes", format.name,
                  width, height, y, static_cast<int>(p), static_cast<int>(map.size));
      std::memcpy(plane.row(y), map.data + start, static_cast<std::size_t>(plane.row_bytes));
    }
  }
  gst_buffer_unmap(buffer, &map);
  return picture;
}

}  // namespace

Picture::Picture(const FormatSpec& facts, int w, int h) : format(&facts), width(w), height(h) {
  for (const PlaneSpec& rule : facts.planes) {
    Plane plane;
    plane.row_bytes = groups(w, rule.pixels) * rule.bytes;
    plane.rows = groups(h, rule.lines);
    plane.bytes.resize(static_cast<std::size_t>(plane.row_bytes) * plane.rows);
    planes.push_back(std::move(plane));
  }
}

int Picture::sample(int place, int x, int y) const {
  return sample_at(format->places[place], x, y);
}

void Picture::set_sample(int place, int x, int y, int value) {
  set_sample_at(format->places[place], x, y, value);
}

int Picture::sample_at(const Place& where, int x, int y) const {
  const std::uint8_t* at = planes[where.plane].row(y) + where.offset + where.step * x;
  if (where.depth != 0)
    return static_cast<int>(read_word(at) >> where.low_bit & ((1u << where.depth) - 1));
  if (format->bits == 8)
    return at[0];
  return (format->big_endian ? at[0] << 8 | at[1] : at[0] | at[1] << 8) >> format->shift;
}

void Picture::set_sample_at(const Place& where, int x, int y, int value) {
  std::uint8_t* at = planes[where.plane].row(y) + where.offset + where.step * x;
  if (where.depth != 0) {
    const std::uint32_t mask = (1u << where.depth) - 1;
    const std::uint32_t others = read_word(at) & ~(mask << where.low_bit);
    write_word(at, others | (static_cast<std::uint32_t>(value) & mask) << where.low_bit);
    return;
  }
  const int word = value << format->shift;
  at[format->big_endian ? 1 : 0] = static_cast<std::uint8_t>(word);
  if (format->bits > 8)
    at[format->big_endian ? 0 : 1] = static_cast<std::uint8_t>(word >> 8);
}

Picture make_picture(const FormatSpec& format, int width, int height, Content content,
                     unsigned seed) {
  Picture picture(format, width, height);
  Noise noise(seed + 1);
  for (Picture::Plane& plane : picture.planes)
    fill_with_noise(plane.bytes.data(), plane.bytes.size(), noise);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int place = 0; place < static_cast<int>(format.places.size()); ++place)
        picture.set_sample(place, x, y, choose_sample(content, x, y, picture, place, seed, noise));
  return picture;
}

Picture with_valid_chroma(Picture picture) {
  const FormatSpec& format = *picture.format;
  for (const Component& component : format.others)
    for (int y = 0; y < (picture.height + component.lines - 1) / component.lines; ++y)
      for (int x = 0; x < (picture.width + component.pixels - 1) / component.pixels; ++x)
        picture.set_sample_at(component.place, x, y,
                              picture.sample_at(component.place, x, y) & format.peak());
  return picture;
}

Picture luminance_picture(const Picture& picture) {
  const FormatSpec& format = *picture.format;
  Picture out(format_named(format.bits == 8    ? "GRAY8"
                           : format.bits == 10 ? "I420_10LE"
                           : format.bits == 12 ? "I420_12LE"
                                               : "GRAY16_LE"),
              picture.width, picture.height);
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x)
      out.set_sample(0, x, y,
                     format.family == Family::rgb
                         ? (299 * picture.sample(0, x, y) + 587 * picture.sample(1, x, y) +
                            114 * picture.sample(2, x, y)) /
                               1000
                         : picture.sample(0, x, y));
  return out;
}

GstBuffer* to_buffer(const Picture& picture, const Layout& layout) {
  Noise noise(4711);
  gsize offset[GST_VIDEO_MAX_PLANES] = {};
  gint stride[GST_VIDEO_MAX_PLANES] = {};
  const std::size_t planes = picture.planes.size();

  if (!layout.meta) {
    const GstVideoInfo info = default_info(picture);
    GstBuffer* buffer = new_noisy_buffer(GST_VIDEO_INFO_SIZE(&info), noise);
    write_planes(buffer, picture, info.offset, info.stride);
    return buffer;
  }

  std::vector<gsize> extent(planes);  // the size of each plane including its padding
  gsize end = static_cast<gsize>(layout.first);
  for (std::size_t i = 0; i < planes; ++i) {
    const std::size_t p = layout.reverse ? planes - 1 - i : i;
    stride[p] = picture.planes[p].row_bytes + layout.row_padding;
    offset[p] = end;
    extent[p] = static_cast<gsize>(stride[p]) * static_cast<gsize>(picture.planes[p].rows);
    end += extent[p] + static_cast<gsize>(layout.plane_gap);
  }

  GstBuffer* buffer;
  if (layout.split) {
    buffer = gst_buffer_new();
    for (std::size_t p = 0; p < planes; ++p) {
      const gsize size = extent[p] + (p == 0 ? offset[0] : static_cast<gsize>(layout.plane_gap));
      const Owned<GstBuffer> part(new_noisy_buffer(size, noise));
      gst_buffer_append_memory(buffer, gst_buffer_get_memory(part, 0));
    }
  } else if (layout.shifted) {
    const gsize before = 29, after = 17;
    buffer = new_noisy_buffer(before + end + after, noise);
    gst_buffer_resize(buffer, static_cast<gssize>(before), static_cast<gssize>(end));
  } else {
    buffer = new_noisy_buffer(end, noise);
  }
  write_planes(buffer, picture, offset, stride);
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, video_format(*picture.format),
                                 picture.width, picture.height, static_cast<guint>(planes), offset,
                                 stride);
  return buffer;
}

Picture from_buffer(GstBuffer* buffer, const FormatSpec& format, int width, int height,
                    bool interlaced) {
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  if (meta == nullptr)
    return from_plain_buffer(buffer, format, width, height, interlaced);
  fail_unless(meta->format == video_format(format) && meta->width == static_cast<guint>(width) &&
                  meta->height == static_cast<guint>(height) &&
                  meta->n_planes == format.planes.size(),
              "GstVideoMeta gives %s %ux%u but the caps give %s %dx%d",
              gst_video_format_to_string(meta->format), meta->width, meta->height, format.name,
              width, height);
  return read_planes(buffer, format, width, height, meta->offset, meta->stride);
}

Picture from_plain_buffer(GstBuffer* buffer, const FormatSpec& format, int width, int height,
                          bool interlaced) {
  Picture shape(format, width, height);
  shape.interlaced = interlaced;
  const GstVideoInfo info = default_info(shape);
  return read_planes(buffer, format, width, height, info.offset, info.stride);
}

std::string difference(const Picture& got, const Picture& expected) {
  if (got.format != expected.format || got.width != expected.width || got.height != expected.height)
    return "the shapes differ";
  for (std::size_t p = 0; p < expected.planes.size(); ++p) {
    const Picture::Plane &a = got.planes[p], &b = expected.planes[p];
    for (std::size_t i = 0; i < b.bytes.size(); ++i)
      if (a.bytes[i] != b.bytes[i])
        return "plane " + std::to_string(p) + " row " + std::to_string(i / b.row_bytes) + " byte " +
               std::to_string(i % b.row_bytes) + ": " + std::to_string(a.bytes[i]) +
               " instead of " + std::to_string(b.bytes[i]);
  }
  return "";
}

std::vector<std::uint8_t> bytes_of(GstBuffer* buffer) {
  std::vector<std::uint8_t> bytes(gst_buffer_get_size(buffer));
  gst_buffer_extract(buffer, 0, bytes.data(), bytes.size());
  return bytes;
}

std::string caps_of(const FormatSpec& format, int width, int height, const std::string& more) {
  return std::string("video/x-raw, format=") + format.name + ", width=" + std::to_string(width) +
         ", height=" + std::to_string(height) + ", framerate=25/1" + more;
}

std::string colorimetry(const FormatSpec& format, bool limited) {
  if (format.family == Family::rgb)
    return ", colorimetry=sRGB";
  // The fields are range:matrix:transfer:primaries. Only the range differs from bt601 (2:4:16:4).
  return limited ? ", colorimetry=bt601" : ", colorimetry=1:4:16:4";
}

}  // namespace check
