// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/pipeline/pairsnapshot.h"

namespace cudavision {
namespace {

std::size_t map_bytes(const PlaneSize& size) {
  return static_cast<std::size_t>(2) * static_cast<std::size_t>(size.width) *
         static_cast<std::size_t>(size.height);
}

View<std::uint8_t> map_in(const Buffer& memory, const PlaneSize& size) {
  return {memory.as<std::uint8_t>(), 2 * size.width, size.height, 2 * size.width};
}

}  // namespace

PairSnapshot::PairSnapshot(Device& device, const PlaneSize& size)
    : device_(device),
      size_(size),
      map_memory_(device.allocate_host(map_bytes(size))),
      map_(map_in(map_memory_, size)),
      noise_memory_(device.allocate_host(sizeof(sgm::NoiseState))) {}

View<std::uint8_t> PairSnapshot::unfilled() {
  if (!unfilled_memory_.data())
    unfilled_memory_ = device_.allocate(map_bytes(size_));
  return map_in(unfilled_memory_, size_);
}

void PairSnapshot::PlaneCopy::copy(Device& device, const SamplePlane& from) {
  const int row_bytes = from.rows.width;
  if (!memory.data())
    memory = device.allocate_host(static_cast<std::size_t>(row_bytes) *
                                  static_cast<std::size_t>(from.height()));
  const View<std::uint8_t> rows = {memory.as<std::uint8_t>(), row_bytes, from.height(), row_bytes};
  device.download(from.rows, rows);
  plane = from;
  plane.rows = rows;
}

void PairSnapshot::take(const sgm::SgmStereo::Pictures& pictures, View<const std::uint8_t> map,
                        const sgm::NoiseState* noise) {
  left_.copy(device_, pictures.left);
  right_.copy(device_, pictures.right);
  device_.download(map, map_);
  has_noise_ = noise != nullptr;
  constexpr int bytes = sizeof(sgm::NoiseState);
  if (noise)
    device_.download({reinterpret_cast<const std::uint8_t*>(noise), bytes, 1, bytes},
                     {noise_memory_.as<std::uint8_t>(), bytes, 1, bytes});
}

std::optional<sgm::NoiseState> PairSnapshot::noise() const {
  return has_noise_ ? std::optional(*noise_memory_.as<sgm::NoiseState>()) : std::nullopt;
}

}  // namespace cudavision
