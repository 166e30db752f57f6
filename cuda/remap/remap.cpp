// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/remap/remap.h"

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/remap/backend.h"

namespace cudavision::remap {
namespace {

constexpr char operation[] = "remap";

void check_map(const Map& map) {
  const int width = map.fractions.width, height = map.fractions.height;
  if (!map.places || !map.fractions)
    refuse(operation, "the map lacks places or fractions");
  if (width < 1 || width > 65535 || height < 1 || height > 65535)
    refuse(operation, "a map of ", text_of(width, height),
           " pixels; width and height must be 1 to 65535");
  if (map.places.width != 2 * width || map.places.height != height)
    refuse(operation, "a map with fractions for ", text_of(width, height), " pixels has ",
           map.places.height, " rows of ", map.places.width,
           " coordinates in places; each pixel needs two coordinates");
}

}  // namespace

Remap::Remap(Device& device, const PlaneSize& picture, const Map& map) : picture_(picture) {
  if (picture.width < 1 || picture.width > largest_picture || picture.height < 1 ||
      picture.height > largest_picture)
    refuse(operation, "a picture of ", text_of(picture.width, picture.height),
           " pixels; width and height must be 1 to ", largest_picture);
  if (picture.bits < 8 || picture.bits > 16)
    refuse(operation, picture.bits, " bits per sample; 8 to 16 are supported");
  check_map(map);
  map_ = std::make_unique<PackedMap>(device, picture, map);
  const MapView& view = map_->view();
  const int bytes = picture.bits > 8 ? 2 : 1;
  // Rows are padded to whole segments, which aligns them to 128 bytes.
  const auto pitch = static_cast<std::ptrdiff_t>(view.segments_per_row) * segment_pixels * bytes;
  memory_ = device.allocate(static_cast<std::size_t>(pitch) * view.height);
  rows_ = {memory_.as<std::uint8_t>(), view.width * bytes, view.height, pitch};
  backend_ = dispatch<make_remap_cuda, make_remap_cpu>(device);
}

Remap::~Remap() = default;

SamplePlane Remap::run(const SamplePlane& in) {
  const int bytes = picture_.bits > 8 ? 2 : 1, max_shift = bytes == 1 ? 0 : 16 - picture_.bits;
  if (!in.rows || in.width != picture_.width || in.height() != picture_.height ||
      in.bits != picture_.bits || in.rows.width != picture_.width * bytes || in.shift < 0 ||
      in.shift > max_shift)
    refuse(operation, "the input must have ", picture_.height, " rows of ", picture_.width,
           " samples of ", picture_.bits, " bits, shifted by 0 to ", max_shift, ", but has ",
           in.height(), " rows of ", in.width, " samples in ", in.rows.width, " bytes, of ",
           in.bits, " bits, shifted by ", in.shift);
  kernel_pitch(operation, in.rows.pitch);
  ChannelGroup channels;
  channels.map = map_.get();
  channels.count = 1;
  const GroupPlanes planes{&channels, in.rows, rows_};
  backend_->run({in.bits, in.shift}, 0, {&planes, 1});
  return {rows_, map_->view().width, picture_.bits, 0};
}

View<const std::uint32_t> Remap::outside() const noexcept {
  return map_->outside();
}

bool Remap::any_outside() const noexcept {
  return map_->any_outside();
}

MapView Remap::map() const noexcept {
  return map_->view();
}

}  // namespace cudavision::remap
