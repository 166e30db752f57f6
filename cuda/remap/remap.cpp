// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/remap/remap.h"

#include <string>

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/remap/backend.h"

namespace cudavision::remap {
namespace {

constexpr char operation[] = "remap";
constexpr int largest_map = 65535;

std::string text(int width, int height) {
  return std::to_string(width) + "×" + std::to_string(height);
}

void check_picture(const PlaneSize& picture) {
  if (picture.width < 1 || picture.width > largest_picture || picture.height < 1 ||
      picture.height > largest_picture)
    refuse(operation, "a picture of " + text(picture.width, picture.height) +
                          " pixels; width and height must be 1 to " +
                          std::to_string(largest_picture));
  if (picture.bits < 8 || picture.bits > 16)
    refuse(operation, std::to_string(picture.bits) + " bits per sample; 8 to 16 are supported");
}

void check_map(const Map& map) {
  const int width = map.fractions.width, height = map.fractions.height;
  if (!map.places || !map.fractions)
    refuse(operation, "the map lacks places or fractions");
  if (width < 1 || width > largest_map || height < 1 || height > largest_map)
    refuse(operation, "a map of " + text(width, height) +
                          " pixels; width and height must be 1 to " + std::to_string(largest_map));
  if (map.places.width != 2 * width || map.places.height != height)
    refuse(operation, "a map with fractions for " + text(width, height) + " pixels has " +
                          std::to_string(map.places.height) + " rows of " +
                          std::to_string(map.places.width) +
                          " coordinates in places; each pixel needs two coordinates");
}

int sample_bytes(const PlaneSize& picture) {
  return picture.bits > 8 ? 2 : 1;
}

}  // namespace

Remap::Remap(Device& device, const PlaneSize& picture, const Map& map) : picture_(picture) {
  check_picture(picture);
  check_map(map);
  map_ = std::make_unique<PackedMap>(device, picture, map);
  const int bytes = sample_bytes(picture);
  // Rows have a whole number of segments, which aligns them.
  const auto pitch = static_cast<std::ptrdiff_t>(map_->segments_per_row()) * segment_pixels * bytes;
  memory_ = device.allocate(static_cast<std::size_t>(pitch) * map_->height());
  rows_ = {memory_.as<std::uint8_t>(), map_->width() * bytes, map_->height(), pitch};
  backend_ = dispatch<make_remap_cuda, make_remap_cpu>(device);
}

Remap::~Remap() = default;

SamplePlane Remap::run(const SamplePlane& in) {
  const int bytes = sample_bytes(picture_);
  if (!in.rows || in.width != picture_.width || in.height() != picture_.height ||
      in.bits != picture_.bits || in.rows.width != picture_.width * bytes || in.shift < 0 ||
      in.shift > (bytes == 1 ? 0 : 16 - in.bits))
    refuse(operation, "the input must have " + std::to_string(picture_.height) + " rows of " +
                          std::to_string(picture_.width) + " samples of " +
                          std::to_string(picture_.bits) + " bits");
  if (in.rows.pitch != static_cast<std::int32_t>(in.rows.pitch))
    refuse(operation, "the input has a pitch of " + std::to_string(in.rows.pitch) +
                          " bytes; it must be less than 2 GiB");
  ChannelGroup channels;
  channels.map = map_.get();
  channels.count = 1;
  const GroupPlanes planes{&channels, in.rows, in.width, in.height(), rows_};
  backend_->run({in.bits, in.shift}, 0, {&planes, 1});
  return {rows_, map_->width(), picture_.bits, 0};
}

View<const std::uint32_t> Remap::outside() const noexcept {
  return map_->outside();
}

bool Remap::any_outside() const noexcept {
  return map_->any_outside();
}

MapView Remap::map() const noexcept {
  return {map_->segments(),         map_->offsets(), map_->width(), map_->height(),
          map_->segments_per_row(), map_->wide(),    picture_};
}

}  // namespace cudavision::remap
