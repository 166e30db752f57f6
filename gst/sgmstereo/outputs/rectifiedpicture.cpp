// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/outputs/rectifiedpicture.h"

#include <algorithm>

namespace cudavision {
namespace {

std::unique_ptr<remap::PictureRemap> make_remap(Device& device, const FrameLayout& layout,
                                                int black, const RectifiedCamera& camera) {
  const RectifyingMap full = make_plane_map(camera, layout.width, layout.height, 1, 1);
  remap::PictureMaps maps;
  maps.full = full.view(layout.width, layout.height);
  RectifyingMap reduced;
  const auto end = layout.channels.begin() + layout.channel_count;
  const auto channel = std::find_if(layout.channels.begin(), end, [&](const Channel& its) {
    return its.width != layout.width || its.height != layout.height;
  });
  if (channel != end) {
    reduced = make_plane_map(camera, channel->width, channel->height, channel->subsampling_x,
                             channel->subsampling_y);
    maps.reduced = reduced.view(channel->width, channel->height);
  }
  return std::make_unique<remap::PictureRemap>(device, layout, maps, black);
}

}  // namespace

RectifiedPicture::RectifiedPicture(Device& device, const FramePacking& packing,
                                   const FrameFormat& frames, const FrameFormat& out,
                                   const RectifiedCamera* camera)
    : device_(device),
      packing_(packing),
      layout_(out.layout),
      gray_(GST_VIDEO_INFO_FORMAT(&out.info) == GST_VIDEO_FORMAT_GRAY8),
      unpacked_layout_(repack::unpacked_layout(frames.storage, repack::UnpackedForm::channels)) {
  if (gray_)
    return;
  if (camera)
    remap_ = make_remap(device, layout_, frames.low, *camera);
  if (repack::is_needed(frames.storage, repack::UnpackedForm::channels))
    unpack_ =
        std::make_unique<repack::Repack>(device, frames.storage, repack::UnpackedForm::channels);
}

void RectifiedPicture::run(const ConstFrame& stored, const SamplePlane& luminance,
                           const Frame& out) {
  if (gray_) {
    reduce_to_8_bits(device_, luminance, out.planes[0]);
    return;
  }
  ConstFrame picture = stored;
  if (unpack_) {
    const Frame& unpacked = unpacked_.allocated(device_, unpacked_layout_);
    unpack_->unpack(stored, unpacked);
    picture = unpacked;
  }
  if (packing_.packed())
    picture = left_picture_of(packing_, layout_, picture);
  if (remap_) {
    remap_->run(picture, out);
    return;
  }
  for (int p = 0; p < layout_.plane_count; ++p)
    device_.copy(picture.planes[p], out.planes[p]);
}

}  // namespace cudavision
