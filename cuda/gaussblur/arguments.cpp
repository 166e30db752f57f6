// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/gaussblur/arguments.h"

#include <algorithm>

namespace cudavision::gaussblur {
namespace {

constexpr int word_bytes = 4;
constexpr int own_bytes = 2 * word_bytes;  ///< bytes of a row per thread
/// Minimum number of rows: with fewer, a row outside the plane would be mirrored more than once.
constexpr int fewest_rows = 2 * DirectPlane::max_radius;

/// Makes the __byte_perm selector that builds the word at `position`, outside the row, from the
/// words at `nearest` and `other`. Returns false if a needed byte is in neither word.
bool select_bytes(const Plane& plane, Border border, int position, int other, int nearest,
                  std::uint32_t& selector) {
  const SampleGrid& grid = plane.grids[0];
  selector = 0;
  for (int b = 0; b < word_bytes; ++b) {
    const int at = position + b;
    if (at < -plane.row_radius || at >= plane.row_bytes + plane.row_radius)
      continue;
    const int sample = at < 0 ? -((grid.step - 1 - at) / grid.step) : at / grid.step;
    const int inside = border_index(sample, grid.width, border);
    if (inside < 0)
      return false;
    const int source = at + (inside - sample) * grid.step;
    const int word = source / word_bytes * word_bytes;
    if (word != other && word != nearest)
      return false;
    selector |= static_cast<std::uint32_t>(source % word_bytes + (word == nearest ? word_bytes : 0))
                << (4 * b);
  }
  return true;
}

DirectPlane::RowsBeyond rows_beyond(int rows, Border border) {
  switch (border) {
    case Border::reflect_101:
      return {-1, 0, 2 * rows - 2};
    case Border::reflect:
      return {-1, -1, 2 * rows - 1};
    case Border::wrap:
      return {1, rows, -rows};
    case Border::replicate:
    case Border::constant:
      break;
  }
  return {0, 0, rows - 1};
}

/// Returns true if all bytes of a row belong to the image and share a grid and a kernel.
bool is_uniform(const Plane& plane, const RowKernels& along_x) {
  for (int phase = 1; phase < 4; ++phase)
    if (plane.grids[phase].step != plane.grids[0].step ||
        plane.grids[phase].width != plane.grids[0].width ||
        along_x.kernel[phase] != along_x.kernel[0])
      return false;
  return plane.inner_bytes == plane.row_bytes;
}

}  // namespace

void describe_plane(const FrameLayout& layout, int number, const ChannelBlur* channels, int count,
                    Plane& plane, RowKernels& kernels) {
  const int bytes = layout.sample_bytes();
  plane.row_bytes = layout.planes[number].row_bytes;
  plane.inner_bytes = plane.row_bytes;
  plane.period = 1;
  for (int c = 0; c < count; ++c) {
    const Channel& channel = channels[c].channel;
    if (channel.step * bytes >= plane.period) {
      plane.period = channel.step * bytes;
      plane.period_pixels = channel.subsampling_x;
      plane.row_pixels = channel.subsampling_y;
    }
    plane.inner_bytes = std::min(plane.inner_bytes, channel.step * bytes * channel.width);
  }

  // Bytes outside all channels are blurred like the first channel, then replaced by the input.
  const Channel& first = channels[0].channel;
  for (int phase = 0; phase < 4; ++phase) {
    plane.grids[phase] = {first.step * bytes, first.width};
    kernels.kernel[phase] = channels[0].x;
    kernels.step[phase] = first.step * bytes;
  }
  plane.copied = (1u << plane.period) - 1;
  for (int c = 0; c < count; ++c) {
    const Channel& channel = channels[c].channel;
    const std::uint32_t border = static_cast<std::uint32_t>(channels[c].border_value)
                                 << layout.shift;
    for (int at = channel.offset * bytes; at < plane.period; at += channel.step * bytes)
      for (int b = 0; b < bytes; ++b) {
        plane.border_value |= static_cast<std::uint64_t>(border >> (8 * b) & 0xff)
                              << (8 * (at + b));
        if (!channels[c].copied)
          plane.copied &= ~(1u << (at + b));
      }
    // If the channels differ, a period has at most 4 bytes.
    if (channel.step == first.step && channels[c].x == channels[0].x &&
        channel.width == first.width)
      continue;
    for (int at = channel.offset * bytes; at < 4; at += channel.step * bytes)
      for (int b = 0; b < bytes; ++b) {
        plane.grids[at + b] = {channel.step * bytes, channel.width};
        kernels.kernel[at + b] = channels[c].x;
        kernels.step[at + b] = channel.step * bytes;
      }
  }
  for (int b = 0; b < 8; ++b)
    if (plane.copied >> (b % plane.period) & 1)
      plane.copied_of_eight |= static_cast<std::uint64_t>(0xff) << (8 * b);
  for (int phase = 0; phase < 4; ++phase)
    if (kernels.kernel[phase]->identity())
      plane.row_identity |= 1 << phase;
}

bool are_pixels(const Plane& plane, const RowKernels& along_x) {
  return is_uniform(plane, along_x) && plane.period == pixel_bytes &&
         plane.grids[0].step == pixel_bytes;
}

std::optional<DirectPlane> describe_direct(const Plane& plane, Border border,
                                           const RowKernels& along_x, const GaussKernel& along_y) {
  DirectPlane direct;
  // Direct coefficients have 8 bits, too few for the identity's coefficient of 256.
  if (!is_uniform(plane, along_x) || plane.copied != 0 || plane.row_bytes % own_bytes != 0 ||
      plane.rows < fewest_rows || plane.row_identity != 0 || along_y.identity() ||
      plane.row_radius > word_bytes || along_y.radius() > DirectPlane::max_radius)
    return std::nullopt;
  const int step = plane.grids[0].step, end = plane.row_bytes;
  if (!select_bytes(plane, border, -word_bytes, word_bytes, 0, direct.before_row) ||
      !select_bytes(plane, border, end, end - 2 * word_bytes, end - word_bytes, direct.after_row))
    return std::nullopt;
  direct.rows_beyond = rows_beyond(plane.rows, border);

  direct.wide = plane.row_radius > word_bytes / 2;
  for (int phase = 0; phase < word_bytes; ++phase)
    for (int b = 0; b < 3 * word_bytes; ++b) {
      const int distance = b - word_bytes - phase;
      if (distance % step == 0)
        direct.row_factors[phase][b / word_bytes] |= along_x.kernel[0]->coefficient(distance / step)
                                                     << (8 * (b % word_bytes));
    }
  const auto in_row = [&](int row) { return along_y.coefficient(row - DirectPlane::max_radius); };
  for (int i = 0; i <= DirectPlane::max_radius; ++i)
    direct.column_factors[i] =
        in_row(2 * i) | in_row(2 * i + 1) << 8 | in_row(2 * i - 1) << 16 | in_row(2 * i) << 24;
  return direct;
}

}  // namespace cudavision::gaussblur
