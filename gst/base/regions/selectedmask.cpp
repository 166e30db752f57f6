// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/regions/selectedmask.h"

#include <gst/video/gstvideometa.h>

#include "gst/core/elementerror.h"

namespace cudavision {
namespace {

// Reads the format of a mask's picture from its GstVideoMeta, because a mask has no caps.
FrameFormat mask_format(GstBuffer* picture) {
  const GstVideoMeta* const meta = gst_buffer_get_video_meta(picture);
  if (!meta)
    refuse_stream("A segmentation mask has no GstVideoMeta: attach one to its buffer.");
  const bool bytes = meta->format == GST_VIDEO_FORMAT_GRAY8;
  if (!bytes && meta->format != GST_VIDEO_FORMAT_GRAY16_LE)
    refuse_stream("A segmentation mask has the format " + format_text(meta->format) +
                  ": use GRAY8 or GRAY16_LE.");
  const auto side = static_cast<guint>(largest_side);
  if (meta->width < 1 || meta->width > side || meta->height < 1 || meta->height > side)
    refuse_stream("A segmentation mask has " + std::to_string(meta->width) + "×" +
                  std::to_string(meta->height) + " samples: width and height must be 1 to 65535.");
  FrameFormat format;
  gst_video_info_set_format(&format.info, meta->format, meta->width, meta->height);
  format.storage.frame.plane_count = 1;
  format.storage.frame.planes[0] = {static_cast<int>(meta->width) * (bytes ? 1 : 2),
                                    static_cast<int>(meta->height)};
  format.stride[0] = format.info.stride[0];
  format.size = format.info.size;
  return format;
}

}  // namespace

SelectedMask SelectedMask::copy() const {
  return {OwnedBuffer(gst_buffer_ref(picture.get())), format, box, ids, known, side};
}

std::optional<SelectedMask> select_ids(
    const FrameDetections& found, const DetectedMask& mask, bool unclassified,
    const std::function<bool(const MaskRegion&)>& accepts_class) {
  SelectedMask selected;
  selected.format = mask_format(mask.picture.get());
  const bool bytes = GST_VIDEO_INFO_FORMAT(&selected.format.info) == GST_VIDEO_FORMAT_GRAY8;
  selected.ids.assign(bytes ? 8 : 2048, unclassified ? ~0u : 0);
  if (unclassified)
    selected.ids[0] &= ~1u;
  const std::size_t ids = 32 * selected.ids.size();
  bool any = unclassified;
  selected.known = unclassified && mask.count == 0;
  // If an id is listed twice, it is selected if at least one of its classes is accepted.
  for (const bool select : {false, true})
    for (std::size_t i = mask.first; i < mask.first + mask.count; ++i) {
      const MaskRegion& region = found.regions[i];
      if (region.id >= ids)
        continue;
      const bool accepted =
          region.classified ? accepts_class(region) : unclassified && region.id != 0;
      std::uint32_t& word = selected.ids[region.id / 32];
      const std::uint32_t bit = 1u << (region.id % 32);
      if (select && accepted) {
        word |= bit;
        selected.known = any = true;
      } else if (!select && !accepted) {
        word &= ~bit;
      }
    }
  if (!any || mask.width <= 0 || mask.height <= 0)
    return std::nullopt;
  constexpr gint64 largest = regions::Parameters::max_coordinate;
  if (mask.x < -largest || mask.y < -largest || mask.x + mask.width > largest ||
      mask.y + mask.height > largest)
    refuse_stream("A segmentation mask covers " + std::to_string(mask.x) + "," +
                  std::to_string(mask.y) + "," + std::to_string(mask.width) + "," +
                  std::to_string(mask.height) + ", which exceeds the limit of ±" +
                  std::to_string(largest) +
                  " pixels: correct the rectangle that the detector gives the mask.");
  selected.box = {static_cast<int>(mask.x), static_cast<int>(mask.y),
                  static_cast<int>(mask.x + mask.width), static_cast<int>(mask.y + mask.height)};
  selected.picture.reset(gst_buffer_ref(mask.picture.get()));
  return selected;
}

}  // namespace cudavision
