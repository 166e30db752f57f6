// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/gaussblur/planes.h"

#include <algorithm>

namespace cudavision::gaussblur {

void describe_plane(const FrameLayout& layout, int plane, const BlurChannel* channels, int count,
                    BlurPicture& picture, RowKernels& kernels) {
  const int bytes = layout.sample_bytes();
  picture.row_bytes = layout.planes[plane].row_bytes;
  picture.inner_bytes = picture.row_bytes;
  picture.period = 1;
  for (int c = 0; c < count; ++c) {
    const Channel& channel = channels[c].channel;
    picture.period = std::max(picture.period, channel.step * bytes);
    picture.inner_bytes = std::min(picture.inner_bytes, channel.step * bytes * channel.width);
  }

  // Bytes of no channel are staged and blurred like their neighbours, and then copied after all.
  const Channel& first = channels[0].channel;
  for (int phase = 0; phase < 4; ++phase) {
    picture.grids[phase] = {first.step * bytes, first.width};
    kernels.kernel[phase] = channels[0].x;
    kernels.step[phase] = first.step * bytes;
  }
  picture.copied = (1u << picture.period) - 1;
  for (int c = 0; c < count; ++c) {
    const Channel& channel = channels[c].channel;
    const std::uint32_t border = static_cast<std::uint32_t>(channels[c].border_value)
                                 << layout.shift;
    for (int at = channel.offset * bytes; at < picture.period; at += channel.step * bytes)
      for (int b = 0; b < bytes; ++b) {
        picture.border_value |= static_cast<std::uint64_t>(border >> (8 * b) & 0xff)
                                << (8 * (at + b));
        if (!channels[c].copied)
          picture.copied &= ~(1u << (at + b));
      }
    // Where the channels differ, the period is 4 bytes or fewer.
    if (channel.step == first.step && channels[c].x == channels[0].x &&
        channel.width == first.width)
      continue;
    for (int at = channel.offset * bytes; at < 4; at += channel.step * bytes)
      for (int b = 0; b < bytes; ++b) {
        picture.grids[at + b] = {channel.step * bytes, channel.width};
        kernels.kernel[at + b] = channels[c].x;
        kernels.step[at + b] = channel.step * bytes;
      }
  }
  for (int b = 0; b < 8; ++b)
    if (picture.copied >> (b % picture.period) & 1)
      picture.copied_of_eight |= static_cast<std::uint64_t>(0xff) << (8 * b);
  for (int phase = 0; phase < 4; ++phase)
    if (kernels.kernel[phase]->identity())
      picture.row_identity |= 1 << phase;
}

bool is_uniform(const BlurPicture& picture, const RowKernels& along_x) {
  for (int phase = 1; phase < 4; ++phase)
    if (picture.grids[phase].step != picture.grids[0].step ||
        picture.grids[phase].width != picture.grids[0].width ||
        along_x.kernel[phase] != along_x.kernel[0])
      return false;
  return picture.inner_bytes == picture.row_bytes;
}

bool are_pixels(const BlurPicture& picture, const RowKernels& along_x) {
  return is_uniform(picture, along_x) && picture.period == pixel_bytes &&
         picture.grids[0].step == pixel_bytes;
}

}  // namespace cudavision::gaussblur
