// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend of Remap: a picture of one channel with a border of 0.

#include "cuda/remap/backend.h"
#include "cuda/remap/groups_cuda.h"

namespace cudavision::remap {
namespace {

class RemapCuda final : public Remap::Backend {
 public:
  RemapCuda(Device& device, const PackedMap& map) : map_(map), groups_(device.stream()) {}

  void run(const SamplePlane& in, View<std::uint8_t> out) override {
    ChannelGroup channels;
    channels.map = &map_;
    channels.count = 1;
    const GroupPlanes planes = {&channels, in.rows, in.width, in.height(), out};
    groups_.run({in.bits, in.shift}, 0, &planes, 1);
  }

 private:
  const PackedMap& map_;
  GroupsCuda groups_;
};

}  // namespace

std::unique_ptr<Remap::Backend> make_remap_cuda(Device& device, const PackedMap& map) {
  return std::make_unique<RemapCuda>(device, map);
}

}  // namespace cudavision::remap
