// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/outputs/rectifiedpicture.h"

namespace cudavision {
namespace {

std::unique_ptr<remap::PictureRemap> make_remap(Device& device, const FrameLayout& layout,
                                                int black, const RectifiedCamera& camera) {
  RectifyingMap full, reduced;
  remap::PictureMaps maps;
  for (int c = 0; c < layout.channel_count; ++c) {
    const Channel& channel = layout.channels[c];
    const bool is_full = layout.is_full(channel);
    RectifyingMap& map = is_full ? full : reduced;
    if (map.places.empty())
      map = make_plane_map(camera, channel.width, channel.height, channel.subsampling_x,
                           channel.subsampling_y);
    (is_full ? maps.full : maps.reduced) = map.view(channel.width, channel.height);
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
    picture = half_of(packing_, layout_, picture, false);
  if (remap_) {
    remap_->run(picture, out);
    return;
  }
  for (int p = 0; p < layout_.plane_count; ++p)
    device_.copy(picture.planes[p], out.planes[p]);
}

}  // namespace cudavision
